//! Whether two stores have the same results: every row but what clocks said, without the numbers of
//! either store.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, params};

use super::agree::{Experiment, known_simulation, other_point};
use super::{DONE, Input, MergeError, Wanted};
use crate::store::{Store, StoreError};
use crate::tables::{CLOCKS, Kind, Names, Tables, encode};

/// What of a simulation's own row follows from its content.
const CONTENT: [&str; 3] = ["spec", "workload_label", "replication"];

/// Refuses inputs that give another result than each other, or than the store that takes them in.
pub(super) fn same_results(
    inputs: &[Input],
    wanted: &[Wanted],
    existing: Option<&Store>,
    experiment: &Experiment,
) -> Result<(), MergeError> {
    let Some(any) = inputs.first() else {
        return Ok(());
    };
    let tables = Tables::read(&*any.connection()?)
        .map_err(|error| any.error(error))?
        .map_err(|table| MergeError::UnknownTable {
            path: any.path.clone(),
            table,
        })?;
    let mut sides: Vec<Side<'_>> = inputs
        .iter()
        .map(|input| Side::new(&input.path, Source::Input(input), &tables))
        .collect();
    if let Some(store) = existing {
        sides.push(Side::new(&store.path, Source::Store(store), &tables));
        if let Some(run) = &experiment.target {
            same_places(store, run.id, inputs, wanted)?;
        }
    }
    let run = experiment.target.as_ref().map(|run| run.id);
    for simulation in wanted {
        let mut done: Vec<(usize, i64, i64)> = simulation
            .found
            .iter()
            .filter(|found| found.state == DONE)
            .map(|found| (found.input, found.simulation, found.detail))
            .collect();
        if let (Some(store), false) = (existing, done.is_empty()) {
            let known = known_simulation(&store.connection, &simulation.identity, run)
                .map_err(|error| store.error("looking for results", error))?;
            if let Some((number, DONE, detail)) = known {
                done.push((inputs.len(), number, detail));
            }
        }
        let Some(((one, first, detail), others)) = done.split_first() else {
            continue;
        };
        for (other, second, other_detail) in others {
            let digest = sides[*one].digest(*first)?;
            if digest.is_some() && digest == sides[*other].digest(*second)? {
                continue;
            }
            let partly = detail != other_detail;
            for table in 0..tables.0.len() {
                let here = sides[*one].content(table, *first)?;
                let there = sides[*other].content(table, *second)?;
                let skip = partly && (here.is_empty() || there.is_empty());
                if !skip && here != there {
                    return Err(MergeError::Conflict {
                        one: sides[*one].path.to_owned(),
                        other: sides[*other].path.to_owned(),
                        what: format!(
                            "simulation {} has other rows in `{}`",
                            simulation.identity, tables.0[table].name
                        ),
                        advice: "one of them was changed or computed by a program with a fault; `bookahead run --fresh` \
                                 into a new store tells which",
                    });
                }
            }
        }
    }
    Ok(())
}

/// The joined store's own run must say the same about places.
fn same_places(
    store: &Store,
    run: i64,
    inputs: &[Input],
    wanted: &[Wanted],
) -> Result<(), MergeError> {
    let sql = |error| MergeError::from(store.error("looking for its points", error));
    let mut find = store
        .connection
        .prepare(
            "SELECT p.identity FROM run_point rp JOIN point p ON p.id = rp.point WHERE rp.run = ?1 AND rp.place = ?2",
        )
        .map_err(sql)?;
    for (place, input, point) in wanted.iter().flat_map(|simulation| &simulation.points) {
        let known: Option<String> = find
            .query_row(params![run, place], |row| row.get(0))
            .optional()
            .map_err(sql)?;
        let Some(known) = known else { continue };
        let input = &inputs[*input];
        let theirs: String = input
            .connection()?
            .prepare_cached("SELECT identity FROM point WHERE id = ?1")
            .and_then(|mut statement| statement.query_row([point], |row| row.get(0)))
            .map_err(|error| input.error(error))?;
        if known != theirs {
            return Err(other_point(&store.path, &input.path, *place));
        }
    }
    Ok(())
}

