//! The distribution of the runtime ratio `X = ω / x` of one class of jobs, in whole percents
//! (Birkenheuer 2012, §3.2).
//!
//! Purely empirical and discrete: 101 bins, no fitting. Counting is exact integer arithmetic, so
//! the same jobs give the same bins on every machine.

use serde::{Deserialize, Serialize};

use super::{Binning, Overrun};
use crate::units::Seconds;

/// Number of bins: 0 %, 1 %, …, 100 % of the estimate.
pub const RATIO_BINS: usize = 101;

/// An empirical distribution of runtime ÷ estimate over the bins 0…100 %, learned from at least one
/// job.
#[derive(Clone, Debug, PartialEq)]
pub struct RatioDistribution {
    /// How many jobs it was learned from, or what is left of them where counts age: above 0.
    weight: f64,
    mean_ratio: f64,
    probabilities: [f64; RATIO_BINS],
    cumulative: [f64; RATIO_BINS],
}

/// A range of ratios in whole percents, both ends included, and how likely its distribution says
/// that a job ends in it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatioRange {
    /// The smallest ratio.
    pub low: u8,
    /// The largest ratio.
    pub high: u8,
    /// P(low ≤ X ≤ high), in `[0, 1]`. As ratios are whole percents, it is more than what was asked
    /// for, by up to what lies on the ends.
    pub probability: f64,
}

impl RatioRange {
    /// Whether a job that ran so long in truth ends in the range. Who outlasts the estimate counts
    /// as 100 %.
    #[must_use]
    pub fn contains(&self, runtime: Seconds, estimate: Seconds) -> bool {
        ratio_bin(runtime, estimate, Binning::Round, Overrun::Clamp)
            .is_some_and(|bin| (usize::from(self.low)..=usize::from(self.high)).contains(&bin))
    }
}

impl RatioDistribution {
    /// Learns from pairs (real runtime, estimate); `None` if not one of them is usable.
    ///
    /// Usable are jobs with an estimate above 0 and a runtime of at least 0, and, under
    /// [`Overrun::Drop`], those that ran no longer than their estimate.
    #[must_use]
    pub fn from_ratios(
        ratios: impl IntoIterator<Item = (Seconds, Seconds)>,
        binning: Binning,
        overrun: Overrun,
    ) -> Option<Self> {
        let mut counts = [0; RATIO_BINS];
        for (runtime, estimate) in ratios {
            if let Some(bin) = ratio_bin(runtime, estimate, binning, overrun) {
                counts[bin] += 1;
            }
        }
        Self::from_counts(counts)
    }

    /// The distribution with these numbers of samples a bin; `None` if all are 0.
    #[must_use]
    pub fn from_counts(counts: [u64; RATIO_BINS]) -> Option<Self> {
        Self::from_observations(&counts.map(|count| count as f64), &[0.0; RATIO_BINS])
    }

    /// The distribution of jobs of which `ended[i]` ended after i % of their estimates and `cut[i]`
    /// were stopped there, so that all that is known is that they needed at least as much; `None`
    /// if there are none.
    ///
    /// The product-limit estimator (Kaplan and Meier 1958): of what is left at i %, the share
    /// `ended[i] ÷ (all that ended or were cut at i % or later)` ends there. What is left beyond
    /// the last job that ended lies at 100 %, as no job gets more. Without cut jobs these are the
    /// relative frequencies.
    #[must_use]
    pub fn from_observations(ended: &[f64; RATIO_BINS], cut: &[f64; RATIO_BINS]) -> Option<Self> {
        let weight: f64 = ended.iter().sum::<f64>() + cut.iter().sum::<f64>();
        if weight <= 0.0 {
            return None;
        }
        let mut probabilities = [0.0; RATIO_BINS];
        let mut cumulative = [0.0; RATIO_BINS];
        let is_cut = cut.iter().any(|&cut| cut > 0.0);
        if is_cut {
            let mut at_risk = weight;
            let mut left = 1.0;
            for bin in 0..RATIO_BINS - 1 {
                if ended[bin] > 0.0 {
                    probabilities[bin] = left * (ended[bin] / at_risk).min(1.0);
                    left -= probabilities[bin];
                }
                at_risk -= ended[bin] + cut[bin];
                cumulative[bin] = 1.0 - left;
            }
            probabilities[RATIO_BINS - 1] = left;
        } else {
            let mut below = 0.0;
            for (bin, &count) in ended.iter().enumerate() {
                below += count;
                probabilities[bin] = count / weight;
                cumulative[bin] = below / weight;
            }
        }
        // Whatever rounding left of aged counts.
        cumulative[RATIO_BINS - 1] = 1.0;
        let mean_ratio = if is_cut {
            percents(&probabilities) / 100.0
        } else {
            percents(ended) / (100.0 * weight)
        };
        Some(Self {
            weight,
            mean_ratio,
            probabilities,
            cumulative,
        })
    }

