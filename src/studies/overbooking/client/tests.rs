use std::collections::BTreeMap;

use proptest::prelude::*;
use rand::RngExt;

use bookahead_core::estimates::{
    Binning, ClassFamily, EstimateModel, EstimateSettings, LearningJobs, Overrun,
};
use bookahead_core::failures::{FailureTrace, NodeEvent};
use bookahead_core::kernel::drive;
use bookahead_core::random;
use bookahead_core::scheduling::registry::Strategy as Registered;
use bookahead_core::scheduling::{ClusterMachine, PolicySpec, SimulationMetrics, WorkCounters};
use bookahead_core::units::{NodeIndex, Nodes};
use bookahead_core::workload::{JobLog, LoggedJob};

use super::*;
use crate::registry::STRATEGIES;
use crate::{ClusterRun, Work, cluster_scene, simulate};

const NODES: Nodes = Nodes(6);

fn job(id: u32, submit: i64, nodes: u32, estimate: i64) -> Job {
    Job::rigid(JobId(id), Seconds(submit), Nodes(nodes), Seconds(estimate))
        .numbered(i64::from(id) + 1)
        .of_user(i64::from(id % 3))
}

/// Users, jobs and failures of a busy little cluster.
struct Case {
    settings: ClientSettings,
    jobs: Arc<[Job]>,
    ties: Arc<ClientTies>,
    failures: FailureTrace,
}

fn case(number: u64, cancels: bool) -> Case {
    let mut stream = random::stream(number, "clients", 0, "case");
    let mut submit = 0;
    let jobs: Arc<[Job]> = (0..50)
        .map(|id| {
            submit += stream.random_range(0..900);
            let estimate = stream.random_range(1..4_000);
            let runtime = stream.random_range(1..=estimate);
            let nodes = stream.random_range(1..=7);
            let laxity = stream.random_range(1..4);
            let mut job = job(id, submit, nodes, estimate)
                .running_for(Seconds(runtime))
                .due_by(Seconds(submit + estimate * laxity));
            job.release += Seconds(stream.random_range(0..500) * stream.random_range(0..2));
            job.deadline += job.release - job.submit;
            let start = job.release + Seconds(stream.random_range(0..2_000));
            match stream.random_range(0..8) {
                0 => job.into_reservation(start),
                _ => job,
            }
        })
        .collect();
    let follows = (0..50).map(|id: u32| {
        let draws = id > 0 && stream.random_range(0..3) == 0;
        (draws && !jobs[id as usize].is_reservation()).then(|| Follows {
            job: stream.random_range(0..id),
            think_time: Seconds(stream.random_range(0..3) * stream.random_range(0..700)),
        })
    });
    let follows = follows.collect();
    let patience = (0..if cancels { 50 } else { 0 })
        .map(|_| Seconds(stream.random_range(1..3_000)))
        .collect();
    let mut events = Vec::new();
    for node in 0..NODES.0 {
        let mut time = stream.random_range(0..20_000);
        while time < 200_000 {
            for up in [false, true] {
                events.push(NodeEvent {
                    time: Seconds(time),
                    node: NodeIndex(node),
                    up,
                });
                time += stream.random_range(1..if up { 40_000 } else { 3_000 });
            }
        }
    }
    events.sort_by_key(|event| (event.time, !event.up, event.node));
    Case {
        settings: ClientSettings {
            resubmit_rejected: stream.random_range(0..4),
            resubmit_failed: stream.random_range(0..3),
            resubmit_after: Seconds(stream.random_range(1..3_000)),
            ..ClientSettings::default()
        },
        jobs,
        ties: Arc::new(ClientTies::of(follows, patience)),
        failures: FailureTrace { events },
    }
}

