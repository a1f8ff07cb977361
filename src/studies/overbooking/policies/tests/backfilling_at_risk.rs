//! Jobs that pass the first of a queue at a risk (Birkenheuer 2012, §2.4.2).

use std::sync::Arc;

use bookahead_core::estimates::{ClassFamily, EstimateModel, EstimateSettings};
use bookahead_core::failures::FailureTrace;
use bookahead_core::scheduling::{JobOutcome, PolicySpec, SimulationMetrics, Verdict};
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::{Job, JobId};
use proptest::prelude::*;

use crate::simulate;

const HOUR: i64 = 3_600;

/// A job whose times are in hours.
fn job(id: u32, submit: i64, nodes: u32, estimate: i64, ran: i64) -> Job {
    Job::rigid(
        JobId(id),
        Seconds(HOUR * submit),
        Nodes(nodes),
        Seconds(HOUR * estimate),
    )
    .running_for(Seconds(HOUR * ran))
    .numbered(id.into())
}

/// Everybody uses one of these shares of the estimate, in percent.
fn known(ratios: &[i64]) -> Arc<EstimateModel> {
    let jobs: Vec<Job> = ratios
        .iter()
        .map(|&ratio| job(0, 0, 1, 100, ratio))
        .collect();
    let settings = EstimateSettings {
        family: ClassFamily::All,
        ..EstimateSettings::default()
    };
    Arc::new(EstimateModel::learn(&jobs, &settings).unwrap())
}

/// CDF: 0.5 at 25 %, 0.8 at 50 %, 1 at 100 %.
const RATIOS: [i64; 10] = [25, 25, 25, 25, 25, 50, 50, 50, 100, 100];

fn play(risk: f64, ratios: &[i64], jobs: &[Job]) -> (SimulationMetrics, Vec<JobOutcome>) {
    let settings = PolicySpec {
        backfill_risk: risk,
        ..PolicySpec::named("easy-backfilling")
    };
    let failures = FailureTrace::default();
    simulate(Nodes(4), &settings, Some(known(ratios)), jobs, &failures).unwrap()
}

fn starts(risk: f64, jobs: &[Job]) -> Vec<i64> {
    let (_, outcomes) = play(risk, &RATIOS, jobs);
    let starts = outcomes.iter().map(|outcome| outcome.start.unwrap());
    starts.map(|start| start.0 / HOUR).collect()
}

/// Half of the nodes are taken until 4, and then the next job wants all of them. The last one asks
/// for 8 hours on the other half.
fn hole_of_four(ran: i64) -> [Job; 3] {
    [job(0, 0, 2, 4, 4), job(1, 0, 4, 4, 4), job(2, 0, 2, 8, ran)]
}

#[test]
fn a_job_passes_the_first_if_it_probably_ends_in_the_hole_in_front_of_it() {
    // The hole is half of its estimate: it outlasts it with probability 0.2, which is not below
    // 0.2.
    assert_eq!(starts(0.0, &hole_of_four(4)), [0, 4, 8]);
    assert_eq!(starts(0.05, &hole_of_four(4)), [0, 4, 8]);
    assert_eq!(starts(0.2, &hole_of_four(4)), [0, 4, 8]);
    assert_eq!(starts(0.21, &hole_of_four(4)), [0, 4, 0]);
    let (metrics, _) = play(0.21, &RATIOS, &hole_of_four(4));
    assert_eq!(
        (metrics.work.probable_passes, metrics.work.overrun_passes),
        (1, 0)
    );
}

#[test]
fn the_first_waits_for_one_that_outlasts_its_hole_and_keeps_its_place_meanwhile() {
    // It runs until 6. Another one at 1 finds a hole of 3 hours, 37 % of its estimate, and at 4 one
    // of 4 hours: the place of the first does not move with the estimate of who passed it.
    let mut jobs = hole_of_four(6).to_vec();
    assert_eq!(starts(0.21, &jobs), [0, 6, 0]);
    let (metrics, _) = play(0.21, &RATIOS, &jobs);
    assert_eq!(
        (metrics.work.probable_passes, metrics.work.overrun_passes),
        (1, 1)
    );
    jobs[2].nodes = Nodes(1);
    jobs.push(job(3, 1, 1, 8, 2));
    assert_eq!(starts(0.21, &jobs), [0, 6, 0, 4]);
    // With a larger risk it passes, too.
    assert_eq!(starts(0.51, &jobs), [0, 6, 0, 1]);
}

#[test]
fn nobody_runs_over_a_promised_window() {
    // From 6 to 8 all nodes are promised: a job of 8 hours would still run by its estimate.
    let window = job(3, 0, 4, 2, 2).into_reservation(Seconds(6 * HOUR));
    let jobs = [&[window.clone()][..], &hole_of_four(4)].concat();
    let jobs: Vec<Job> = (0..)
        .zip(jobs)
        .map(|(id, job)| Job {
            id: JobId(id),
            ..job
        })
        .collect();
    let (_, outcomes) = play(0.9, &RATIOS, &jobs);
    assert_eq!(outcomes[0].start, Some(window.release));
    assert_eq!(outcomes[3].start, Some(Seconds(12 * HOUR)));
}

fn drawn() -> impl Strategy<Value = Vec<Job>> {
    prop::collection::vec(
        (0_i64..3, 1_u32..=4, 1_i64..9, 1_i64..=9, any::<bool>()),
        1..30,
    )
    .prop_map(|drawn| {
        let mut now = 0;
        let jobs = (0..).zip(drawn);
        let jobs = jobs.map(|(id, (gap, nodes, estimate, ran, is_fixed))| {
            now += gap;
            let drawn = job(id, now, nodes, estimate, ran.min(estimate));
            if is_fixed && id % 5 == 0 {
                let start = drawn.submit + Seconds(5 * HOUR);
                drawn.into_reservation(start)
            } else {
                drawn
            }
        });
        jobs.collect()
    })
}

proptest! {
    #[test]
    fn who_never_ends_early_passes_as_under_easy(jobs in drawn()) {
        let easy = play(0.0, &[100], &jobs);
        prop_assert_eq!(play(0.99, &[100], &jobs), easy);
    }

    #[test]
    fn every_promised_window_is_kept_and_every_job_runs(
        jobs in drawn(), risk in 0.01..1.0_f64,
    ) {
        let (metrics, outcomes) = play(risk, &RATIOS, &jobs);
        prop_assert!(metrics.work.overrun_passes <= metrics.work.probable_passes);
        for outcome in &outcomes {
            if outcome.job.is_reservation() {
                let kept = outcome.start == Some(outcome.job.release);
                prop_assert!(kept || outcome.verdict == Verdict::DroppedNoSlot, "{outcome:?}");
            } else {
                prop_assert!(outcome.verdict.is_successful(), "{outcome:?}");
            }
        }
    }
}
