//! What the toy study counted.

use rusqlite::params;

use crate::tables::{Definition, ExportKind, ExportSource, RowWriter, View};

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
    fn write(&self, writer: &RowWriter<'_>, _replication: u32) -> rusqlite::Result<u64> {
        writer
            .table("toy")?
            .insert(params![writer.simulation(), self.jobs as i64, self.weight])?;
        Ok(1)
    }
}
