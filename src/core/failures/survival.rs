//! Survival of nodes over a run: Poisson, Weibull and hyper-exponential models (Birkenheuer 2012,
//! §3.3).
//!
//! The dissertation prints `1 − exp(−λT)` and its like as the probability of success; those are
//! probabilities of *failure*. Here are the survival forms; [`SurvivalModel::printed_of`] keeps the
//! printed ones for whoever wants to see what the error would do. All functions come from
//! `libm`, so the bits are the same everywhere.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::FailureError;
use crate::random::Stream;

/// A distribution of the up-time of one node (Birkenheuer 2012, §3.3). Times in hours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "model")]
pub enum SurvivalModel {
    /// Constant rate: `exp(−λT)`.
    Poisson {
        /// λ, per hour.
        rate_per_hour: f64,
    },
    /// `exp(−(T/β)^α)`.
    Weibull {
        /// α: below 1 infant mortality, above 1 ageing.
        shape: f64,
        /// β, hours.
        scale_hours: f64,
    },
    /// `Σ p_j exp(−λ_j T)`.
    HyperExponential {
        /// p_j, summing to 1.
        probabilities: Vec<f64>,
        /// λ_j, per hour.
        rates_per_hour: Vec<f64>,
    },
}

impl SurvivalModel {
    /// Probability that one node that is up stays up for `hours`, in `[0, 1]`; 1 for a span that is
    /// not positive.
    #[must_use]
    pub fn survival(&self, hours: f64) -> f64 {
        if hours <= 0.0 {
            return 1.0;
        }
        match self {
            Self::Poisson { rate_per_hour } => libm::exp(-rate_per_hour * hours),
            Self::Weibull { shape, scale_hours } => {
                libm::exp(-libm::pow(hours / scale_hours, *shape))
            }
            Self::HyperExponential {
                probabilities,
                rates_per_hour,
            } => {
                let reasons = probabilities.iter().zip(rates_per_hour);
                let sum: f64 = reasons
                    .map(|(share, rate)| share * libm::exp(-rate * hours))
                    .sum();
                sum.min(1.0)
            }
        }
    }

    /// P_success: probability that all of `nodes` such nodes stay up for `hours`, the n-th power of
    /// [`Self::survival`].
    #[must_use]
    pub fn survival_of(&self, nodes: u32, hours: f64) -> f64 {
        match self {
            Self::Poisson { rate_per_hour } => {
                libm::exp(-rate_per_hour * f64::from(nodes) * hours.max(0.0))
            }
            _ => libm::pow(self.survival(hours), f64::from(nodes)),
        }
    }

    /// What the dissertation prints as P_success: the n-th power of one node's probability of
    /// *failure* (A-02, `literal`).
    #[must_use]
    pub fn printed_of(&self, nodes: u32, hours: f64) -> f64 {
        libm::pow(1.0 - self.survival(hours), f64::from(nodes))
    }

    /// Draws an up-time in hours by inverting the survival function; infinite for a rate of 0.
    ///
    /// Takes one number of the stream, for the hyper-exponential model two, whatever the
    /// parameters.
    #[must_use]
    pub fn draw_hours(&self, stream: &mut Stream) -> f64 {
        match self {
            Self::Poisson { rate_per_hour } => draw_exponential(*rate_per_hour, stream),
            Self::Weibull { shape, scale_hours } => {
                scale_hours * libm::pow(draw_exponential(1.0, stream), 1.0 / shape)
            }
            Self::HyperExponential {
                probabilities,
                rates_per_hour,
            } => {
                let mut left: f64 = stream.random();
                let chosen = probabilities
                    .iter()
                    .zip(rates_per_hour)
                    .find(|&(share, _)| {
                        left -= share;
                        left < 0.0
                    });
                // Rounding of the shares may leave a sliver beyond the last one.
                let rate = chosen
                    .map(|(_, rate)| *rate)
                    .or(rates_per_hour.last().copied());
                draw_exponential(rate.unwrap_or(0.0), stream)
            }
        }
    }

