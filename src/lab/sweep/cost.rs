//! What a simulation will cost: how long, and how much of the disk. Estimates, for the order of
//! work and for people.

use std::collections::BTreeMap;
use std::time::Duration;

use super::results::OutcomeDetail;
use super::spec::SimulationSpec;

/// Bytes of one stored simulation with its points and node events.
const SIMULATION_BYTES: f64 = 4_000.0;

/// Seconds a job by strategy: recorded ones where there are any, of jobs as
/// [`Study::work`](crate::study::Study::work) counts them.
#[derive(Clone, Debug, Default)]
pub struct CostModel {
    recorded: BTreeMap<String, f64>,
}

impl CostModel {
    /// A model that prefers what earlier simulations took.
    #[must_use]
    pub fn new(recorded: BTreeMap<String, f64>) -> Self {
        Self { recorded }
    }

    /// Seconds that a simulation will take on one core, about.
    #[must_use]
    pub fn seconds(&self, spec: &SimulationSpec) -> f64 {
        let (study, strategy) = (&spec.study, &spec.scheduling.strategy);
        let job = self.recorded.get(strategy).copied();
        study.work(spec) * job.unwrap_or_else(|| study.seconds_per_job(strategy))
    }
}

/// The wall time of simulations on so many workers: the work shared out, and never less than the
/// longest.
#[must_use]
pub fn wall_time(seconds: &[f64], workers: usize) -> Duration {
    let total: f64 = seconds.iter().sum();
    let longest = seconds.iter().copied().fold(0.0, f64::max);
    Duration::from_secs_f64((total / workers.max(1) as f64).max(longest))
}

/// Megabytes that the results of these simulations take in a store.
#[must_use]
pub fn megabytes<'a>(
    specs: impl Iterator<Item = &'a SimulationSpec>,
    detail: OutcomeDetail,
) -> f64 {
    let bytes: f64 = specs
        .map(|spec| match detail {
            OutcomeDetail::None => 0.0,
            OutcomeDetail::Metrics => SIMULATION_BYTES + spec.study.measured_bytes(spec),
            OutcomeDetail::All => {
                SIMULATION_BYTES + spec.study.measured_bytes(spec) + spec.study.outcome_bytes(spec)
            }
        })
        .sum();
    // An empty sum of floats is −0.
    (bytes + 0.0) / 1e6
}
