//! A whole simulation of provisioning as one function call.

use super::{
    BrokerError, ProviderSite, ProvisioningInputs, ProvisioningRun, ProvisioningSettings,
    SitesAtHand, at_once, provision,
};
use crate::random::StreamSeed;

/// Why a simulation of provisioning could not be carried out.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProvisioningError {
    /// Nobody submits anything.
    #[error("a provisioning study submits at no instant; it needs at least one")]
    NoInstants,
    /// An instant that was not prepared.
    #[error("submission instant number {0} was not prepared: there is no snapshot of the sites")]
    NoSnapshot(usize),
    /// Instants go backwards.
    #[error("submission instants are not in order of time")]
    InstantsOutOfOrder,
    /// A site answered something else than it was asked; a defect.
    #[error("{0}")]
    Broker(String),
}

/// The sites as they are when a simulation begins: at the end of the second of its first submission.
///
/// # Errors
///
/// When its instants are not those of snapshots, in order of time.
pub fn sites_at_begin(inputs: &ProvisioningInputs) -> Result<Vec<ProviderSite>, ProvisioningError> {
    let background = &inputs.background;
    let mut previous = None;
    for &instant in &inputs.instants {
        let time = background.instants.get(instant);
        let time = time.ok_or(ProvisioningError::NoSnapshot(instant))?;
        if previous.is_some_and(|previous| previous > time) {
            return Err(ProvisioningError::InstantsOutOfOrder);
        }
        previous = Some(time);
    }
    let first = *inputs
        .instants
        .first()
        .ok_or(ProvisioningError::NoInstants)?;
    let sites = background.snapshots.get(first);
    let sites = sites.ok_or(ProvisioningError::NoSnapshot(first))?;
    Ok(sites.clone())
}

/// Simulates the submissions of one replication, without any actor.
///
/// # Errors
///
/// When the inputs do not fit together, or a site breaks its protocol.
pub fn simulate_provisioning(
    inputs: &ProvisioningInputs,
    settings: &ProvisioningSettings,
    seed: &StreamSeed,
) -> Result<ProvisioningRun, ProvisioningError> {
    let link = SitesAtHand::new(sites_at_begin(inputs)?);
    at_once(provision(inputs, settings, seed, link))
        .map_err(|error: BrokerError<_>| ProvisioningError::Broker(error.to_string()))
}
