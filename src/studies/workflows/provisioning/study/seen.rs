//! What a simulation of provisioning is handed.

use crate::provisioning::ProvisioningInputs;
use bookahead_core::units::Seconds;
use bookahead_lab::study::inputs::Handed;

/// The jobs and failures of all sites, the workflow, and when it is submitted. Bookings and real
/// run times of tasks follow from the workflow by settings.
pub(super) fn hand(inputs: &ProvisioningInputs, handed: &mut Handed<'_>) {
    for site in inputs.sites.iter() {
        handed.jobs(&site.jobs);
        handed.failures(&site.failures, Seconds::FAR);
    }
    handed.workflow(&inputs.workflow);
    let instant = |at: &usize| inputs.background.instants.get(*at).map(|time| time.0);
    let instants: Vec<Option<i64>> = inputs.instants.iter().map(instant).collect();
    handed.request(&instants);
    for user in inputs.users.list() {
        let numbers = [user.home as i64, i64::from(user.job.0), user.drawn as i64];
        handed.request(&numbers.map(Some));
    }
}
