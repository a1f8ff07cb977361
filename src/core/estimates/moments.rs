//! Mean and variance of times, for rules that look at nothing else.

use super::completion::grid_points;
use super::{CompletionDistribution, RATIO_BINS, RatioDistribution, RuntimeSteps, joint_density};
use crate::units::Seconds;

/// Mean and variance of a time, in seconds and their square, or of a ratio.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    /// The mean.
    pub mean: f64,
    /// The variance, 0 or more.
    pub variance: f64,
}

impl Moments {
    /// Of values with these probabilities, which sum to 1.
    fn of(values: impl Iterator<Item = (f64, f64)> + Clone) -> Self {
        let mean = values
            .clone()
            .map(|(value, probability)| value * probability)
            .sum::<f64>();
        let variance = values
            .map(|(value, probability)| (value - mean) * (value - mean) * probability)
            .sum();
        Self { mean, variance }
    }

    /// Of the sum of two independent times.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            mean: self.mean + other.mean,
            variance: self.variance + other.variance,
        }
    }

    /// The mean plus so many standard deviations.
    #[must_use]
    pub fn upper(self, sigmas: f64) -> f64 {
        self.mean + sigmas * libm::sqrt(self.variance)
    }
}

impl RuntimeSteps {
    /// Of the run time, in seconds.
    #[must_use]
    pub fn moments(&self) -> Moments {
        let step = self.step().0 as f64;
        let entries = self.entries().iter();
        Moments::of(entries.map(|&(end, probability)| (f64::from(end) * step, probability)))
    }
}

impl RatioDistribution {
    /// Of the binned ratios of run time to estimate.
    #[must_use]
    pub fn moments(&self) -> Moments {
        Moments::of((0..RATIO_BINS).map(|bin| (bin as f64 / 100.0, self.pdf(bin))))
    }
}

/// Of the time from `from` until the last of these predecessors has ended, in seconds: they are
/// taken as independent, the start is `from` at the earliest and `latest` at the latest, on the
/// grid of [`joint_density`].
#[must_use]
pub fn wait_moments(
    predecessors: &[&CompletionDistribution],
    from: Seconds,
    latest: Seconds,
    step: Seconds,
) -> Moments {
    let density = joint_density(predecessors, from, latest, step);
    let last = grid_points(from, latest, step);
    let longest = (latest - from).0.max(0);
    Moments::of(density.iter().enumerate().map(|(index, &probability)| {
        let waited = if index == last {
            longest
        } else {
            step.0.max(1) * index as i64
        };
        (waited as f64, probability)
    }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::joint::tests::{HOUR, hours, new_job, predecessor_a, predecessor_b};
    use super::*;

    #[test]
    fn the_moments_of_section_15_3_are_those_computed_by_hand() {
        // The job: 2.1 h, 1.69 h². A ends at 1 (0.5), 2 (0.25), 4 (0.25), B at 1 (0.25), 3 (0.75):
        // the later of both at 1 (0.125), 2 (0.0625), 3 (0.5625) and 4 (0.25), so 2.9375 h and
        // 0.125 + 0.25 + 5.0625 + 4 − 2.9375² = 0.80859375 h².
        let near = |moments: Moments, mean: f64, variance: f64| {
            assert!((moments.mean / 3_600.0 - mean).abs() < 1e-12);
            assert!((moments.variance / 3_600.0 / 3_600.0 - variance).abs() < 1e-12);
        };
        near(new_job().moments(), 2.1, 1.69);
        let (a, b) = (predecessor_a(), predecessor_b());
        let wait = wait_moments(&[&a, &b], hours(0), hours(4), HOUR);
        near(wait, 2.9375, 0.808_593_75);
        near(wait.plus(new_job().moments()), 5.0375, 2.498_593_75);
        // It waits until 3 h at the most: 1 (0.125), 2 (0.0625), 3 (0.8125).
        near(
            wait_moments(&[&a, &b], hours(0), hours(3), HOUR),
            2.6875,
            0.464_843_75,
        );
        near(wait_moments(&[], hours(0), hours(3), HOUR), 0.0, 0.0);
        near(wait_moments(&[&a], hours(3), hours(2), HOUR), 0.0, 0.0);
    }

    #[test]
    fn a_last_start_between_two_steps_counts_as_it_is() {
        // It never ends before its window does, at 90 s; steps of 60 s.
        let certain = CompletionDistribution::certain(Seconds(90), Seconds(60));
        let wait = wait_moments(&[&certain], Seconds(0), Seconds(90), Seconds(60));
        assert_eq!((wait.mean, wait.variance), (90.0, 0.0));
    }

    proptest! {
        /// The slow twin: every combination of ends by itself.
        #[test]
        fn moments_are_those_of_all_combinations_of_ends(
            first in prop::collection::vec(0.01_f64..1.0, 1..6), second in prop::collection::vec(0.01_f64..1.0, 1..6),
            runtime in prop::collection::vec(0.01_f64..1.0, 1..6), from in 0_i64..4, latest in 0_i64..8,
        ) {
            let shares = |weights: &[f64]| -> Vec<(i64, f64)> {
                let total: f64 = weights.iter().sum();
                (1..).zip(weights).map(|(end, weight)| (end, weight / total)).collect()
            };
            let completion = |ends: &[(i64, f64)]| {
                let mut sum = 0.0;
                let mut cdf = vec![0.0];
                cdf.extend(ends.iter().map(|&(_, share)| { sum += share; sum }));
                CompletionDistribution::new(Seconds(0), Seconds(1), Seconds(ends.len() as i64), &cdf)
            };
            let (first, second, runs) = (shares(&first), shares(&second), shares(&runtime));
            let weights: Vec<(u32, f64)> = (1..).zip(&runs).map(|(end, &(_, share))| (end, share)).collect();
            let steps = RuntimeSteps::from_weights(&weights, Seconds(1)).unwrap();
            let (mut mean, mut square) = (0.0, 0.0);
            for &(one, p) in &first {
                for &(other, q) in &second {
                    for &(run, r) in &runs {
                        let start = one.max(other).max(from).min(latest.max(from));
                        let time = (start - from + run) as f64;
                        mean += p * q * r * time;
                        square += p * q * r * time * time;
                    }
                }
            }
            let (one, other) = (completion(&first), completion(&second));
            let sum = wait_moments(&[&one, &other], Seconds(from), Seconds(latest), Seconds(1)).plus(steps.moments());
            prop_assert!((sum.mean - mean).abs() < 1e-9, "{} instead of {mean}", sum.mean);
            prop_assert!((sum.variance - (square - mean * mean)).abs() < 1e-8);
        }
    }
}
