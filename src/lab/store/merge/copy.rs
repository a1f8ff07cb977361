//! Copying rows from one store to another, with the numbers of the one put in place of those of the
//! other.

use std::collections::HashMap;

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{OptionalExtension, params_from_iter};

use super::attached::Attached;
use super::{DONE, Input, MergeError};
use crate::store::Store;
use crate::tables::{Kind, Table, Tables};

/// What of a simulation's own row does not change when its result is written.
const FROM_IDENTITY: [&str; 5] = ["id", "identity", "generation", "strategy", "replication"];

/// The numbers of one input's rows in the joined store, by table.
pub(super) struct Mapping {
    numbers: Vec<HashMap<i64, i64>>,
    /// Tables without a row, which need not be asked for every simulation.
    empty: Vec<Option<bool>>,
}

impl Mapping {
    pub(super) fn new(tables: &Tables) -> Self {
        Self {
            numbers: vec![HashMap::new(); tables.0.len()],
            empty: vec![None; tables.0.len()],
        }
    }

    /// Whether the row has a number in the joined store.
    pub(super) fn knows(&self, table: usize, there: i64) -> bool {
        self.numbers[table].contains_key(&there)
    }

    pub(super) fn set(&mut self, table: usize, there: i64, here: i64) {
        self.numbers[table].insert(there, here);
    }
}

/// Writes into one store.
pub(super) struct Copier<'c> {
    store: &'c Store,
    tables: &'c Tables,
    attached: Attached,
    inserts: Vec<String>,
    /// For each table the question for a row by the first column of its key.
    selects: Vec<String>,
    /// Tables whose rows get their numbers from the merge alone.
    given: [usize; 3],
    /// Rows written.
    pub(super) rows: u64,
}

impl<'c> Copier<'c> {
    pub(super) fn new(store: &'c Store, tables: &'c Tables) -> Self {
        Self {
            store,
            tables,
            attached: Attached::default(),
            inserts: tables.0.iter().map(Table::insert).collect(),
            selects: tables.0.iter().map(Table::select_row).collect(),
            given: ["run", "simulation", "point"].map(|name| tables.place(name)),
            rows: 0,
        }
    }

    fn sql(&self, error: rusqlite::Error) -> MergeError {
        self.store.error("joining stores", error).into()
    }

    /// Makes the rows of these inputs known to the store's own connection, where that is possible:
    /// SQLite then copies by itself.
    pub(super) fn attach(&mut self, inputs: &[&Input]) -> Result<(), MergeError> {
        self.attached =
            Attached::new(&self.store.connection, inputs).map_err(|error| self.sql(error))?;
        Ok(())
    }

    /// The opposite of [`Copier::attach`].
    pub(super) fn detach(&mut self) -> Result<(), MergeError> {
        std::mem::take(&mut self.attached)
            .leave(&self.store.connection)
            .map_err(|error| self.sql(error))
    }

    /// The row of a numbered table with every reference translated; its own number is the input's.
    pub(super) fn row(
        &mut self,
        input: &Input,
        mapping: &mut Mapping,
        table: usize,
        number: i64,
    ) -> Result<Vec<Value>, MergeError> {
        self.row_without(input, mapping, table, number, &[])
    }

    /// The same with NULL in these columns.
    pub(super) fn row_without(
        &mut self,
        input: &Input,
        mapping: &mut Mapping,
        table: usize,
        number: i64,
        without: &[&str],
    ) -> Result<Vec<Value>, MergeError> {
        let shape = &self.tables.0[table];
        let mut values: Vec<Value> = input
            .connection()?
            .prepare_cached(&self.selects[table])
            .and_then(|mut statement| {
                statement.query_row([number], |row| {
                    (0..shape.columns.len())
                        .map(|column| row.get(column))
                        .collect()
                })
            })
            .map_err(|error| input.error(error))?;
        for (column, of) in shape.refers.iter().enumerate() {
            if without.contains(&shape.columns[column].as_str()) {
                values[column] = Value::Null;
            } else if let (Some(of), Value::Integer(there)) = (of, &values[column]) {
                values[column] = self
                    .number(input, mapping, *of, *there)?
                    .map_or(Value::Null, Value::Integer);
            }
        }
        Ok(values)
    }

