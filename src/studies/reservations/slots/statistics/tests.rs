use bookahead_core::kernel::drive;
use bookahead_core::plan::SlotRules;
use bookahead_core::scheduling::{JobOutcome, Verdict};
use bookahead_core::units::Nodes;
use bookahead_core::workload::{Job, JobId};

use super::*;
use crate::slots::{SlotSource, SlotStudyRun, SlotStudySettings, slot_scene};

/// A study of free rectangles that keeps what became of its jobs.
fn run(jobs: &[Job], nodes: u32, sample_period: Seconds) -> SlotStudyRun {
    let settings = SlotStudySettings {
        source: SlotSource::FreeRectangles,
        rules: SlotRules::default(),
        sample_period,
    };
    let scene = slot_scene(&jobs.into(), Nodes(nodes), &settings, true);
    drive(scene, false).machine.finish()
}

fn starts(run: &SlotStudyRun) -> Vec<Option<Seconds>> {
    run.jobs.iter().map(|outcome| outcome.start).collect()
}

fn job(id: u32, submit: i64, nodes: u32, runtime: i64, estimate: i64) -> Job {
    Job::rigid(
        JobId(id),
        Seconds::HOUR * submit,
        Nodes(nodes),
        Seconds::HOUR * estimate,
    )
    .running_for(Seconds::HOUR * runtime)
}

fn hours(count: i64) -> Option<Seconds> {
    Some(Seconds::HOUR * count)
}

#[test]
fn the_four_tasks_of_the_thesis_start_at_0_3_0_and_4() {
    // Singh 2008, Figure 1, as an event loop; the last job only keeps the window open.
    let jobs = [
        job(0, 0, 2, 3, 9),
        job(1, 0, 4, 1, 9),
        job(2, 0, 1, 2, 2),
        job(3, 0, 3, 2, 9),
        job(4, 8, 1, 1, 1),
    ];
    let run = run(&jobs, 5, Seconds::HOUR);
    assert_eq!(
        starts(&run),
        [hours(0), hours(3), hours(0), hours(4), hours(8)]
    );
    assert_eq!(run.samples.len(), 9);
    let measured = |name| run.measured.get(name);
    assert_eq!(measured("slot_samples"), Some(9.0));
    // 2·3 + 4·1 + 1·2 + 3·2 node-hours of 5·8.
    assert_eq!(
        measured("loaded_utilisation_percent"),
        Some(100.0 * (18.0 / 40.0))
    );
    assert_eq!(measured("job_wait_hours"), Some((3.0 + 4.0) / 5.0));
}

#[test]
fn a_job_ends_with_its_estimate_and_one_that_never_fits_does_not_start() {
    let jobs = [
        job(0, 0, 3, 10, 2),
        job(1, 0, 4, 1, 1),
        job(2, 1, 3, 0, 5),
        job(3, 1, 3, 1, 1),
    ];
    let run = run(&jobs, 3, Seconds::ZERO);
    assert_eq!(
        starts(&run),
        [
            hours(0),
            None,
            hours(2),
            Some(Seconds::HOUR * 2 + Seconds(1))
        ]
    );
    let too_wide = |outcome: &&JobOutcome| outcome.verdict == Verdict::DroppedTooWide;
    assert_eq!(run.jobs.iter().filter(too_wide).count(), 1);
    assert_eq!(run.measured.get("slot_samples"), Some(0.0));
}

#[test]
fn no_jobs_make_no_trouble() {
    let run = run(&[], 2, Seconds::HOUR);
    assert_eq!(run.measured.get("loaded_utilisation_percent"), Some(0.0));
    assert!(run.jobs.is_empty());
}

#[test]
fn bins_are_those_of_figures_4_and_7() {
    // Singh 2008, Figures 4 and 7.
    for (value, expected) in [(0, 0), (1, 0), (2, 1), (4, 1), (5, 2), (58, 19), (59, 20)] {
        assert_eq!(bin(value, 2, 3, FIGURE_4_BINS), expected);
    }
    for (value, expected) in [
        (1, 0),
        (2, 1),
        (5, 1),
        (6, 2),
        (65, 16),
        (66, 17),
        (430, 17),
    ] {
        assert_eq!(bin(value, 2, 4, FIGURE_7_BINS), expected);
    }
}

#[test]
fn slots_are_measured_from_the_instant_of_their_sample() {
    let now = Seconds::HOUR * 100;
    let hole = Slot::hole(now, Nodes(1), now + Seconds::HOUR);
    let edge = Slot {
        end: now + ADVERTISING_HORIZON,
        ..Slot::edge(now + Seconds::HOUR * 8, Nodes(16))
    };
    let mut statistics = SlotStatistics::default();
    statistics.sample(now, &[hole, edge], 7);
    statistics.sample(now, &[edge], 3);
    assert_eq!(statistics.mean_slots(), 1.5);
    assert_eq!(statistics.mean_tasks(), 5.0);
    assert_eq!(statistics.edge_slots(), 2);
    assert_eq!(statistics.correlation(), Some(1.0));
    let starts = statistics.starts().expect("slots");
    assert_eq!((starts.p5, starts.median, starts.p95), (0.0, 8.0, 8.0));
    let durations = statistics.durations().expect("slots");
    assert_eq!((durations.p25, durations.median), (1.0, 40.0));
}

#[test]
fn what_never_varies_correlates_with_nothing() {
    let mut statistics = SlotStatistics::default();
    assert_eq!(statistics.correlation(), None);
    assert_eq!(statistics.starts(), None);
    statistics.sample(Seconds::ZERO, &[], 4);
    statistics.sample(Seconds::HOUR, &[], 5);
    assert_eq!(statistics.correlation(), None);
}

#[test]
fn the_correlation_is_the_textbook_one() {
    let pairs = [(1.0, 2.0), (2.0, 1.0), (3.0, 4.0), (5.0, 3.0), (8.0, 9.0)];
    let mut running = Correlation::default();
    for (x, y) in pairs {
        running.add(x, y);
    }
    let n = pairs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / n;
    let (mean_x, mean_y) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in pairs {
        xy += (x - mean_x) * (y - mean_y);
        xx += (x - mean_x).powi(2);
        yy += (y - mean_y).powi(2);
    }
    let expected = xy / (xx * yy).sqrt();
    assert!((running.coefficient().expect("varies") - expected).abs() < 1e-12);
}
