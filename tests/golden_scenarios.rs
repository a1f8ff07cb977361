//! The golden scenarios G1 and G2: small cases worked out by hand.

use bookahead::failures::FailureTrace;
use bookahead::scheduling::{JobOutcome, PolicySpec, PredecessorRule, Verdict};
use bookahead::units::Coins;
use bookahead::workload::Job;

use crate::support::{job, outages, perfect, run};

/// Ratios of G1: 25 % (0.5), 50 % (0.3), 100 % (0.2).
fn history() -> Vec<Job> {
    [25, 25, 25, 25, 25, 50, 50, 50, 100, 100]
        .into_iter()
        .enumerate()
        .map(|(id, percent)| job(id as u32, 0, 1, 100, percent))
        .collect()
}

fn g1(last_runtime: i64) -> Vec<Job> {
    vec![
        job(0, 0, 2, 8, 2),
        job(1, 1, 1, 8, 4),
        job(2, 3, 2, 8, 8),
        job(3, 4, 1, 8, last_runtime),
    ]
}

/// (start, end) in hours of a job that ran.
fn hours(outcome: &JobOutcome) -> Option<(i64, i64)> {
    Some((outcome.start?.0 / 3_600, outcome.end?.0 / 3_600))
}

/// (planned start, planned end) in hours.
fn planned(outcome: &JobOutcome) -> Option<(i64, i64)> {
    let promise = outcome.promise?;
    Some((promise.start.0 / 3_600, promise.end.0 / 3_600))
}

fn simulate(strategy: &str, pof_max: f64, last_runtime: i64) -> (Coins, Vec<JobOutcome>) {
    simulate_with(&perfect(strategy, pof_max), last_runtime)
}

fn simulate_with(settings: &PolicySpec, last_runtime: i64) -> (Coins, Vec<JobOutcome>) {
    let (metrics, outcomes) = run(
        2,
        settings,
        &history(),
        &g1(last_runtime),
        &FailureTrace::default(),
    );
    (metrics.gain(1.0), outcomes)
}

#[test]
fn g1_conservative_backfilling_keeps_every_reservation_and_drops_the_third_job() {
    for (runtime, end) in [(5, 13), (8, 16)] {
        let (gain, jobs) = simulate("conservative-backfilling", 0.25, runtime);
        assert_eq!(hours(&jobs[0]), Some((0, 2)));
        assert_eq!(hours(&jobs[1]), Some((8, 12)));
        assert_eq!(jobs[2].verdict, Verdict::DroppedNoSlot);
        assert_eq!(planned(&jobs[3]), Some((8, 16)));
        assert_eq!(hours(&jobs[3]), Some((8, end)));
        assert_eq!(gain, Coins(32.0));
    }
}

#[test]
fn g1_heuristic_planning_moves_jobs_forward_and_drops_the_fourth() {
    for runtime in [5, 8] {
        let (gain, jobs) = simulate("heuristic-planning", 0.25, runtime);
        assert_eq!(hours(&jobs[0]), Some((0, 2)));
        assert_eq!(planned(&jobs[1]), Some((8, 16)));
        assert_eq!(hours(&jobs[1]), Some((2, 6)));
        assert_eq!(planned(&jobs[2]), Some((10, 18)));
        assert_eq!(hours(&jobs[2]), Some((6, 14)));
        assert_eq!(jobs[3].verdict, Verdict::DroppedNoSlot);
        assert_eq!(gain, Coins(40.0));
    }
}