    /// Inserts a row; returns its number.
    pub(super) fn insert(&mut self, table: usize, values: &[Value]) -> Result<i64, MergeError> {
        self.rows += 1;
        self.store
            .connection
            .prepare_cached(&self.inserts[table])
            .and_then(|mut statement| statement.insert(params_from_iter(values)))
            .map_err(|error| self.sql(error))
    }

    /// The number here of a row there: the row that says the same, or a new one. `None` for runs,
    /// simulations and points that are not joined.
    fn number(
        &mut self,
        input: &Input,
        mapping: &mut Mapping,
        table: usize,
        there: i64,
    ) -> Result<Option<i64>, MergeError> {
        if let Some(here) = mapping.numbers[table].get(&there) {
            return Ok(Some(*here));
        }
        if self.given.contains(&table) {
            return Ok(None);
        }
        let mut values = self.row(input, mapping, table, there)?;
        let shape = &self.tables.0[table];
        let Kind::Numbered { known_by } = &shape.kind else {
            return Ok(Some(there));
        };
        let number = shape.key[0];
        let condition: Vec<String> = known_by
            .iter()
            .map(|column| format!("\"{}\" IS ?", shape.columns[*column]))
            .collect();
        let find = |condition: &str, values: Vec<&Value>| {
            self.store
                .connection
                .prepare_cached(&format!(
                    "SELECT \"{}\" FROM \"{}\" WHERE {condition}",
                    shape.columns[number], shape.name
                ))
                .and_then(|mut statement| {
                    statement
                        .query_row(params_from_iter(values), |row| row.get::<_, i64>(0))
                        .optional()
                })
                .map_err(|error| self.sql(error))
        };
        let known = find(
            &condition.join(" AND "),
            known_by.iter().map(|column| &values[*column]).collect(),
        )?;
        let here = match known {
            Some(known) => known,
            None => {
                // Numbers that follow from the content are kept where they are free; others count
                // in the order of arrival.
                let by_content = known_by
                    .iter()
                    .any(|column| shape.columns[*column] == "identity");
                let taken = find(
                    &format!("\"{}\" = ?", shape.columns[number]),
                    vec![&values[number]],
                )?;
                if !by_content || taken.is_some() {
                    values[number] = Value::Null;
                }
                let here = self.insert(table, &values)?;
                mapping.set(table, there, here);
                for (part, column) in self.tables.parts(table) {
                    self.parts(input, mapping, (part, column), there, here)?;
                }
                here
            }
        };
        mapping.set(table, there, here);
        Ok(Some(here))
    }

    /// Copies the rows of one owner.
    fn parts(
        &mut self,
        input: &Input,
        mapping: &mut Mapping,
        (table, owner): (usize, usize),
        there: i64,
        here: i64,
    ) -> Result<(), MergeError> {
        if self.is_empty(input, mapping, table)? {
            return Ok(());
        }
        let tables = self.tables;
        let store = self.store;
        let shape = &tables.0[table];
        let written = |error| MergeError::from(store.error("joining stores", error));
        if let Some(copy) = self
            .attached
            .copy(&store.connection, tables, input.number, (table, owner))
            .map_err(written)?
        {
            let mut copy = store.connection.prepare_cached(copy).map_err(written)?;
            self.rows += copy.execute([here, there]).map_err(written)? as u64;
            return Ok(());
        }
        let connection = input.connection()?;
        let mut select = connection
            .prepare_cached(&shape.select_parts(owner))
            .map_err(|error| input.error(error))?;
        let mut rows = select.query([there]).map_err(|error| input.error(error))?;
        let mut insert = store
            .connection
            .prepare_cached(&self.inserts[table])
            .map_err(written)?;
        while let Some(row) = rows.next().map_err(|error| input.error(error))? {
            for column in 0..shape.columns.len() {
                let value = row.get_ref(column).map_err(|error| input.error(error))?;
                let value = match (shape.refers[column], value) {
                    _ if column == owner => ValueRef::Integer(here),
                    (Some(of), ValueRef::Integer(number)) => self
                        .number(input, mapping, of, number)?
                        .map_or(ValueRef::Null, ValueRef::Integer),
                    (_, value) => value,
                };
                insert
                    .raw_bind_parameter(column + 1, ToSqlOutput::Borrowed(value))
                    .map_err(written)?;
            }
            insert.raw_execute().map_err(written)?;
            self.rows += 1;
        }
        Ok(())
    }

