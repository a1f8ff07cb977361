//! Slots on the network between sites, and what they do not go together with.

use super::{RawSites, RawTables};
use crate::provisioning::study::ProvisionedSettings;
use crate::provisioning::{NetworkSlots, ProvisioningSettings};
use bookahead_core::failures::{FailureSettings, FailureSource};
use bookahead_core::workload::workflows::RealRuntimes;
use bookahead_lab::keys::problem::{ProblemKind, Problems};

/// How bandwidth between sites is sold.
pub(super) fn network(raw: &RawSites, problems: &mut Problems) -> Option<NetworkSlots> {
    let lanes = raw.network_lanes().or_default(problems);
    let price = raw.network_price().or_default(problems);
    Some(NetworkSlots {
        lanes: lanes?,
        price: price?,
    })
}

/// Slots on the network are taken once, for a task that runs where and when it is planned.
pub(super) fn network_fits(
    own: &RawTables,
    settings: &ProvisioningSettings,
    about: &ProvisionedSettings,
    failures: &FailureSettings,
    problems: &mut Problems,
) -> Option<()> {
    let NetworkSlots { lanes, price } = about.network;
    if about.sites.len() == 1 || about.users_percent.is_some() || (lanes == 0 && price == 0.0) {
        return Some(());
    }
    let raw = &own.sites;
    let (path, place) = match lanes {
        0 => (raw.network_price().key.path, raw.network_price().place()),
        _ => (raw.network_lanes().key.path, raw.network_lanes().place()),
    };
    let (message, help) = if failures.source != FailureSource::None {
        (
            "a task that is lost to a node failure is planned again, and which of its data is already there is not known",
            "say `failures.source = \"none\"`, or leave out slots on the network",
        )
    } else if about.uncertainty.real != RealRuntimes::Exact && about.uncertainty.variation > 0.0 {
        (
            "a task that outlasts its slot is booked again, and slots that were taken on the network for what it hands on would have to be moved",
            "say `workflow.real_runtimes = \"exact\"`, or leave out slots on the network",
        )
    } else if settings.queue_choice.is_redundant() {
        (
            "copies of a task that are cancelled would keep the slots that were taken on the network for their data",
            "say another `provisioning.queue_choice`, or leave out slots on the network",
        )
    } else if price > 0.0 && about.application.number() > 1 {
        (
            "what slots on the network cost is not divided among several applications",
            "leave out `network_price`, or submit one application",
        )
    } else {
        return Some(());
    };
    problems.add(ProblemKind::Conflict, path, place, message, help);
    None
}
