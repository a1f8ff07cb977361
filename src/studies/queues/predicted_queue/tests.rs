use proptest::prelude::*;

use bookahead_core::kernel::drive;
use bookahead_core::predictions::{CORRECTORS, Correction, PREDICTORS, UserIndex};
use bookahead_core::units::Nodes;

use super::*;

mod classes;
mod committed;
mod past_ends;

/// Submission, nodes, run time, request.
type Row = (i64, u32, i64, i64);

fn jobs(given: &[Row]) -> Arc<[QueueJob]> {
    let job = |(index, (submit, nodes, runtime, request)): (usize, &Row)| QueueJob {
        submission: Submission {
            index: index as u32,
            submit: Seconds(*submit),
            request: Seconds(*request),
            nodes: Nodes(*nodes),
            user: UserIndex(index as u32 % 3),
        },
        runtime: Seconds(*runtime),
        class: 0,
    };
    given.iter().enumerate().map(job).collect()
}

fn settings(backfill: BackfillOrder) -> PredictedQueueSettings {
    PredictedQueueSettings {
        backfill,
        ..PredictedQueueSettings::default()
    }
}

fn starts(given: &[Row], nodes: u32, settings: &PredictedQueueSettings) -> Vec<i64> {
    let outcomes = simulate_predicted_queue(&jobs(given), Nodes(nodes), settings).unwrap();
    outcomes.iter().map(|outcome| outcome.start.0).collect()
}

fn mean_bounded_slowdown(given: &[Row], settings: &PredictedQueueSettings) -> f64 {
    let jobs = jobs(given);
    let outcomes = simulate_predicted_queue(&jobs, Nodes(4), settings).unwrap();
    QueueTotals::of(&jobs, &outcomes, |_| true).bounded_slowdown
}

/// Jobs A, E, B, C and D of a small queue worked out by hand.
const VECTOR_5: [Row; 5] = [
    (0, 3, 100, 100),
    (0, 1, 10, 10),
    (1, 4, 50, 50),
    (2, 1, 80, 80),
    (3, 1, 20, 20),
];

#[test]
fn the_order_of_candidates_decides_who_is_backfilled() {
    let queue = settings(BackfillOrder::Queue);
    assert_eq!(starts(&VECTOR_5, 4, &queue), [0, 0, 100, 10, 150]);
    assert!((mean_bounded_slowdown(&VECTOR_5, &queue) - 2.886).abs() < 1e-9);
    let shortest = settings(BackfillOrder::ShortestFirst);
    assert_eq!(starts(&VECTOR_5, 4, &shortest), [0, 0, 100, 150, 10]);
    assert!((mean_bounded_slowdown(&VECTOR_5, &shortest) - 1.836).abs() < 1e-9);
}

/// A and E run for 10 and 5 s of the 100 and 200 that they ask for; B needs all nodes, G and H half
/// of them each.
const RESERVED: [Row; 5] = [
    (0, 2, 10, 100),
    (0, 2, 5, 200),
    (1, 4, 5, 5),
    (2, 2, 8, 500),
    (3, 2, 8, 500),
];

#[test]
fn which_reservation_is_compared_changes_no_start() {
    let reserved = |reservation| {
        let settings = PredictedQueueSettings {
            rules: QueueRules::Tsafrir2007,
            reservation,
            ..PredictedQueueSettings::default()
        };
        assert_eq!(starts(&RESERVED, 4, &settings), [0, 0, 10, 15, 15]);
        let outcomes = simulate_predicted_queue(&jobs(&RESERVED), Nodes(4), &settings).unwrap();
        let reserved = |outcome: &PredictedOutcome| Some(outcome.reserved?.0);
        outcomes.iter().map(reserved).collect::<Vec<_>>()
    };
    // B is promised the planned end of E, and when E has ended that of A; G when B has started; H
    // starts as soon as it is the first.
    let first = [None, None, Some(200), Some(15), None];
    assert_eq!(reserved(ComparedReservation::First), first);
    let last = [None, None, Some(100), Some(15), None];
    assert_eq!(reserved(ComparedReservation::Last), last);
    let every = [None, None, Some(200), Some(15), Some(15)];
    assert_eq!(reserved(ComparedReservation::EveryFirst), every);
}

/// Jobs A to D of vectors 6 and 7: A's prediction expires at 30.
const VECTOR_6: [Row; 4] = [
    (0, 2, 100, 200),
    (5, 4, 40, 40),
    (6, 2, 50, 50),
    (60, 2, 20, 20),
];

/// Predictions as given, one a job.
struct AlwaysSix;

