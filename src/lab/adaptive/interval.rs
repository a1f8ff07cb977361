//! Intervals that may be looked at more than once.
//!
//! A sweep that stops when an interval is narrow looks at it at every rung, and stops at the look
//! that suits it. Plain intervals then hold their truth too seldom: with a look at each of 8 to 64
//! replications, 26 % of those of 95 % miss it. These allow for the looks.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The prior variance of the effect, in units of the replications' variance, of the mixture
/// (Lai, *On confidence sequences*, 1976).
const MIXTURE_VARIANCE: f64 = 0.125;

/// How an interval allows for being looked at at each rung.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IntervalRule {
    /// A mixture over the effect (Lai 1976): holds at all numbers of replications together, exactly
    /// where replications are normally distributed. The widest of the three.
    #[default]
    Mixture,
    /// A normal-mixture confidence sequence (Robbins 1970; Waudby-Smith and others, *Time-uniform
    /// central limit theory and asymptotic confidence sequences*, 2024): holds at all numbers of
    /// replications together, asymptotically.
    Sequence,
    /// Pocock's constant for so many looks, with quantiles of Student's t (Pocock 1977): for a
    /// number of looks that is fixed beforehand. The narrowest of the three.
    GroupSequential,
}

/// An interval of a mean that may be looked at after each rung.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RepeatedInterval {
    rule: IntervalRule,
    /// One less the confidence.
    error: f64,
    /// Of the confidence sequence, ρ².
    spread: f64,
    /// Of the group-sequential rule, the probability that a single look misses on either side.
    tail: f64,
}

impl RepeatedInterval {
    /// The interval of this confidence, looked at from `least` replications on, after every `rung`
    /// more, up to `most`.
    #[must_use]
    pub fn new(rule: IntervalRule, confidence: f64, least: u32, rung: u32, most: u32) -> Self {
        let error = 1.0 - confidence;
        // Tightest at the geometric middle of the numbers that it is looked at.
        let tightest = (f64::from(least.max(1)) * f64::from(most.max(1))).sqrt();
        let logarithm = error.ln();
        let spread = (-2.0 * logarithm + (-2.0 * logarithm).ln_1p()) / tightest;
        let tail = match rule {
            // Looks at equal steps from the first rung on: more than there are, where `least`
            // spans several rungs.
            IntervalRule::GroupSequential => {
                single_tail(pocock(error, most.div_ceil(rung.max(1)).max(1)))
            }
            IntervalRule::Mixture | IntervalRule::Sequence => error / 2.0,
        };
        Self {
            rule,
            error,
            spread,
            tail,
        }
    }

    /// Half of the interval's width around the mean of so many replications with this standard
    /// deviation; infinite where they are too few for it.
    #[must_use]
    pub fn half_width(&self, replications: u32, deviation: f64) -> f64 {
        let count = f64::from(replications);
        if replications < 2 {
            return f64::INFINITY;
        }
        let of_the_mean = deviation / count.sqrt();
        let degrees = count - 1.0;
        match self.rule {
            IntervalRule::Mixture => {
                let information = 1.0 + count * MIXTURE_VARIANCE;
                let odds = (2.0 / count * (0.5 * information.ln() - self.error.ln())).exp();
                if odds >= information {
                    return f64::INFINITY;
                }
                let square = degrees * (odds - 1.0) / (1.0 - odds / information);
                of_the_mean * square.sqrt()
            }
            IntervalRule::Sequence => {
                let information = count * self.spread + 1.0;
                let square = 2.0 * information / (count * self.spread)
                    * (information.sqrt() / self.error).ln();
                of_the_mean * square.sqrt()
            }
            IntervalRule::GroupSequential => StudentsT::new(0.0, 1.0, degrees)
                .map_or(f64::INFINITY, |student| {
                    of_the_mean * student.inverse_cdf(1.0 - self.tail)
                }),
        }
    }
}

/// The probability that a standard normal value is above this.
fn single_tail(bound: f64) -> f64 {
    normal().map_or(0.0, |normal| normal.cdf(-bound))
}

fn normal() -> Option<Normal> {
    Normal::new(0.0, 1.0).ok()
}

/// Points of the grid on which sums of looks are integrated; odd, for Simpson's rule.
const GRID: usize = 201;

/// Pocock's constant: the bound that the standardised mean of `looks` equal groups crosses at any
/// look with probability `error` where there is no effect.
fn pocock(error: f64, looks: u32) -> f64 {
    let (mut low, mut high) = (0.5, 8.0);
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if crossing(middle, looks) > error {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// The probability that a sum of normal steps crosses ±`bound` · √k at any step k up to `looks`
/// (Armitage, McPherson and Rowe 1969): its density below the bounds, step by step.
fn crossing(bound: f64, looks: u32) -> f64 {
    let density = |value: f64| libm::exp(-0.5 * value * value) / std::f64::consts::TAU.sqrt();
    let places = |look: u32| {
        let edge = bound * f64::from(look).sqrt();
        let step = 2.0 * edge / (GRID - 1) as f64;
        (0..GRID).map(move |place| (place as f64).mul_add(step, -edge))
    };
    let weight = |place: usize, look: u32| {
        let step = 2.0 * bound * f64::from(look).sqrt() / (GRID - 1) as f64;
        let simpson = match place {
            0 => 1.0,
            place if place == GRID - 1 => 1.0,
            place if place % 2 == 1 => 4.0,
            _ => 2.0,
        };
        simpson * step / 3.0
    };
    let mut inside: Vec<f64> = places(1).map(density).collect();
    for look in 2..=looks {
        let before: Vec<(f64, f64)> = (places(look - 1).zip(&inside).enumerate())
            .map(|(place, (value, density))| (value, density * weight(place, look - 1)))
            .collect();
        inside = places(look)
            .map(|value| {
                let reach = before
                    .iter()
                    .map(|(from, mass)| mass * density(value - from));
                reach.sum()
            })
            .collect();
    }
    let masses = inside.iter().enumerate();
    1.0 - masses
        .map(|(place, density)| density * weight(place, looks))
        .sum::<f64>()
}

#[cfg(test)]
mod tests;
