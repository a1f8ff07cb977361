//! Results of a market and of its providers.

use std::collections::BTreeMap;

use super::Move;
use bookahead_core::scheduling::measures::Measured;
use bookahead_core::scheduling::{JobOutcome, SimulationMetrics, Verdict};
use bookahead_core::units::Seconds;
use bookahead_core::workload::{Job, JobId};

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
    /// The quotes, in order of the jobs and of the clusters; empty unless asked for.
    pub quotes: Vec<Quote>,
    /// What was delegated, in order of the clusters and of their numbers there; empty unless asked
    /// for.
    pub delegations: Vec<Delegation>,
}

/// What a cluster quoted for a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quote {
    /// The job.
    pub job: JobId,
    /// The cluster.
    pub cluster: usize,
    /// When it would start.
    pub start: Seconds,
    /// When its slot would end.
    pub end: Seconds,
    /// The PoF that the cluster stated.
    pub pof: f64,
    /// What it asked, in node-seconds.
    pub price: f64,
    /// What the broker expected the customer to gain, in node-seconds.
    pub score: f64,
    /// Whether the job went there.
    pub is_taken: bool,
}

/// A job that a cluster took, or the rest of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Delegation {
    /// The cluster.
    pub cluster: usize,
    /// Its number there.
    pub number: u32,
    /// The customer's job.
    pub job: JobId,
    /// The cluster that bought it as the rest of its own, and the number of that; `None` where a
    /// customer did.
    pub buyer: Option<(usize, u32)>,
    /// The fee of the work, in node-seconds.
    pub fee: f64,
    /// The price that was agreed, in node-seconds.
    pub price: f64,
    /// The PoF that was stated.
    pub pof: f64,
    /// What became of it there; `None` where its rest moved on.
    pub outcome: Option<JobOutcome>,
}

impl MarketRun {
    /// What became of each of these jobs, which are those that customers brought: of one that
    /// moved, what became of its last rest; one that nobody took was dropped. Outcomes must have
    /// been kept.
    #[must_use]
    pub fn job_outcomes(&self, jobs: &[Job]) -> Vec<JobOutcome> {
        // A job has one delegation that decided it; those whose rest moved on have no outcome.
        let decided: BTreeMap<JobId, &JobOutcome> = (self.delegations.iter())
            .filter_map(|delegation| Some((delegation.job, delegation.outcome.as_ref()?)))
            .collect();
        let of_job = |job: &Job| match decided.get(&job.id) {
            Some(outcome) => JobOutcome {
                job: job.clone(),
                ..(*outcome).clone()
            },
            None => JobOutcome {
                verdict: Verdict::DroppedNoSlot,
                ..JobOutcome::unpromised(job.clone(), None)
            },
        };
        jobs.iter().map(of_job).collect()
    }
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