/// Where the rows of a side are: a store that is opened when it is needed, or the one that takes
/// the others in.
#[derive(Clone, Copy)]
enum Source<'s> {
    Input(&'s Input),
    Store(&'s Store),
}

/// One store whose results are compared.
struct Side<'s> {
    path: &'s Path,
    source: Source<'s>,
    tables: &'s Tables,
    simulation: usize,
    names: Names,
    /// For each table the question for the rows of one simulation; none where there is nothing to
    /// compare.
    questions: Vec<Option<String>>,
}

impl<'s> Side<'s> {
    fn new(path: &'s Path, source: Source<'s>, tables: &'s Tables) -> Self {
        Self {
            path,
            source,
            tables,
            simulation: tables.place("simulation"),
            names: Names::default(),
            questions: Vec::new(),
        }
    }

    /// The digest of a simulation, which was compared with its rows before.
    fn digest(&self, simulation: i64) -> Result<Option<String>, MergeError> {
        let opened;
        let connection: &Connection = match self.source {
            Source::Input(input) => {
                opened = input.connection()?;
                &opened
            }
            Source::Store(store) => &store.connection,
        };
        connection
            .prepare_cached("SELECT digest FROM simulation WHERE id = ?1")
            .and_then(|mut statement| statement.query_row([simulation], |row| row.get(0)))
            .map_err(|error| comparing(self.path, error))
    }

    /// Everything that a table says about a simulation, without numbers of the store's own, in an
    /// order that does not depend on them. Nothing of tables that are not about simulations.
    fn content(&mut self, table: usize, simulation: i64) -> Result<Vec<Vec<u8>>, MergeError> {
        let shape = &self.tables.0[table];
        let Some(owner) = self.owner(table) else {
            return Ok(Vec::new());
        };
        let opened;
        let connection: &Connection = match self.source {
            Source::Input(input) => {
                opened = input.connection()?;
                &opened
            }
            Source::Store(store) => &store.connection,
        };
        if self.questions.is_empty() {
            self.questions = self.questions(connection)?;
        }
        let Some(question) = &self.questions[table] else {
            return Ok(Vec::new());
        };
        let path = self.path;
        let error = |error| comparing(path, error);
        let mut statement = connection.prepare_cached(question).map_err(error)?;
        let mut rows = statement.query([simulation]).map_err(error)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(error)? {
            let mut text = Vec::with_capacity(8 * shape.columns.len());
            for (column, name) in shape.columns.iter().enumerate() {
                if column == owner
                    || (table == self.simulation && !CONTENT.contains(&name.as_str()))
                {
                    continue;
                }
                let value = row.get_ref(column).map_err(error)?;
                match (shape.refers[column], value) {
                    (Some(of), ValueRef::Integer(number)) => {
                        let name = self.names.of(connection, self.tables, of, number);
                        text.extend_from_slice(name.map_err(error)?);
                    }
                    (_, value) => encode(value, &mut text),
                }
            }
            found.push(text);
        }
        found.sort_unstable();
        Ok(found)
    }

    /// The column of a table that says about which simulation a row is; none where the table is not
    /// compared.
    fn owner(&self, table: usize) -> Option<usize> {
        let shape = &self.tables.0[table];
        match shape.kind {
            _ if CLOCKS.contains(&shape.name.as_str()) => None,
            Kind::Part { of, column } if of == self.simulation => Some(column),
            Kind::Numbered { .. } if table == self.simulation => Some(shape.key[0]),
            _ => None,
        }
    }

    /// Asked once for each store: most tables of most stores are empty.
    fn questions(&self, connection: &Connection) -> Result<Vec<Option<String>>, MergeError> {
        let mut questions = Vec::with_capacity(self.tables.0.len());
        for (table, shape) in self.tables.0.iter().enumerate() {
            let question = match self.owner(table) {
                None => None,
                Some(owner) => connection
                    .prepare(&format!("SELECT 1 FROM \"{}\" LIMIT 1", shape.name))
                    .and_then(|mut statement| statement.exists([]))
                    .map_err(|error| comparing(self.path, error))?
                    .then(|| shape.select_parts(owner)),
            };
            questions.push(question);
        }
        Ok(questions)
    }
}

fn comparing(path: &Path, error: rusqlite::Error) -> MergeError {
    StoreError::from_sql(path, "comparing results", error).into()
}
