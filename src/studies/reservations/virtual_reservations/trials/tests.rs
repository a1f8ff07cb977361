mod idling;
mod properties;
mod settings;

use proptest::prelude::*;
use rand::RngExt;

use bookahead_core::estimates::{WaitPredictor, WaitPredictorSettings};
use bookahead_core::kernel::drive;
use bookahead_core::random;
use bookahead_core::scheduling::queue::Backfilling;
use bookahead_core::units::{NodeSeconds, Seconds};
use bookahead_core::workload::JobId;

use super::background::{DAY, instants};
use super::*;
use crate::replanning::Admission;
use crate::virtual_reservations::rules::{CombinedScheme, cancellation_penalty};

const MINUTE: Seconds = Seconds(60);

fn numbered(mut jobs: Vec<Job>) -> Vec<Job> {
    jobs.sort_by_key(|job| job.submit);
    for (id, job) in (0..).zip(&mut jobs) {
        job.id = JobId(id);
    }
    jobs
}

fn stream(seed: u64) -> Stream {
    random::stream(seed, "study", 0, "instants")
}

/// Two of four nodes for an hour, two hours ahead, asked on one day after a day.
fn small() -> VirtualStudySettings {
    VirtualStudySettings {
        nodes: Nodes(2),
        lead: Seconds::HOUR * 2,
        instants: 1,
        warm_up: DAY,
        ..VirtualStudySettings::default()
    }
}

fn simulate_virtual(
    jobs: &[Job],
    nodes: Nodes,
    settings: &VirtualStudySettings,
    stream: &mut Stream,
) -> Result<VirtualStudyRun, VirtualStudyError> {
    let study = VirtualStudy::new(jobs, nodes, settings, stream)?;
    let run = VirtualStudyRun::of(drive(study.scene()?, false))?;
    Ok(run.expect("a scene of this study"))
}

fn study(jobs: &[Job], settings: &VirtualStudySettings) -> VirtualStudyRun {
    simulate_virtual(jobs, Nodes(4), settings, &mut stream(1)).unwrap()
}

/// A short job on one node every hour: waits are 0, and the trace is long enough.
fn idle_days(days: i64) -> Vec<Job> {
    (0..=days * 24)
        .map(|hour| {
            Job::rigid(JobId(0), Seconds::HOUR * hour, Nodes(1), MINUTE).running_for(Seconds(1))
        })
        .collect()
}

fn measure(run: &VirtualStudyRun, name: &str) -> Option<f64> {
    let mut measures = run.measures().into_iter();
    Some(measures.find(|(known, _)| *known == name)?.1)
}

#[test]
fn a_reservation_that_is_free_is_what_the_combined_scheme_uses() {
    for combination in [Combination::Recorded, Combination::Played] {
        let run = study(
            &numbered(idle_days(5)),
            &VirtualStudySettings {
                instants: 3,
                combination,
                ..small()
            },
        );
        assert_eq!(run.trials.len(), 3);
        for trial in &run.trials {
            assert_eq!(trial.price, Some(NodeSeconds(0)));
            // On an idle machine the padded job starts at once, and wastes the whole lead.
            assert_eq!(trial.submission.unwrap().submit, trial.asked_at);
            assert_eq!(trial.submission.unwrap().runtime, Seconds::HOUR * 3);
            assert_eq!(trial.virtual_start, Some(trial.asked_at));
            assert_eq!(trial.normalised_virtual_cost(), Some(2.0));
            assert_eq!(trial.virtual_cost(), trial.virtual_bound());
            assert_eq!(trial.combined.scheme, CombinedScheme::Reservation);
            assert_eq!(trial.combined.extra_cost, Some(NodeSeconds(0)));
        }
        for (name, value) in [
            ("ar_free_percent", 100.0),
            ("ar_cheaper_percent", 100.0),
            ("var_cheaper_percent", 0.0),
            ("var_cost", 2.0),
            ("var_bound_when_asked", 2.0),
            ("combined_cost", 0.0),
            ("prediction_mean", 1.0),
            ("brier_score", 0.0),
            ("bound_coverage_50_percent", 100.0),
        ] {
            assert_eq!(measure(&run, name), Some(value), "{name}");
        }
    }
}

