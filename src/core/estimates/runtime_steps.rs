//! The runtime of one job on time steps: the percent bins of its class stretched over its own
//! estimate.

use super::{RATIO_BINS, RatioDistribution};
use crate::units::Seconds;

/// The distribution of one job's runtime on steps of Δ seconds, as the few steps that have any
/// probability.
///
/// Bin `i` of the ratio distribution ends at step `ceil(i · x / 100 / Δ)`; bins that end at the
/// same step are merged, and bin 0 ends at step 0. Nothing lies beyond the estimate, because a job
/// never gets more.
#[derive(Clone, Debug, PartialEq)]
pub struct RuntimeSteps {
    step: Seconds,
    entries: Vec<(u32, f64)>,
    cumulative: Vec<f64>,
}

impl RuntimeSteps {
    /// The runtime of a job with this estimate, on steps of `step` seconds. Both are taken as at
    /// least 1 s.
    #[must_use]
    pub fn new(ratios: &RatioDistribution, estimate: Seconds, step: Seconds) -> Self {
        let (estimate, hundred_steps) = (estimate.0.max(1), step.0.max(1).checked_mul(100));
        // Divisions in 128 bits are slow, and it takes a thousand million years to need them.
        let narrow = hundred_steps.filter(|steps| estimate.max(*steps) <= i64::MAX / 200);
        let wide = || 100 * i128::from(step.0.max(1));
        let end_of = |bin: usize| match narrow {
            Some(steps) => i128::from((bin as i64 * estimate + steps - 1) / steps),
            None => (bin as i128 * i128::from(estimate) + wide() - 1) / wide(),
        };
        let mut entries: Vec<(u32, f64)> = Vec::with_capacity(RATIO_BINS);
        let mut cumulative = Vec::with_capacity(RATIO_BINS);
        for bin in (0..RATIO_BINS).filter(|&bin| ratios.pdf(bin) > 0.0) {
            let end = u32::try_from(end_of(bin)).unwrap_or(u32::MAX);
            match entries.last_mut() {
                Some(last) if last.0 == end => {
                    last.1 += ratios.pdf(bin);
                    cumulative.pop();
                }
                _ => entries.push((end, ratios.pdf(bin))),
            }
            cumulative.push(ratios.cdf(bin));
        }
        Self {
            step: Seconds(step.0.max(1)),
            entries,
            cumulative,
        }
    }

    /// A runtime that takes these numbers of steps with these weights, which are scaled to sum
    /// to 1.
    ///
    /// `None` if there is no entry, if the steps do not ascend, or if a weight is not positive and
    /// finite.
    #[must_use]
    pub fn from_weights(weights: &[(u32, f64)], step: Seconds) -> Option<Self> {
        let total: f64 = weights.iter().map(|&(_, weight)| weight).sum();
        let ascending = weights.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let positive = weights.iter().all(|&(_, weight)| weight > 0.0);
        if weights.is_empty() || !ascending || !positive || !total.is_finite() {
            return None;
        }
        let mut sum = 0.0;
        let mut cumulative: Vec<f64> = Vec::with_capacity(weights.len());
        for &(_, weight) in weights {
            sum += weight;
            cumulative.push((sum / total).min(1.0));
        }
        Some(Self {
            step: Seconds(step.0.max(1)),
            entries: weights
                .iter()
                .map(|&(end, weight)| (end, weight / total))
                .collect(),
            cumulative,
        })
    }

    /// The same of a job that takes at least one step.
    #[must_use]
    pub fn at_least_one(&self) -> Self {
        let mut longer = self.clone();
        match (self.entries.first(), self.entries.get(1)) {
            (Some(&(0, none)), Some((1, _))) => {
                longer.entries.remove(0);
                longer.cumulative.remove(0);
                longer.entries[0].1 += none;
            }
            (Some((0, _)), _) => longer.entries[0].0 = 1,
            _ => {}
        }
        longer
    }

    /// Width Δ of a step, at least 1 s.
    #[must_use]
    pub fn step(&self) -> Seconds {
        self.step
    }

    /// The steps with any probability and that probability, in ascending order of steps; never
    /// empty, at most 101.
    #[must_use]
    pub fn entries(&self) -> &[(u32, f64)] {
        &self.entries
    }

    /// Probability that the job runs for at most this many steps.
    #[must_use]
    pub fn cdf_at_steps(&self, steps: u32) -> f64 {
        match self.entries.partition_point(|&(end, _)| end <= steps) {
            0 => 0.0,
            within => self.cumulative[within - 1],
        }
    }

