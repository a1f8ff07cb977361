//! A mean over replications, with what is needed for its interval.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::interval::{Interval, Method};
use bookahead_core::scheduling::measures::QuantityKind;

/// What of a sample an interval is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// Values.
    pub count: u32,
    /// Their mean.
    pub mean: f64,
    /// Sample standard deviation (divisor n − 1); `None` for a single value.
    pub deviation: Option<f64>,
    /// `Σ (x − mean)³ / n`, divided by the third power of the population's standard deviation;
    /// `None` where the values do not differ.
    pub skewness: Option<f64>,
}

impl Moments {
    /// Of values; `None` where there is none.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let count = u32::try_from(values.len()).ok()?;
        if count == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / f64::from(count);
        let sum =
            |power: i32| -> f64 { values.iter().map(|value| (value - mean).powi(power)).sum() };
        let freedom = f64::from(count.saturating_sub(1).max(1));
        let deviation = (sum(2) / freedom).sqrt();
        Self::new(
            count,
            mean,
            Some(deviation),
            Some(sum(3) / f64::from(count)),
        )
    }

    /// Of the sample standard deviation and the third central moment `Σ (x − mean)³ / n`; `None`
    /// without values.
    #[must_use]
    pub fn new(
        count: u32,
        mean: f64,
        deviation: Option<f64>,
        third_moment: Option<f64>,
    ) -> Option<Self> {
        if count == 0 {
            return None;
        }
        let n = f64::from(count);
        let deviation = deviation.filter(|deviation| count > 1 && deviation.is_finite());
        let skewness = deviation
            .zip(third_moment)
            .map(|(deviation, moment)| moment / (deviation.powi(2) * (n - 1.0) / n).powf(1.5));
        Some(Self {
            count,
            mean,
            deviation,
            skewness: skewness.filter(|skewness| skewness.is_finite()),
        })
    }

    /// Whether the values are equal but for the rounding of sums. Then replications repeat each
    /// other, and how far another one would be off is not known.
    pub(super) fn has_no_spread(&self) -> bool {
        self.deviation
            .is_none_or(|deviation| is_rounding(deviation, self.mean))
    }
}

/// The mean of a quantity over replications with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Replications that had a value.
    pub count: u32,
    /// Their mean.
    pub mean: f64,
    /// Sample standard deviation (divisor n − 1); `None` for a single value.
    pub deviation: Option<f64>,
    /// The 95 % interval; `None` where the replications carry none: a single one, replications
    /// without any difference, too few of a skewed sum.
    pub interval: Option<Interval>,
}

