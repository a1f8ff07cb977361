//! The tables and views of the store, a file for each group of them.
//!
//! Views give everything readable names, absolute times and coins. `docs/schema.md` explains every table and column.

mod co_reservations;
pub(super) mod distributions;
pub(super) mod jobs;
mod measures;
mod provisioning;
mod reservations;
pub(super) mod runs;
mod simulations;

use std::collections::HashMap;

use rusqlite::Connection;

use super::export::ExportKind;
use super::metrics;
use super::rows::Prepared;
use crate::actors::SimulationResult;

/// The name of a view and its query.
pub(super) type View = (&'static str, &'static str);

/// Where rows are written, and what was looked up there so far.
pub(super) struct Writing<'c> {
    pub(super) connection: &'c Connection,
    /// Codes in `measure` by name.
    measures: HashMap<&'static str, i64>,
}

impl<'c> Writing<'c> {
    pub(super) fn new(connection: &'c Connection) -> Self {
        Self {
            connection,
            measures: HashMap::new(),
        }
    }
}

/// Tables that belong together.
pub(super) struct Definition {
    /// The tables with their indexes, and the rows of those lookup tables that never change.
    pub(super) sql: &'static str,
    /// Those of them with more than one row for each simulation, what refers to others of them first: these rows go when a
    /// simulation is computed anew.
    pub(super) results: &'static [&'static str],
    /// The views for people, which are made anew by every migration.
    pub(super) views: &'static [View],
    /// What can be exported.
    pub(super) exports: &'static [ExportKind],
}

/// Tables that belong together, with all that the store does with them.
pub(super) trait TableGroup: Sync {
    /// The tables.
    fn definition(&self) -> &'static Definition;

    /// Why a result would not come back from the store as it is; `None` where it would.
    fn problem(&self, _result: &SimulationResult) -> Option<String> {
        None
    }

    /// Takes away what is not kept of this replication without outcomes.
    fn strip(&self, _result: &mut SimulationResult, _replication: u32) {}

    /// Writes the rows of a simulation; returns how many.
    fn write(
        &self,
        _writing: &mut Writing<'_>,
        _simulation: i64,
        _prepared: &Prepared,
    ) -> rusqlite::Result<u64> {
        Ok(0)
    }

    /// Enters what lookup tables must know of this program; run again by every migration.
    fn enter_lookups(&self, _connection: &Connection) -> rusqlite::Result<()> {
        Ok(())
    }
}

/// Every group.
pub(super) const GROUPS: [&dyn TableGroup; 8] = [
    &runs::Runs,
    &simulations::Simulations,
    &jobs::Jobs,
    &distributions::DistributionTables,
    &measures::Measures,
    &reservations::Reservations,
    &co_reservations::CoReservations,
    &provisioning::Provisioning,
];

/// The name of every view, and its query with a column for each metric where it says METRICS.
pub(super) fn views() -> impl Iterator<Item = (&'static str, String)> {
    let views = definitions().flat_map(|tables| tables.views);
    views.map(|(name, query)| (*name, query.replace("METRICS", &metrics::columns())))
}

/// The tables of every group.
pub(super) fn definitions() -> impl Iterator<Item = &'static Definition> {
    GROUPS.iter().map(|group| group.definition())
}
