//! Compares simulated with recorded waits: in the mean, in their distribution, and job by job.

use serde::Serialize;

/// Waits of some jobs, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Waits {
    /// Their mean.
    pub mean: f64,
    /// The smallest that half of the jobs do not exceed.
    pub median: f64,
    /// The smallest that nine tenths of the jobs do not exceed.
    pub percentile_90: f64,
}

impl Waits {
    /// Figures of a list that is not empty. The p-th percentile is the smallest wait that p of a
    /// hundred jobs do not exceed.
    #[must_use]
    pub fn of(waits: &[i64]) -> Self {
        let mut sorted = waits.to_vec();
        sorted.sort_unstable();
        let sum: i128 = sorted.iter().map(|wait| i128::from(*wait)).sum();
        let percentile = |percent: usize| {
            let rank = (sorted.len() * percent).div_ceil(100).max(1);
            sorted.get(rank - 1).map_or(0.0, |wait| *wait as f64)
        };
        Self {
            mean: sum as f64 / sorted.len().max(1) as f64,
            median: percentile(50),
            percentile_90: percentile(90),
        }
    }
}

/// How recorded and simulated waits of the same jobs agree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// Jobs that started in both.
    pub jobs: usize,
    /// As the log has them.
    pub recorded_wait_seconds: Waits,
    /// As they came out.
    pub simulated_wait_seconds: Waits,
    /// Mean of |simulated − recorded|.
    pub mean_absolute_difference_seconds: f64,
    /// Spearman's: of the ranks of the waits, equal ones sharing the mean rank. `None` where all
    /// waits of one side are equal.
    pub rank_correlation: Option<f64>,
}

impl Agreement {
    /// Of pairs of recorded and simulated waits; `None` without any.
    #[must_use]
    pub fn of(pairs: &[(i64, i64)]) -> Option<Self> {
        if pairs.is_empty() {
            return None;
        }
        let (recorded, simulated): (Vec<i64>, Vec<i64>) = pairs.iter().copied().unzip();
        let difference: i128 = (pairs.iter())
            .map(|(recorded, simulated)| i128::from((simulated - recorded).abs()))
            .sum();
        Some(Self {
            jobs: pairs.len(),
            recorded_wait_seconds: Waits::of(&recorded),
            simulated_wait_seconds: Waits::of(&simulated),
            mean_absolute_difference_seconds: difference as f64 / pairs.len() as f64,
            rank_correlation: correlation(&ranks(&recorded), &ranks(&simulated)),
        })
    }
}

/// Ranks from 1; equal values share their mean rank.
fn ranks(values: &[i64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by_key(|at| values[*at]);
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for equal in order.chunk_by(|one, other| values[*one] == values[*other]) {
        let mean = before as f64 + (equal.len() as f64 + 1.0) / 2.0;
        for at in equal {
            ranks[*at] = mean;
        }
        before += equal.len();
    }
    ranks
}

/// Pearson's correlation.
fn correlation(one: &[f64], other: &[f64]) -> Option<f64> {
    let count = one.len() as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / count;
    let (mean_one, mean_other) = (mean(one), mean(other));
    let (mut both, mut square_one, mut square_other) = (0.0, 0.0, 0.0);
    for (one, other) in one.iter().zip(other) {
        let (one, other) = (one - mean_one, other - mean_other);
        both += one * other;
        square_one += one * one;
        square_other += other * other;
    }
    let scale = (square_one * square_other).sqrt();
    (scale > 0.0).then(|| both / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_wait_that_was_waited() {
        let waits: Vec<i64> = (1..=10).map(|wait| wait * 10).rev().collect();
        let expected = Waits {
            mean: 55.0,
            median: 50.0,
            percentile_90: 90.0,
        };
        assert_eq!(Waits::of(&waits), expected);
        assert_eq!(Waits::of(&[7]).percentile_90, 7.0);
    }

    #[test]
    fn ranks_of_equal_waits_are_shared_and_the_correlation_is_that_of_the_ranks() {
        assert_eq!(ranks(&[5, 1, 5, 9]), [2.5, 1.0, 2.5, 4.0]);
        let agreement = |pairs: &[(i64, i64)]| Agreement::of(pairs).unwrap();
        // Any growing relation is 1, any falling one −1.
        assert_eq!(
            agreement(&[(0, 3), (5, 9), (6, 1_000)]).rank_correlation,
            Some(1.0)
        );
        assert_eq!(
            agreement(&[(0, 9), (5, 2), (6, 0)]).rank_correlation,
            Some(-1.0)
        );
        // Ranks 1, 2, 3, 4 and 2, 1, 4, 3: 1 − 6·4/(4·15) = 0.6.
        let found = agreement(&[(0, 5), (1, 4), (2, 9), (3, 8)]);
        assert!((found.rank_correlation.unwrap() - 0.6).abs() < 1e-12);
        assert_eq!(found.mean_absolute_difference_seconds, 5.0);
        assert_eq!(agreement(&[(0, 5), (0, 4)]).rank_correlation, None);
        assert_eq!(Agreement::of(&[]), None);
    }
}
