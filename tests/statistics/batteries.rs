//! Replications of the quick start: batteries that are independent, and what became of intervals
//! when they were not.

use bookahead::scheduling::SimulationMetrics;

use super::support::samples;

const SEEDS: u64 = 500;

/// The quick start with one threshold and a strategy of each kind: what is asked of its intervals
/// is the same for all.
fn quick_start() -> String {
    let text = include_str!("../../configs/quickstart.toml");
    let axes = text.find("[[axis]]").expect("the quick start has axes");
    format!(
        "{}pof_max = 0.2\n\n[[axis]]\nkey = \"scheduling.strategy\"\n\
         values = [\"conservative-backfilling\", \"heuristic-planning\", \"heuristic-overbooking\"]\n",
        &text[..axes]
    )
}

fn gain(metrics: &SimulationMetrics, penalty_ratio: f64) -> f64 {
    (metrics.fees.0 as f64 - penalty_ratio * metrics.forfeited.0 as f64) / 3_600.0
}

#[test]
#[ignore = "minutes"]
fn intervals_of_the_quick_start_cover_the_mean_of_all_seeds_and_two_seeds_agree() {
    for sample in samples(&quick_start(), SEEDS, gain) {
        println!("{}", sample.line());
        assert!((0.93..=0.97).contains(&sample.coverage()));
        assert!((0.03..=0.07).contains(&sample.false_alarms()));
        assert!(sample.intraclass_correlation().abs() < 0.04);
    }
}

#[test]
#[ignore = "minutes"]
fn one_factor_for_all_batteries_makes_intervals_too_narrow() {
    let one_factor = [
        ("fresh = true\njobs = 4000", "jobs = 20000"),
        ("load = { each_battery", "load = { value"),
    ]
    .into_iter()
    .fold(quick_start(), |text, (fresh, shared)| {
        assert_eq!(text.matches(fresh).count(), 1, "{fresh}");
        text.replace(fresh, shared)
    });
    for sample in samples(&one_factor, SEEDS, gain) {
        println!("{}", sample.line());
        assert!(sample.coverage() < 0.93);
        assert!(sample.false_alarms() > 0.08);
    }
}
