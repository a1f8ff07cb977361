//! The way of a simulation's rows into the store: each is written and counted into the simulation's
//! digest.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, ToSql, params};

use super::content::{Digest, Digests, Names, RowBytes};
use super::shape::{Kind, Table, Tables};
use crate::scheduling::measures::Measure;

/// Rows that one statement inserts at a time: less of its work is done anew for each.
const ROWS_AT_ONCE: usize = 16;

/// The tables of the program, with the statements that write into them.
#[derive(Debug)]
pub(crate) struct Layout {
    measures: Vec<&'static Measure>,
    pub tables: Tables,
    inserts: Vec<Inserts>,
}

#[derive(Debug)]
struct Inserts {
    one: String,
    many: String,
}

impl Layout {
    pub(crate) fn of(measures: Vec<&'static Measure>, tables: Tables) -> Self {
        let inserts = tables.0.iter().map(Inserts::of).collect();
        Self {
            measures,
            tables,
            inserts,
        }
    }
}

impl Inserts {
    fn of(table: &Table) -> Self {
        // Of tables with one row for each simulation, that of an earlier result is replaced.
        let replaces = table.key.len() == 1 && matches!(table.kind, Kind::Part { .. });
        let insert = if replaces {
            "INSERT OR REPLACE INTO"
        } else {
            "INSERT INTO"
        };
        let row = format!("({})", vec!["?"; table.columns.len()].join(", "));
        let of = |rows: usize| {
            let rows = vec![row.as_str(); rows].join(", ");
            format!(
                "{insert} \"{}\" ({}) VALUES {rows}",
                table.name,
                table.all_columns()
            )
        };
        Self {
            one: of(1),
            many: of(ROWS_AT_ONCE),
        }
    }
}

/// Writes the rows of one simulation after the other.
pub struct RowWriter<'c> {
    connection: &'c Connection,
    layout: &'static Layout,
    simulation: i64,
    digest: Cell<Digest>,
    lookups: Lookups,
}

/// What writers of rows have looked up in a store; the next one need not look again.
#[derive(Debug, Default)]
pub(crate) struct Lookups {
    names: RefCell<Names>,
    /// Codes in `measure` by name.
    measures: RefCell<HashMap<&'static str, i64>>,
}

impl<'c> RowWriter<'c> {
    pub(crate) fn new(connection: &'c Connection, layout: &'static Layout) -> Self {
        Self::with(connection, layout, Lookups::default())
    }

    /// A writer that knows what an earlier one has looked up in the same store.
    pub(crate) fn with(
        connection: &'c Connection,
        layout: &'static Layout,
        lookups: Lookups,
    ) -> Self {
        Self {
            connection,
            layout,
            simulation: 0,
            digest: Cell::default(),
            lookups,
        }
    }

    /// What this writer and those before it have looked up.
    pub(crate) fn into_lookups(self) -> Lookups {
        self.lookups
    }

    /// Begins the rows of a simulation.
    pub fn begin(&mut self, simulation: i64) {
        self.simulation = simulation;
        self.digest.set(Digest::default());
    }

    /// The number of the simulation.
    pub fn simulation(&self) -> i64 {
        self.simulation
    }