/// What a strategy knows of run times that has seen these jobs.
pub(crate) fn learned(jobs: &[Job]) -> Arc<EstimateModel> {
    let rules = EstimateSettings {
        family: ClassFamily::All,
        binning: Binning::Round,
        learn_from: LearningJobs::Before,
        overrun: Overrun::Clamp,
        minimum_class_size: 1,
        ..EstimateSettings::default()
    };
    Arc::new(EstimateModel::learn(jobs, &rules).unwrap())
}

fn policy(strategy: &Registered, jobs: &[Job]) -> (PolicySpec, Option<Arc<EstimateModel>>) {
    let policy = PolicySpec::named(strategy.name);
    (policy, strategy.overbooks.then(|| learned(jobs)))
}

fn closed(case: &Case, strategy: &Registered) -> (SimulationMetrics, Vec<JobOutcome>, Measured) {
    let (policy, estimates) = policy(strategy, &case.jobs);
    let policy = (strategy.build)(NODES, &policy, estimates);
    let machine = ClusterMachine::new(NODES, policy);
    let failures = case.failures.clone().into();
    let played = drive(
        cluster_scene(machine, Work::Clients(Box::new(clients(case))), &failures),
        true,
    );
    assert!(played.is_over);
    let run = ClusterRun::of(played);
    (run.metrics, run.outcomes, run.of_others)
}

fn clients(case: &Case) -> ClosedLoop {
    ClosedLoop::new(
        case.settings.clone(),
        Arc::clone(&case.jobs),
        Arc::clone(&case.ties),
    )
}

/// One second after the other in which something happens, each followed by what clients make of its
/// outcomes, with all failures known from the beginning.
fn second_by_second(
    case: &Case,
    strategy: &Registered,
) -> (SimulationMetrics, Vec<JobOutcome>, Measured) {
    let (policy, estimates) = policy(strategy, &case.jobs);
    let policy = (strategy.build)(NODES, &policy, estimates);
    let mut machine = ClusterMachine::new(NODES, policy);
    let mut clients = clients(case);
    clients.soonest = REACTION;
    machine.inject(&case.failures.events);
    let mut outcomes = Vec::new();
    loop {
        let next = machine.next_event().filter(|_| !machine.is_idle());
        let Some(next) = next.into_iter().chain(clients.next_event()).min() else {
            break;
        };
        let mut input = ClusterInput::default();
        clients.hand_over(next + Seconds(1), &mut input);
        machine.submit(input.arrivals);
        machine.cancel(input.cancellations);
        machine.advance(next + Seconds(1));
        let output = ClusterOutput {
            outcomes: machine.take_outcomes(),
            cancelled: machine.take_cancelled(),
        };
        clients.told(&output);
        outcomes.extend(output.outcomes);
    }
    outcomes.sort_by_key(|outcome| outcome.job.id);
    (machine.metrics(), outcomes, clients.measures())
}

/// The submissions that follow from these outcomes of earlier ones, worked out from the list and
/// the outcomes alone, in their order.
fn submissions(case: &Case, outcomes: &[JobOutcome]) -> Vec<(Seconds, i64)> {
    let mut by_job: BTreeMap<i64, Vec<&JobOutcome>> = BTreeMap::new();
    for outcome in outcomes {
        by_job
            .entry(outcome.job.trace_number)
            .or_default()
            .push(outcome);
    }
    let end = |outcome: &JobOutcome| outcome.end.unwrap_or(outcome.job.submit);
    let mut due = Vec::new();
    for (place, job) in (0..).zip(case.jobs.iter()) {
        match case.ties.followed_by(place) {
            None => due.push((job.submit, job.trace_number)),
            Some(follows) => {
                let before = &by_job[&(i64::from(follows.job) + 1)];
                let over = end(before.last().unwrap());
                due.push((over + follows.think_time.max(Seconds(1)), job.trace_number));
            }
        }
        let (mut rejected, mut failed) = (0, 0);
        for outcome in &by_job[&job.trace_number] {
            let again = if outcome.verdict == Verdict::DroppedNoSlot {
                rejected += 1;
                rejected <= case.settings.resubmit_rejected
            } else if outcome.verdict.is_failed() {
                failed += 1;
                failed <= case.settings.resubmit_failed
            } else {
                false
            };
            if again {
                due.push((
                    end(outcome) + case.settings.resubmit_after,
                    job.trace_number,
                ));
            }
        }
    }
    due.sort_unstable();
    due
}

