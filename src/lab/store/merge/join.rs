//! One experiment into the joined store: its run, what is to be done, then the results.

use std::collections::BTreeSet;

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, params};

use super::agree::{self, Experiment, RunRow};
use super::attached::ATTACHED_TOGETHER;
use super::copy::{Copier, Mapping};
use super::{DONE, FAILED, Found, Input, MergeError, MergedRun, Wanted};
use crate::store::durability::JournalSync;
use crate::store::processes::Process;
use crate::store::runs::{PlaceNumbers, immediate};
use crate::store::{RunId, RunSelector, Store};
use crate::tables::{Digests, Tables};

/// The code of a simulation that waits, in `simulation.state`.
const PENDING: i64 = 0;

/// A transaction is committed when it has this many rows.
const BATCH_ROWS: u64 = 100_000;

/// One experiment on its way into the store.
pub(super) struct Merge<'m> {
    store: &'m Store,
    tables: &'m Tables,
    inputs: &'m [Input],
    experiment: &'m Experiment,
    copier: Copier<'m>,
    mappings: Vec<Mapping>,
    journal: JournalSync,
}

impl<'m> Merge<'m> {
    pub(super) fn new(
        store: &'m Store,
        tables: &'m Tables,
        inputs: &'m [Input],
        experiment: &'m Experiment,
    ) -> Self {
        Self {
            store,
            tables,
            inputs,
            experiment,
            copier: Copier::new(store, tables),
            mappings: inputs.iter().map(|_| Mapping::new(tables)).collect(),
            journal: JournalSync::default(),
        }
    }

    /// Rows written so far.
    pub(super) fn rows(&self) -> u64 {
        self.copier.rows
    }

    /// Writes everything that the store lacks.
    pub(super) fn join(&mut self, wanted: &[Wanted]) -> Result<MergedRun, MergeError> {
        let sql = |error| self.store.error("joining stores", error);
        let transaction = immediate(&self.store.connection).map_err(sql)?;
        agree::as_it_was(self.store, self.experiment)?;
        let run = self.enter_run()?;
        let numbers = self.numbers(run)?;
        let mut fills = Vec::new();
        let mut known = 0;
        for simulation in wanted {
            match self.enter_simulation(run, simulation, numbers)? {
                Some(fill) => fills.push(fill),
                None => known += u64::from(simulation.found[0].state == DONE),
            }
        }
        self.copy_run_parts(run)?;
        transaction.commit().map_err(sql)?;
        self.journal.committed(self.store);
        let new = self.fill_from_attached(fills)?;
        self.close_run(run)?;
        self.journal.sync(self.store)?;
        let summary = self.store.run(&RunSelector::Id(run))?;
        Ok(MergedRun {
            run: RunId(run),
            name: self.experiment.name.clone(),
            points: summary.points,
            points_done: summary.points_done,
            points_failed: summary.points_failed,
            new,
            known,
        })
    }

