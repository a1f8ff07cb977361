//! What a table of the store is: its definition, its rows and what can be exported of it.
//!
//! Tables of everything stand in `store/tables`, those of a study in its folder; only `store` opens
//! a connection and calls what is here.

mod content;
mod shape;
mod writer;

use std::fmt::Write as _;

use rusqlite::Connection;
use rusqlite::types::Value;

use crate::scheduling::measures::Measure;

pub(crate) use content::{CLOCKS, Digest, Digests, Names, RowBytes, encode};
pub use shape::{Kind, Table, Tables};
pub use writer::RowWriter;
pub(crate) use writer::{Layout, Lookups, Number};

/// The name of a view and its query.
pub type View = (&'static str, &'static str);

/// Tables that belong together.
#[derive(Clone, Copy)]
pub struct Definition {
    /// The tables with their indexes, and the rows of those lookup tables that never change.
    pub sql: &'static str,
    /// Those of them with more than one row for each simulation, what refers to others of them
    /// first: these rows go when a simulation is computed anew.
    pub results: &'static [&'static str],
    /// The views for people, which are made anew by every migration.
    pub views: &'static [View],
    /// Rows that simulations share.
    pub shared: &'static [Shared],
    /// What can be exported.
    pub exports: &'static [ExportKind],
    /// What the views about the outcomes of all studies show of them.
    pub outcomes: Outcomes,
    /// A quantity of a simulation that is kept in one of these tables and not among the measures,
    /// by the name that findings and curves have for it; `None` for any other name.
    pub quantity: fn(&str) -> Option<StoredQuantity>,
    /// Enters what lookup tables must know of this program; run again by every migration.
    pub enter_lookups: fn(&Connection, &[&'static Measure]) -> rusqlite::Result<()>,
}

impl Definition {
    /// No tables.
    pub const NONE: Self = Self {
        sql: "",
        results: &[],
        views: &[],
        shared: &[],
        exports: &[],
        outcomes: Outcomes::NONE,
        quantity: |_| None,
        enter_lookups: |_, _| Ok(()),
    };
}

/// Where a quantity of a simulation is kept that has a table of its study's own.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredQuantity {
    /// The row with the quantity in `d.value`, as a JOIN with the simulation `m`; its parameters
    /// are `?2` and those that follow.
    pub join: &'static str,
    /// The parameters.
    pub parameters: Vec<Value>,
}

/// Rows that simulations share: parts of a row with an identity, which is the hash of what they
/// say.
#[derive(Clone, Copy)]
pub struct Shared {
    /// The table of the row with the identity and, in `jobs`, the number of its parts.
    pub table: &'static str,
    /// The table of its parts.
    pub parts: &'static str,
    /// The identity of the row with this number as it follows from its parts.
    pub identity: fn(&Connection, i64) -> rusqlite::Result<String>,
}

/// What a study has to say in the views about the outcomes of all studies (`v_all_jobs`,
/// `v_all_reservations`), as SQL.
#[derive(Clone, Copy)]
pub struct Outcomes {
    /// The algorithm that decided in the simulation `m` (a row of `simulation`): an expression.
    /// Nothing where it is the strategy.
    pub algorithm: Option<&'static str>,
    /// How many clusters the simulation `m` has: an expression. Nothing where it is one.
    pub clusters: Option<&'static str>,
    /// The cluster of the job `j` (a row of `v_job`), from 0: an expression. Nothing where there is
    /// one only.
    pub cluster_of_job: Option<&'static str>,
    /// The penalty ratio that the simulation `m` read: an expression, NULL where it read none.
    /// Nothing where it is that of the accounting of points.
    pub penalty_ratio: Option<&'static str>,
    /// A query whose rows are jobs that promised nothing to anybody and are kept in tables of the
    /// study, with the columns [`JOB_COLUMNS`] in this order.
    pub jobs: Option<&'static str>,
    /// A query whose rows are its reservations, with the columns [`RESERVATION_COLUMNS`] in this
    /// order.
    pub reservations: Option<&'static str>,
    /// Whether nodes of its machines can fail: what fails are rows of `node_event`.
    pub nodes_fail: bool,
    /// A query whose rows are its machines, with the columns [`MACHINE_COLUMNS`] in this order.
    /// Nothing where there is one of the workload's size.
    pub machines: Option<&'static str>,
    /// A query whose rows are what its machines held, with the columns [`HELD_COLUMNS`] in this
    /// order. Nothing where one machine held the jobs of `v_job`.
    pub held: Option<&'static str>,
}

impl Outcomes {
    /// Those of a study with one cluster whose nodes do not fail and without reservations, whose
    /// strategy decides.
    pub const NONE: Self = Self {
        algorithm: None,
        clusters: None,
        cluster_of_job: None,
        penalty_ratio: None,
        jobs: None,
        reservations: None,
        nodes_fail: false,
        machines: None,
        held: None,
    };
}

