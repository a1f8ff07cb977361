//! The strategy of 2008 through the whole cluster machine. Times are minutes; fixed reservations
//! are jobs here whose window leaves no choice.

mod habits;
mod properties;

use proptest::prelude::*;

use bookahead_core::estimates::{Binning, ClassFamily, EstimateSettings, LearningJobs, Overrun};
use bookahead_core::failures::{FailureTrace, NodeEvent};
use bookahead_core::scheduling::{
    Acceptance, Bandwidth, CheckpointInterval, CheckpointPayer, CheckpointSettings, ClusterMachine,
    CrashRule, FailedStartRule, GapEnd, JobOutcome, RecoverySettings, ResumeRule,
    SimulationMetrics, simulate_policy,
};
use bookahead_core::workload::Job;

use super::*;
use crate::policies::{Comprehensive, ComprehensiveSettings};

const MINUTE: i64 = 60;

/// A job with its window, in minutes.
fn job(id: u32, nodes: u32, release: i64, estimate: i64, runtime: i64, deadline: i64) -> Job {
    let [release, estimate, runtime, deadline] =
        [release, estimate, runtime, deadline].map(|minutes| Seconds(minutes * MINUTE));
    Job::rigid(JobId(id), Seconds(0), Nodes(nodes), estimate)
        .running_for(runtime)
        .released_at(release)
        .due_by(deadline)
        .numbered(i64::from(id) + 1)
}

/// Statistics of jobs that run for these percentages of their estimates.
fn history(percents: &[i64]) -> Arc<EstimateModel> {
    let jobs: Vec<Job> = percents
        .iter()
        .map(|&percent| job(0, 1, 0, 100, percent, 100))
        .collect();
    let settings = EstimateSettings {
        family: ClassFamily::All,
        binning: Binning::Round,
        learn_from: LearningJobs::Before,
        overrun: Overrun::Clamp,
        minimum_class_size: 1,
        ..EstimateSettings::default()
    };
    Arc::new(EstimateModel::learn(&jobs, &settings).unwrap())
}

fn settings(max_pof: f64) -> ShorteningSettings {
    ShorteningSettings {
        acceptance: Acceptance::Pof { maximum: max_pof },
        ..ShorteningSettings::default()
    }
}

fn simulate(
    nodes: Nodes,
    settings: &ShorteningSettings,
    estimates: Option<Arc<EstimateModel>>,
    jobs: &[Job],
    failures: &FailureTrace,
) -> (SimulationMetrics, Vec<JobOutcome>) {
    let policy = Shortening::new(nodes, settings.clone(), estimates);
    simulate_policy(nodes, Box::new(policy), jobs, failures)
}

fn run(
    nodes: u32,
    settings: &ShorteningSettings,
    percents: &[i64],
    jobs: &[Job],
) -> (SimulationMetrics, Vec<JobOutcome>) {
    let estimates = Some(history(percents));
    simulate(
        Nodes(nodes),
        settings,
        estimates,
        jobs,
        &FailureTrace::default(),
    )
}

/// (planned start, planned end) in seconds.
fn planned(outcome: &JobOutcome) -> Option<(i64, i64)> {
    let promise = outcome.promise?;
    Some((promise.start.0, promise.end.0))
}

/// (start, end) in seconds of a job that ran.
fn ran(outcome: &JobOutcome) -> Option<(i64, i64)> {
    Some((outcome.start?.0, outcome.end?.0))
}

/// Users overestimate by about 40 % (Birkenheuer 2008, §3.1.4).
const OVERESTIMATED: [i64; 3] = [60, 60, 60];

