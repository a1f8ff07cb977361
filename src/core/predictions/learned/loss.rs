//! Losses that do not treat too long and too short alike, and how much a job counts (Gaussier
//! 2015).

use serde::{Deserialize, Serialize};

/// How fast one side of the loss grows with the distance `d` of prediction and run time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "curve", content = "factor")]
pub enum Side {
    /// `g · d`
    Linear(f64),
    /// `g · d²`
    Square(f64),
    /// `exp(g · d)`
    Exponential(f64),
}

/// Where `exp` stops growing, so that it stays finite.
const LARGEST_EXPONENT: f64 = 700.0;

impl Side {
    /// The derivative at a distance of at least 0 seconds.
    #[must_use]
    pub fn slope(self, distance: f64) -> f64 {
        match self {
            Self::Linear(factor) => factor,
            Self::Square(factor) => 2.0 * factor * distance,
            Self::Exponential(factor) => {
                factor * libm::exp((factor * distance).min(LARGEST_EXPONENT))
            }
        }
    }
}

/// The loss of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// The side where the prediction is longer than the run time.
    pub over: Side,
    /// The side where it is shorter.
    pub under: Side,
    /// θ: predictions this much longer than the run time, in seconds, cost nothing.
    pub threshold: f64,
    /// λ: weight of the squared coefficients, added once a coefficient and sample.
    pub regularisation: f64,
}

/// The published weight of the squared coefficients.
const REGULARISATION: f64 = 4e9;

impl Default for Loss {
    /// The loss that the authors name E-Loss: too long costs its square, too short its distance.
    fn default() -> Self {
        Self {
            over: Side::Square(1.0),
            under: Side::Linear(1.0),
            threshold: 0.0,
            regularisation: REGULARISATION,
        }
    }
}

impl Loss {
    /// Its derivative by the prediction, for `predicted − run time` seconds.
    #[must_use]
    pub fn slope(&self, error: f64) -> f64 {
        if error > self.threshold {
            self.over.slope(error - self.threshold)
        } else if error < self.threshold {
            -self.under.slope(self.threshold - error)
        } else {
            0.0
        }
    }
}

/// How much a job counts, by its run time r in seconds and its m nodes. Some jobs count less than
/// nothing: the step then raises the loss, as published (P-11).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SampleWeight {
    /// `1`
    One,
    /// `5 + ln(r / m)`
    LongAndNarrow,
    /// `5 + ln(m / r)`
    ShortAndWide,
    /// `11 + ln(1 / (r · m))`
    Small,
    /// `1 + ln(m · r)`
    #[default]
    Large,
}

impl SampleWeight {
    /// The weight.
    #[must_use]
    pub fn of(self, runtime_seconds: f64, nodes: f64) -> f64 {
        match self {
            Self::One => 1.0,
            Self::LongAndNarrow => 5.0 + libm::log(runtime_seconds / nodes),
            Self::ShortAndWide => 5.0 + libm::log(nodes / runtime_seconds),
            Self::Small => 11.0 + libm::log(1.0 / (runtime_seconds * nodes)),
            Self::Large => 1.0 + libm::log(nodes * runtime_seconds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_those_of_the_vector() {
        let weights = [
            (SampleWeight::One, 1.0),
            (SampleWeight::LongAndNarrow, 8.218_876),
            (SampleWeight::ShortAndWide, 1.781_124),
            (SampleWeight::Small, 5.008_535),
            (SampleWeight::Large, 6.991_465),
        ];
        for (weight, expected) in weights {
            let found = weight.of(100.0, 4.0);
            assert!((found - expected).abs() < 5e-7, "{weight:?}: {found}");
        }
    }

    #[test]
    fn too_long_and_too_short_are_told_apart_at_the_threshold() {
        let loss = Loss {
            over: Side::Square(3.0),
            under: Side::Linear(7.0),
            threshold: 60.0,
            regularisation: 0.0,
        };
        assert_eq!(loss.slope(70.0), 60.0);
        assert_eq!(loss.slope(60.0), 0.0);
        assert_eq!(loss.slope(59.0), -7.0);
        assert_eq!(loss.slope(-1e6), -7.0);
    }

    #[test]
    fn an_exponential_side_stays_finite() {
        assert!(Side::Exponential(1e-4).slope(1e12).is_finite());
    }
}