impl AlwaysSix {
    fn outcomes(corrector: Corrector) -> (Vec<i64>, f64) {
        let jobs = jobs(&VECTOR_6);
        let settings = PredictedQueueSettings {
            corrector,
            ..PredictedQueueSettings::default()
        };
        let predictions = [30, 40, 50, 20].map(Seconds);
        let outcomes = outcomes_with(&jobs, 4, &settings, predictions.to_vec());
        let starts = outcomes.iter().map(|outcome| outcome.start.0).collect();
        let totals = QueueTotals::of(&jobs, &outcomes, |_| true);
        (starts, totals.bounded_slowdown)
    }
}

/// Predictions by index.
struct Listed(Vec<Seconds>);

impl bookahead_core::predictions::Predictor for Listed {
    fn predict(&mut self, submission: &Submission) -> Seconds {
        self.0[submission.index as usize]
    }

    fn boxed(&self) -> Box<dyn bookahead_core::predictions::Predictor> {
        Box::new(Self(self.0.clone()))
    }
}

/// What becomes of jobs with these predictions, one a job.
fn outcomes_with(
    jobs: &Arc<[QueueJob]>,
    nodes: u32,
    settings: &PredictedQueueSettings,
    predictions: Vec<Seconds>,
) -> Vec<PredictedOutcome> {
    let predictor = Some(Box::new(Listed(predictions)) as _);
    let machine = PredictedQueueMachine::with_predictor(Nodes(nodes), settings, predictor);
    let played = drive(machine::scene_of(jobs, machine), false);
    assert!(played.is_over);
    played.machine.into_outcomes()
}

#[test]
fn a_corrected_prediction_counts_from_the_next_event_on() {
    for corrector in [Corrector::Request, Corrector::Doubling] {
        let (starts, slowdown) = AlwaysSix::outcomes(corrector);
        assert_eq!(starts, [0, 110, 60, 150], "{corrector:?}");
        assert!((slowdown - 3.051_25).abs() < 1e-9, "{slowdown}");
    }
}

#[test]
fn small_corrections_let_others_pass() {
    let (starts, slowdown) = AlwaysSix::outcomes(Corrector::Increments);
    assert_eq!(starts, [0, 100, 140, 60]);
    assert!((slowdown - 2.263_75).abs() < 1e-9, "{slowdown}");
}

#[test]
fn a_job_that_ends_as_planned_is_free_for_a_submission_of_that_second() {
    for request in [10, 20] {
        let given = [(0, 4, 10, request), (10, 4, 5, 5)];
        let starts = starts(&given, 4, &settings(BackfillOrder::Queue));
        assert_eq!(starts, [0, 10], "request {request}");
    }
}

#[test]
fn a_job_that_ends_early_frees_its_nodes_after_the_submissions_of_that_second() {
    let given = [(0, 4, 10, 20), (1, 2, 5, 5), (10, 1, 30, 30)];
    let shortest = settings(BackfillOrder::ShortestFirst);
    assert_eq!(starts(&given, 4, &shortest), [0, 10, 10]);
}

#[test]
fn a_submission_that_does_not_fit_is_followed_by_a_pass_only_if_the_shortest_come_first() {
    // The second job wants both nodes; one is free. In a pass it would get its place, at 100. The
    // first job ends early, before there is another pass.
    let given = [(0, 1, 50, 100), (10, 2, 5, 5)];
    let reserved = |backfill| {
        let outcomes = simulate_predicted_queue(&jobs(&given), Nodes(2), &settings(backfill));
        outcomes.unwrap()[1].reserved.map(|start| start.0)
    };
    assert_eq!(reserved(BackfillOrder::Queue), None);
    assert_eq!(reserved(BackfillOrder::ShortestFirst), Some(100));
}

#[test]
fn whom_the_pass_behind_a_wide_submission_starts_is_not_passed_by_shorter_ones_of_that_second() {
    // Two of four nodes are free at 10 for a job that waited. Behind it come a submission that
    // wants three and a shorter one that wants two.
    let given = [
        (0, 2, 10, 10),
        (0, 2, 100, 100),
        (1, 4, 50, 50),
        (2, 2, 30, 30),
        (10, 3, 20, 20),
        (10, 2, 5, 5),
    ];
    let starts = starts(&given, 4, &settings(BackfillOrder::ShortestFirst));
    assert_eq!([starts[3], starts[5]], [10, 40]);
}

