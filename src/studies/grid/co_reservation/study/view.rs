//! Co-reservation: a comparison of its clusters, and the course of one simulation over time.

mod clusters;
mod over_time;

use self::clusters::Clusters;
use crate::co_reservation::study::stored::cluster_values;

use bookahead_lab::store::StoreError;
use bookahead_report::views::{Reported, View, ViewContent};

/// As many clusters as there are colours.
const MOST_CLUSTERS: u16 = 7;

/// The view of the study.
pub struct CoReservation;

impl View for CoReservation {
    fn show(&self, run: &Reported<'_>, shown: &mut ViewContent) -> Result<(), StoreError> {
        let values = cluster_values(run.store, run.run.id)?;
        if values.is_empty() {
            return Ok(());
        }
        let clusters = Clusters::new(run, &values);
        shown.figures.extend(clusters.figures());
        shown.figures.extend(over_time::over_time(run)?);
        shown.tables.extend(clusters.table());
        Ok(())
    }
}
