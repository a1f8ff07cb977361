//! What rows say, as bytes that do not depend on the store that they are in, and digests of such
//! bytes.
//!
//! Numbers of a store's own (of simulations, workloads, measures) are replaced by what they stand
//! for, so that rows that were merged into another store keep their digest.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::AddAssign;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension};
use xxhash_rust::xxh3::xxh3_128;

use super::shape::{Kind, Table, Tables};

/// The digest of some rows: the sum of the hashes of each, so that their order does not matter and
/// more can be added.
///
/// It finds damage. Somebody who forges rows can compute it, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest(u128);

impl Digest {
    /// Adds a row.
    pub fn add(&mut self, row: &RowBytes) {
        self.0 = self.0.wrapping_add(xxh3_128(&row.bytes));
    }

    /// As the store keeps it: 32 hexadecimal digits.
    pub fn text(self) -> String {
        format!("{:032x}", self.0)
    }
}

impl AddAssign for Digest {
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.wrapping_add(other.0);
    }
}

/// One row of a table as bytes, column by column.
#[derive(Debug)]
pub struct RowBytes {
    bytes: Vec<u8>,
    /// How much of them says which table it is.
    table: usize,
}

impl RowBytes {
    /// For rows of this table.
    pub fn of(table: &str) -> Self {
        let mut bytes = Vec::with_capacity(256);
        bytes.extend_from_slice(table.as_bytes());
        bytes.push(0);
        Self {
            table: bytes.len(),
            bytes,
        }
    }

    /// Begins the next row.
    pub fn begin(&mut self) {
        self.bytes.truncate(self.table);
    }

    /// Adds the value of a column. NULL adds nothing, so that a column that comes later leaves the
    /// digests of earlier rows.
    pub fn add(&mut self, column: usize, is_real: bool, value: ValueRef<'_>) {
        let value = match value {
            ValueRef::Null => return,
            // What SQLite stores in such a column.
            ValueRef::Integer(number) if is_real => ValueRef::Real(number as f64),
            ValueRef::Real(number) if number.is_nan() => return,
            // It does not keep the sign of 0.
            ValueRef::Real(0.0) => ValueRef::Real(0.0),
            value => value,
        };
        self.bytes.push(column as u8);
        encode(value, &mut self.bytes);
    }

    /// Adds what stands for the value of a column.
    pub fn add_name(&mut self, column: usize, name: &[u8]) {
        self.bytes.push(column as u8);
        self.bytes.extend_from_slice(name);
    }
}

/// A value as bytes that no other value has.
pub fn encode(value: ValueRef<'_>, into: &mut Vec<u8>) {
    let (kind, bytes): (u8, &[u8]) = match value {
        ValueRef::Null => (0, &[]),
        ValueRef::Integer(number) => {
            into.push(1);
            into.extend_from_slice(&number.to_le_bytes());
            return;
        }
        ValueRef::Real(number) => {
            into.push(2);
            into.extend_from_slice(&number.to_bits().to_le_bytes());
            return;
        }
        ValueRef::Text(text) => (3, text),
        ValueRef::Blob(bytes) => (4, bytes),
    };
    into.push(kind);
    into.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    into.extend_from_slice(bytes);
}

/// What the numbers of one store stand for, as far as it was asked.
#[derive(Debug, Default)]
pub struct Names(HashMap<(usize, i64), Vec<u8>>);

impl Names {
    /// What a number of this table stands for: the columns by which its rows are known. A number
    /// without a row stands for itself.
    pub fn of(
        &mut self,
        connection: &Connection,
        tables: &Tables,
        table: usize,
        number: i64,
    ) -> rusqlite::Result<&[u8]> {
        Ok(match self.0.entry((table, number)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(name(connection, &tables.0[table], number)?),
        })
    }
}

fn name(connection: &Connection, table: &Table, number: i64) -> rusqlite::Result<Vec<u8>> {
    let mut name = Vec::new();
    if let Kind::Numbered { known_by } = &table.kind {
        let columns: Vec<String> = known_by
            .iter()
            .map(|column| format!("\"{}\"", table.columns[*column]))
            .collect();
        connection
            .query_row(
                &format!(
                    "SELECT {} FROM \"{}\" WHERE \"{}\" = ?1",
                    columns.join(", "),
                    table.name,
                    table.columns[table.key[0]]
                ),
                [number],
                |row| {
                    for column in 0..known_by.len() {
                        encode(row.get_ref(column)?, &mut name);
                    }
                    Ok(())
                },
            )
            .optional()?;
    }
    if name.is_empty() {
        encode(ValueRef::Integer(number), &mut name);
    }
    Ok(name)
}

/// Tables whose rows are in no digest: what clocks said may differ where results are the same.
pub const CLOCKS: [&str; 3] = ["simulation_timing", "decision_timing", "decision_histogram"];

/// What of a simulation's own row is in its digest: all that does not say when, where, how often or
/// as which generation it was computed.
const OF_SIMULATION: [&str; 9] = [
    "identity",
    "spec",
    "workload_label",
    "workload",
    "strategy",
    "replication",
    "detail",
    "jobs_hash",
    "failures_hash",
];

/// Digests of what a store has.
#[derive(Debug)]
pub struct Digests<'t> {
    tables: &'t Tables,
    names: Names,
    simulation: usize,
}