/// Reactions come later than what they react to, so list and outcomes that follow from each other
/// are the only ones that do.
#[test]
fn the_submissions_follow_from_the_outcomes_and_the_outcomes_from_the_submissions() {
    let (mut again, mut moved) = (0, 0);
    for number in 0..60 {
        let case = case(number, false);
        for strategy in STRATEGIES {
            let (metrics, outcomes, _) = closed(&case, strategy);
            let submitted: Vec<Job> = outcomes.iter().map(|it| it.job.clone()).collect();
            let at = |job: &Job| (job.submit, job.trace_number);
            let listed: Vec<_> = submitted.iter().map(at).collect();
            let name = strategy.name;
            assert_eq!(listed, submissions(&case, &outcomes), "{number} {name}");
            for job in &submitted {
                let asked = &case.jobs[job.trace_number as usize - 1];
                assert_eq!(job.deadline - job.submit, asked.deadline - asked.submit);
                assert_eq!(job.release - job.submit, asked.release - asked.submit);
            }
            let (policy, estimates) = policy(strategy, &case.jobs);
            let (open, alone) =
                simulate(NODES, &policy, estimates, &submitted, &case.failures).unwrap();
            assert_eq!(alone, outcomes, "{number} {name}");
            let work = WorkCounters::default();
            let counted = |it: SimulationMetrics| SimulationMetrics { work, ..it };
            assert_eq!(counted(open), counted(metrics));
            again += submitted.len() - case.jobs.len();
            let listed = |it: &&Job| case.jobs[it.trace_number as usize - 1].submit == it.submit;
            moved += submitted.iter().filter(|it| !listed(it)).count();
        }
    }
    assert!(again > 1_000 && moved > again + 500, "{again} {moved}");
}

#[test]
fn stopping_where_a_client_may_react_comes_to_the_same_as_stopping_at_every_second() {
    for seed in 0..40 {
        let case = case(seed, seed % 2 == 0);
        for strategy in STRATEGIES {
            let (ours, slow) = (closed(&case, strategy), second_by_second(&case, strategy));
            assert_eq!(ours.0, slow.0, "{seed} {}", strategy.name);
            assert!(ours == slow, "{seed} {}", strategy.name);
        }
    }
}

#[test]
fn an_open_loop_is_the_simulation_of_its_list() {
    for number in 0..20 {
        let open = Case {
            settings: ClientSettings::default(),
            ties: Arc::default(),
            ..case(number, false)
        };
        for strategy in STRATEGIES {
            let (policy, estimates) = policy(strategy, &open.jobs);
            let (listed, alone) =
                simulate(NODES, &policy, estimates, &open.jobs, &open.failures).unwrap();
            let (metrics, outcomes, measured) = closed(&open, strategy);
            assert_eq!(alone, outcomes, "{}", strategy.name);
            // An open loop sees node events of a whole week, also those after its last job.
            let work = WorkCounters::default();
            let counted = |it: SimulationMetrics| SimulationMetrics { work, ..it };
            assert_eq!(counted(listed), counted(metrics), "{}", strategy.name);
            assert_eq!(measured.get("resubmissions"), Some(0.0));
            assert_eq!(measured.get("followers_percent"), Some(0.0));
        }
    }
}