    /// Checks that the parameters make a distribution.
    ///
    /// # Errors
    ///
    /// A rate that is negative or not finite, a shape or scale that is not positive, reasons whose
    /// numbers differ or whose probabilities are negative or do not sum to 1 (within 1e-9).
    pub fn validate(&self) -> Result<(), FailureError> {
        match self {
            Self::Poisson { rate_per_hour } => check("rate_per_hour", *rate_per_hour, true),
            Self::Weibull { shape, scale_hours } => {
                check("shape", *shape, false)?;
                check("scale_hours", *scale_hours, false)
            }
            Self::HyperExponential {
                probabilities,
                rates_per_hour,
            } => {
                if probabilities.is_empty() || probabilities.len() != rates_per_hour.len() {
                    return Err(FailureError::Parameter {
                        key: "rates_per_hour",
                        allowed: "as many numbers as `probabilities`, at least one",
                        found: format!("{rates_per_hour:?}"),
                    });
                }
                for &rate in rates_per_hour {
                    check("rates_per_hour", rate, false)?;
                }
                for &share in probabilities {
                    check("probabilities", share, true)?;
                }
                let sum: f64 = probabilities.iter().sum();
                if (sum - 1.0).abs() > 1e-9 {
                    return Err(FailureError::Parameter {
                        key: "probabilities",
                        allowed: "numbers that sum to 1",
                        found: format!("{probabilities:?}, which sum to {sum}"),
                    });
                }
                Ok(())
            }
        }
    }
}

/// The failure and repair rate of one node, per hour, where nodes differ.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeRates {
    /// λ, failures per hour.
    pub failure_rate_per_hour: f64,
    /// μ, repairs per hour.
    pub repair_rate_per_hour: f64,
}

/// P_available of `nodes` equal nodes: `(1 / (1 + λ/μ))^n`, the probability that all are up at one
/// moment (Birkenheuer 2012, §3.3.2).
#[must_use]
pub fn availability(nodes: u32, failure_rate_per_hour: f64, repair_rate_per_hour: f64) -> f64 {
    libm::pow(
        1.0 / (1.0 + failure_rate_per_hour / repair_rate_per_hour),
        f64::from(nodes),
    )
}

/// P_available of a set of nodes with rates of their own: `Π 1 / (1 + λ_i/μ_i)` (Birkenheuer 2012,
/// §3.3.1).
#[must_use]
pub fn availability_of_each(nodes: impl IntoIterator<Item = NodeRates>) -> f64 {
    let each = nodes
        .into_iter()
        .map(|node| availability(1, node.failure_rate_per_hour, node.repair_rate_per_hour));
    each.product()
}

/// An exponentially distributed span in hours; infinite for a rate of 0.
pub(super) fn draw_exponential(rate_per_hour: f64, stream: &mut Stream) -> f64 {
    // The number is in [0, 1), so the logarithm is finite; adding 0 turns the span −0 into 0.
    let uniform: f64 = stream.random();
    if rate_per_hour > 0.0 {
        -libm::log1p(-uniform) / rate_per_hour + 0.0
    } else {
        f64::INFINITY
    }
}