    /// The run of this experiment: the one that the store has, or a copy of the first input's with
    /// this process as its own.
    fn enter_run(&mut self) -> Result<i64, MergeError> {
        let run_table = self.tables.place("run");
        let run = match &self.experiment.target {
            Some(run) => run.id,
            None => {
                let (input, row) = &self.experiment.runs[0];
                let table = &self.tables.0[run_table];
                let mut values = self.copier.row(
                    &self.inputs[*input],
                    &mut self.mappings[*input],
                    run_table,
                    row.id,
                )?;
                values[table.column("id")] = Value::Integer(self.number_of_run(row)?);
                values[table.column("ended")] = Value::Null;
                self.copier.insert(run_table, &values)?
            }
        };
        let process = Process::this(&self.store.path);
        self.store
            .connection
            .execute(
                "UPDATE run SET state = 0, ended = NULL, digest = NULL, process = ?2, process_started = ?3, boot = ?4, store_file = ?5
                 WHERE id = ?1",
                params![run, process.number, process.started, process.boot, process.store_file],
            )
            .map_err(|error| self.store.error("joining stores", error))?;
        // Other runs of the inputs stay behind; what they computed of this one becomes its own.
        for (input, mapping) in self.inputs.iter().zip(&mut self.mappings) {
            let runs: Vec<i64> = input
                .connection()?
                .prepare("SELECT id FROM run")
                .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())
                .map_err(|error| input.error(error))?;
            for there in runs {
                mapping.set(run_table, there, run);
            }
        }
        Ok(run)
    }

    /// The number of a run that is new here: the one that it had before it was archived, else the
    /// next one. What comes back is gone no more.
    fn number_of_run(&self, run: &RunRow) -> Result<i64, MergeError> {
        let sql = |error| self.store.error("joining stores", error);
        let gone: Option<i64> = self
            .store
            .connection
            .query_row(
                "DELETE FROM run_gone WHERE id =
                    (SELECT max(id) FROM run_gone WHERE name = ?1 AND started = ?2 AND archive IS NOT NULL)
                 RETURNING id",
                params![self.experiment.name, run.started],
                |row| row.get(0),
            )
            .optional()
            .map_err(sql)?;
        match gone {
            Some(number) => Ok(number),
            None => Ok(self.store.next_run().map_err(sql)?),
        }
    }

    /// How simulations are numbered: as those of the run that are there, else after everything.
    fn numbers(&self, run: i64) -> Result<PlaceNumbers, MergeError> {
        let sql = |error| self.store.error("joining stores", error);
        let connection = &self.store.connection;
        let offset = |column: &str| {
            connection.query_row(
                &format!(
                    "SELECT min(gap), max(gap) FROM
                        (SELECT {column} - 1 - min(rp.place) AS gap FROM run_point rp JOIN point p ON p.id = rp.point
                         WHERE rp.run = ?1 GROUP BY {column})"
                ),
                [run],
                |row| Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?)),
            )
        };
        let (simulations, points) = (
            offset("p.simulation").map_err(sql)?,
            offset("p.id").map_err(sql)?,
        );
        match (simulations, points) {
            ((Some(simulations), Some(other)), (Some(points), Some(another)))
                if simulations == other && points == another =>
            {
                Ok(PlaceNumbers {
                    simulations,
                    points,
                })
            }
            _ => Ok(PlaceNumbers::after_all(connection).map_err(sql)?),
        }
    }

    /// Enters a simulation and its points; returns the result that is to be written, if the store
    /// has none as good.
    fn enter_simulation(
        &mut self,
        run: i64,
        wanted: &Wanted,
        numbers: PlaceNumbers,
    ) -> Result<Option<Fill>, MergeError> {
        let sql = |error| self.store.error("joining stores", error);
        let simulations = self.tables.place("simulation");
        let points = self.tables.place("point");
        let best = wanted.found[0];
        let known = agree::known_simulation(&self.store.connection, &wanted.identity, Some(run))
            .map_err(sql)?;
        let (number, state, detail) = match known {
            Some(known) => known,
            None => {
                let first = wanted.points.iter().map(|(place, ..)| *place).min();
                let number = first.map(|place| numbers.simulation(place));
                (
                    self.enter_new_simulation(best, number)?,
                    PENDING,
                    best.detail,
                )
            }
        };
        for found in &wanted.found {
            self.mappings[found.input].set(simulations, found.simulation, number);
        }
        if best.state == FAILED && state != DONE {
            self.enter_failure(best, number)?;
        }
        let mut places = wanted.points.clone();
        places.sort_unstable();
        for (place, input, point) in places {
            // Places that a strategy cannot tell apart share a point, which comes with the first of
            // them.
            if self.mappings[input].knows(points, point) {
                continue;
            }
            let input_store = &self.inputs[input];
            let mut values =
                self.copier
                    .row(input_store, &mut self.mappings[input], points, point)?;
            let table = &self.tables.0[points];
            let (id, identity) = (table.column("id"), table.column("identity"));
            let known: Option<i64> = self
                .store
                .connection
                .prepare_cached("SELECT id FROM point WHERE identity = ?1 AND simulation = ?2")
                .and_then(|mut statement| {
                    statement
                        .query_row(params![values[identity], number], |row| row.get(0))
                        .optional()
                })
                .map_err(sql)?;
            let point_number = match known {
                Some(known) => known,
                None => {
                    values[id] = self.free(points, Some(numbers.point(place)))?;
                    self.copier.insert(points, &values)?
                }
            };
            self.mappings[input].set(points, point, point_number);
        }
        let better = state != DONE || best.detail > detail;
        Ok((best.state == DONE && better).then_some(Fill {
            input: best.input,
            from: best.simulation,
            to: number,
            replaces: state == DONE,
        }))
    }

    fn enter_new_simulation(
        &mut self,
        best: Found,
        number: Option<i64>,
    ) -> Result<i64, MergeError> {
        let place = self.tables.place("simulation");
        let table = &self.tables.0[place];
        let mut values = self.copier.row_without(
            &self.inputs[best.input],
            &mut self.mappings[best.input],
            place,
            best.simulation,
            &["workload", "running_in", "computed_by"],
        )?;
        values[table.column("id")] = self.free(place, number)?;
        for (column, value) in [
            ("generation", 1),
            ("state", PENDING),
            ("detail", 0),
            ("attempts", 0),
        ] {
            values[table.column(column)] = Value::Integer(value);
        }
        for column in ["error", "running_since", "digest"] {
            values[table.column(column)] = Value::Null;
        }
        self.copier.insert(place, &values)
    }

    fn enter_failure(&mut self, best: Found, number: i64) -> Result<(), MergeError> {
        let sql = |error| self.store.error("joining stores", error);
        let (error, attempts): (Option<String>, i64) = self.inputs[best.input]
            .connection()?
            .query_row(
                "SELECT error, attempts FROM simulation WHERE id = ?1",
                [best.simulation],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .map_err(|error| self.inputs[best.input].error(error))?;
        self.store
            .connection
            .execute(
                "UPDATE simulation SET state = 3, error = ?2, attempts = ?3 WHERE id = ?1",
                params![number, error, attempts],
            )
            .map_err(sql)?;
        Ok(())
    }

    /// The number as a value, or NULL for the next one where another row has it.
    fn free(&self, table: usize, number: Option<i64>) -> Result<Value, MergeError> {
        let Some(number) = number else {
            return Ok(Value::Null);
        };
        let taken = self
            .store
            .connection
            .prepare_cached(&format!(
                "SELECT 1 FROM \"{}\" WHERE id = ?1",
                self.tables.0[table].name
            ))
            .and_then(|mut statement| statement.exists([number]))
            .map_err(|error| self.store.error("joining stores", error))?;
        Ok(if taken {
            Value::Null
        } else {
            Value::Integer(number)
        })
    }

    /// Axes, inputs and places of the run, from every input; newer runs first, so that they win.
    fn copy_run_parts(&mut self, run: i64) -> Result<(), MergeError> {
        let runs = self.tables.place("run");
        for (input, row) in &self.experiment.runs {
            for (table, column) in self.tables.parts(runs) {
                self.copier.parts_if_new(
                    &self.inputs[*input],
                    &mut self.mappings[*input],
                    (table, column),
                    row.id,
                    run,
                )?;
            }
        }
        Ok(())
    }

    /// Writes the results with the inputs attached, where they can be: as many inputs at a time as
    /// SQLite takes.
    fn fill_from_attached(&mut self, mut fills: Vec<Fill>) -> Result<u64, MergeError> {
        let sql = |error| self.store.error("joining stores", error);
        let switch = |on: &str| {
            self.store
                .connection
                .execute_batch(&format!("PRAGMA foreign_keys = {on}"))
        };
        let inputs: BTreeSet<usize> = fills.iter().map(|fill| fill.input).collect();
        let inputs: Vec<usize> = inputs.into_iter().collect();
        let mut written = 0;
        for group in inputs.chunks(ATTACHED_TOGETHER) {
            let (these, others) = fills
                .into_iter()
                .partition(|fill| group.contains(&fill.input));
            fills = others;
            let needed: Vec<&Input> = group.iter().map(|number| &self.inputs[*number]).collect();
            // What rows refer to is there by construction: the simulation is entered, lookups are
            // translated, and the rest are rows of the same simulation, which come from a store
            // that was checked when they were written.
            switch("OFF").map_err(sql)?;
            self.copier.attach(&needed)?;
            let filled = self.fill(these);
            let detached = self.copier.detach();
            switch("ON").map_err(sql)?;
            detached?;
            written += filled?;
        }
        Ok(written)
    }

    /// Writes the results in the order of their numbers: rows then come at the end of every table.
    /// Returns how many it wrote.
    fn fill(&mut self, mut fills: Vec<Fill>) -> Result<u64, MergeError> {
        let sql = |error| self.store.error("joining stores", error);
        fills.sort_by_key(|fill| fill.to);
        let mut fills = fills.into_iter().peekable();
        let mut written = 0;
        while fills.peek().is_some() {
            let transaction = immediate(&self.store.connection).map_err(sql)?;
            let before = self.copier.rows;
            while self.copier.rows - before < BATCH_ROWS {
                let Some(fill) = fills.next() else { break };
                let wrote = self.copier.simulation(
                    &self.inputs[fill.input],
                    &mut self.mappings[fill.input],
                    fill.from,
                    fill.to,
                    fill.replaces,
                )?;
                written += u64::from(wrote);
            }
            transaction.commit().map_err(sql)?;
            self.journal.committed(self.store);
            self.journal.sync_if_due(self.store)?;
        }
        Ok(written)
    }

    /// The end of the run: done when every point was tried.
    fn close_run(&self, run: i64) -> Result<(), MergeError> {
        let rows = || {
            self.experiment
                .runs
                .iter()
                .map(|(_, row)| row)
                .chain(&self.experiment.target)
        };
        let started = rows().map(|row| row.started).min();
        let ended = rows().filter_map(RunRow::last_sign).max();
        let hosts: BTreeSet<&str> = rows()
            .filter_map(|row| row.host.as_deref())
            .flat_map(|hosts| hosts.split(", "))
            .collect();
        let hosts = hosts.into_iter().collect::<Vec<_>>().join(", ");
        let cores = rows().map(|row| row.cores).max();
        let sql = |error| self.store.error("joining stores", error);
        let digest = Digests::new(self.tables)
            .of_run(&self.store.connection, run)
            .map_err(sql)?;
        self.store
            .connection
            .execute(
                "UPDATE run SET started = ?2, ended = ?3, last_commit = ?3, machine_host = nullif(?4, ''),
                    machine_cores = ?5, digest = ?6, process = NULL, process_started = NULL, boot = NULL, store_file = NULL,
                    state = CASE WHEN points = (SELECT count(*) FROM run_point rp JOIN point p ON p.id = rp.point
                        JOIN simulation m ON m.id = p.simulation WHERE rp.run = ?1 AND m.state IN (2, 3))
                        THEN 1 ELSE 2 END
                 WHERE id = ?1",
                params![run, started, ended, hosts, cores, digest.text()],
            )
            .map_err(sql)?;
        Ok(())
    }
}

/// A result that is to be written: the simulation's number there and here.
struct Fill {
    input: usize,
    from: i64,
    to: i64,
    replaces: bool,
}