impl<'t> Digests<'t> {
    pub fn new(tables: &'t Tables) -> Self {
        Self {
            tables,
            names: Names::default(),
            simulation: tables.place("simulation"),
        }
    }

    /// The digest of a simulation's own row.
    pub fn of_own_row(
        &mut self,
        connection: &Connection,
        simulation: i64,
    ) -> rusqlite::Result<Digest> {
        let select = format!(
            "SELECT {} FROM simulation WHERE id = ?1",
            OF_SIMULATION.join(", ")
        );
        let shape = &self.tables.0[self.simulation];
        let columns = OF_SIMULATION.map(|name| Some(shape.column(name)));
        self.sum(connection, self.simulation, &columns, &select, simulation)
    }

    /// The digest of a simulation: of its own row and of its rows in every table.
    pub fn of_simulation(
        &mut self,
        connection: &Connection,
        simulation: i64,
    ) -> rusqlite::Result<Digest> {
        let mut digest = self.of_own_row(connection, simulation)?;
        for (place, owner) in self.tables.parts(self.simulation) {
            let shape = &self.tables.0[place];
            if CLOCKS.contains(&shape.name.as_str()) {
                continue;
            }
            let columns: Vec<Option<usize>> = (0..shape.columns.len())
                .map(|column| (column != owner).then_some(column))
                .collect();
            let select = shape.select_of(owner);
            digest += self.sum(connection, place, &columns, &select, simulation)?;
        }
        Ok(digest)
    }

    /// The digest of what a run shows: its experiment, what it read, its axes, and each place with
    /// its point and simulation.
    pub fn of_run(&mut self, connection: &Connection, run: i64) -> rusqlite::Result<Digest> {
        let mut digest = Digest::default();
        for (table, select) in OF_RUN {
            let mut row = RowBytes::of(table);
            let mut statement = connection.prepare_cached(select)?;
            let columns = statement.column_count();
            let mut rows = statement.query([run])?;
            while let Some(found) = rows.next()? {
                row.begin();
                for column in 0..columns {
                    row.add(column, false, found.get_ref(column)?);
                }
                digest.add(&row);
            }
        }
        Ok(digest)
    }

    /// The sum over the rows of a question; `columns` says which of the table's each of its columns
    /// is, and which are left out.
    fn sum(
        &mut self,
        connection: &Connection,
        table: usize,
        columns: &[Option<usize>],
        select: &str,
        simulation: i64,
    ) -> rusqlite::Result<Digest> {
        let shape = &self.tables.0[table];
        let mut digest = Digest::default();
        let mut row = RowBytes::of(&shape.name);
        let mut statement = connection.prepare_cached(select)?;
        let mut rows = statement.query([simulation])?;
        while let Some(found) = rows.next()? {
            row.begin();
            for (place, column) in columns.iter().enumerate() {
                let Some(column) = *column else { continue };
                let value = found.get_ref(place)?;
                match (shape.refers[column], value) {
                    (Some(of), ValueRef::Integer(number)) => {
                        let name = self.names.of(connection, self.tables, of, number)?;
                        row.add_name(column, name);
                    }
                    (_, value) => row.add(column, shape.reals[column], value),
                }
            }
            digest.add(&row);
        }
        Ok(digest)
    }
}

/// What is in the digest of a run: nothing of clocks, machines, programs and processes, nothing
/// that changes when a run is continued, and no numbers of the store's own.
const OF_RUN: [(&str, &str); 11] = [
    (
        "run",
        "SELECT name, description, configuration, configuration_hash, seed, replications, result_format, points
         FROM run WHERE id = ?1",
    ),
    (
        "run_input",
        "SELECT source, content FROM run_input WHERE run = ?1",
    ),
    (
        "run_loss",
        "SELECT workload, rule, records, dropped FROM run_loss WHERE run = ?1",
    ),
    (
        "run_machine",
        "SELECT workload, nodes, log_nodes, jobs, too_wide, lowest_load, highest_load FROM run_machine WHERE run = ?1",
    ),
    // Without a population, as in stores before version 18, a rule keeps its digest.
    (
        "run_rule",
        "SELECT kind, quantities, axes, goal, baseline, width, is_relative, probability, least, rung, most,
            coalesce(confirm || ' of ' || population, confirm)
         FROM run_rule WHERE run = ?1",
    ),
    (
        "run_turn",
        "SELECT turn, replication FROM run_turn WHERE run = ?1",
    ),
    (
        "decision",
        "SELECT number, rung, place, quantity, replications, mean, statistic, bound, verdict FROM decision WHERE run = ?1",
    ),
    ("axis", "SELECT position, key FROM axis WHERE run = ?1"),
    (
        "axis_value",
        "SELECT axis, position, kind, value FROM axis_value WHERE run = ?1",
    ),
    (
        "run_point",
        "SELECT rp.place, p.identity, p.penalty_ratio, p.replication, m.identity, m.generation
         FROM run_point rp LEFT JOIN point p ON p.id = rp.point LEFT JOIN simulation m ON m.id = p.simulation
         WHERE rp.run = ?1",
    ),
    (
        "point_axis",
        "SELECT place, axis, value FROM point_axis WHERE run = ?1",
    ),
];