    /// The mean of two distributions by their weights, `(w₁·P₁ + w₂·P₂) ÷ (w₁ + w₂)`, which weighs
    /// as much as both; the weights are above 0.
    #[must_use]
    pub fn mixed(&self, weight: f64, other: &Self, other_weight: f64) -> Self {
        let whole = weight + other_weight;
        let mix = |own: &[f64; RATIO_BINS], others: &[f64; RATIO_BINS]| {
            std::array::from_fn(|bin| (weight * own[bin] + other_weight * others[bin]) / whole)
        };
        let mut mixed = Self {
            weight: whole,
            mean_ratio: (weight * self.mean_ratio + other_weight * other.mean_ratio) / whole,
            probabilities: mix(&self.probabilities, &other.probabilities),
            cumulative: mix(&self.cumulative, &other.cumulative),
        };
        mixed.cumulative[RATIO_BINS - 1] = 1.0;
        mixed
    }

    /// From the smallest ratio that at least `low` of the jobs do not pass to the smallest that at
    /// least `high` do not pass, both in `[0, 1]`.
    #[must_use]
    pub fn range(&self, low: f64, high: f64) -> RatioRange {
        let quantile = |share: f64| {
            self.cumulative
                .partition_point(|&cumulative| cumulative < share)
                .min(RATIO_BINS - 1)
        };
        let (low, high) = (quantile(low), quantile(high));
        let below = low.checked_sub(1).map_or(0.0, |bin| self.cumulative[bin]);
        RatioRange {
            // Bins are at most 100.
            low: low as u8,
            high: high as u8,
            probability: self.cumulative[high] - below,
        }
    }

    /// Probability that a job ends after exactly `percent` % of its estimate; 0 above 100.
    #[must_use]
    pub fn pdf(&self, percent: usize) -> f64 {
        self.probabilities.get(percent).copied().unwrap_or(0.0)
    }

    /// Probability that a job ends within `percent` % of its estimate; 1 from 100 on.
    #[must_use]
    pub fn cdf(&self, percent: usize) -> f64 {
        self.cumulative.get(percent).copied().unwrap_or(1.0)
    }

    /// The CDF at `floor(100 · elapsed / estimate)` percent: 0 below 0, 1 at or above 100 %.
    ///
    /// Without a positive estimate every job has ended at once.
    #[must_use]
    pub fn cdf_at(&self, elapsed: Seconds, estimate: Seconds) -> f64 {
        if elapsed < Seconds::ZERO {
            0.0
        } else if elapsed >= estimate {
            1.0
        } else {
            // Here 0 ≤ elapsed < estimate, so the quotient is below 100.
            self.cumulative[(100 * i128::from(elapsed.0) / i128::from(estimate.0)) as usize]
        }
    }

    /// How many jobs are in bin `percent`, the nearest whole number where they aged or were cut; 0
    /// above 100.
    #[must_use]
    pub fn count(&self, percent: usize) -> u64 {
        (self.pdf(percent) * self.weight).round() as u64
    }

    /// Number of samples N, the nearest whole number where they aged.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.weight.round() as u64
    }

    /// Number of samples N, or what is left of them where they aged: above 0.
    #[must_use]
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Mean of the binned ratios, in `[0, 1]`.
    #[must_use]
    pub fn mean_ratio(&self) -> f64 {
        self.mean_ratio
    }
}

/// Sum of the bins by their weights.
fn percents(weights: &[f64; RATIO_BINS]) -> f64 {
    let weighted = (0_u8..).zip(weights);
    weighted.map(|(bin, weight)| f64::from(bin) * weight).sum()
}