/// The columns of a study's machines: which simulation, which machine from 0, what it is called,
/// and its size.
pub const MACHINE_COLUMNS: [&str; 4] = ["simulation", "machine", "name", "nodes"];

/// The columns of what a study's machines held: by what (in the plural), from when until when, and
/// on how many nodes. Where a time is missing, nothing was held.
pub const HELD_COLUMNS: [&str; 6] = ["simulation", "machine", "kind", "start", "end", "nodes"];

/// The columns of a study's own jobs. `docs/schema.md` says what each of them is (`v_all_jobs`). A
/// job that started and has no end was ended before it was done.
pub const JOB_COLUMNS: [&str; 13] = [
    "simulation",
    "cluster",
    "job",
    "trace_number",
    "user",
    "application",
    "nodes",
    "estimate",
    "runtime",
    "submit",
    "start",
    "end",
    "waiting",
];

/// The columns of a study's reservations. `docs/schema.md` says what each of them is
/// (`v_all_reservations`).
pub const RESERVATION_COLUMNS: [&str; 20] = [
    "simulation",
    "request",
    "part",
    "parts",
    "cluster",
    "trace_number",
    "user",
    "nodes",
    "asked_at",
    "earliest",
    "deadline",
    "duration",
    "runtime",
    "outcome",
    "reason",
    "pof",
    "start",
    "end",
    "fee",
    "penalty",
];

/// What a simulation of a study leaves in tables of the study's own.
pub trait Rows {
    /// Why they would not come back from the store as they are; `None` where they would.
    fn problem(&self) -> Option<String> {
        None
    }

    /// Takes away what is not kept of this replication without outcomes.
    fn strip(&mut self, _replication: u32) {}

    /// Writes them; returns how many there are.
    fn write(&self, _rows: &RowWriter<'_>, _replication: u32) -> rusqlite::Result<u64> {
        Ok(0)
    }
}

/// For studies without tables of their own.
impl Rows for () {}

/// Rows of numbers as a JSON array of arrays, which `json_each` takes apart again.
pub fn json_rows<const COLUMNS: usize>(rows: impl Iterator<Item = [i64; COLUMNS]>) -> String {
    let mut text = "[".to_owned();
    for row in rows {
        text.push_str(if text.len() > 1 { ",[" } else { "[" });
        for (column, value) in row.into_iter().enumerate() {
            if column > 0 {
                text.push(',');
            }
            // Writing into a text does not fail.
            let _ = write!(text, "{value}");
        }
        text.push(']');
    }
    text.push(']');
    text
}

/// The first number of a table that is free, from the one that the identity begins with: it does
/// not depend on who comes first, and takes six bytes at most.
pub fn free_number(connection: &Connection, table: &str, identity: &str) -> rusqlite::Result<i64> {
    let digits = identity.get(..12).unwrap_or(identity);
    let mut number = i64::from_str_radix(digits, 16).unwrap_or(0) >> 1;
    let taken = format!("SELECT 1 FROM {table} WHERE id = ?1");
    while connection.prepare_cached(&taken)?.exists([number])? {
        number += 1;
    }
    Ok(number)
}

/// A kind of rows that can be exported.
#[derive(Debug, PartialEq, Eq)]
pub struct ExportKind {
    /// Its name, as `bookahead export --what` has it.
    pub name: &'static str,
    /// What one of its rows is.
    pub about: &'static str,
    /// Whether only simulations that were stored with all outcomes have such rows.
    pub of_outcomes: bool,
    /// Where the rows are.
    pub source: ExportSource,
    /// `name type` of each column, separated by commas; a name alone is a whole number.
    pub columns: &'static str,
}

/// Where the rows of an export are.
#[derive(Debug, PartialEq, Eq)]
pub enum ExportSource {
    /// The points of the run, with a column for each axis.
    Points,
    /// The axes of each point of the run.
    Axes,
    /// A view with a column `run`, and the columns by which its rows are in order.
    Run(&'static str, &'static str),
    /// A view with columns `run` and `simulation` that has too many rows to be sorted.
    RunSimulations(&'static str),
    /// A table as it is: its rows about the run, its simulations or their workloads, and all rows
    /// where they are about neither.
    Table,
    /// A table, a view or a query in parentheses with a column `simulation`: its rows about the
    /// simulations of the run.
    Simulations(&'static str),
    /// The same of a view whose rows are sorted, and the columns by which they are.
    SimulationsBy(&'static str, &'static str),
}

/// The type of an exported column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportType {
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A text.
    Text,
    /// True or false.
    Flag,
}