#[test]
fn who_loses_patience_leaves_no_outcome_and_nobody_starts_after_losing_it() {
    let mut cancelled = 0;
    for number in 0..60 {
        let case = case(number, true);
        for strategy in STRATEGIES {
            let (_, outcomes, measured) = closed(&case, strategy);
            for outcome in outcomes
                .iter()
                .filter(|it| !it.job.is_reservation() && it.restarts == 0)
            {
                let place = outcome.job.trace_number as u32 - 1;
                let limit = outcome.job.submit + case.ties.patience(place).unwrap();
                assert!(
                    outcome
                        .start
                        .or(outcome.end)
                        .is_none_or(|time| time <= limit)
                );
            }
            let count = |name| measured.get(name).unwrap();
            cancelled += count("cancellations") as usize;
            // Every submission has an outcome or was taken back, and every job is over once.
            let submissions = case.jobs.len() as f64 + count("resubmissions");
            assert_eq!(submissions, outcomes.len() as f64 + count("cancellations"));
            let successes = outcomes.iter().filter(|it| it.verdict.is_successful());
            let percent = 100.0 * successes.count() as f64 / case.jobs.len() as f64;
            assert!((percent - count("finally_successful_percent")).abs() < 1e-9);
        }
    }
    assert!(cancelled > 1_000, "{cancelled}");
}

#[test]
fn a_rejected_job_comes_back_after_the_delay_and_who_follows_it_thinks_from_its_end() {
    // Six nodes are taken until 1,000. A job that must be done by 200 is rejected at 100, at 600
    // and, as it may be so often, at 1,100 accepted; it runs until 1,150, and 30 s later its user
    // submits the next one, which the log has at 120.
    let jobs: Arc<[Job]> = [
        job(0, 0, 6, 1_000).due_by(Seconds(1_000)),
        job(1, 100, 4, 100)
            .running_for(Seconds(50))
            .due_by(Seconds(200)),
        job(2, 120, 4, 100).due_by(Seconds(320)),
    ]
    .into();
    let follows = Follows {
        job: 1,
        think_time: Seconds(30),
    };
    let case = Case {
        settings: ClientSettings {
            resubmit_rejected: 2,
            resubmit_after: Seconds(500),
            ..ClientSettings::default()
        },
        jobs,
        ties: Arc::new(ClientTies::of(vec![None, None, Some(follows)], Vec::new())),
        failures: FailureTrace::default(),
    };
    let strategy = STRATEGIES
        .iter()
        .find(|it| it.name == "heuristic-planning")
        .unwrap();
    let (_, outcomes, measured) = closed(&case, strategy);
    let seen: Vec<_> = outcomes
        .iter()
        .map(|it| {
            (
                it.job.trace_number,
                it.job.submit.0,
                it.start.map(|at| at.0),
            )
        })
        .collect();
    let expected = [
        (1, 0, Some(0)),
        (2, 100, None),
        (2, 600, None),
        (2, 1_100, Some(1_100)),
        (3, 1_180, Some(1_180)),
    ];
    assert_eq!(seen, expected);
    assert_eq!(measured.get("resubmissions"), Some(2.0));
    assert_eq!(measured.get("first_rejected_percent"), Some(100.0 / 3.0));
    assert_eq!(measured.get("finally_rejected_percent"), Some(0.0));
    assert_eq!(
        measured.get("followers_shift_hours"),
        Some(1_060.0 / 3_600.0)
    );
    // The first job may come back at 1,500 and 3,000. Without it: 100 to 1,400, and from 1,430 on
    // three windows of 200.
    let (settings, jobs) = (&case.settings, &case.jobs);
    assert_eq!(case.ties.latest_end(settings, jobs), Seconds(4_000));
    let follows = Some(Follows { job: 0, ..follows });
    let ties = ClientTies::of(vec![None, follows], Vec::new());
    assert_eq!(ties.latest_end(settings, &jobs[1..]), Seconds(3_030));
}

fn logged(submit: i64, end: i64, preceding: Option<i64>, think_time: i64) -> LoggedJob {
    LoggedJob {
        submit: Seconds(submit),
        end: (end > 0).then_some(Seconds(end)),
        preceding,
        think_time: Seconds(think_time),
    }
}