    /// Copies the rows of one owner that are not there yet; rows that speak of points that are not
    /// joined are left out.
    pub(super) fn parts_if_new(
        &mut self,
        input: &Input,
        mapping: &mut Mapping,
        (table, owner): (usize, usize),
        there: i64,
        here: i64,
    ) -> Result<(), MergeError> {
        let tables = self.tables;
        let shape = &tables.0[table];
        let insert = format!("{} ON CONFLICT DO NOTHING", self.inserts[table]);
        let connection = input.connection()?;
        let mut select = connection
            .prepare(&shape.select_parts(owner))
            .map_err(|error| input.error(error))?;
        let mut rows = select.query([there]).map_err(|error| input.error(error))?;
        let store = self.store;
        let written = |error| MergeError::from(store.error("joining stores", error));
        let mut insert = store.connection.prepare(&insert).map_err(written)?;
        'rows: while let Some(row) = rows.next().map_err(|error| input.error(error))? {
            for (column, refers) in shape.refers.iter().enumerate() {
                let value = row.get_ref(column).map_err(|error| input.error(error))?;
                let value = match (refers, value) {
                    _ if column == owner => ValueRef::Integer(here),
                    (Some(of), ValueRef::Integer(number)) => {
                        match self.number(input, mapping, *of, number)? {
                            Some(number) => ValueRef::Integer(number),
                            None => continue 'rows,
                        }
                    }
                    (_, value) => value,
                };
                insert
                    .raw_bind_parameter(column + 1, ToSqlOutput::Borrowed(value))
                    .map_err(written)?;
            }
            self.rows += insert.raw_execute().map_err(written)? as u64;
        }
        Ok(())
    }

    /// Writes the result of a simulation that is entered: all its rows and the mark that it is
    /// done. Returns whether it did: a result that a sweep into the same store has written
    /// meanwhile stays.
    pub(super) fn simulation(
        &mut self,
        input: &Input,
        mapping: &mut Mapping,
        there: i64,
        here: i64,
        replaces: bool,
    ) -> Result<bool, MergeError> {
        let tables = self.tables;
        let place = tables.place("simulation");
        let shape = &tables.0[place];
        let done = self
            .store
            .connection
            .prepare_cached("SELECT state FROM simulation WHERE id = ?1")
            .and_then(|mut statement| statement.query_row([here], |row| row.get::<_, i64>(0)))
            .map_err(|error| self.sql(error))?
            == DONE;
        if done && !replaces {
            return Ok(false);
        }
        if replaces {
            for (part, column) in tables.parts(place).rev() {
                let part = &tables.0[part];
                self.store
                    .connection
                    .prepare_cached(&format!(
                        "DELETE FROM \"{}\" WHERE \"{}\" = ?1",
                        part.name, part.columns[column]
                    ))
                    .and_then(|mut statement| statement.execute([here]))
                    .map_err(|error| self.sql(error))?;
            }
        }
        let values = self.row(input, mapping, place, there)?;
        // What follows from the identity is there since the simulation was entered.
        let kept = FROM_IDENTITY.map(|name| shape.column(name));
        let changed: Vec<usize> = (0..shape.columns.len())
            .filter(|column| !kept.contains(column))
            .collect();
        let assignments: Vec<String> = changed
            .iter()
            .map(|column| format!("\"{}\" = ?", shape.columns[*column]))
            .collect();
        self.store
            .connection
            .prepare_cached(&format!(
                "UPDATE simulation SET {} WHERE id = ?",
                assignments.join(", ")
            ))
            .and_then(|mut statement| {
                let id = Value::Integer(here);
                statement.execute(params_from_iter(
                    changed.iter().map(|column| &values[*column]).chain([&id]),
                ))
            })
            .map_err(|error| self.sql(error))?;
        for (part, column) in tables.parts(place) {
            self.parts(input, mapping, (part, column), there, here)?;
        }
        Ok(true)
    }

    fn is_empty(
        &self,
        input: &Input,
        mapping: &mut Mapping,
        table: usize,
    ) -> Result<bool, MergeError> {
        if let Some(empty) = mapping.empty[table] {
            return Ok(empty);
        }
        let empty = input
            .connection()?
            .prepare(&format!(
                "SELECT 1 FROM \"{}\" LIMIT 1",
                self.tables.0[table].name
            ))
            .and_then(|mut statement| statement.exists([]))
            .map(|some| !some)
            .map_err(|error| input.error(error))?;
        mapping.empty[table] = Some(empty);
        Ok(empty)
    }
}
