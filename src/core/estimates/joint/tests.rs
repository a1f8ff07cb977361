use proptest::prelude::*;

use super::super::Convolver;
use super::*;

pub(in crate::estimates) const HOUR: Seconds = Seconds::HOUR;

pub(in crate::estimates) fn hours(count: i64) -> Seconds {
    HOUR * count
}

/// Predecessor A: ends at 1 (0.5), 2 (0.25), 4 (0.25) hours.
pub(in crate::estimates) fn predecessor_a() -> CompletionDistribution {
    CompletionDistribution::new(hours(0), HOUR, hours(4), &[0.0, 0.5, 0.75, 0.75, 1.0])
}

/// Predecessor B: ends at 1 (0.25), 3 (0.75) hours.
pub(in crate::estimates) fn predecessor_b() -> CompletionDistribution {
    CompletionDistribution::new(hours(0), HOUR, hours(3), &[0.0, 0.25, 0.25, 1.0])
}

/// The new job behind them: estimate 4 h, runs 1 (0.5), 2 (0.2) or 4 (0.3) hours.
pub(in crate::estimates) fn new_job() -> RuntimeSteps {
    RuntimeSteps::from_weights(&[(1, 5.0), (2, 2.0), (4, 3.0)], HOUR).unwrap()
}

#[test]
fn alike_jobs_end_together_in_time_or_not_at_all() {
    // A ends at 1 (0.5), 2 (0.25), 4 (0.25); the job runs 1 (0.5), 2 (0.2), 4 (0.3): together
    // they end at 2 up to the quantile 0.5, at 4 up to 0.7, at 6 up to 0.75 and at 8 beyond.
    let a = predecessor_a();
    let together =
        |end| probability_executable_together(&[&a], &new_job(), hours(0), hours(4), hours(end));
    for (end, expected) in [
        (1, 0.0),
        (2, 0.5),
        (3, 0.5),
        (4, 0.7),
        (5, 0.7),
        (6, 0.75),
        (7, 0.75),
        (8, 1.0),
    ] {
        assert!(
            (together(end) - expected).abs() < 1e-15,
            "{end}: {}",
            together(end)
        );
    }
    // Nobody in front: the job's own distribution.
    let alone = probability_executable_together(&[], &new_job(), hours(0), hours(0), hours(2));
    assert!((alone - 0.7).abs() < 1e-15);
}

#[test]
fn the_joint_distribution_is_that_of_section_15_3() {
    let (a, b) = (predecessor_a(), predecessor_b());
    let both = [&a, &b];
    for (hour, expected) in [0.0, 0.125, 0.1875, 0.75, 1.0].into_iter().enumerate() {
        assert_eq!(joint_cdf_at(&both, hours(hour as i64)), expected);
    }
    let density = joint_density(&both, hours(0), hours(4), HOUR);
    assert_eq!(density, [0.0, 0.125, 0.0625, 0.5625, 0.25]);
}

#[test]
fn the_probability_of_ending_in_the_slot_of_section_15_3() {
    let (a, b) = (predecessor_a(), predecessor_b());
    let executable =
        |end| probability_executable(&[&a, &b], &new_job(), hours(0), hours(4), hours(end));
    // 0.125 · 1 + 0.0625 · 1 + 0.5625 · 0.7 + 0.25 · 0.7
    assert!((executable(6) - 0.756_25).abs() < 1e-15);
    // CDF_combined at 2, …, 8 hours.
    let expected = [0.0625, 0.118_75, 0.4125, 0.6875, 0.756_25, 0.925, 1.0];
    for (end, expected) in (2..).zip(expected) {
        assert!((executable(end) - expected).abs() < 1e-15, "at {end} h");
    }
    // Alone in a slot of 2 h: the job's own CDF at 50 %.
    let alone = probability_executable(&[], &new_job(), hours(4), hours(4), hours(6));
    assert!((alone - 0.7).abs() < 1e-15);
}

#[test]
fn mass_before_the_release_collapses_onto_it() {
    let (a, b) = (predecessor_a(), predecessor_b());
    let density = joint_density(&[&a, &b], hours(2), hours(4), HOUR);
    assert_eq!(density, [0.1875, 0.5625, 0.25]);
    assert_eq!(joint_density(&[&a, &b], hours(5), hours(4), HOUR), [1.0]);
    assert_eq!(
        joint_density(&[], hours(0), hours(2), HOUR),
        [1.0, 0.0, 0.0]
    );
}

#[test]
fn the_last_entry_takes_the_rest_at_the_planned_start() {
    let a = predecessor_a();
    // Planned start at 2 h although A may last until 4 h: at 2 h the job starts, killing
    // nobody's statistics.
    assert_eq!(
        joint_density(&[&a], hours(0), hours(2), HOUR),
        [0.0, 0.5, 0.5]
    );
}

/// A completion distribution on a random grid, from weights.
fn completion(origin: i64, step: i64, weights: &[f64], cut: i64) -> CompletionDistribution {
    let total: f64 = weights.iter().sum::<f64>() + 1e-9;
    let values: Vec<f64> = weights
        .iter()
        .scan(0.0, |sum, weight| {
            *sum += weight / total;
            Some(*sum)
        })
        .collect();
    let end = Seconds(origin + step * weights.len() as i64 - cut);
    CompletionDistribution::new(Seconds(origin), Seconds(step), end, &values)
}

fn weights() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(prop_oneof![Just(0.0), 0.0_f64..1.0], 1..30)
}

