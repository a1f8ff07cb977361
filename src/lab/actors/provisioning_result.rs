//! From a run of provisioning to the result of a simulation.

use super::SimulationResult;
use crate::brokering::provisioning::measures::{
    SiteSummary, front_hypervolume, provisioning_measures,
};
use crate::brokering::provisioning::{ProvisioningInputs, ProvisioningRun, ProvisioningSettings};

/// Measures a run, and keeps what became of its applications where that is asked for.
#[must_use]
pub fn provisioning_result(
    inputs: &ProvisioningInputs,
    settings: &ProvisioningSettings,
    run: ProvisioningRun,
    keep_outcomes: bool,
) -> SimulationResult {
    let mut result = SimulationResult {
        measured: provisioning_measures(inputs, settings, &run),
        sites: SiteSummary::of(inputs),
        ..SimulationResult::default()
    };
    result.metrics.submitted = run.outcomes.len() as u64;
    if keep_outcomes {
        if settings.is_genetic() {
            let volume = |outcome| front_hypervolume(&inputs.application, outcome);
            result.hypervolumes = run.outcomes.iter().map(volume).collect();
        }
        result.provisioning = Some(run);
    }
    result
}