/// A parameter must be finite and positive, or at least not negative.
pub(super) fn check(key: &'static str, value: f64, zero_allowed: bool) -> Result<(), FailureError> {
    if value.is_finite() && (value > 0.0 || (zero_allowed && value == 0.0)) {
        return Ok(());
    }
    Err(FailureError::Parameter {
        key,
        allowed: if zero_allowed {
            "a number of at least 0"
        } else {
            "a number above 0"
        },
        found: value.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random;

    impl SurvivalModel {
        /// Mean up-time (MTTF) in hours; infinite for a rate of 0.
        fn mean_up_time_hours(&self) -> f64 {
            match self {
                Self::Poisson { rate_per_hour } => 1.0 / rate_per_hour,
                Self::Weibull { shape, scale_hours } => {
                    scale_hours * libm::tgamma(1.0 + 1.0 / shape)
                }
                Self::HyperExponential {
                    probabilities,
                    rates_per_hour,
                } => probabilities
                    .iter()
                    .zip(rates_per_hour)
                    .map(|(share, rate)| share / rate)
                    .sum(),
            }
        }
    }

    /// λ and μ of the dissertation, per hour (Birkenheuer 2012, §5.1.1).
    const RATE: f64 = 1.2904e-4;
    const REPAIR: f64 = 0.4333;

    fn poisson() -> SurvivalModel {
        SurvivalModel::Poisson {
            rate_per_hour: RATE,
        }
    }

    fn models() -> Vec<SurvivalModel> {
        vec![
            poisson(),
            SurvivalModel::Weibull {
                shape: 0.7,
                scale_hours: 500.0,
            },
            SurvivalModel::Weibull {
                shape: 2.0,
                scale_hours: 90.0,
            },
            SurvivalModel::HyperExponential {
                probabilities: vec![0.3, 0.7],
                rates_per_hour: vec![0.1, 0.001],
            },
        ]
    }

    #[test]
    fn hardware_factors_are_those_of_section_15_4() {
        for (nodes, hours, available, success, product) in [
            (
                1,
                1.0,
                0.999_702_281_139_261,
                0.999_870_968_325_302_6,
                0.999_573_287_879_726_8,
            ),
            (
                16,
                12.0,
                0.995_247_119_847_161,
                0.975_528_718_088_169,
                0.970_892_147_005_443_2,
            ),
            (
                64,
                10.0,
                0.981_123_589_649_655_2,
                0.920_732_619_771_186_3,
                0.903_352_493_017_437_4,
            ),
            (
                430,
                2.0,
                0.879_819_795_119_750_5,
                0.894_961_659_654_259_7,
                0.787_404_984_037_042_6,
            ),
            (
                1_024,
                1.0,
                0.737_190_083_902_544,
                0.876_220_979_635_532_5,
                0.645_941_417_494_687_5,
            ),
        ] {
            let got = (
                availability(nodes, RATE, REPAIR),
                poisson().survival_of(nodes, hours),
            );
            assert!(
                (got.0 - available).abs() < 1e-12,
                "P_available of {nodes}: {}",
                got.0
            );
            assert!(
                (got.1 - success).abs() < 1e-12,
                "P_success of {nodes}: {}",
                got.1
            );
            assert!((got.0 * got.1 - product).abs() < 1e-12);
        }
        assert!((poisson().mean_up_time_hours() - 7_749.535).abs() < 1e-3);
        assert!((1.0 / REPAIR - 2.307_87).abs() < 1e-5);
        assert!((RATE / REPAIR - 2.978_075e-4).abs() < 1e-10);
    }

    #[test]
    fn the_probabilities_of_success_of_section_15_3() {
        let available = availability(2, RATE, REPAIR);
        let survives = poisson().survival_of(2, 2.0);
        assert!((available - 0.999_404_650_915_041_9).abs() < 1e-12);
        assert!((survives - 0.999_483_973_187_656_5).abs() < 1e-12);
        let comprehensive = available * 0.756_25 * survives;
        assert!((comprehensive - 0.755_409_754_309_834_1).abs() < 1e-12);
        let heuristic = available * 0.7 * survives;
        assert!((1.0 - heuristic - 0.300_777_748_076_847_8).abs() < 1e-12);
    }

    #[test]
    fn the_printed_formula_fails_nearly_always() {
        // 1.3e-4 for one node and one hour.
        assert!((poisson().printed_of(1, 1.0) - 1.290_3e-4).abs() < 1e-8);
        assert!(poisson().printed_of(1, 77.0) < 0.01);
    }

    #[test]
    fn equal_nodes_and_nodes_one_by_one_agree() {
        let rates = NodeRates {
            failure_rate_per_hour: RATE,
            repair_rate_per_hour: REPAIR,
        };
        let each = availability_of_each([rates; 16]);
        assert!((each - availability(16, RATE, REPAIR)).abs() < 1e-14);
        for model in models() {
            let each: f64 = [model.survival(12.0); 16].iter().product();
            assert!((each - model.survival_of(16, 12.0)).abs() < 1e-14);
        }
        assert_eq!(availability_of_each([]), 1.0);
    }

    #[test]
    fn shape_one_and_a_single_reason_are_the_poisson_model() {
        let weibull = SurvivalModel::Weibull {
            shape: 1.0,
            scale_hours: 1.0 / RATE,
        };
        let single = SurvivalModel::HyperExponential {
            probabilities: vec![1.0],
            rates_per_hour: vec![RATE],
        };
        for model in [weibull, single] {
            for hours in [0.0, 1.0, 24.0, 10_000.0] {
                assert!((model.survival(hours) - poisson().survival(hours)).abs() < 1e-14);
            }
            let relative = model.mean_up_time_hours() / poisson().mean_up_time_hours();
            assert!((relative - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn parameters_that_make_no_distribution_are_errors() {
        let hyper = |probabilities: &[f64], rates: &[f64]| SurvivalModel::HyperExponential {
            probabilities: probabilities.to_vec(),
            rates_per_hour: rates.to_vec(),
        };
        for (model, key) in [
            (
                SurvivalModel::Poisson {
                    rate_per_hour: -1.0,
                },
                "rate_per_hour",
            ),
            (
                SurvivalModel::Poisson {
                    rate_per_hour: f64::NAN,
                },
                "rate_per_hour",
            ),
            (
                SurvivalModel::Weibull {
                    shape: 0.0,
                    scale_hours: 1.0,
                },
                "shape",
            ),
            (
                SurvivalModel::Weibull {
                    shape: 1.0,
                    scale_hours: f64::INFINITY,
                },
                "scale_hours",
            ),
            (hyper(&[], &[]), "rates_per_hour"),
            (hyper(&[0.5, 0.5], &[1.0]), "rates_per_hour"),
            (hyper(&[0.5, 0.5], &[1.0, 0.0]), "rates_per_hour"),
            (hyper(&[1.5, -0.5], &[1.0, 2.0]), "probabilities"),
            (hyper(&[0.5, 0.4], &[1.0, 2.0]), "probabilities"),
        ] {
            match model.validate() {
                Err(FailureError::Parameter { key: found, .. }) => assert_eq!(found, key),
                other => panic!("{model:?} gave {other:?}"),
            }
        }
        for model in models() {
            model.validate().unwrap();
        }
        SurvivalModel::Poisson { rate_per_hour: 0.0 }
            .validate()
            .unwrap();
    }

    #[test]
    fn drawn_up_times_follow_the_survival_function() {
        for (index, model) in models().into_iter().enumerate() {
            let mut stream = random::stream(11, "draws", index as u32, "up-times");
            let mut drawn: Vec<f64> = (0..20_000).map(|_| model.draw_hours(&mut stream)).collect();
            drawn.sort_by(f64::total_cmp);
            // Kolmogorov–Smirnov distance; its 99.9 % point is 1.95 / √20000 = 0.0138.
            let distance = drawn.iter().zip(0..).map(|(&hours, rank)| {
                (1.0 - model.survival(hours) - (f64::from(rank) + 0.5) / 20_000.0).abs()
            });
            let distance = distance.fold(0.0, f64::max);
            assert!(distance < 0.0138, "{model:?}: {distance}");
        }
        let never = SurvivalModel::Poisson { rate_per_hour: 0.0 };
        assert_eq!(
            never.draw_hours(&mut random::stream(1, "", 0, "")),
            f64::INFINITY
        );
    }

    proptest! {
        #[test]
        fn survival_is_a_probability_that_never_grows(
            which in 0_usize..4, hours in -10.0_f64..100_000.0, more in 0.0_f64..1_000.0, nodes in 1_u32..2_000,
        ) {
            let model = &models()[which];
            let survival = model.survival(hours);
            prop_assert!((0.0..=1.0).contains(&survival));
            prop_assert!(model.survival(hours + more) <= survival);
            let all = model.survival_of(nodes, hours);
            prop_assert!((0.0..=1.0).contains(&all));
            prop_assert!(all <= survival + 1e-15);
            prop_assert!(model.survival_of(nodes + 1, hours) <= all);
            prop_assert!(availability(nodes + 1, RATE, REPAIR) <= availability(nodes, RATE, REPAIR));
        }
    }
}
