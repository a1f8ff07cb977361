//! Co-reservation: a comparison of its clusters, and the course of one simulation over time.

pub(crate) mod clusters;
mod over_time;

use self::clusters::{Clusters, OfClusters};
use crate::co_reservation::study::measures::CLUSTER_MEASURES;
use crate::co_reservation::study::stored::{
    CLUSTER_VALUES, CO_PROMISES, cluster_values, co_promises,
};

use bookahead_lab::store::StoreError;
use bookahead_report::calibration::{Promised, shown_of};
use bookahead_report::views::{Reported, View, ViewContent};

/// As many clusters as there are colours.
const MOST_CLUSTERS: u16 = 7;

/// What is shown of its clusters.
const CLUSTERS: OfClusters = OfClusters {
    measures: CLUSTER_MEASURES,
    drawn: &[
        "filtering_degree",
        "infeasibility_rate",
        "cluster_job_percent",
        "cluster_part_percent",
        "cluster_utilisation_percent",
        "cluster_expansion_factor",
        "cluster_backlog_now_hours",
        "cluster_backlog_earliest_hours",
        "cluster_overbooked_promised",
        "cluster_overbooked_failed",
    ],
    table: ("by-cluster", "Every cluster"),
    note: "",
    source: "v_cluster_measure",
};

/// What a broker was promised for all parts of a co-reservation together.
const CO_RESERVATIONS: Promised = Promised {
    name: "co-calibration",
    whose: " of co-reservations",
    counted: "Co-reservations",
    in_bins: "Co-reservations",
    things: "co-reservations",
    part: "Lost and not replaced",
    about: "Granted co-reservations whose parts were sold at a risk, by the probability that at least one part is not there, as \
        promised at their reservation; of an algorithm without status queries, by the limit of its orders, which is not below it. One \
        counts as failed when a cluster lost a part of it, whether it was replaced or not.",
    source: CO_PROMISES,
};

/// The view of the study.
pub struct CoReservation;

impl View for CoReservation {
    fn show(&self, run: &Reported<'_>, shown: &mut ViewContent) -> Result<(), StoreError> {
        let values = cluster_values(run.store, run.run.id, CLUSTER_VALUES)?;
        if values.is_empty() {
            return Ok(());
        }
        let clusters = Clusters::new(&CLUSTERS, run, &values);
        shown.figures.extend(clusters.figures());
        shown.figures.extend(over_time::over_time(run)?);
        shown.tables.extend(clusters.table());
        let promised = co_promises(run.store, run.run.id)?;
        let (figures, tables) = shown_of(&CO_RESERVATIONS, &promised, run);
        shown.figures.extend(figures);
        shown.tables.extend(tables);
        Ok(())
    }
}