#[test]
fn a_reservation_is_refused_beside_what_runs_by_its_estimate_and_the_virtual_one_gets_in_when_that_ends_early()
 {
    // Every two hours a job holds the machine for one, and says three days.
    let jobs: Vec<Job> = (0..=7 * 12)
        .map(|slot| {
            Job::rigid(JobId(0), Seconds::HOUR * 2 * slot, Nodes(4), DAY * 3)
                .running_for(Seconds::HOUR)
        })
        .collect();
    let settings = VirtualStudySettings {
        instants: 5,
        ..small()
    };
    let run = study(&numbered(jobs), &settings);
    let (mut refused, mut granted) = (0, 0);
    for trial in &run.trials {
        let into = Seconds(trial.asked_at.0 % (2 * 3_600));
        if into < Seconds::HOUR {
            refused += 1;
            assert_eq!(trial.price, None);
            assert_eq!(
                trial.virtual_start,
                Some(trial.asked_at - into + Seconds::HOUR)
            );
            assert_eq!(trial.combined.scheme, CombinedScheme::Virtual);
            assert_eq!(trial.combined.extra_cost, trial.virtual_cost());
        } else {
            granted += 1;
            assert_eq!(trial.price, Some(NodeSeconds(0)));
            assert_eq!(trial.combined.scheme, CombinedScheme::Reservation);
        }
    }
    assert!(refused > 0 && granted > 0);
    let percent = 100.0 * f64::from(refused) / 5.0;
    assert_eq!(measure(&run, "only_var_percent"), Some(percent));
    assert_eq!(measure(&run, "combined_success_percent"), Some(100.0));
    assert_eq!(measure(&run, "ar_successes"), Some(f64::from(granted)));
}

/// Asked at T: the machine is full until T + 1 h by estimate and T + 30 min in fact; behind it
/// waits a job that wants the whole machine for four hours and needs ten minutes.
fn behind_a_queue() -> (Seconds, Vec<Job>) {
    let asked_at = instants(DAY, 1, &mut stream(1))[0];
    // Nobody else comes on the day of the scene.
    let mut jobs = idle_days(7);
    jobs.retain(|job| job.submit < DAY || job.submit > DAY * 3);
    jobs.push(
        Job::rigid(
            JobId(0),
            asked_at - MINUTE,
            Nodes(4),
            Seconds::HOUR + MINUTE,
        )
        .running_for(MINUTE * 31),
    );
    jobs.push(Job::rigid(JobId(0), asked_at, Nodes(4), Seconds::HOUR * 4).running_for(MINUTE * 10));
    (asked_at, numbered(jobs))
}

#[test]
fn a_dear_reservation_is_cancelled_for_a_virtual_one_that_starts_in_time() {
    let (asked_at, jobs) = behind_a_queue();
    let [trial] = study(&jobs, &small()).trials[..] else {
        panic!("one trial")
    };
    assert_eq!(trial.asked_at, asked_at);
    // The waiting job would be pushed from T + 1 h to T + 3 h on four nodes.
    assert_eq!(trial.price, Some(Nodes(4).for_span(Seconds::HOUR * 2)));
    assert_eq!(trial.virtual_start, Some(asked_at + MINUTE * 40));
    assert_eq!(trial.virtual_cost(), Some(Nodes(2).for_span(MINUTE * 80)));
    assert_eq!(trial.combined.scheme, CombinedScheme::Virtual);
    let penalty = cancellation_penalty(trial.price.unwrap(), 0.1);
    assert_eq!(
        trial.combined.extra_cost,
        Some(trial.virtual_cost().unwrap() + penalty)
    );
    // Where cancelling costs three quarters of the price, the reservation is kept.
    let dear = VirtualStudySettings {
        penalty_factor: 0.75,
        ..small()
    };
    let kept = study(&jobs, &dear).trials[0];
    assert_eq!(kept.combined.scheme, CombinedScheme::Reservation);
    assert_eq!(kept.combined.extra_cost, trial.price);
}

#[test]
fn played_out_the_padded_job_has_to_find_room_beside_the_reservation() {
    let (asked_at, jobs) = behind_a_queue();
    let settings = VirtualStudySettings {
        combination: Combination::Played,
        ..small()
    };
    let [trial] = study(&jobs, &settings).trials[..] else {
        panic!("one trial")
    };
    // The reservation holds up the job in front, and that the padded one.
    assert_eq!(trial.virtual_start, Some(asked_at + MINUTE * 40));
    assert_eq!(trial.combined_virtual_start, None);
    assert_eq!(trial.combined.scheme, CombinedScheme::Reservation);
    assert_eq!(trial.combined.extra_cost, trial.price);
}

