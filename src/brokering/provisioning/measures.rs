//! What a simulation of provisioning measures: the names are in [`MEASURES`](crate::scheduling::measures::MEASURES).

use super::{ProvisioningInputs, ProvisioningRun, ProvisioningSettings};
use crate::scheduling::measures::Measured;

/// The values of a run (spec `provisioning.md` §10). Where a simulation submits several applications, means over them.
#[must_use]
pub fn provisioning_measures(
    inputs: &ProvisioningInputs,
    settings: &ProvisioningSettings,
    run: &ProvisioningRun,
) -> Measured {
    let _ = (inputs, settings);
    let mut measured = Measured::default();
    let applications = run.outcomes.len() as f64;
    let cost: f64 = run
        .outcomes
        .iter()
        .map(|outcome| outcome.realised.cost)
        .sum();
    measured.add_ratio("wf_realised_cost_su", cost, applications);
    measured
}
