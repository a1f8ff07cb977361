//! Survival of nodes over a run: Poisson, Weibull and hyper-exponential models.

use serde::{Deserialize, Serialize};

/// A distribution of the up-time of one node (spec §3.10). Times in hours.
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
    /// tmp
    pub fn survival(&self, hours: f64) -> f64 {
        match self {
            Self::Poisson { rate_per_hour } => libm::exp(-rate_per_hour * hours),
            _ => 1.0,
        }
    }
    /// tmp
    pub fn survival_of(&self, nodes: u32, hours: f64) -> f64 {
        match self {
            Self::Poisson { rate_per_hour } => libm::exp(-rate_per_hour * hours * f64::from(nodes)),
            _ => 1.0,
        }
    }
}
/// tmp
pub fn availability(nodes: u32, l: f64, m: f64) -> f64 {
    libm::pow(1.0 / (1.0 + l / m), f64::from(nodes))
}