#[test]
fn a_predictor_without_a_chance_submits_nothing_and_undefined_means_are_left_out() {
    // The last job that started has waited ten hours, and holds everything for good.
    let mut jobs = idle_days(5);
    jobs.insert(0, Job::rigid(JobId(0), Seconds::ZERO, Nodes(4), DAY * 20));
    jobs.insert(
        0,
        Job::rigid(JobId(0), Seconds::ZERO, Nodes(4), Seconds::HOUR * 10),
    );
    let run = study(
        &numbered(jobs),
        &VirtualStudySettings {
            instants: 2,
            predictor: WaitPredictorSettings {
                history: 1,
                minimum_history: 1,
                ..WaitPredictorSettings::default()
            },
            ..small()
        },
    );
    for trial in &run.trials {
        assert_eq!(trial.submission, None);
        assert_eq!((trial.price, trial.virtual_start), (None, None));
        assert_eq!(trial.combined.scheme, CombinedScheme::Neither);
    }
    for name in [
        "var_cost",
        "var_bound",
        "ar_cost",
        "combined_cost",
        "prediction_mean",
        "bound_coverage_95",
    ] {
        assert_eq!(measure(&run, name), None, "{name}");
    }
    assert_eq!(measure(&run, "combined_success_percent"), Some(0.0));
    assert_eq!(measure(&run, "neither_percent"), Some(100.0));
    assert!(run.measures().iter().all(|(_, value)| value.is_finite()));
}

#[test]
fn the_predictor_of_an_instant_has_seen_the_waits_of_those_who_had_started_and_no_other() {
    let settings = VirtualStudySettings {
        instants: 3,
        ..small()
    };
    let jobs = random_jobs(5, 4);
    let study = VirtualStudy::new(&jobs, Nodes(4), &settings, &mut stream(1)).unwrap();
    let submitted = Arc::clone(&study.jobs);
    let played = drive(study.scene().unwrap(), true);
    let snapshots: Vec<Snapshot> = played.outputs.into_iter().flatten().collect();
    assert_eq!(snapshots.len(), 3);
    for snapshot in &snapshots {
        // Slowly and obviously: a replay up to the instant, second by second.
        let mut machine =
            crate::replanning::ReplanningMachine::replanning(Nodes(4), settings.replanning.clone());
        let mut predictor = WaitPredictor::new(settings.predictor).unwrap();
        machine.submit(submitted.iter().cloned());
        let mut seen = vec![false; submitted.len()];
        while machine
            .next_event()
            .is_some_and(|time| time <= snapshot.asked_at)
        {
            let time = machine.next_event().unwrap();
            machine.advance(time + Seconds(1));
            for (job, seen) in submitted.iter().zip(&mut seen) {
                if !*seen && machine.cluster().running_since(job.id).is_some() {
                    *seen = true;
                    predictor.observe(job.nodes, job.estimate, time - job.submit);
                }
            }
        }
        let queued = |machine: &crate::replanning::ReplanningMachine| {
            machine
                .policy()
                .queue()
                .iter()
                .map(|waiting| waiting.job)
                .collect::<Vec<_>>()
        };
        assert_eq!(queued(&machine), queued(&snapshot.machine));
        assert_eq!(snapshot.machine.cluster().now(), snapshot.asked_at);
        for (nodes, hours) in [(1, 1), (2, 1), (2, 4), (4, 4)] {
            let (nodes, walltime) = (Nodes(nodes), Seconds::HOUR * hours);
            assert_eq!(
                predictor.basis(nodes, walltime),
                snapshot.predictor.basis(nodes, walltime)
            );
            for minutes in [0, 10, 60, 240, 900] {
                let ask = |predictor: &WaitPredictor| {
                    predictor.probability(nodes, walltime, MINUTE * minutes)
                };
                assert_eq!(ask(&predictor), ask(&snapshot.predictor));
            }
        }
    }
}