proptest! {
    #[test]
    fn the_joint_density_is_the_difference_of_the_joint_cdf(
        first in weights(), second in weights(), origins in prop::array::uniform2(-300_i64..300),
        cuts in prop::array::uniform2(0_i64..10),
        steps in prop::array::uniform2(prop::sample::select(vec![10_i64, 10, 7])),
        from in -50_i64..200, span in -20_i64..400,
    ) {
        let a = completion(origins[0], steps[0], &first, cuts[0]);
        let b = completion(origins[1], steps[1], &second, cuts[1]);
        let (from, latest) = (Seconds(from), Seconds(from + span));
        let density = joint_density(&[&a, &b], from, latest, Seconds(10));
        prop_assert!(density.iter().all(|&mass| (0.0..=1.0).contains(&mass)));
        prop_assert!((density.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let mut sum = 0.0;
        for (index, mass) in density[..density.len() - 1].iter().enumerate() {
            sum += mass;
            let time = from + Seconds(10) * index as i64;
            prop_assert!(time < latest);
            prop_assert!((sum - joint_cdf_at(&[&a, &b], time)).abs() < 1e-12);
        }
    }

    #[test]
    fn the_joint_of_one_is_itself(first in weights(), origin in -300_i64..300, time in -400_i64..700) {
        let a = completion(origin, 10, &first, 3);
        prop_assert_eq!(joint_cdf_at(&[&a], Seconds(time)), a.cdf_at(Seconds(time)));
        prop_assert_eq!(joint_cdf_at(&[], Seconds(time)), 1.0);
    }

    #[test]
    fn the_probability_has_the_bits_of_its_definition(
        first in weights(), second in weights(), runtime in prop::collection::btree_map(0_u32..40, 0.01_f64..1.0, 1..20),
        origins in prop::array::uniform2(-300_i64..300), cuts in prop::array::uniform2(0_i64..10),
        steps in prop::array::uniform2(prop::sample::select(vec![10_i64, 10, 7])),
        from in -50_i64..200, span in -20_i64..400, slot in 0_i64..400,
    ) {
        let a = completion(origins[0], steps[0], &first, cuts[0]);
        let b = completion(origins[1], steps[1], &second, cuts[1]);
        let entries: Vec<(u32, f64)> = runtime.into_iter().collect();
        let runtime = RuntimeSteps::from_weights(&entries, Seconds(10)).unwrap();
        let (from, latest, end) = (Seconds(from), Seconds(from + span), Seconds(from + span + slot));
        let mut expected = 0.0;
        for &(steps, weight) in runtime.entries() {
            let start = end - Seconds(10) * i64::from(steps);
            if start >= latest && start >= from {
                expected += weight;
            } else if start >= from {
                expected += weight * joint_cdf_at(&[&a, &b], start);
            }
        }
        let found = probability_executable(&[&a, &b], &runtime, from, latest, end);
        prop_assert_eq!(found, expected.min(1.0));
    }

    #[test]
    fn no_probability_is_above_its_bound(
        first in weights(), second in prop::collection::btree_map(0_u32..40, 0.01_f64..1.0, 1..20),
        runtime in prop::collection::btree_map(0_u32..100, 0.01_f64..1.0, 1..60),
        origins in prop::array::uniform2(-300_i64..300), window in 0_i64..400,
        from in -50_i64..200, span in -20_i64..400, slot in 0_i64..400,
    ) {
        let runs = |entries: std::collections::BTreeMap<u32, f64>| {
            let entries: Vec<(u32, f64)> = entries.into_iter().collect();
            RuntimeSteps::from_weights(&entries, Seconds(10)).unwrap()
        };
        let (second, runtime) = (runs(second), runs(runtime));
        let a = completion(origins[0], 10, &first, 3);
        // The second waits for the first.
        let (begin, killed) = (Seconds(origins[1]), Seconds(origins[1] + window));
        let b = Convolver::new().complete_after(&[&a], begin, killed, &second, killed);
        let (from, latest, end) = (Seconds(from), Seconds(from + span), Seconds(from + span + slot));
        let exact = probability_executable(&[&a, &b], &runtime, from, latest, end);
        let b_at_most = NoEarlier::Runtime { from: begin, steps: &second, window_end: killed };
        for bounds in [NoEarlier::Completion(&b), b_at_most] {
            let bounds = [NoEarlier::Completion(&a), bounds];
            let bound = probability_executable_at_most(&bounds, &runtime, from, latest, end);
            prop_assert!(bound >= exact - 1e-12, "{} {}", bound, exact);
        }
    }

    #[test]
    fn the_turned_around_product_equals_the_dot_product_on_the_grid(
        first in weights(), second in weights(), runtime in prop::collection::btree_map(0_u32..40, 0.01_f64..1.0, 1..20),
        shift in 0_i64..20, until in 1_i64..40, slot in 0_i64..40,
    ) {
        // Everything is aligned to one grid of 10 s, and the latest start lies at or after both
        // windows' ends or before.
        let a = completion(0, 10, &first, 0);
        let b = completion(10 * shift, 10, &second, 0);
        let entries: Vec<(u32, f64)> = runtime.into_iter().collect();
        let runtime = RuntimeSteps::from_weights(&entries, Seconds(10)).unwrap();
        let (from, latest) = (Seconds(0), Seconds(10 * until));
        let window_end = latest + Seconds(10 * slot);
        let turned = probability_executable(&[&a, &b], &runtime, from, latest, window_end);
        let density = joint_density(&[&a, &b], from, latest, Seconds(10));
        let dot: f64 = density.iter().zip(0_i64..).map(|(mass, start)| {
            mass * runtime.cdf_at_steps((until + slot - start) as u32)
        }).sum();
        prop_assert!((turned - dot).abs() < 1e-12, "{} {}", turned, dot);
        let later = probability_executable(&[&a, &b], &runtime, from, latest, window_end + Seconds(10));
        prop_assert!(later >= turned);
        let without = probability_executable(&[&a], &runtime, from, latest, window_end);
        prop_assert!(without >= turned);
    }
}