#[test]
fn the_log_says_whom_a_job_follows() {
    let mut jobs: Vec<Job> = (0..6)
        .map(|id| job(id, i64::from(id), 1, 10).due_by(Seconds(i64::from(id) + 20)))
        .collect();
    for job in &mut jobs {
        job.user = Some(i64::from(job.id.0 == 5));
    }
    let log: JobLog = [
        (1, logged(1_000, 1_500, None, 0)),
        (2, logged(1_100, 1_300, Some(1), 77)),
        // A job that is not in this battery, and one that comes later.
        (3, logged(1_350, 9_000, Some(99), 5)),
        (4, logged(2_000, 2_100, Some(5), 5)),
        (5, logged(5_000, 5_100, Some(2), 0)),
        (6, logged(5_200, 5_300, None, 0)),
    ]
    .into();
    let mut stream = random::stream(1, "", 0, "");
    let mut follows = |dependencies| {
        let settings = ClientSettings {
            dependencies,
            ..ClientSettings::default()
        };
        let ties = ClientTies::new(&settings, &jobs, &log, &mut stream);
        (0..6)
            .map(|job| ties.followed_by(job).map(|it| (it.job, it.think_time.0)))
            .collect::<Vec<_>>()
    };
    assert_eq!(follows(Dependencies::None), [None; 6]);
    let by_field = [None, Some((0, 77)), None, None, Some((1, 0)), None];
    assert_eq!(follows(Dependencies::Trace), by_field);
    // 1,350 is 50 s after the end of the second job; 2,000 is 500 s after that of the first; 5,000
    // is too late after all of them; the last job is another user's.
    let by_user = [None, None, Some((1, 50)), Some((0, 500)), None, None];
    assert_eq!(follows(Dependencies::Sessions), by_user);
}

#[test]
fn patience_is_drawn_with_its_mean_and_the_same_again() {
    let jobs: Vec<Job> = (0..4_000)
        .map(|id| job(id, 0, 1, 1).due_by(Seconds(1)))
        .collect();
    let settings = ClientSettings {
        patience: Some(Seconds(10_000)),
        ..ClientSettings::default()
    };
    let ties = || {
        let mut stream = random::stream(5, "patience", 0, ClientTies::STREAM);
        ClientTies::new(&settings, &jobs, &JobLog::new(), &mut stream)
    };
    assert_eq!(ties(), ties());
    let all = ties();
    let drawn: Vec<f64> = (0..4_000)
        .map(|job| all.patience(job).unwrap().0 as f64)
        .collect();
    let mean = drawn.iter().sum::<f64>() / 4_000.0;
    assert!((mean - 10_000.0).abs() < 500.0, "{mean}");
    assert!(drawn[0] != drawn[1]);
}

proptest! {
    #[test]
    fn what_is_not_read_is_normalised_and_what_is_read_stays(
        rejected in 0_u32..3, failed in 0_u32..3, after in 1_i64..9_000, gap in 0_i64..9_000, sessions: bool,
    ) {
        let given = ClientSettings {
            resubmit_rejected: rejected,
            resubmit_failed: failed,
            resubmit_after: Seconds(after),
            dependencies: if sessions { Dependencies::Sessions } else { Dependencies::None },
            session_gap: Seconds(gap),
            patience: None,
            refuses_late_offers: false,
            lengthening: None,
        };
        let read = given.clone().normalised();
        prop_assert_eq!(read.is_open_loop(), rejected + failed == 0 && !sessions);
        prop_assert_eq!(read.clone().normalised(), read.clone());
        if rejected + failed > 0 {
            prop_assert_eq!(read.resubmit_after, given.resubmit_after);
        }
        if sessions {
            prop_assert_eq!(read.session_gap, given.session_gap);
        }
    }
}