    /// The longest possible runtime in steps.
    #[cfg(test)]
    pub(crate) fn longest(&self) -> u32 {
        self.entries.last().map_or(0, |&(end, _)| end)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    impl RuntimeSteps {
        /// Mean runtime in steps.
        fn mean_steps(&self) -> f64 {
            self.entries
                .iter()
                .map(|&(end, probability)| f64::from(end) * probability)
                .sum()
        }
    }

    fn ratios(bins: &[(usize, u64)]) -> RatioDistribution {
        let mut counts = [0; RATIO_BINS];
        for &(bin, count) in bins {
            counts[bin] = count;
        }
        RatioDistribution::from_counts(counts).unwrap()
    }

    #[test]
    fn the_new_job_of_section_15_3_runs_one_two_or_four_hours() {
        let class = ratios(&[(25, 5), (50, 2), (100, 3)]);
        let runtime = RuntimeSteps::new(&class, Seconds::HOUR * 4, Seconds::HOUR);
        assert_eq!(runtime.entries(), [(1, 0.5), (2, 0.2), (4, 0.3)]);
        assert_eq!(
            [0, 1, 2, 3, 4, 9].map(|at| runtime.cdf_at_steps(at)),
            [0.0, 0.5, 0.7, 0.7, 1.0, 1.0]
        );
        // 0.5 · 1 + 0.2 · 2 + 0.3 · 4 = 2.1
        assert!((runtime.mean_steps() - 2.1).abs() < 1e-15);
    }

    #[test]
    fn whoever_would_end_at_once_takes_one_step_at_least() {
        let steps =
            |weights: &[(u32, f64)]| RuntimeSteps::from_weights(weights, Seconds(60)).unwrap();
        let longer = steps(&[(0, 0.5), (1, 0.3), (3, 0.2)]).at_least_one();
        assert_eq!(longer.entries(), [(1, 0.8), (3, 0.2)]);
        assert_eq!([0, 1, 3].map(|at| longer.cdf_at_steps(at)), [0.0, 0.8, 1.0]);
        let longer = steps(&[(0, 0.5), (3, 0.5)]).at_least_one();
        assert_eq!(longer, steps(&[(1, 0.5), (3, 0.5)]));
        assert_eq!(steps(&[(0, 1.0)]).at_least_one(), steps(&[(1, 1.0)]));
        assert_eq!(steps(&[(2, 1.0)]).at_least_one(), steps(&[(2, 1.0)]));
    }

    #[test]
    fn bins_end_at_the_next_step_and_equal_steps_merge() {
        // x = 250 s, Δ = 60 s: bin 0 → 0, bin 1 (2.5 s) and bin 24 (60 s) → 1, bin 25 (62.5 s) → 2,
        // bin 100 → 5.
        let class = ratios(&[(0, 1), (1, 1), (24, 2), (25, 1), (100, 5)]);
        let runtime = RuntimeSteps::new(&class, Seconds(250), Seconds(60));
        let expected = [(0, 0.1), (1, 0.3), (2, 0.1), (5, 0.5)];
        assert_eq!(runtime.entries().len(), expected.len());
        for (entry, wanted) in runtime.entries().iter().zip(expected) {
            assert_eq!(entry.0, wanted.0);
            assert!((entry.1 - wanted.1).abs() < 1e-15);
        }
        assert_eq!(runtime.cdf_at_steps(1), 0.4);
        assert_eq!(runtime.longest(), 5);
    }

    #[test]
    fn weights_are_checked_and_scaled() {
        let runtime = RuntimeSteps::from_weights(&[(1, 1.0), (3, 3.0)], Seconds(60)).unwrap();
        assert_eq!(runtime.entries(), [(1, 0.25), (3, 0.75)]);
        let bad: [&[(u32, f64)]; 4] = [
            &[],
            &[(2, 1.0), (2, 1.0)],
            &[(1, 0.0)],
            &[(1, f64::INFINITY)],
        ];
        for weights in bad {
            assert_eq!(RuntimeSteps::from_weights(weights, Seconds(60)), None);
        }
    }

    proptest! {
        #[test]
        fn ends_are_the_rounded_quotients_whatever_their_size(
            bin in 0_usize..RATIO_BINS, estimate in 1_i64.., step in prop_oneof![1_i64..100_000, 1_i64..],
        ) {
            let runtime = RuntimeSteps::new(&ratios(&[(bin, 1)]), Seconds(estimate), Seconds(step));
            let hundred_steps = 100 * i128::from(step);
            let end = (bin as i128 * i128::from(estimate)).div_euclid(hundred_steps);
            let end = end + i128::from(bin as i128 * i128::from(estimate) > end * hundred_steps);
            prop_assert_eq!(runtime.longest(), u32::try_from(end).unwrap_or(u32::MAX));
        }

        #[test]
        fn steps_agree_with_the_bins_they_came_from(
            bins in prop::collection::vec((0_usize..RATIO_BINS, 1_u64..50), 1..40),
            estimate in 1_i64..100_000, step in 1_i64..4_000,
        ) {
            let class = ratios(&bins);
            let runtime = RuntimeSteps::new(&class, Seconds(estimate), Seconds(step));
            let total: f64 = runtime.entries().iter().map(|entry| entry.1).sum();
            prop_assert!((total - 1.0).abs() < 1e-12);
            prop_assert!(i64::from(runtime.longest()) <= (estimate + step - 1) / step);
            prop_assert_eq!(runtime.cdf_at_steps(u32::MAX), 1.0);
            prop_assert!(runtime.entries().windows(2).all(|pair| pair[0].0 < pair[1].0));
            // Rounding a bin's end up to a step can only delay it, by less than one percent and one
            // step together.
            for steps in 0..=runtime.longest() {
                let elapsed = Seconds(i64::from(steps) * step);
                prop_assert!(runtime.cdf_at_steps(steps) <= class.cdf_at(elapsed, Seconds(estimate)) + 1e-15);
            }
        }
    }
}
