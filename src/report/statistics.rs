//! Means and their intervals over replications.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The mean of a quantity over replications, with what is needed for its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Replications that had a value.
    pub count: u32,
    /// Their mean.
    pub mean: f64,
    /// Sample standard deviation (divisor n − 1); `None` for a single value.
    pub deviation: Option<f64>,
    /// Half of the width of the 95 % interval, `t · s / √n`; `None` for a single value.
    pub half_width: Option<f64>,
}

impl Estimate {
    /// From the moments of a sample; `None` where there is no value.
    #[must_use]
    pub fn new(count: u32, mean: Option<f64>, deviation: Option<f64>) -> Option<Self> {
        let deviation = deviation.filter(|deviation| count > 1 && deviation.is_finite());
        Some(Self {
            count,
            mean: mean.filter(|_| count > 0)?,
            deviation,
            half_width: deviation
                .zip(student_t_95(count))
                .map(|(deviation, t)| t * deviation / f64::from(count).sqrt()),
        })
    }

    /// From the values themselves; `None` where there is none.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let count = u32::try_from(values.len()).ok()?;
        let mean = values.iter().sum::<f64>() / f64::from(count);
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let freedom = f64::from(count.saturating_sub(1).max(1));
        Self::new(count, Some(mean), Some((squares / freedom).sqrt()))
    }

    /// A share of things that come in clusters, `Σ part ÷ Σ whole` over `(part, whole)` of each cluster, with the interval of
    /// the ratio estimator: the clusters are the independent units, not the things in them. The deviation is the standard
    /// error times √clusters, so that the half width is `t · deviation / √clusters` as for a mean. `None` where there is
    /// nothing to divide by; no interval for a single cluster and where no two clusters differ in their share, which says
    /// that the clusters are too few to show a difference and not that there is none.
    #[must_use]
    pub fn ratio(clusters: &[(f64, f64)]) -> Option<Self> {
        let whole: f64 = clusters.iter().map(|(_, whole)| whole).sum();
        let part: f64 = clusters.iter().map(|(part, _)| part).sum();
        if whole <= 0.0 {
            return None;
        }
        let count = u32::try_from(clusters.len()).ok()?;
        let (share, n) = (part / whole, f64::from(count));
        let squares: f64 = clusters
            .iter()
            .map(|(part, whole)| (part - share * whole).powi(2))
            .sum();
        // se² = n/(n − 1) · Σ(yᵢ − p·xᵢ)² ÷ (Σxᵢ)², and the deviation is se·√n.
        let deviation = n * (squares / (n - 1.0)).sqrt() / whole;
        Self::new(
            count,
            Some(share),
            Some(deviation).filter(|spread| *spread > 0.0),
        )
    }

    /// The two-sided p-value of Student's t test of the hypothesis that the mean is 0; `None` for a single value.
    #[must_use]
    pub fn p_value(&self) -> Option<f64> {
        let deviation = self.deviation?;
        if self.mean == 0.0 {
            return Some(1.0);
        }
        let t = self.mean.abs() / (deviation / f64::from(self.count).sqrt());
        let freedom = f64::from(self.count.saturating_sub(1));
        let distribution = StudentsT::new(0.0, 1.0, freedom).ok()?;
        Some(if t.is_finite() {
            2.0 * distribution.sf(t)
        } else {
            0.0
        })
    }

    /// The same in another unit, of which one has this many.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            count: self.count,
            mean: factor * self.mean,
            deviation: self.deviation.map(|deviation| factor * deviation),
            half_width: self.half_width.map(|half| factor * half),
        }
    }

    /// The lower end of the 95 % interval.
    #[must_use]
    pub fn low(&self) -> Option<f64> {
        self.half_width.map(|half| self.mean - half)
    }

    /// The upper end of the 95 % interval.
    #[must_use]
    pub fn high(&self) -> Option<f64> {
        self.half_width.map(|half| self.mean + half)
    }
}

/// How far the means of two independent samples are apart (Welch's t with the degrees of freedom of Satterthwaite).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Welch {
    /// Mean of the second sample minus that of the first, with its 95 % interval, which it has where both samples have several values
    /// and any of them vary. It counts the values of the smaller sample; it has no deviation, as no differences were drawn.
    pub difference: Estimate,
    /// The two-sided p-value of the hypothesis that the means are the same; `None` where there is no interval.
    pub p_value: Option<f64>,
}

impl Welch {
    /// Of two samples; `None` where one of them is empty.
    #[must_use]
    pub fn of(first: &[f64], second: &[f64]) -> Option<Self> {
        let (one, two) = (Estimate::of(first)?, Estimate::of(second)?);
        let mean = two.mean - one.mean;
        let variance = |estimate: &Estimate| {
            let deviation = estimate.deviation?;
            Some(deviation * deviation / f64::from(estimate.count))
        };
        let spread = || {
            let (v1, v2) = (variance(&one)?, variance(&two)?);
            let all = v1 + v2;
            let freedom = |estimate: &Estimate| f64::from(estimate.count - 1);
            let parts = v1 * v1 / freedom(&one) + v2 * v2 / freedom(&two);
            let student = StudentsT::new(0.0, 1.0, all * all / parts).ok()?;
            let t = mean.abs() / all.sqrt();
            Some((student.inverse_cdf(0.975) * all.sqrt(), 2.0 * student.sf(t)))
        };
        let spread = spread();
        Some(Self {
            difference: Estimate {
                count: one.count.min(two.count),
                mean,
                deviation: None,
                half_width: spread.map(|(half_width, _)| half_width),
            },
            p_value: spread.map(|(_, p_value)| p_value),
        })
    }
}