/// docs/model.md, "A queue that plans with predictions", word for word, without any of the
/// machine's shortcuts: everything is looked at anew in every pass.
fn slow_twin(
    jobs: &[QueueJob],
    machine: u32,
    settings: &PredictedQueueSettings,
    predictions: &[Seconds],
) -> Vec<i64> {
    struct Running {
        job: usize,
        start: i64,
        planned: Option<i64>,
        prediction: i64,
        expiries: u32,
        steps: u32,
        stays: bool,
    }
    let gaussier = settings.rules == QueueRules::Gaussier2015;
    let past_ends = settings.corrector == Corrector::Unchanged && !gaussier;
    let mut queue: Vec<usize> = Vec::new();
    let mut running: Vec<Running> = Vec::new();
    let mut starts = vec![0; jobs.len()];
    let mut arrived = 0;
    let nodes = |job: usize| i64::from(jobs[job].submission.nodes.0);
    let predicted = |job: usize| predictions[job].0;
    let score = |job: usize, now: i64| {
        settings.order.score(orders::Scored {
            predicted: predicted(job) as f64,
            nodes: nodes(job) as f64,
            submitted: (jobs[job].submission.submit - jobs[0].submission.submit).0 as f64,
            waited: (now - jobs[job].submission.submit.0) as f64,
        })
    };
    let free_at = |running: &[Running], now: i64| {
        let held = running
            .iter()
            .filter(|running| !gaussier || running.planned.is_none_or(|planned| planned > now));
        i64::from(machine) - held.map(|running| nodes(running.job)).sum::<i64>()
    };
    let pass = |queue: &mut Vec<usize>, running: &mut Vec<Running>, starts: &mut [i64], now| {
        let start = |job: usize, running: &mut Vec<Running>, starts: &mut [i64]| {
            starts[job] = now;
            running.push(Running {
                job,
                start: now,
                planned: Some(now + predicted(job)),
                prediction: predicted(job),
                expiries: 0,
                steps: 0,
                stays: false,
            });
        };
        let at_least = |planned: i64| if past_ends { planned } else { planned.max(now) };
        queue.sort_by(|a, b| score(*a, now).total_cmp(&score(*b, now)).then(a.cmp(b)));
        while let Some(&head) = queue.first() {
            if nodes(head) > free_at(running, now) {
                break;
            }
            queue.remove(0);
            start(head, running, starts);
        }
        if queue.len() < 2 {
            return;
        }
        let head = queue[0];
        let mut ends: Vec<i64> = running
            .iter()
            .map(|running| running.planned.map_or(now, at_least))
            .filter(|end| !gaussier || *end > now)
            .chain(
                running
                    .iter()
                    .any(|running| running.planned.is_none())
                    .then_some(now),
            )
            .collect();
        ends.sort_unstable();
        let free_by = |end: i64| {
            let ended = running.iter().filter(|running| match running.planned {
                None => true,
                Some(planned) => (!gaussier || planned > now) && at_least(planned) <= end,
            });
            free_at(running, now) + ended.map(|running| nodes(running.job)).sum::<i64>()
        };
        let shadow = ends
            .into_iter()
            .find(|end| free_by(*end) >= nodes(head))
            .unwrap();
        let mut extra = free_by(shadow) - nodes(head);
        let mut candidates = queue[1..].to_vec();
        if settings.backfill == BackfillOrder::ShortestFirst {
            candidates.sort_by_key(|job| (predicted(*job), *job));
        }
        for job in candidates {
            let late = now + predicted(job) > shadow;
            if nodes(job) <= free_at(running, now) && (!late || nodes(job) <= extra) {
                if late {
                    extra -= nodes(job);
                }
                queue.retain(|other| *other != job);
                start(job, running, starts);
            }
        }
    };
    loop {
        let next_submission = jobs.get(arrived).map(|job| job.submission.submit.0);
        let ends = running
            .iter()
            .map(|running| running.start + jobs[running.job].runtime.0);
        let expiries = running.iter().filter_map(|running| {
            let expires = running.prediction < jobs[running.job].runtime.0;
            running.planned.filter(|_| expires && !running.stays)
        });
        let Some(now) = next_submission
            .into_iter()
            .chain(ends)
            .chain(expiries)
            .min()
        else {
            return starts;
        };
        let terminate = |queue: &mut Vec<usize>, running: &mut Vec<Running>, starts: &mut [i64]| {
            loop {
                let ended = running
                    .iter()
                    .position(|running| running.start + jobs[running.job].runtime.0 <= now);
                let Some(place) = ended else { break };
                running.remove(place);
                pass(queue, running, starts, now);
            }
        };
        let expire = |running: &mut Vec<Running>| {
            let mut any = false;
            for running in running {
                let expires = running.prediction < jobs[running.job].runtime.0;
                if !expires || running.planned != Some(now) {
                    continue;
                }
                any = true;
                running.expiries += 1;
                let corrected = settings.corrector.correct(&Correction {
                    first: predictions[running.job],
                    expired: Seconds(running.prediction),
                    request: jobs[running.job].submission.request,
                    expiry: running.expiries,
                    steps: running.steps,
                });
                if past_ends {
                    running.stays = true;
                    continue;
                }
                running.planned = corrected.map(|(prediction, steps)| {
                    running.prediction = prediction.0;
                    running.steps = steps;
                    running.start + prediction.0
                });
            }
            any
        };
        if gaussier {
            expire(&mut running);
        } else {
            terminate(&mut queue, &mut running, &mut starts);
            if expire(&mut running) {
                pass(&mut queue, &mut running, &mut starts, now);
            }
        }
        while arrived < jobs.len() && jobs[arrived].submission.submit.0 <= now {
            queue.push(arrived);
            let in_order =
                settings.order == ScoredOrder::Fcfs && settings.backfill == BackfillOrder::Queue;
            let fits = nodes(arrived) <= free_at(&running, now);
            if fits || !(gaussier && in_order) {
                pass(&mut queue, &mut running, &mut starts, now);
            }
            arrived += 1;
        }
        if gaussier {
            terminate(&mut queue, &mut running, &mut starts);
        }
    }
}

