//! Two independent samples.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::estimate::Estimate;
use super::interval::{Interval, Method};

/// How far the means of two independent samples are apart (Welch's t with the degrees of freedom of
/// Satterthwaite).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Welch {
    /// Mean of the second sample minus that of the first, with its 95 % interval, which it has
    /// where both samples have several values and any of them vary. It counts the values of the
    /// smaller sample; it has no deviation, as no differences were drawn.
    pub difference: Estimate,
    /// The two-sided p-value of the hypothesis that the means are the same; `None` where there is
    /// no interval.
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
                interval: spread.map(|(half_width, _)| Interval {
                    low: mean - half_width,
                    high: mean + half_width,
                    method: Method::Welch,
                }),
            },
            p_value: spread.map(|(_, p_value)| p_value),
        })
    }
}
