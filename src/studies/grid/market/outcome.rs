//! Results of a market and of its providers.

use super::Move;
use bookahead_core::scheduling::measures::Measured;
use bookahead_core::scheduling::{JobOutcome, SimulationMetrics};

/// The outcome of a market.
#[derive(Clone, Debug, PartialEq)]
pub struct MarketRun {
    /// Totals of all clusters.
    pub metrics: SimulationMetrics,
    /// The providers, in order of their number.
    pub providers: Vec<ProviderResult>,
    /// Its measures.
    pub measured: Measured,
    /// The moves between clusters, in order of time.
    pub moves: Vec<Move>,
}

/// The outcome of one provider. Amounts are in node-seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderResult {
    /// By what it multiplied the PoF that it said.
    pub optimism: f64,
    /// Promises that it gave: jobs that were delegated to it, and rests that other providers
    /// bought.
    pub jobs: u64,
    /// The rests among them.
    pub rests: u64,
    /// Broken promises among them.
    pub broken: u64,
    /// Broken promises of rests.
    pub broken_rests: u64,
    /// Sum of the PoFs that it said of them.
    pub promised: f64,
    /// Prices of kept promises, less what it paid for rests.
    pub revenue: f64,
    /// The same without the penalties of broken ones.
    pub gain: f64,
    /// What the broker believed its failure rate to be after each decided promise.
    pub believed: Vec<f64>,
    /// The outcomes of its jobs, numbered as they came to it; empty unless asked for.
    pub outcomes: Vec<JobOutcome>,
}

impl ProviderResult {
    /// Share of its promises that were broken; 0 without any.
    #[must_use]
    pub fn failure_rate(&self) -> f64 {
        self.broken as f64 / (self.jobs as f64).max(1.0)
    }

    /// After how many decided promises the broker's belief stayed within `tolerance` of the rate
    /// that the whole simulation showed; `None` if it was outside at the end.
    #[must_use]
    pub fn known_after(&self, tolerance: f64) -> Option<usize> {
        let truth = self.failure_rate();
        let is_outside = |belief: &f64| (belief - truth).abs() >= tolerance;
        let known = self
            .believed
            .iter()
            .rposition(is_outside)
            .map_or(0, |last| last + 1);
        (known < self.believed.len()).then_some(known)
    }
}