/// The worked example of Birkenheuer 2008, §3.1.4, with 21:00 as minute 0: all nodes are taken
/// 21–03 | 07–12, 12–17, 17–21, 21–03 | 07–12, 12–17, 17–21, and the new job of 5 h has two days.
/// Its predecessor, the job of 21–03, runs for `predecessor` minutes, the job for `runtime`.
fn worked_example(predecessor: i64, runtime: i64) -> Vec<Job> {
    let mut jobs = vec![job(0, 4, 0, 360, predecessor, 360)];
    for (start, end) in [
        (600, 900),
        (900, 1_200),
        (1_200, 1_440),
        (1_440, 1_800),
        (2_040, 2_340),
        (2_340, 2_640),
        (2_640, 2_880),
    ] {
        let length = end - start;
        jobs.push(job(jobs.len() as u32, 4, start, length, length, end));
    }
    jobs.push(job(8, 4, 0, 300, runtime, 2_880));
    jobs
}

const NEW: usize = 8;

#[test]
fn the_job_of_section_3_1_4_is_accepted_on_top_of_its_predecessor() {
    let (metrics, jobs) = run(
        4,
        &settings(0.13),
        &OVERESTIMATED,
        &worked_example(360, 240),
    );
    // By the formula: a = 360 − 360 / 1.13 = 41.416 min, 2,484 s rounded down: 21,600 − 2,484 =
    // 19,116 s. The slot ends at 07:00, minute 600. (The literal 34 minutes of the paper's text are
    // a test of the pure search.)
    assert_eq!(planned(&jobs[NEW]), Some((19_116, 36_000)));
    let promise = jobs[NEW].promise.unwrap();
    assert!(promise.overbooked);
    assert_eq!(promise.predecessors, 1);
    assert_eq!(jobs[NEW].class, Some(0));
    assert_eq!((metrics.accepted, metrics.overbooked), (9, 1));
    // The predecessor used all its time: the job starts at 03:00 and ends in time after 4 h.
    assert_eq!(ran(&jobs[NEW]), Some((21_600, 36_000)));
    assert_eq!(metrics.successful, 9);
}

#[test]
fn a_predecessor_that_uses_all_its_time_may_cost_the_overbooked_job_its_success() {
    let (metrics, jobs) = run(
        4,
        &settings(0.13),
        &OVERESTIMATED,
        &worked_example(360, 241),
    );
    assert_eq!(ran(&jobs[NEW]), Some((21_600, 36_000)));
    assert_eq!(jobs[NEW].verdict, Verdict::FailedOverbooked);
    // Nobody else pays for it: the job of 07–12 starts on time.
    assert_eq!(ran(&jobs[1]), Some((36_000, 54_000)));
    assert_eq!((metrics.successful, metrics.failed), (8, 1));
}

#[test]
fn a_predecessor_that_ends_early_lets_the_job_slide_forward() {
    // Ends after the nominal start: the job starts then, 19,500 s, and is killed at 07:00 if it
    // needs 276 min.
    let (_, jobs) = run(
        4,
        &settings(0.13),
        &OVERESTIMATED,
        &worked_example(325, 275),
    );
    assert_eq!(ran(&jobs[NEW]), Some((19_500, 36_000)));
    assert_eq!(jobs[NEW].verdict, Verdict::SuccessfulFinished);
    let (_, jobs) = run(
        4,
        &settings(0.13),
        &OVERESTIMATED,
        &worked_example(325, 276),
    );
    assert_eq!(jobs[NEW].verdict, Verdict::FailedOverbooked);
    // Ends an hour early, before the nominal start: the hour of overbooking vanishes, the full 5 h
    // are granted.
    let (_, jobs) = run(
        4,
        &settings(0.13),
        &OVERESTIMATED,
        &worked_example(300, 400),
    );
    assert_eq!(ran(&jobs[NEW]), Some((18_000, 36_000)));
    assert_eq!(jobs[NEW].verdict, Verdict::SuccessfulFullGrant);
}

#[test]
fn without_early_starts_the_job_waits_for_its_nominal_start() {
    let held = ShorteningSettings {
        early_start: EarlyStart::No,
        ..settings(0.13)
    };
    let (_, jobs) = run(4, &held, &OVERESTIMATED, &worked_example(300, 281));
    assert_eq!(ran(&jobs[NEW]), Some((19_116, 19_116 + 281 * MINUTE)));
    let (_, jobs) = run(4, &held, &OVERESTIMATED, &worked_example(325, 275));
    assert_eq!(ran(&jobs[NEW]), Some((19_500, 36_000)));
    let (_, jobs) = run(4, &held, &OVERESTIMATED, &worked_example(360, 240));
    assert_eq!(ran(&jobs[NEW]), Some((21_600, 36_000)));
}