#[test]
fn g1_overbooking_accepts_the_fourth_job_at_a_quarter_and_not_at_a_fifth() {
    for strategy in ["heuristic-overbooking", "comprehensive-overbooking"] {
        let (gain, jobs) = simulate(strategy, 0.25, 5);
        assert_eq!(hours(&jobs[0]), Some((0, 2)), "{strategy}");
        assert_eq!(hours(&jobs[1]), Some((2, 6)), "{strategy}");
        assert_eq!(planned(&jobs[2]), Some((10, 18)), "{strategy}");
        assert_eq!(hours(&jobs[2]), Some((9, 17)), "{strategy}");
        assert_eq!(planned(&jobs[3]), Some((4, 10)), "{strategy}");
        assert_eq!(hours(&jobs[3]), Some((4, 9)), "{strategy}");
        let promise = jobs[3].promise.expect("accepted");
        assert!(promise.overbooked);
        assert!((promise.success.expect("tested").pof() - 0.2).abs() < 1e-12);
        assert_eq!(gain, Coins(48.0), "{strategy}");

        let (gain, jobs) = simulate(strategy, 0.25, 8);
        assert_eq!(jobs[3].verdict, Verdict::FailedOverbooked, "{strategy}");
        assert_eq!(hours(&jobs[3]), Some((4, 10)), "{strategy}");
        assert_eq!(hours(&jobs[2]), Some((10, 18)), "{strategy}");
        assert_eq!(gain, Coins(32.0), "{strategy}");
    }
}

#[test]
fn g1_a_probability_of_a_fifth_is_not_below_a_fifth() {
    // With PoF_max 0.20 the fourth job is dropped when its predecessors are taken to use all
    // their planned time.
    for strategy in ["heuristic-overbooking", "comprehensive-overbooking"] {
        for runtime in [5, 8] {
            let settings = PolicySpec {
                predecessors: PredecessorRule::Planned,
                ..perfect(strategy, 0.2)
            };
            let (gain, jobs) = simulate_with(&settings, runtime);
            assert_eq!(jobs[3].verdict, Verdict::DroppedNoSlot, "{strategy}");
            assert_eq!(gain, Coins(40.0), "{strategy}");
        }
    }
}

#[test]
fn g1_the_joint_distribution_finds_a_place_behind_the_third_job() {
    // With the joint distribution (Birkenheuer 2012, §3.2.2; A-11) the fourth job is not accepted
    // at 4–10 (PoF 0.2), but at 18–20: J2 ends at 4, 6, 8, 10 or later with 0.25, 0.30, 0.09, 0.36,
    // so J3 (start at 10 at the latest) ends at 6, 8, 10, 12, 14, 16, 18 with 0.125, 0.225, 0.135,
    // 0.257, 0.168, 0.018, 0.072. J4 ends by 20 in P(J3 ≤ 12) + 0.8 · P(J3 = 14, 16) + 0.5 · P(J3 =
    // 18) = 0.742 + 0.1488 + 0.036 = 0.9268 of all cases.
    for (runtime, gain_expected) in [(5, 48.0), (8, 32.0)] {
        let (gain, jobs) = simulate("comprehensive-overbooking", 0.2, runtime);
        assert_eq!(planned(&jobs[3]), Some((18, 20)));
        let success = jobs[3].promise.and_then(|promise| promise.success);
        assert!((success.expect("tested").pof() - 0.0732).abs() < 1e-12);
        assert_eq!(hours(&jobs[2]), Some((6, 14)));
        assert_eq!(hours(&jobs[3]), Some((14, (14 + runtime).min(20))));
        assert_eq!(gain, Coins(gain_expected));
    }
}

#[test]
fn g2_only_overbooking_strategies_restart_a_crashed_job_in_less_than_its_estimate() {
    let jobs = [job(0, 0, 2, 4, 2)];
    let failures = outages(&[(0, 1, 5)]);
    for strategy in ["conservative-backfilling", "heuristic-planning"] {
        let (metrics, outcomes) = run(2, &perfect(strategy, 0.5), &[], &jobs, &failures);
        assert_eq!(outcomes[0].verdict, Verdict::FailedNodes, "{strategy}");
        assert_eq!(metrics.gain(1.0), Coins(-8.0), "{strategy}");
    }
    for strategy in ["heuristic-overbooking", "comprehensive-overbooking"] {
        let (metrics, outcomes) = run(2, &perfect(strategy, 0.5), &history(), &jobs, &failures);
        assert_eq!(hours(&outcomes[0]), Some((5, 7)), "{strategy}");
        assert_eq!(outcomes[0].restarts, 1, "{strategy}");
        assert_eq!(metrics.gain(1.0), Coins(8.0), "{strategy}");
    }
}
