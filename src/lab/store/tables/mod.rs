//! The tables and views of the store, a file for each group of them.
//!
//! Views give everything readable names, absolute times and coins. `docs/schema.md` explains every table and column.

pub(super) mod co_reservations;
pub(super) mod distributions;
mod jobs;
pub(super) mod measures;
pub(super) mod provisioning;
pub(super) mod reservations;
pub(super) mod runs;
mod simulations;

use rusqlite::Connection;

use super::export::ExportKind;

/// The name of a view and its query.
pub(super) type View = (&'static str, &'static str);

/// Tables that belong together, with all that the store does with them.
pub(super) trait TableGroup: Sync {
    /// The tables with their indexes, and the rows of those lookup tables that never change.
    fn sql(&self) -> &'static str;

    /// The views for people, which are made anew by every migration.
    fn views(&self) -> &'static [View];

    /// What can be exported of them.
    fn exports(&self) -> &'static [ExportKind];

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