#[test]
fn accurate_users_and_a_max_pof_of_zero_get_no_shortened_place() {
    for (max_pof, percents) in [(0.13, [95, 95, 95]), (0.0, OVERESTIMATED)] {
        let (_, jobs) = run(4, &settings(max_pof), &percents, &worked_example(360, 240));
        assert_eq!(jobs[NEW].verdict, Verdict::DroppedNoSlot);
    }
    let without = simulate(
        Nodes(4),
        &settings(0.13),
        None,
        &worked_example(360, 240),
        &FailureTrace::default(),
    );
    assert_eq!(without.1[NEW].verdict, Verdict::DroppedNoSlot);
}

#[test]
fn a_later_job_cannot_take_the_time_that_an_overbooked_job_counts_on() {
    // Two of four nodes are held until minute 360, the others until 300; the new job of 5 h has the
    // slot 360–600 on all four. It counts on [318.6, 360) on the idle nodes, so a job of 30 min
    // submitted later finds no place there.
    let mut jobs = vec![
        job(0, 2, 0, 360, 360, 360),
        job(1, 2, 0, 300, 300, 300),
        job(2, 4, 600, 300, 300, 900),
        job(3, 4, 0, 300, 100, 900),
        job(4, 2, 320, 30, 30, 380),
        job(5, 2, 300, 15, 15, 330),
    ];
    jobs[4].submit = Seconds(MINUTE);
    jobs[5].submit = Seconds(2 * MINUTE);
    let (_, outcomes) = run(4, &settings(0.13), &OVERESTIMATED, &jobs);
    assert_eq!(planned(&outcomes[3]), Some((19_116, 36_000)));
    assert_eq!(outcomes[4].verdict, Verdict::DroppedNoSlot);
    // Before the nominal start there is room: [300, 315).
    assert_eq!(planned(&outcomes[5]), Some((18_000, 18_900)));
}

#[test]
fn a_node_that_is_freed_later_than_the_moved_start_limits_it() {
    // As before, but the idle nodes are held until minute 340: a is 20 min instead of 41.4, and
    // 340 + 265.5 > 600.
    let mut jobs = vec![
        job(0, 2, 0, 360, 360, 360),
        job(1, 2, 0, 340, 340, 340),
        job(2, 4, 600, 300, 300, 900),
        job(3, 4, 0, 300, 100, 900),
    ];
    let (_, outcomes) = run(4, &settings(0.13), &OVERESTIMATED, &jobs);
    assert_eq!(outcomes[3].verdict, Verdict::DroppedNoSlot);
    // With 330 it is accepted: 330 + 265.5 < 600.
    jobs[1] = job(1, 2, 0, 330, 330, 330);
    let (_, outcomes) = run(4, &settings(0.13), &OVERESTIMATED, &jobs);
    assert_eq!(planned(&outcomes[3]), Some((330 * MINUTE, 36_000)));
}

/// The example of Birkenheuer 2008, §3, with 19:00 as minute 0: 32 nodes, fixed reservations from
/// 09:00 (minute 840) on, and three batch jobs of 5 h that run for `runtime` minutes each.
fn mini_example(runtime: i64) -> Vec<Job> {
    let mut jobs = vec![
        job(0, 32, 840, 300, 300, 1_140),
        job(1, 32, 1_140, 300, 300, 1_440),
    ];
    for id in 2..5 {
        jobs.push(job(id, 32, 0, 300, runtime, 1_440));
    }
    jobs
}