fn any_order() -> impl Strategy<Value = ScoredOrder> {
    prop::sample::select(ScoredOrder::ALL.to_vec())
}

fn any_settings() -> impl Strategy<Value = PredictedQueueSettings> {
    let corrector = (0..CORRECTORS.len()).prop_map(|place| CORRECTORS[place].0);
    let backfill = prop::sample::select(vec![BackfillOrder::Queue, BackfillOrder::ShortestFirst]);
    let rules = prop::sample::select(vec![QueueRules::Gaussier2015, QueueRules::Tsafrir2007]);
    (corrector, any_order(), backfill, rules).prop_map(|(corrector, order, backfill, rules)| {
        PredictedQueueSettings {
            corrector,
            order,
            backfill,
            rules,
            ..PredictedQueueSettings::default()
        }
    })
}

/// Jobs of a machine of 8 nodes with many equal times, and a prediction each.
fn any_jobs() -> impl Strategy<Value = Vec<(Row, i64)>> {
    let job = (0_i64..4, 1_u32..=8, 1_i64..12, 0_i64..6, 1_i64..16);
    prop::collection::vec(job, 1..40).prop_map(|drawn| {
        let mut now = 0;
        let given = |(gap, nodes, runtime, spare, prediction)| {
            now += gap;
            ((now, nodes, runtime, runtime + spare), prediction)
        };
        drawn.into_iter().map(given).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_machine_starts_every_job_when_the_slow_twin_does(
        drawn in any_jobs(),
        settings in any_settings(),
    ) {
        let (given, predictions): (Vec<Row>, Vec<i64>) = drawn.into_iter().unzip();
        let predictions: Vec<Seconds> = predictions.into_iter().map(Seconds).collect();
        let jobs = jobs(&given);
        let outcomes = outcomes_with(&jobs, 8, &settings, predictions.clone());
        let starts: Vec<i64> = outcomes.iter().map(|outcome| outcome.start.0).collect();
        prop_assert_eq!(starts, slow_twin(&jobs, 8, &settings, &predictions));
    }

    /// Whatever is predicted for a job when it is submitted must not depend on how long jobs run
    /// that have not ended by then.
    #[test]
    fn predictors_see_nothing_of_the_future(drawn in any_jobs(), cut in 0_usize..40) {
        let given: Vec<Row> = drawn.into_iter().map(|(given, _)| given).collect();
        for known in PREDICTORS {
            if known.name == "perfect" {
                continue;
            }
            let settings = PredictedQueueSettings {
                predictor: known.name.to_owned(),
                ..PredictedQueueSettings::default()
            };
            let before = jobs(&given);
            let outcomes = simulate_predicted_queue(&before, Nodes(8), &settings).unwrap();
            let Some(instant) = given.get(cut).map(|given| given.0) else { continue };
            let mut after = before.to_vec();
            for (job, outcome) in after.iter_mut().zip(&outcomes) {
                if outcome.end.0 >= instant {
                    // Still at least as long as it had run by then, and within its request.
                    let ran = (instant - outcome.start.0).max(0);
                    job.runtime = Seconds((job.runtime.0 + 3).min(job.submission.request.0).max(ran).max(1));
                }
            }
            let changed = simulate_predicted_queue(&after.into(), Nodes(8), &settings).unwrap();
            for (index, (one, other)) in outcomes.iter().zip(&changed).enumerate() {
                if given[index].0 < instant {
                    prop_assert_eq!(one.prediction, other.prediction, "{} job {}", known.name, index);
                }
            }
        }
    }
}
