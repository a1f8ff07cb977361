//! Two-sided 95 % intervals of a mean, by the kind of its quantity.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::FEWEST_FOR_SKEWED;
use super::estimate::Moments;
use bookahead_core::scheduling::measures::QuantityKind;

/// A 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// How it was made.
    pub method: Method,
}

/// How an interval was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// `mean ± t · s / √n`.
    Student,
    /// The same on the logit scale, for a share: both ends lie between none and all.
    Logit,
    /// The same on the logarithmic scale, for what cannot be negative: its lower end is above none.
    Log,
    /// Hall's transformation of Student's t, which corrects for skewness.
    Hall,
    /// Welch's t: the difference of two independent samples, in the middle of its interval.
    Welch,
    /// Between the lower end about an estimate that is too low on average and the upper end about
    /// one that is too high.
    Bracketed,
    /// Nothing was seen in n replications, and with 95 % confidence the rate is below
    /// `−ln 0.05 / n`.
    RuleOfThree,
}

impl Method {
    /// Whether the mean lies in the middle of every interval that it makes.
    #[must_use]
    pub fn is_symmetric(self) -> bool {
        matches!(self, Self::Student | Self::Welch)
    }
}

impl Interval {
    /// The interval of a mean of this kind; `None` where the replications carry none: a single one,
    /// replications that do not differ at all, too few of a skewed sum.
    pub(super) fn of(moments: &Moments, kind: QuantityKind) -> Option<Self> {
        if moments.has_no_spread() {
            let is_unseen = kind == QuantityKind::RareCount && moments.mean == 0.0;
            return (is_unseen && moments.count > 1).then(|| rule_of_three(moments.count));
        }
        match kind {
            QuantityKind::SkewedSum => hall(moments),
            _ => {
                let half = half_width(moments.count, moments.deviation)?;
                Some(Self::about(moments.mean, half, kind))
            }
        }
    }

    /// From the lower end about one estimate of a size to the upper end about another one.
    pub(super) fn bracketed(
        count: u32,
        (low, high): (f64, f64),
        deviation: Option<f64>,
    ) -> Option<Self> {
        let half = half_width(count, deviation)?;
        Some(Self {
            low: (low - half).max(0.0),
            high: high + half,
            method: Method::Bracketed,
        })
    }

    /// The interval of a mean of this kind whose half width is this before it is brought to the
    /// scale of its kind, by the delta method.
    pub(super) fn about(mean: f64, half: f64, kind: QuantityKind) -> Self {
        match kind {
            QuantityKind::Signed => plain(mean, half),
            QuantityKind::Mean | QuantityKind::SkewedSum if half <= mean => plain(mean, half),
            QuantityKind::Mean | QuantityKind::SkewedSum | QuantityKind::RareCount => {
                logarithmic(mean, half)
            }
            QuantityKind::Fraction => logit(mean, half, 1.0),
            QuantityKind::Percent => logit(mean, half, 100.0),
        }
    }

    /// How far its ends are apart.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// Whether a value lies in it.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// `t · s / √n`; `None` for a single value.
fn half_width(count: u32, deviation: Option<f64>) -> Option<f64> {
    Some(student_t_95(count)? * deviation? / f64::from(count).sqrt())
}

fn plain(mean: f64, half: f64) -> Interval {
    Interval {
        low: mean - half,
        high: mean + half,
        method: Method::Student,
    }
}

/// The interval of a share of `whole`, on the scale `ln(p / (1 − p))`. A share that is none or all
/// has no place on that scale, and one that is outside is no share: both get Student's t.
fn logit(mean: f64, half: f64, whole: f64) -> Interval {
    let share = mean / whole;
    if share <= 0.0 || share >= 1.0 {
        return plain(mean, half);
    }
    let half = half / whole / (share * (1.0 - share));
    let centre = (share / (1.0 - share)).ln();
    let back = |logit: f64| whole / (1.0 + (-logit).exp());
    Interval {
        low: back(centre - half),
        high: back(centre + half),
        method: Method::Logit,
    }
}

/// The interval of a mean above 0, on the scale `ln m`; Student's t where the mean has no place
/// there.
fn logarithmic(mean: f64, half: f64) -> Interval {
    if mean <= 0.0 {
        return plain(mean, half);
    }
    let factor = (half / mean).exp();
    Interval {
        low: mean / factor,
        high: mean * factor,
        method: Method::Log,
    }
}

/// Hall (1992), *On the removal of skewness by transformation*, J. R. Statist. Soc. B 54: with
/// `W = (mean − θ) / s` and the sample's skewness λ, `√n · (W + λW²/3 + λ²W³/27 + λ/(6n))` is
/// nearly symmetric. It is a cubic that rises everywhere, so its quantiles are solved for W
/// exactly. Where the lower end would be below 0, which no sum is, the interval is that of the
/// logarithmic scale.
fn hall(moments: &Moments) -> Option<Interval> {
    if moments.count < FEWEST_FOR_SKEWED {
        return None;
    }
    let (deviation, skewness) = (moments.deviation?, moments.skewness?);
    let count = f64::from(moments.count);
    let quantile = student_t_95(moments.count)?;
    let inverse = |quantile: f64| {
        let target = quantile / count.sqrt() - skewness / (6.0 * count);
        if skewness.abs() < 1e-9 {
            target
        } else {
            3.0 / skewness * ((1.0 + skewness * target).cbrt() - 1.0)
        }
    };
    let low = moments.mean - deviation * inverse(quantile);
    if low < 0.0 {
        return Some(logarithmic(
            moments.mean,
            half_width(moments.count, moments.deviation)?,
        ));
    }
    Some(Interval {
        low,
        high: moments.mean - deviation * inverse(-quantile),
        method: Method::Hall,
    })
}

/// Events that were seen in none of n replications: the rate of a Poisson count for which that
/// would happen in one of twenty cases.
fn rule_of_three(count: u32) -> Interval {
    Interval {
        low: 0.0,
        high: -(0.05_f64.ln()) / f64::from(count),
        method: Method::RuleOfThree,
    }
}

/// The two-sided 95 % quantile of Student's t for the mean of `count` values, that is with
/// `count − 1` degrees of freedom: 2.093 for 20 and 2.001 for 60. `None` for fewer than two
/// values.
#[must_use]
pub fn student_t_95(count: u32) -> Option<f64> {
    let freedom = f64::from(count.checked_sub(1).filter(|freedom| *freedom > 0)?);
    StudentsT::new(0.0, 1.0, freedom)
        .ok()
        .map(|distribution| distribution.inverse_cdf(0.975))
}
