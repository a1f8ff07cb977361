//! Two-sided 95 % intervals of a mean, by the kind of its quantity.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::FEWEST_FOR_SKEWED;
use super::estimate::Moments;
use crate::scheduling::measures::QuantityKind;

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
    /// The same on the logarithmic scale, for a count: its lower end is above none.
    Log,
    /// Hall's transformation of Student's t, which corrects for skewness.
    Hall,
    /// Welch's t: the difference of two independent samples, in the middle of its interval.
    Welch,
    /// Between the lower end about an estimate that is too low on average and the upper end about
    /// one that is too high.
    Bracketed,
    /// Nothing was seen in n replications, and with 95 % confidence the rate is below `−ln 0.05 / n`.
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
            QuantityKind::Mean => student(moments),
            QuantityKind::Fraction => logit(moments, 1.0),
            QuantityKind::Percent => logit(moments, 100.0),
            QuantityKind::RareCount => logarithmic(moments),
            QuantityKind::SkewedSum => hall(moments),
        }
    }

    /// Whether a value lies in it.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// `t · s / √n`; `None` for a single value.
fn half_width(moments: &Moments) -> Option<f64> {
    let t = student_t_95(moments.count)?;
    Some(t * moments.deviation? / f64::from(moments.count).sqrt())
}

fn student(moments: &Moments) -> Option<Interval> {
    let half = half_width(moments)?;
    Some(Interval {
        low: moments.mean - half,
        high: moments.mean + half,
        method: Method::Student,
    })
}

/// The interval of a share of `whole`, on the scale `ln(p / (1 − p))` by the delta method. A share that is
/// none or all has no place on that scale, and one that is outside is no share: both get Student's t.
fn logit(moments: &Moments, whole: f64) -> Option<Interval> {
    let share = moments.mean / whole;
    if share <= 0.0 || share >= 1.0 {
        return student(moments);
    }
    let half = half_width(moments)? / whole / (share * (1.0 - share));
    let centre = (share / (1.0 - share)).ln();
    let back = |logit: f64| whole / (1.0 + (-logit).exp());
    Some(Interval {
        low: back(centre - half),
        high: back(centre + half),
        method: Method::Logit,
    })
}

/// The interval of the mean of counts, on the scale `ln m` by the delta method; Student's t where the mean
/// has no place there.
fn logarithmic(moments: &Moments) -> Option<Interval> {
    if moments.mean <= 0.0 {
        return student(moments);
    }
    let factor = (half_width(moments)? / moments.mean).exp();
    Some(Interval {
        low: moments.mean / factor,
        high: moments.mean * factor,
        method: Method::Log,
    })
}

/// Hall (1992), *On the removal of skewness by transformation*, J. R. Statist. Soc. B 54: with
/// `W = (mean − θ) / s` and the sample's skewness λ, `√n · (W + λW²/3 + λ²W³/27 + λ/(6n))` is nearly
/// symmetric. It is a cubic that rises everywhere, so its quantiles are solved for W exactly.
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
    Some(Interval {
        low: moments.mean - deviation * inverse(quantile),
        high: moments.mean - deviation * inverse(-quantile),
        method: Method::Hall,
    })
}

/// Events that were seen in none of n replications: the rate of a Poisson count for which that would
/// happen in one of twenty cases.
fn rule_of_three(count: u32) -> Interval {
    Interval {
        low: 0.0,
        high: -(0.05_f64.ln()) / f64::from(count),
        method: Method::RuleOfThree,
    }
}

/// The two-sided 95 % quantile of Student's t for the mean of `count` values, that is with `count − 1`
/// degrees of freedom: 2.093 for 20 and 2.001 for 60. `None` for fewer than two values.
#[must_use]
pub fn student_t_95(count: u32) -> Option<f64> {
    let freedom = f64::from(count.checked_sub(1).filter(|freedom| *freedom > 0)?);
    StudentsT::new(0.0, 1.0, freedom)
        .ok()
        .map(|distribution| distribution.inverse_cdf(0.975))
}