/// These p-values after Holm's correction: where those below 5 % are taken for differences, the chance of any false alarm among all
/// of them is 5 %.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|one, two| p_values[*one].total_cmp(&p_values[*two]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut least: f64 = 0.0;
    for (rank, at) in order.iter().enumerate() {
        least = least.max(p_values[*at] * (p_values.len() - rank) as f64);
        adjusted[*at] = least.min(1.0);
    }
    adjusted
}

/// The two-sided 95 % quantile of Student's t for the mean of `count` values, i.e. with `count − 1` degrees of freedom:
/// 2.093 for 20 and 2.001 for 60. `None` for fewer than two values.
#[must_use]
pub fn student_t_95(count: u32) -> Option<f64> {
    let freedom = f64::from(count.checked_sub(1).filter(|freedom| *freedom > 0)?);
    StudentsT::new(0.0, 1.0, freedom)
        .ok()
        .map(|distribution| distribution.inverse_cdf(0.975))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_student_t_are_those_of_decision_a_39() {
        for (count, expected) in [
            (2, 12.706),
            (3, 4.303),
            (5, 2.776),
            (20, 2.093),
            (60, 2.001),
        ] {
            let t = student_t_95(count).unwrap();
            assert!((t - expected).abs() < 5e-4, "{count}: {t}");
        }
        assert_eq!(student_t_95(1), None);
        assert_eq!(student_t_95(0), None);
    }

    #[test]
    fn the_interval_of_a_share_is_over_clusters_of_different_size() {
        // 2 of 10 and 4 of 10: p = 0.3; residuals ∓1; se² = 2/1 · 2 ÷ 400 = 0.01.
        let share = Estimate::ratio(&[(2.0, 10.0), (4.0, 10.0)]).unwrap();
        assert!((share.mean - 0.3).abs() < 1e-12);
        assert!((share.half_width.unwrap() - 12.7062 * 0.1).abs() < 1e-4);
        // Equal clusters: the interval of the mean of their shares.
        let shares = [(1.0, 5.0), (2.0, 5.0), (4.0, 5.0)];
        let (ratio, mean) = (
            Estimate::ratio(&shares).unwrap(),
            Estimate::of(&[0.2, 0.4, 0.8]).unwrap(),
        );
        assert!((ratio.mean - mean.mean).abs() < 1e-12);
        assert!((ratio.half_width.unwrap() - mean.half_width.unwrap()).abs() < 1e-12);
        // Copies of a cluster's jobs narrow nothing: twice the jobs in each, the same interval.
        let doubled = Estimate::ratio(&shares.map(|(part, whole)| (2.0 * part, 2.0 * whole)));
        assert!((doubled.unwrap().half_width.unwrap() - ratio.half_width.unwrap()).abs() < 1e-12);
        assert_eq!(Estimate::ratio(&[(3.0, 10.0)]).unwrap().half_width, None);
        assert_eq!(
            Estimate::ratio(&[(0.0, 9.0), (0.0, 7.0)])
                .unwrap()
                .half_width,
            None
        );
        assert_eq!(Estimate::ratio(&[]), None);
    }

    #[test]
    fn an_interval_is_t_times_the_standard_error() {
        // 10, 12, 14: mean 12, s = 2, t = 4.3027, half width 4.3027 · 2 / √3 = 4.968.
        let estimate = Estimate::new(3, Some(12.0), Some(2.0)).unwrap();
        assert!((estimate.half_width.unwrap() - 4.9683).abs() < 1e-4);
        assert!((estimate.low().unwrap() - 7.0317).abs() < 1e-4);
        // t = 12 / (2 / √3) = 10.392 with two degrees of freedom.
        assert!((estimate.p_value().unwrap() - 0.009_133).abs() < 1e-6);
        let single = Estimate::new(1, Some(12.0), None).unwrap();
        assert_eq!(single.p_value(), None);
        assert_eq!((single.mean, single.half_width), (12.0, None));
        assert_eq!(Estimate::new(0, None, None), None);
        assert_eq!(Estimate::of(&[10.0, 14.0, 12.0]), Some(estimate));
        assert_eq!(Estimate::of(&[12.0]), Some(single));
        assert_eq!(Estimate::of(&[]), None);
    }

    #[test]
    fn the_means_of_independent_samples_have_the_interval_of_welch_and_satterthwaite() {
        // The numbers of R's t.test(second, first) and of scipy's ttest_ind: t = 2.1640 with 4.0280 degrees of freedom.
        let first = [1.0, 2.0, 3.0, 4.0, 5.0];
        let second = [3.5, 5.5, 7.5, 11.5];
        let welch = Welch::of(&first, &second).unwrap();
        assert_eq!((welch.difference.mean, welch.difference.count), (4.0, 4));
        let half = welch.difference.half_width.unwrap();
        assert!((half - 5.118_027_744).abs() < 1e-6, "{half}");
        let p = welch.p_value.unwrap();
        assert!((p - 0.095_980_359_5).abs() < 1e-8, "{p}");
        // Without spread, or with one value, nothing can be said of chance.
        for other in [&[3.0][..], &[]] {
            let welch = Welch::of(&[1.0, 2.0], other);
            assert_eq!(welch.and_then(|welch| welch.p_value), None);
        }
        assert_eq!(Welch::of(&[1.0, 1.0], &[2.0, 2.0]).unwrap().p_value, None);
    }

    #[test]
    fn holm_asks_more_of_the_smallest_p_value_the_more_there_are() {
        assert_eq!(holm(&[0.04]), [0.04]);
        // 2 · 0.03, and the larger one is never below the smaller one.
        assert_eq!(holm(&[0.04, 0.03]), [0.06, 0.06]);
        assert_eq!(holm(&[0.04, 0.02]), [0.04, 0.04]);
        assert_eq!(holm(&[0.25, 0.5, 0.9]), [0.75, 1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }
}
