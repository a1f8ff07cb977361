//! What the toy study counted.

use rusqlite::{Connection, params};

use crate::tables::{Definition, ExportKind, ExportSource, View};

/// The tables.
pub(super) const TABLES: Definition = Definition {
    sql: "CREATE TABLE toy (simulation INTEGER PRIMARY KEY REFERENCES simulation (id), jobs INTEGER NOT NULL, weight REAL NOT NULL) STRICT;",
    results: &["toy"],
    views: VIEWS,
    exports: EXPORTS,
    ..Definition::NONE
};

const VIEWS: &[View] = &[("v_toy", "SELECT t.simulation, t.jobs, t.weight FROM toy t")];

const EXPORTS: &[ExportKind] = &[ExportKind {
    name: "toys",
    about: "One row for each simulation of the toy study",
    of_outcomes: false,
    source: ExportSource::Simulations("v_toy"),
    columns: "simulation, jobs, weight number",
}];

/// Jobs and their weight.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToyRows {
    /// Jobs.
    pub jobs: u64,
    /// The weight of all.
    pub weight: f64,
}

impl crate::tables::Rows for ToyRows {
    fn write(
        &self,
        connection: &Connection,
        simulation: i64,
        _replication: u32,
    ) -> rusqlite::Result<u64> {
        connection.execute(
            "INSERT INTO toy VALUES (?1, ?2, ?3)",
            params![simulation, self.jobs as i64, self.weight],
        )?;
        Ok(1)
    }
}
