//! The planner's probability that the nodes of a job are there and stay there (spec §3.8–3.10).

use super::settings::{Reliability, SurvivalForm};
use crate::failures::availability;
use crate::units::{Nodes, Seconds};

/// Availability and survival of `n` equal nodes, with what never changes computed once.
#[derive(Clone, Debug)]
pub struct Hardware {
    reliability: Reliability,
}

impl Hardware {
    /// The planner's picture of the nodes.
    #[must_use]
    pub fn new(reliability: Reliability) -> Self {
        Self { reliability }
    }

    /// P_available: all `nodes` nodes are up at the start, `(1 / (1 + λ/μ))^n`.
    #[must_use]
    pub fn available(&self, nodes: Nodes) -> f64 {
        availability(
            nodes.0,
            self.reliability.failure_rate_per_hour,
            self.reliability.repair_rate_per_hour,
        )
    }

    /// P_success: all `nodes` nodes survive `span`.
    #[must_use]
    pub fn survives(&self, nodes: Nodes, span: Seconds) -> f64 {
        let hours = span.hours();
        match self.reliability.form {
            SurvivalForm::Survival => self.reliability.survival.survival_of(nodes.0, hours),
            SurvivalForm::Literal => self.reliability.survival.printed_of(nodes.0, hours),
        }
    }

    /// Mean time to repair, `1/μ`.
    #[must_use]
    pub fn mean_time_to_repair(&self) -> Seconds {
        Seconds::from_hours(1.0 / self.reliability.repair_rate_per_hour)
    }
}
