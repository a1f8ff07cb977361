//! Of applications that take slots on the network between sites (Singh 2008, §8).

use bookahead_core::scheduling::measures::Measured;

use super::{add_mean, ratio};
use crate::provisioning::{ProvisioningInputs, ProvisioningOutcome};

/// How much was transferred, how long data waited for a slot, and what it cost: means over
/// applications, of the wait over transfers. Use is the volume of all transfers as a share of what
/// the ordered pairs of sites can carry from submission to the end.
pub(super) fn add_network(
    measured: &mut Measured,
    inputs: &ProvisioningInputs,
    outcomes: &[ProvisioningOutcome],
) {
    let Some(terms) = inputs.application.network() else {
        return;
    };
    let transfers = || outcomes.iter().flat_map(|outcome| &outcome.transfers);
    let count = transfers().count() as f64;
    let number = outcomes
        .iter()
        .map(|outcome| outcome.transfers.len() as f64);
    add_mean(measured, "wf_transfers", number);
    let waits = transfers().map(|slot| (slot.start - slot.ready).hours());
    measured.add_ratio("wf_transfer_wait_minutes", 60.0 * waits.sum::<f64>(), count);
    let sites = inputs.sites.len() as f64;
    let lanes = sites * (sites - 1.0) * f64::from(terms.lanes.max(1));
    let uses = outcomes.iter().filter_map(|outcome| {
        let slots = outcome.transfers.iter();
        let held: i64 = slots.map(|slot| (slot.end - slot.start).0).sum();
        let could = lanes * outcome.realised.makespan.0 as f64;
        ratio(100.0 * held as f64, could)
    });
    add_mean(measured, "wf_network_use_percent", uses);
    let costs = outcomes.iter();
    let costs = costs.map(|outcome| inputs.application.network_cost(&outcome.transfers));
    add_mean(measured, "wf_network_su", costs);
}
