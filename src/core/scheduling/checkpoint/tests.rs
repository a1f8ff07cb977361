//! Formulas against published values, and rhythms against runs that are watched every second.

use proptest::prelude::*;

use super::*;
use crate::workload::JobId;

#[test]
fn youngs_interval_is_the_root_of_twice_cost_times_mttf() {
    // C = 5 min, M = 24 h: √(2 · 5 · 1,440) = 120 min.
    assert!((young_interval(300.0, 86_400.0) - 7_200.0).abs() < 1e-9);
}

#[test]
fn dalys_interval_corrects_youngs_and_ends_at_the_mttf() {
    // C / 2M = 300 / 172,800 = 1/576, its root 1/24: 7,200 · (1 + 1/72 + 1/5,184) − 300 =
    // 7,001.389.
    assert!((daly_interval(300.0, 86_400.0) - 7_001.388_888_9).abs() < 1e-6);
    assert_eq!(daly_interval(200.0, 100.0), 100.0);
    assert_eq!(daly_interval(201.0, 100.0), 100.0);
}

fn settings(interval: CheckpointInterval, cost: i64, restart: i64) -> CheckpointSettings {
    CheckpointSettings {
        interval,
        cost: Seconds(cost),
        restart: Seconds(restart),
        payer: CheckpointPayer::Provider,
        gap_end: GapEnd::Checkpoint,
        resume: ResumeRule::Any,
        memory_price: 0.0,
        bandwidth: Bandwidth::Own,
    }
}

#[test]
fn intervals_follow_from_the_nodes_of_a_job_and_a_planner_without_failures_writes_none() {
    let young = settings(CheckpointInterval::Young, 300, 0);
    let one_a_day = Checkpointing::new(young, 1.0 / 24.0);
    assert_eq!(one_a_day.rhythm(Nodes(1)).interval, Seconds(7_200));
    assert_eq!(one_a_day.rhythm(Nodes(4)).interval, Seconds(3_600));
    let never = Checkpointing::new(young, 0.0).rhythm(Nodes(4));
    assert_eq!(never.held_for(Seconds(1 << 30)), Seconds(1 << 30));
    let free = Checkpointing::new(settings(CheckpointInterval::Daly, 0, 0), 0.1);
    assert_eq!(free.rhythm(Nodes(1)).interval, Seconds(1));
}

#[test]
fn a_customer_who_pays_gets_the_work_that_fits_into_the_estimate() {
    let job = Job::rigid(JobId(0), Seconds(0), Nodes(1), Seconds(100))
        .due_by(Seconds(1_000))
        .numbered(1);
    let mut fixed = settings(CheckpointInterval::Fixed(Seconds(30)), 5, 0);
    let granted = |settings| Checkpointing::new(settings, 0.0).granted(&job);
    assert_eq!(granted(fixed), Seconds(100));
    fixed.payer = CheckpointPayer::Customer;
    // 30 + 5 + 30 + 5 + 30 = 100 seconds.
    assert_eq!(granted(fixed), Seconds(90));
}

proptest! {
    #[test]
    fn a_rhythm_agrees_with_a_run_that_is_watched_every_second(
        interval in 1_i64..40, cost in 0_i64..9, work in 0_i64..200,
    ) {
        let rhythm = Rhythm { interval: Seconds(interval), cost: Seconds(cost) };
        let (mut computed, mut saved, mut writing, mut held) = (0, 0, 0, 0);
        while computed < work {
            prop_assert_eq!(rhythm.work_in(Seconds(held)), Seconds(computed), "after {}", held);
            prop_assert_eq!(rhythm.saved_in(Seconds(held)), Seconds(saved), "after {}", held);
            held += 1;
            if writing > 0 {
                writing -= 1;
                saved = if writing == 0 { computed } else { saved };
            } else {
                computed += 1;
                if computed % interval == 0 {
                    writing = cost;
                    saved = if cost == 0 { computed } else { saved };
                }
            }
        }
        prop_assert_eq!(rhythm.held_for(Seconds(work)), Seconds(held));
    }
}
