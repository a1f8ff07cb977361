//! What a broker knew of clusters, and how many it asked (Meltzer 2005, §2).

use bookahead_core::scheduling::measures::Measured;

use super::mean;
use crate::co_reservation::{CoReservationInputs, CoReservationRun, CoReservationSettings};

/// Left out where every cluster is known and asked.
pub(super) fn measure(
    settings: &CoReservationSettings,
    inputs: &CoReservationInputs,
    run: &CoReservationRun,
    measured: &mut Measured,
) {
    let information = &settings.information;
    let known = information.known_clusters(inputs.clusters.len() as u32);
    let Some(known) = known.filter(|_| !run.requests.is_empty()) else {
        return;
    };
    measured.add("co_known_clusters", f64::from(known));
    if !settings.search.algorithm.row().probes {
        return;
    }
    let counts = || run.requests.iter().map(|outcome| outcome.messages);
    let asked = counts().map(|messages| f64::from(messages.probed_clusters));
    measured.add("co_probed_clusters_mean", mean(asked));
    if information.probe_only.is_some() {
        let again = counts().map(|messages| f64::from(messages.second_rounds.min(1)));
        measured.add("co_second_round_rate", mean(again));
    }
}
