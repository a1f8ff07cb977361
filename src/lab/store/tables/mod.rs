//! The tables and views of the store that all studies share, a file for each group of them. Those
//! of a study stand in its folder (`studies/STUDY/tables.rs`).
//!
//! Views give everything readable names, absolute times and coins. `docs/schema.md` explains every
//! table and column.

pub(super) mod distributions;
pub(super) mod jobs;
mod measures;
mod outcomes;
pub(super) mod runs;
pub(super) mod simulations;

use std::sync::OnceLock;

use rusqlite::Connection;

use super::metrics;
use super::rows::Prepared;
use crate::studies::{self, SimulationResult};
use crate::tables::{Definition, Layout, RowWriter, Tables};

/// Tables that belong together, with all that the store does with them.
pub(super) trait TableGroup: Sync {
    /// The tables.
    fn definition(&self) -> Definition;

    /// Why a result would not come back from the store as it is; `None` where it would.
    fn problem(&self, _result: &SimulationResult) -> Option<String> {
        None
    }

    /// Takes away what is not kept without outcomes.
    fn strip(&self, _result: &mut SimulationResult) {}

    /// Writes the rows of a simulation; returns how many.
    fn write(&self, _writer: &RowWriter<'_>, _prepared: &Prepared) -> rusqlite::Result<u64> {
        Ok(0)
    }
}

/// Every group.
pub(super) const GROUPS: [&dyn TableGroup; 6] = [
    &runs::Runs,
    &simulations::Simulations,
    &jobs::Jobs,
    &distributions::DistributionTables,
    &measures::Measures,
    &outcomes::OutcomeViews,
];

/// The name of every view, and its query with a column for each metric where it says METRICS.
pub(super) fn views() -> impl Iterator<Item = (&'static str, String)> {
    let views = definitions().flat_map(|tables| tables.views);
    views
        .map(|(name, query)| (*name, query.replace("METRICS", &metrics::columns())))
        .chain(outcomes::views())
}

/// The tables of every group and of every study.
pub(super) fn definitions() -> impl Iterator<Item = Definition> {
    let of_groups = GROUPS.iter().map(|group| group.definition());
    of_groups.chain(studies::STORED.iter().copied())
}

/// An empty store in memory, without its views.
pub(super) fn empty() -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    for tables in definitions() {
        connection.execute_batch(tables.sql)?;
        (tables.enter_lookups)(&connection)?;
    }
    Ok(connection)
}

/// The tables of this version and how rows are written into them. Whatever else a file has is not
/// the program's.
pub(super) fn layout() -> rusqlite::Result<&'static Layout> {
    static LAYOUT: OnceLock<Layout> = OnceLock::new();
    if let Some(layout) = LAYOUT.get() {
        return Ok(layout);
    }
    let tables = Tables::read(&empty()?)?.map_err(|table| {
        // A fault of the program, which a test would find.
        rusqlite::Error::InvalidParameterName(format!("the table {table} refers to no other"))
    })?;
    Ok(LAYOUT.get_or_init(|| Layout::of(tables)))
}
