use std::sync::Arc;

use proptest::prelude::*;
use rand::RngExt;

use bookahead_core::estimates::EstimateModel;
use bookahead_core::failures::{FailureTrace, Outage};
use bookahead_core::kernel::drive;
use bookahead_core::random;
use bookahead_core::scheduling::registry::Strategy as Registered;
use bookahead_core::scheduling::{
    ClusterMachine, JobOutcome, PolicySpec, SimulationMetrics, outcomes_by_job,
};
use bookahead_core::units::{NodeIndex, NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::{Job, JobId};

use super::*;
use crate::client::tests::learned;
use crate::registry::{STRATEGIES, strategy};
use crate::{best_effort_scene, simulate};

const HOUR: Seconds = Seconds::HOUR;

fn settings(when_stopped: WhenStopped) -> BestEffortSettings {
    BestEffortSettings {
        share_percent: 50.0,
        when_stopped,
        ..BestEffortSettings::default()
    }
}

/// A job that is submitted after so many hours.
fn job(id: u32, submit: i64, nodes: u32, estimate: i64, runtime: i64) -> Job {
    Job::rigid(JobId(id), HOUR * submit, Nodes(nodes), HOUR * estimate).running_for(HOUR * runtime)
}

/// What became of a cluster on which the jobs with the lowest ids plan their slots.
struct Played {
    metrics: SimulationMetrics,
    promised: Vec<JobOutcome>,
    others: Vec<BestEffortOutcome>,
    machine: BestEffortMachine,
}

fn play(
    nodes: Nodes,
    strategy: &Registered,
    estimates: Option<Arc<EstimateModel>>,
    (jobs, promised): (&[Job], u32),
    settings: &BestEffortSettings,
    failures: &FailureTrace,
) -> Played {
    let spec = PolicySpec::named(strategy.name);
    let cluster = ClusterMachine::new(nodes, (strategy.build)(nodes, &spec, estimates));
    let mut machine = BestEffortMachine::new(cluster, promised, settings);
    machine.record_allocations();
    let scene = best_effort_scene(machine, jobs.into(), &failures.clone().into());
    let mut played = drive(scene, true);
    assert!(played.is_over);
    Played {
        metrics: played.machine.metrics(),
        promised: outcomes_by_job(&mut played),
        others: played.machine.outcomes(),
        machine: played.machine,
    }
}

/// On four nodes, one job is promised all of them on [4 h, 8 h).
fn beside_a_promise(others: &[Job], settings: &BestEffortSettings) -> Played {
    let promise = job(0, 0, 4, 4, 4).into_reservation(HOUR * 4);
    let mut jobs = vec![promise];
    jobs.extend_from_slice(others);
    let planning = strategy("heuristic-planning").expect("a registered strategy");
    let failures = FailureTrace::default();
    let played = play(Nodes(4), planning, None, (&jobs, 1), settings, &failures);
    assert_eq!(played.promised[0].start, Some(HOUR * 4));
    assert_eq!(played.promised[0].end, Some(HOUR * 8));
    played
}

fn runs(outcome: &BestEffortOutcome) -> Vec<(i64, i64, bool)> {
    let runs = outcome.runs.iter();
    runs.map(|run| (run.start.0 / 3_600, run.end.0 / 3_600, run.kept))
        .collect()
}

#[test]
fn a_job_without_a_promise_runs_before_one_and_is_done_when_it_begins() {
    let played = beside_a_promise(&[job(1, 0, 4, 6, 3)], &settings(WhenStopped::Requeue));
    assert_eq!(runs(&played.others[0]), [(0, 3, true)]);
    assert_eq!(played.others[0].stops, 0);
}

#[test]
fn a_job_that_is_requeued_loses_its_work_and_runs_from_scratch() {
    let played = beside_a_promise(&[job(1, 0, 4, 6, 5)], &settings(WhenStopped::Requeue));
    assert_eq!(runs(&played.others[0]), [(0, 4, false), (8, 13, true)]);
    let (kept, lost) = played.others[0].held_until(Seconds::FAR);
    assert_eq!((kept.coins().0, lost.coins().0), (20.0, 16.0));
    // Nothing that was kept was done before the promise ended at 8 h.
    assert_eq!(played.metrics.fees, Nodes(4).for_span(HOUR * 4));
    assert_eq!(played.metrics.busy, Nodes(4).for_span(HOUR * 8));
    assert_eq!(played.metrics.useful, Nodes(4).for_span(HOUR * 4));
}

#[test]
fn a_job_that_is_suspended_goes_on_where_it_was_stopped_and_pays_for_what_it_used() {
    let played = beside_a_promise(&[job(1, 0, 4, 6, 5)], &settings(WhenStopped::Suspend));
    assert_eq!(runs(&played.others[0]), [(0, 4, true), (8, 9, true)]);
    // 16 node-hours at half a coin, beside the fee of the promise.
    assert_eq!(played.metrics.fees.coins().0, 16.0 * 0.5 + 16.0);
    assert_eq!(played.metrics.makespan, HOUR * 8);
}

#[test]
fn a_job_that_is_killed_is_over_and_pays_nothing() {
    let played = beside_a_promise(&[job(1, 0, 4, 6, 5)], &settings(WhenStopped::Kill));
    assert_eq!(played.others[0].fate, Fate::Killed);
    assert_eq!(runs(&played.others[0]), [(0, 4, false)]);
    assert_eq!(played.metrics.fees, Nodes(4).for_span(HOUR * 4));
}

#[test]
fn a_job_that_must_fit_waits_where_its_estimate_reaches_into_a_promise() {
    let fits = BestEffortSettings {
        start: BestEffortStart::Fits,
        ..settings(WhenStopped::Requeue)
    };
    // The second fits in front of the promise, but nobody passes the first.
    let others = [job(1, 0, 4, 6, 3), job(2, 1, 1, 3, 3)];
    let played = beside_a_promise(&others, &fits);
    assert_eq!(runs(&played.others[0]), [(8, 11, true)]);
    assert_eq!(runs(&played.others[1]), [(11, 14, true)]);
    let played = beside_a_promise(&[job(1, 0, 3, 4, 4), job(2, 0, 1, 4, 2)], &fits);
    assert_eq!(runs(&played.others[0]), [(0, 4, true)]);
    assert_eq!(runs(&played.others[1]), [(0, 2, true)]);
}

#[test]
fn a_job_changes_its_nodes_for_a_promise_where_others_are_unused() {
    let promise = job(0, 0, 2, 4, 4).into_reservation(HOUR * 4);
    let jobs = [promise, job(1, 0, 2, 6, 6)];
    let planning = strategy("heuristic-planning").expect("a registered strategy");
    let requeue = settings(WhenStopped::Requeue);
    let failures = FailureTrace::default();
    let mut played = play(Nodes(4), planning, None, (&jobs, 1), &requeue, &failures);
    assert_eq!(runs(&played.others[0]), [(0, 6, true)]);
    let places: Vec<_> = played.machine.take_allocations();
    assert_eq!(places.len(), 3, "one of the promise, and two of the other");
}

#[test]
fn the_job_gives_way_with_which_least_is_lost() {
    // Two nodes for 3 h, four for 1 h, two for half an hour of work: the promise needs four of
    // the eight.
    let promise = job(0, 0, 4, 2, 2).into_reservation(HOUR * 3);
    let half = |job: Job| Job {
        submit: Seconds(9_000),
        release: Seconds(9_000),
        ..job
    };
    let jobs = [
        promise,
        job(1, 0, 2, 9, 9),
        job(2, 2, 4, 9, 9),
        half(job(3, 2, 2, 9, 9)),
    ];
    let planning = strategy("heuristic-planning").expect("a registered strategy");
    let requeue = settings(WhenStopped::Requeue);
    let failures = FailureTrace::default();
    let played = play(Nodes(8), planning, None, (&jobs, 1), &requeue, &failures);
    let stops: Vec<u32> = played.others.iter().map(|other| other.stops).collect();
    assert_eq!(stops, [0, 1, 0]);
}

#[test]
fn a_node_failure_costs_a_job_its_run_and_it_goes_on_elsewhere() {
    let outage = Outage {
        node: NodeIndex(0),
        start: HOUR,
        end: HOUR * 9,
    };
    let failures = FailureTrace::from_outages([outage]).expect("it ends");
    let planning = strategy("heuristic-planning").expect("a registered strategy");
    let jobs = [job(0, 20, 1, 1, 1), job(1, 0, 3, 6, 5), job(2, 0, 5, 1, 1)];
    let suspend = settings(WhenStopped::Suspend);
    let played = play(Nodes(4), planning, None, (&jobs, 1), &suspend, &failures);
    assert_eq!(runs(&played.others[0]), [(0, 1, false), (1, 6, true)]);
    assert_eq!(played.others[0].node_failures, 1);
    assert_eq!(played.others[1].fate, Fate::TooWide);
}

#[test]
fn a_larger_share_contains_a_smaller_one_and_promises_have_the_lowest_ids() {
    let jobs: Vec<Job> = (0..200)
        .map(|id| {
            let job = job(id, i64::from(id), 1, 2, 1)
                .due_by(HOUR * (i64::from(id) + 9))
                .numbered(i64::from(id));
            match id % 10 {
                0 => job.into_reservation(HOUR * 300),
                _ => job,
            }
        })
        .collect();
    let others = |percent: f64| -> Vec<i64> {
        let settings = BestEffortSettings {
            share_percent: percent,
            ..BestEffortSettings::default()
        };
        let mut draws = random::stream(1, "split", 0, BestEffortSettings::STREAM);
        let (split, promised) = settings.split(&jobs, &mut draws);
        let mut ids: Vec<u32> = split.iter().map(|job| job.id.0).collect();
        ids.sort_unstable();
        assert!(ids.iter().copied().eq(0..200));
        assert!(split.iter().map(|job| job.trace_number).eq(0..200));
        let (others, asking): (Vec<&Job>, Vec<&Job>) =
            split.iter().partition(|job| job.id.0 >= promised);
        assert!(others.iter().all(|job| job.deadline == Seconds::FAR));
        assert!(others.iter().all(|job| !job.is_reservation()));
        assert!(asking.iter().all(|job| job.deadline < Seconds::FAR));
        others.iter().map(|job| job.trace_number).collect()
    };
    let shares = [0.0, 25.0, 50.0, 75.0, 100.0].map(others);
    assert!(shares[0].is_empty());
    assert_eq!(shares[4].len(), 180);
    for pair in shares.windows(2) {
        assert!(pair[0].iter().all(|job| pair[1].contains(job)));
    }
}

/// Jobs, half of them without promises, and failures of a busy little cluster.
fn case(number: u64) -> (Vec<Job>, u32, FailureTrace) {
    let mut stream = random::stream(number, "best effort", 0, "case");
    let mut submit = 0;
    let jobs: Vec<Job> = (0..40)
        .map(|id| {
            submit += stream.random_range(0..900);
            let estimate = stream.random_range(1..4_000);
            let runtime = stream.random_range(1..=estimate);
            let nodes = Nodes(stream.random_range(1..=7));
            let job = Job::rigid(JobId(id), Seconds(submit), nodes, Seconds(estimate))
                .running_for(Seconds(runtime))
                .due_by(Seconds(submit + estimate * stream.random_range(1..4)));
            let start = Seconds(submit + stream.random_range(0..2_000));
            match stream.random_range(0..8) {
                0 => job.into_reservation(start),
                _ => job,
            }
        })
        .collect();
    let mut outages = Vec::new();
    for node in 0..6 {
        let mut start = stream.random_range(0..20_000);
        while start < 100_000 {
            let end = start + stream.random_range(1..3_000);
            outages.push(Outage {
                node: NodeIndex(node),
                start: Seconds(start),
                end: Seconds(end),
            });
            start = end + stream.random_range(1..40_000);
        }
    }
    let failures = FailureTrace::from_outages(outages).expect("they end");
    let mut draws = random::stream(number, "best effort", 0, BestEffortSettings::STREAM);
    let (jobs, promised) = settings(WhenStopped::Requeue).split(&jobs, &mut draws);
    (jobs, promised, failures)
}

/// Nodes hold one job at a time, and none while they are down.
fn check_nodes(played: &mut Played, failures: &FailureTrace) {
    let held = played.machine.take_allocations();
    for (place, one) in held.iter().enumerate() {
        for other in &held[place + 1..] {
            // A run that begins and loses its nodes in one second holds none: whoever gives way
            // does so at the end of the second.
            let meet = one.start.max(other.start) < one.end.min(other.end);
            let shares = one.nodes.intersects(&other.nodes);
            assert!(!meet || !shares, "{one:?} {other:?}");
        }
        for event in &failures.events {
            let is_hit = !event.up && one.start < event.time && event.time < one.end;
            assert!(!is_hit || !one.nodes.contains(event.node));
        }
    }
}

fn check_runs(outcome: &BestEffortOutcome, when_stopped: WhenStopped) {
    if outcome.fate == Fate::TooWide {
        assert!(outcome.runs.is_empty() && outcome.job.nodes > Nodes(6));
        return;
    }
    assert!(outcome.start() >= Some(outcome.job.release));
    assert!(
        outcome
            .runs
            .windows(2)
            .all(|two| two[0].end <= two[1].start)
    );
    let interrupted = outcome.stops + outcome.node_failures;
    let is_done = outcome.fate == Fate::Done;
    assert_eq!(outcome.runs.len() as u32, interrupted + u32::from(is_done));
    let work = outcome.job.runtime.min(outcome.job.estimate);
    let (kept, _) = outcome.held_until(Seconds::FAR);
    let expected = if is_done {
        outcome.job.nodes.for_span(work)
    } else {
        NodeSeconds(0)
    };
    assert_eq!(kept, expected);
    assert_eq!(
        is_done,
        when_stopped != WhenStopped::Kill || interrupted == 0
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn promises_are_the_same_with_and_without_jobs_beside_them(number in any::<u64>()) {
        let (jobs, promised, failures) = case(number);
        let asking: Vec<Job> = jobs.iter().filter(|job| job.id.0 < promised).cloned().collect();
        let model = learned(&jobs);
        for strategy in STRATEGIES {
            let estimates = strategy.overbooks.then(|| Arc::clone(&model));
            let spec = PolicySpec::named(strategy.name);
            let (alone, expected) =
                simulate(Nodes(6), &spec, estimates.clone(), &asking, &failures)
                    .expect("a registered strategy");
            for when_stopped in [WhenStopped::Requeue, WhenStopped::Suspend, WhenStopped::Kill] {
                for start in [BestEffortStart::Idle, BestEffortStart::Fits] {
                    let settings = BestEffortSettings { start, ..settings(when_stopped) };
                    let mut played = play(
                        Nodes(6), strategy, estimates.clone(), (&jobs, promised), &settings, &failures,
                    );
                    prop_assert_eq!(&played.promised, &expected, "{}", strategy.name);
                    let metrics = SimulationMetrics {
                        fees: alone.fees,
                        busy: alone.busy,
                        useful: alone.useful,
                        ..played.metrics
                    };
                    prop_assert_eq!(metrics, alone);
                    prop_assert_eq!(played.others.len() + expected.len(), jobs.len());
                    check_nodes(&mut played, &failures);
                    for other in &played.others {
                        check_runs(other, when_stopped);
                    }
                    let started = played.others.iter().filter_map(BestEffortOutcome::start);
                    prop_assert!(started.is_sorted(), "first come, first served");
                }
            }
        }
    }
}