/// The bin of one job in exact integer arithmetic; `None` if the job is not usable.
pub(super) fn ratio_bin(
    runtime: Seconds,
    estimate: Seconds,
    binning: Binning,
    overrun: Overrun,
) -> Option<usize> {
    if estimate <= Seconds::ZERO || runtime < Seconds::ZERO {
        return None;
    }
    if runtime > estimate && overrun == Overrun::Drop {
        return None;
    }
    let (runtime, estimate) = (i128::from(runtime.0), i128::from(estimate.0));
    let percent = match binning {
        Binning::Round => (200 * runtime + estimate) / (2 * estimate),
        Binning::Floor => 100 * runtime / estimate,
        Binning::Ceil => (100 * runtime + estimate - 1) / estimate,
    };
    Some(percent.min(100) as usize)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Estimate 600 s and ten runtimes, some of them at the borders of rounding.
    fn section_15_2(binning: Binning, overrun: Overrun) -> Vec<(usize, u64)> {
        let runtimes = [0, 3, 60, 66, 299, 300, 303, 597, 600, 700];
        let ratios = runtimes.map(|runtime| (Seconds(runtime), Seconds(600)));
        let distribution = RatioDistribution::from_ratios(ratios, binning, overrun).unwrap();
        (0..RATIO_BINS)
            .map(|bin| (bin, distribution.count(bin)))
            .filter(|&(_, count)| count > 0)
            .collect()
    }

    #[test]
    fn binning_follows_the_three_rules_of_section_15_2() {
        assert_eq!(
            section_15_2(Binning::Floor, Overrun::Clamp),
            [
                (0, 2),
                (10, 1),
                (11, 1),
                (49, 1),
                (50, 2),
                (99, 1),
                (100, 2)
            ]
        );
        let rounded_up = [(0, 1), (1, 1), (10, 1), (11, 1), (50, 2), (51, 1), (100, 3)];
        assert_eq!(section_15_2(Binning::Round, Overrun::Clamp), rounded_up);
        assert_eq!(section_15_2(Binning::Ceil, Overrun::Clamp), rounded_up);
    }

    #[test]
    fn dropping_overruns_leaves_out_the_job_of_700_of_600_seconds() {
        let last = section_15_2(Binning::Round, Overrun::Drop).pop();
        assert_eq!(last, Some((100, 2)));
    }

    #[test]
    fn without_a_usable_job_there_is_no_distribution() {
        let unusable = [(Seconds(10), Seconds(0)), (Seconds(-1), Seconds(600))];
        let learn = |overrun, ratios: &[(Seconds, Seconds)]| {
            RatioDistribution::from_ratios(ratios.iter().copied(), Binning::Round, overrun)
        };
        assert_eq!(learn(Overrun::Clamp, &unusable), None);
        let overrun = [(Seconds(700), Seconds(600))];
        assert_eq!(learn(Overrun::Drop, &overrun), None);
        assert!(learn(Overrun::Clamp, &overrun).is_some());
        assert_eq!(RatioDistribution::from_counts([0; RATIO_BINS]), None);
    }

    #[test]
    fn looking_up_rounds_down_to_a_percent() {
        let mut counts = [0; RATIO_BINS];
        (counts[25], counts[50], counts[100]) = (5, 2, 3);
        let distribution = RatioDistribution::from_counts(counts).unwrap();
        let at = |elapsed| distribution.cdf_at(Seconds(elapsed), Seconds(1_000));
        assert_eq!(at(-1), 0.0);
        assert_eq!(at(249), 0.0);
        assert_eq!(at(250), 0.5);
        assert_eq!(at(509), 0.7);
        assert_eq!(at(999), 0.7);
        assert_eq!(at(1_000), 1.0);
        assert_eq!(distribution.cdf_at(Seconds::FAR, Seconds(1)), 1.0);
        // (5 · 25 + 2 · 50 + 3 · 100) / 10 = 52.5 %
        assert!((distribution.mean_ratio() - 0.525).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn a_distribution_is_a_distribution(
            ratios in prop::collection::vec((0_i64..2_000, 1_i64..1_500), 1..200),
            binning in prop::sample::select(vec![Binning::Round, Binning::Floor, Binning::Ceil]),
        ) {
            let pairs = ratios.iter().map(|&(runtime, estimate)| (Seconds(runtime), Seconds(estimate)));
            let distribution = RatioDistribution::from_ratios(pairs, binning, Overrun::Clamp).unwrap();
            let total: f64 = (0..RATIO_BINS).map(|bin| distribution.pdf(bin)).sum();
            prop_assert!((total - 1.0).abs() < 1e-12);
            prop_assert_eq!(distribution.cdf(100), 1.0);
            prop_assert_eq!(distribution.samples(), ratios.len() as u64);
            for bin in 1..RATIO_BINS {
                prop_assert!(distribution.cdf(bin) >= distribution.cdf(bin - 1));
                let step = distribution.cdf(bin) - distribution.cdf(bin - 1);
                prop_assert!((distribution.pdf(bin) - step).abs() < 1e-12);
            }
        }

        #[test]
        fn rounding_lies_between_rounding_down_and_rounding_up(
            runtime in 0_i64..100_000, estimate in 1_i64..100_000,
        ) {
            let bin = |binning| {
                ratio_bin(Seconds(runtime), Seconds(estimate), binning, Overrun::Clamp).unwrap()
            };
            let (down, near, up) = (bin(Binning::Floor), bin(Binning::Round), bin(Binning::Ceil));
            prop_assert!(down <= near && near <= up && up <= down + 1);
        }
    }
}