#[test]
fn every_wait_of_the_days_that_are_asked_about_is_held_against_its_predictions() {
    let settings = VirtualStudySettings {
        instants: 3,
        ..small()
    };
    let jobs = random_jobs(5, 4);
    let begin = jobs[0].submit + DAY;
    let judged = jobs
        .iter()
        .filter(|job| job.submit >= begin && job.submit < begin + DAY * 3)
        .count() as u64;
    let calibration = study(&jobs, &settings).calibration;
    assert_eq!(calibration.predictions(), judged * 3);
    for coverage in calibration.bounds() {
        assert_eq!(coverage.bounds + coverage.without_bound, judged);
    }
}

#[test]
fn other_requests_see_the_same_instants_and_more_instants_extend_them() {
    let jobs = random_jobs(8, 4);
    let asked = |settings: &VirtualStudySettings| {
        let run = study(&jobs, settings);
        run.trials
            .iter()
            .map(|trial| trial.asked_at)
            .collect::<Vec<_>>()
    };
    let base = VirtualStudySettings {
        instants: 4,
        ..small()
    };
    let reference = asked(&base);
    for (day, instant) in (0..).zip(&reference) {
        let begin = jobs[0].submit + DAY * (1 + day);
        assert!(begin <= *instant && *instant < begin + DAY);
    }
    for other in [
        VirtualStudySettings {
            lead: Seconds::HOUR * 8,
            ..base.clone()
        },
        VirtualStudySettings {
            nodes: Nodes(4),
            ..base.clone()
        },
        VirtualStudySettings {
            duration: Seconds::HOUR * 4,
            ..base.clone()
        },
        VirtualStudySettings {
            penalty_factor: 1.0,
            ..base.clone()
        },
        VirtualStudySettings {
            combination: Combination::Played,
            ..base.clone()
        },
    ] {
        assert_eq!(asked(&other), reference);
    }
    let fewer = VirtualStudySettings {
        instants: 2,
        ..base
    };
    assert_eq!(asked(&fewer), reference[..2]);
}

#[test]
fn the_same_stream_gives_the_same_study_whatever_the_order_and_the_ids_of_the_jobs() {
    let mut jobs = random_jobs(5, 4);
    let settings = VirtualStudySettings {
        instants: 3,
        ..small()
    };
    let reference = study(&jobs, &settings);
    assert_eq!(study(&jobs, &settings), reference);
    // Of jobs of the same second the one with the smaller id came first.
    for job in &mut jobs {
        job.id.0 += 1_000;
    }
    jobs.reverse();
    jobs.push(Job::rigid(JobId(0), DAY, Nodes(5), MINUTE));
    assert_eq!(study(&jobs, &settings), reference);
}

#[test]
fn a_trace_that_ends_before_the_last_wanted_start_is_an_error() {
    let settings = VirtualStudySettings {
        instants: 4,
        ..small()
    };
    let jobs = numbered(idle_days(5));
    let error = simulate_virtual(&jobs, Nodes(4), &settings, &mut stream(1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the trace is too short: it spans 5.0 days from its first to its last submission, but `warm_up` (1.0 days), \
         `instants` (4, one a day) and `lead` (2.0 h) need 5.1 days"
    );
    assert!(simulate_virtual(&[], Nodes(4), &settings, &mut stream(1)).is_err());
    let longer = numbered(idle_days(6));
    assert!(simulate_virtual(&longer, Nodes(4), &settings, &mut stream(1)).is_ok());
}

/// A busy little machine for `days` and a bit more.
fn random_jobs(days: i64, nodes: u32) -> Vec<Job> {
    random_jobs_of(7, days, nodes)
}

fn random_jobs_of(seed: u64, days: i64, nodes: u32) -> Vec<Job> {
    let mut stream = random::stream(seed, "study", 0, "jobs");
    let mut submit = Seconds(1_000);
    let mut jobs = Vec::new();
    while submit <= DAY * days + Seconds(5_000) {
        let estimate = Seconds(stream.random_range(600..30_000));
        let runtime = Seconds(stream.random_range(1..=estimate.0));
        jobs.push(
            Job::rigid(
                JobId(0),
                submit,
                Nodes(stream.random_range(1..=nodes)),
                estimate,
            )
            .running_for(runtime),
        );
        submit += Seconds(stream.random_range(0..12_000));
    }
    numbered(jobs)
}