    /// Where rows are written that simulations share.
    pub fn connection(&self) -> &'c Connection {
        self.connection
    }

    /// The digest of the rows that were written since [`RowWriter::begin`].
    pub fn digest(&self) -> Digest {
        self.digest.get()
    }

    /// Stores the digest of a simulation whose rows are written; `before` is what another writer
    /// wrote of it.
    pub fn seal(&self, before: Digest) -> rusqlite::Result<()> {
        let mut digest =
            Digests::new(&self.layout.tables).of_own_row(self.connection, self.simulation)?;
        digest += self.digest.get();
        digest += before;
        self.connection
            .prepare_cached("UPDATE simulation SET digest = ?2 WHERE id = ?1")?
            .execute(params![self.simulation, digest.text()])?;
        Ok(())
    }

    /// A table, to write whole rows.
    pub fn table(&self, name: &str) -> rusqlite::Result<TableWriter<'_>> {
        self.prepare(name, |inserts| &inserts.one)
    }

    /// Writes whole rows of a table, many with one statement; returns how many there are.
    pub fn write_many<T: ToSql, const COLUMNS: usize>(
        &self,
        name: &str,
        rows: impl Iterator<Item = [T; COLUMNS]>,
    ) -> rusqlite::Result<u64> {
        let mut group: Vec<[T; COLUMNS]> = Vec::with_capacity(ROWS_AT_ONCE);
        let mut many = self.prepare(name, |inserts| &inserts.many)?;
        let mut written = 0;
        for row in rows {
            group.push(row);
            if group.len() == ROWS_AT_ONCE {
                for (row, values) in group.iter().enumerate() {
                    many.bind(row * COLUMNS, values)?;
                }
                many.statement.raw_execute()?;
                group.clear();
                written += ROWS_AT_ONCE as u64;
            }
        }
        let mut single = self.table(name)?;
        for values in &group {
            single.bind(0, values)?;
            single.statement.raw_execute()?;
        }
        Ok(written + group.len() as u64)
    }

    fn prepare(
        &self,
        name: &str,
        insert: impl Fn(&'static Inserts) -> &'static String,
    ) -> rusqlite::Result<TableWriter<'_>> {
        let tables = &self.layout.tables;
        let place = tables
            .find(name)
            .ok_or_else(|| rusqlite::Error::InvalidParameterName(format!("the table {name}")))?;
        let shape = &tables.0[place];
        let owner = match shape.kind {
            Kind::Part { of, column } if tables.0[of].name == "simulation" => Some(column),
            _ => None,
        };
        Ok(TableWriter {
            statement: self
                .connection
                .prepare_cached(insert(&self.layout.inserts[place]))?,
            writer: self,
            shape,
            owner,
            bytes: RowBytes::of(&shape.name),
        })
    }

    /// What is known of a measure of a study.
    #[must_use]
    pub fn known_measure(&self, name: &str) -> Option<&'static Measure> {
        let mut measures = self.layout.measures.iter();
        measures.find(|measure| measure.name == name).copied()
    }

    /// The code of a measure, which is entered with what is known of it where it is not known.
    pub fn measure(&self, name: &'static str, known: Option<&Measure>) -> rusqlite::Result<i64> {
        if let Some(code) = self.lookups.measures.borrow().get(name) {
            return Ok(*code);
        }
        debug_assert!(known.is_some(), "{name} is a measure");
        let code = self.connection.query_row(
            "INSERT INTO measure (name, unit, title) VALUES (?1, ?2, ?3)
             ON CONFLICT (name) DO UPDATE SET unit = excluded.unit, title = excluded.title
             RETURNING code",
            params![
                name,
                known.map_or("", |measure| measure.unit),
                known.map_or(name, |measure| measure.title)
            ],
            |row| row.get(0),
        )?;
        self.lookups.measures.borrow_mut().insert(name, code);
        Ok(code)
    }
}

/// Writes rows of one table.
pub struct TableWriter<'w> {
    statement: CachedStatement<'w>,
    writer: &'w RowWriter<'w>,
    shape: &'static Table,
    /// The column of the simulation's number, which is in no digest; none where rows are not of one
    /// simulation.
    owner: Option<usize>,
    bytes: RowBytes,
}

impl TableWriter<'_> {
    /// Writes a row: a value for every column, in their order.
    pub fn insert(&mut self, row: &[&dyn ToSql]) -> rusqlite::Result<()> {
        self.bind(0, row)?;
        self.statement.raw_execute()?;
        Ok(())
    }

    /// Binds a row behind so many parameters, and counts it.
    fn bind<T: ToSql>(&mut self, before: usize, row: &[T]) -> rusqlite::Result<()> {
        if row.len() != self.shape.columns.len() {
            return Err(rusqlite::Error::InvalidParameterCount(
                row.len(),
                self.shape.columns.len(),
            ));
        }
        self.bytes.begin();
        for (column, value) in row.iter().enumerate() {
            let value = value.to_sql()?;
            if self.owner.is_some_and(|owner| column != owner) {
                let content = match &value {
                    ToSqlOutput::Borrowed(value) => *value,
                    ToSqlOutput::Owned(value) => ValueRef::from(value),
                    // Blobs of zeros and the like, which no table of results has.
                    _ => ValueRef::Null,
                };
                match (self.shape.refers[column], content) {
                    (Some(of), ValueRef::Integer(number)) => {
                        let mut names = self.writer.lookups.names.borrow_mut();
                        let tables = &self.writer.layout.tables;
                        let name = names.of(self.writer.connection, tables, of, number)?;
                        self.bytes.add_name(column, name);
                    }
                    (_, content) => self.bytes.add(column, self.shape.reals[column], content),
                }
            }
            self.statement
                .raw_bind_parameter(before + column + 1, value)?;
        }
        if self.owner.is_some() {
            let mut digest = self.writer.digest.get();
            digest.add(&self.bytes);
            self.writer.digest.set(digest);
        }
        Ok(())
    }
}

/// A number in a table, or none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// NULL.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl<T: Into<Number>> From<Option<T>> for Number {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl ToSql for Number {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(value) => ValueRef::Integer(*value),
            Self::Real(value) => ValueRef::Real(*value),
        }))
    }
}