impl Estimate {
    /// Of values that may be negative, such as paired differences; `None` without values.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        Self::of_kind(values, QuantityKind::Signed)
    }

    /// Of values of a quantity of this kind; `None` without values.
    #[must_use]
    pub fn of_kind(values: &[f64], kind: QuantityKind) -> Option<Self> {
        Moments::of(values).map(|moments| Self::from_moments(&moments, kind))
    }

    /// Of the moments of a sample.
    #[must_use]
    pub fn from_moments(moments: &Moments, kind: QuantityKind) -> Self {
        Self {
            count: moments.count,
            mean: moments.mean,
            deviation: moments.deviation,
            interval: Interval::of(moments, kind),
        }
    }

    /// A value without an interval, such as the standard deviation of a sample.
    #[must_use]
    pub fn without_interval(count: u32, mean: f64) -> Self {
        Self {
            count,
            mean,
            deviation: None,
            interval: None,
        }
    }

    /// Of a size that is known by two estimates, one of which is too low on average and one, which
    /// is shown, too high: between the lower end about the one and the upper end about the other.
    #[must_use]
    pub fn bracketed(count: u32, (low, high): (f64, f64), deviation: Option<f64>) -> Self {
        Self {
            count,
            mean: high,
            deviation,
            interval: Interval::bracketed(count, (low, high), deviation),
        }
    }

    /// Of things that come in clusters, `Σ part ÷ Σ whole` over `(part, whole)` of each cluster, by
    /// the ratio estimator: the clusters are the independent units, not the things in them. The
    /// deviation is the standard error times √clusters, as of a mean. `None` where there is nothing
    /// to divide by; no interval for a single cluster and where no two clusters differ: then they
    /// are too few to show a difference.
    #[must_use]
    pub fn quotient(clusters: &[(f64, f64)], kind: QuantityKind) -> Option<Self> {
        let whole: f64 = clusters.iter().map(|(_, whole)| whole).sum();
        let part: f64 = clusters.iter().map(|(part, _)| part).sum();
        if whole <= 0.0 {
            return None;
        }
        let quotient = part / whole;
        let residuals: Vec<f64> = clusters
            .iter()
            .map(|(part, whole)| part - quotient * whole)
            .collect();
        Some(Self::linearised(quotient, &residuals, whole, 1.0, kind))
    }

    /// Of a quotient, or a difference of quotients, by the residuals of the clusters over `whole`:
    /// they add up to 0, and their spread is that of the value. The variance is multiplied by
    /// `widening`: 1 where clusters are independent.
    pub(super) fn linearised(
        value: f64,
        residuals: &[f64],
        whole: f64,
        widening: f64,
        kind: QuantityKind,
    ) -> Self {
        let count = u32::try_from(residuals.len()).unwrap_or(u32::MAX);
        let n = f64::from(count);
        let squares: f64 = residuals.iter().map(|residual| residual.powi(2)).sum();
        // se² = n/(n − 1) · Σ(yᵢ − p·xᵢ)² ÷ (Σxᵢ)², and the deviation is se·√n.
        let deviation = n * (widening * squares / (n - 1.0)).sqrt() / whole;
        let moments = Moments {
            count,
            mean: value,
            deviation: Some(deviation).filter(|spread| count > 1 && *spread > 0.0),
            skewness: None,
        };
        Self::from_moments(&moments, kind)
    }

    /// The two-sided p-value of Student's t test of the hypothesis that the mean is 0, which is
    /// below 5 % exactly where the interval leaves 0 out. `None` where there is no interval, and
    /// where it is not Student's: on the logit and logarithmic scales there is no 0 to be tested.
    #[must_use]
    pub fn p_value(&self) -> Option<f64> {
        self.interval
            .filter(|interval| interval.method == Method::Student)?;
        let deviation = self.deviation?;
        if self.mean == 0.0 {
            return Some(1.0);
        }
        let t = self.mean.abs() / (deviation / f64::from(self.count).sqrt());
        let freedom = f64::from(self.count.saturating_sub(1));
        let distribution = StudentsT::new(0.0, 1.0, freedom).ok()?;
        Some(2.0 * distribution.sf(t))
    }

    /// The same in another unit, of which one has this many; the factor is positive.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            count: self.count,
            mean: factor * self.mean,
            deviation: self.deviation.map(|deviation| factor * deviation),
            interval: self.interval.map(|interval| Interval {
                low: factor * interval.low,
                high: factor * interval.high,
                method: interval.method,
            }),
        }
    }

    /// The lower end of the 95 % interval.
    #[must_use]
    pub fn low(&self) -> Option<f64> {
        self.interval.map(|interval| interval.low)
    }

    /// The upper end of the 95 % interval.
    #[must_use]
    pub fn high(&self) -> Option<f64> {
        self.interval.map(|interval| interval.high)
    }

    /// Half of the width of an interval whose middle is the mean.
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        let interval = self.interval?;
        (interval.method.is_symmetric()).then(|| (interval.high - interval.low) / 2.0)
    }

    /// Whether there are several values and they are equal but for the rounding of sums.
    #[must_use]
    pub fn has_no_spread(&self) -> bool {
        self.deviation
            .is_some_and(|deviation| self.count > 1 && is_rounding(deviation, self.mean))
    }

    /// Whether the 95 % interval leaves 0 out.
    #[must_use]
    pub fn is_significant(&self) -> bool {
        self.interval
            .is_some_and(|interval| !interval.contains(0.0))
    }

    /// Whether nothing was seen in any replication and the interval says how often it may happen at
    /// most.
    #[must_use]
    pub fn is_unseen(&self) -> bool {
        self.interval
            .is_some_and(|interval| interval.method == Method::RuleOfThree)
    }
}

/// Whether a deviation is no more than what the rounding of sums makes.
fn is_rounding(deviation: f64, mean: f64) -> bool {
    deviation <= 1e-12 * mean.abs()
}