#[test]
fn three_batch_jobs_fit_into_the_night_of_section_3_1_5_if_they_are_assumed_to_end_after_four_and_a_half_hours()
 {
    // d' = 300 / (1 + 1/9) = 270 min: 3 · 270 = 810 ≤ 840.
    let (metrics, jobs) = run(32, &settings(1.0 / 9.0), &[50], &mini_example(270));
    let windows: Vec<_> = jobs[2..].iter().map(planned).collect();
    // The third is placed on the second: 600 − 30 = 570 min, until 840.
    let expected =
        [(0, 300), (300, 600), (570, 840)].map(|(start, end)| Some((start * MINUTE, end * MINUTE)));
    assert_eq!(windows, expected);
    let starts: Vec<_> = jobs[2..].iter().map(|job| job.start.unwrap().0).collect();
    assert_eq!(starts, [0, 270 * MINUTE, 540 * MINUTE]);
    assert_eq!(metrics.successful, 5);
    let (metrics, _) = run(32, &settings(0.0), &[50], &mini_example(270));
    assert_eq!(metrics.accepted, 4);
}

#[test]
fn three_batch_jobs_that_need_all_their_time_do_not_fit_and_the_last_one_fails() {
    let (metrics, jobs) = run(32, &settings(1.0 / 9.0), &[50], &mini_example(300));
    assert_eq!(jobs[4].verdict, Verdict::FailedOverbooked);
    assert_eq!(ran(&jobs[4]), Some((600 * MINUTE, 840 * MINUTE)));
    assert_eq!((metrics.accepted, metrics.successful), (5, 4));
}

#[test]
fn a_crashed_job_is_started_again_in_the_time_that_is_left() {
    let failures = FailureTrace {
        events: [(60, false), (150, true)]
            .map(|(minute, up)| NodeEvent {
                time: Seconds(minute * MINUTE),
                node: NodeIndex(0),
                up,
            })
            .to_vec(),
    };
    let jobs = [job(0, 2, 0, 120, 90, 250)];
    let go = |crash| {
        let settings = ShorteningSettings {
            recovery: RecoverySettings {
                crash,
                ..RecoverySettings::default()
            },
            ..settings(0.13)
        };
        let mut result = simulate(Nodes(2), &settings, Some(history(&[50])), &jobs, &failures);
        result.1.remove(0)
    };
    assert_eq!(
        ran(&go(CrashRule::Strategy)),
        Some((150 * MINUTE, 240 * MINUTE))
    );
    for crash in [CrashRule::RestartFull, CrashRule::Final] {
        assert_eq!(go(crash).verdict, Verdict::FailedNodes);
    }
}

#[test]
fn a_job_that_left_while_it_waited_for_a_gap_does_not_go_on_when_its_node_is_back() {
    let settings = ShorteningSettings {
        recovery: RecoverySettings {
            checkpoint: Some(CheckpointSettings {
                interval: CheckpointInterval::Fixed(Seconds(10 * MINUTE)),
                cost: Seconds::ZERO,
                restart: Seconds::ZERO,
                payer: CheckpointPayer::Provider,
                gap_end: GapEnd::Checkpoint,
                resume: ResumeRule::Any,
                memory_price: 0.0,
                bandwidth: Bandwidth::Own,
            }),
            ..RecoverySettings::default()
        },
        ..settings(0.13)
    };
    let policy = Shortening::new(Nodes(2), settings, Some(history(&[50])));
    let mut machine = ClusterMachine::new(Nodes(2), Box::new(policy));
    machine.submit([job(0, 2, 0, 120, 90, 500)]);
    machine.inject(&[(60, false), (150, true)].map(|(minute, up)| NodeEvent {
        time: Seconds(minute * MINUTE),
        node: NodeIndex(0),
        up,
    }));
    machine.settle(Seconds(60 * MINUTE));
    assert_eq!(machine.cluster().phase(JobId(0)), Phase::Disabled);
    machine.hand_over(JobId(0));
    machine.settle(Seconds(160 * MINUTE));
    assert_eq!(machine.cluster().phase(JobId(0)), Phase::Done);
    assert_eq!(machine.cluster().idle().count(), Nodes(2));
    assert!(machine.is_idle() && machine.take_outcomes().is_empty());
}
