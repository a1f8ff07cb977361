//! Runs: how they begin and end, and which points they contain.

mod axes;

use std::collections::{BTreeMap, HashSet};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};

use super::processes::Process;
use super::rows::{Rows, spec_json};
use super::tables::layout;
use super::{OutcomeDetail, RunId, RunRecord, RunState, Store, StoreError};
use crate::study::Studies;
use crate::sweep::{EarlierWork, Identity, Point, SimulationSpec};
use crate::tables::Digests;

pub(super) use axes::{RunAxes, axis_value, link_point};

impl Store {
    /// Enters a run in state "running" with its axes. Runs whose process is gone are marked as
    /// interrupted first.
    ///
    /// # Errors
    ///
    /// When the store cannot be written.
    pub fn begin_run(&self, record: &RunRecord) -> Result<RunId, StoreError> {
        let sql = |error| self.error("beginning a run", error);
        let transaction = immediate(&self.connection).map_err(sql)?;
        mark_dead_runs(&transaction, &self.path).map_err(sql)?;
        let process = Process::this(&self.path);
        let run = RunId(self.next_run().map_err(sql)?);
        transaction
            .execute(
                "INSERT INTO run (id, name, description, source, configuration, configuration_hash, seed, replications,
                    program_version, program_commit, result_format, machine_cores, machine_os, points, state, started,
                    process, process_started, boot, machine_host, store_file)
                 VALUES (?20, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, 0, ?14, ?15, ?16, ?17, ?18, ?19)",
                params![
                    record.name,
                    record.description,
                    record.source,
                    record.configuration,
                    hex_digest(record.configuration.as_bytes()),
                    // Two's complement: seeds above 2^63 − 1 show as negative numbers.
                    record.seed as i64,
                    record.replications,
                    record.program_version,
                    record.program_commit,
                    record.result_format,
                    record.machine_cores,
                    record.machine_os,
                    record.points as i64,
                    unix_milliseconds(),
                    process.number,
                    process.started,
                    process.boot,
                    process.host,
                    process.store_file,
                    run.0,
                ],
            )
            .map_err(sql)?;
        for input in &record.inputs {
            transaction
                .execute(
                    "INSERT INTO run_input (run, source, content) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                    params![run.0, input.source, input.content],
                )
                .map_err(sql)?;
        }
        for loss in &record.losses {
            for (rule, dropped) in &loss.dropped {
                transaction
                    .execute(
                        "INSERT INTO run_loss (run, workload, rule, records, dropped) VALUES (?1, ?2, ?3, ?4, ?5)",
                        params![run.0, loss.workload, rule, loss.records as i64, *dropped as i64],
                    )
                    .map_err(sql)?;
            }
        }
        for machine in &record.machines {
            transaction
                .execute(
                    "INSERT INTO run_machine (run, workload, nodes, log_nodes, jobs, too_wide, lowest_load, highest_load)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                    params![
                        run.0,
                        machine.workload,
                        machine.nodes.0,
                        machine.log_nodes.map(|nodes| nodes.0),
                        machine.jobs as i64,
                        machine.too_wide as i64,
                        machine.loads.map(|(lowest, _)| lowest),
                        machine.loads.map(|(_, highest)| highest),
                    ],
                )
                .map_err(sql)?;
        }
        let mut axes = RunAxes::default();
        for axis in &record.axes {
            axes.axis(&transaction, run, &axis.key).map_err(sql)?;
            for value in &axis.values {
                axes.value(&transaction, run, &axis.key, value)
                    .map_err(sql)?;
            }
        }
        transaction.commit().map_err(sql)?;
        Ok(run)
    }

    /// Which of these points are done and have at least this much detail stored.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn done_points(
        &self,
        ids: impl IntoIterator<Item = Identity>,
        detail: super::OutcomeDetail,
    ) -> Result<HashSet<Identity>, StoreError> {
        let sql = |error| self.error("looking for points that are done", error);
        let mut statement = self
            .connection
            .prepare(
                "SELECT 1 FROM (
                    SELECT m.state, m.detail FROM point p JOIN simulation m ON m.id = p.simulation
                    WHERE p.identity = ?1 ORDER BY m.generation DESC LIMIT 1
                 ) WHERE state = 2 AND detail >= ?2",
            )
            .map_err(sql)?;
        let mut done = HashSet::new();
        for id in ids {
            if statement
                .exists(params![id.as_str(), detail.code()])
                .map_err(sql)?
            {
                done.insert(id);
            }
        }
        Ok(done)
    }

    /// Links points that were done in an earlier run to this one; returns how many there were.
    /// Points that are not done are left alone.
    ///
    /// # Errors
    ///
    /// When the store cannot be written.
    pub fn link_done_points(&self, run: RunId, points: &[Point]) -> Result<u64, StoreError> {
        let sql = |error| self.error("linking points of earlier runs", error);
        let transaction = immediate(&self.connection).map_err(sql)?;
        let mut axes = RunAxes::load(&transaction, run).map_err(sql)?;
        let mut linked = 0;
        {
            let mut find = transaction
                .prepare(
                    "SELECT id FROM (
                        SELECT p.id, m.state FROM point p JOIN simulation m ON m.id = p.simulation
                        WHERE p.identity = ?1 ORDER BY m.generation DESC LIMIT 1
                     ) WHERE state = 2",
                )
                .map_err(sql)?;
            for point in points {
                let id: Option<i64> = find
                    .query_row([point.id.as_str()], |row| row.get(0))
                    .optional()
                    .map_err(sql)?;
                if let Some(id) = id {
                    link_point(&transaction, run, id, point, &mut axes).map_err(sql)?;
                    linked += 1;
                }
            }
        }
        transaction.commit().map_err(sql)?;
        Ok(linked)
    }

    /// Enters simulations that are to be done, each with its points, as pending in a run. With
    /// `fresh` they begin a new generation: what older runs have stays theirs.
    ///
    /// # Errors
    ///
    /// When the store cannot be written.
    pub fn enter_pending<'p>(
        &self,
        run: RunId,
        pending: impl IntoIterator<Item = PendingSimulation<'p>>,
        fresh: bool,
    ) -> Result<(), StoreError> {
        let sql = |error| self.error("entering what is to be done", error);
        let transaction = immediate(&self.connection).map_err(sql)?;
        let mut rows =
            Rows::new(self.studies, &transaction, run, OutcomeDetail::None, fresh).map_err(sql)?;
        let numbers = PlaceNumbers::after_all(&transaction).map_err(sql)?;
        for simulation in pending {
            let json = spec_json(&simulation.id, &simulation.spec)?;
            rows.pending(&transaction, &simulation, &json, numbers)
                .map_err(sql)?;
        }
        transaction.commit().map_err(sql)
    }

    /// What is known of earlier work on these simulations (by identity), before a run begins.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn earlier_work(
        &self,
        record: &RunRecord,
        ids: &[Identity],
    ) -> Result<EarlierWork, StoreError> {
        let sql = |error| self.error("looking for earlier work", error);
        let mut found = EarlierWork::default();
        let mut statement = self
            .connection
            .prepare(&format!(
                "SELECT m.state, m.detail, m.running_in, c.program_version, c.program_commit, {}
                 FROM simulation m LEFT JOIN run r ON r.id = m.running_in LEFT JOIN run c ON c.id = m.computed_by
                 WHERE m.identity = ?1 ORDER BY m.generation DESC LIMIT 1",
                Process::COLUMNS
            ))
            .map_err(sql)?;
        for id in ids {
            let row = statement
                .query_row([id.as_str()], |row| {
                    Ok((
                        row.get::<_, i64>(0)?,
                        row.get::<_, i64>(1)?,
                        row.get::<_, Option<i64>>(2)?,
                        row.get::<_, Option<String>>(3)?,
                        row.get::<_, Option<String>>(4)?,
                        Process::read(row, 5)?,
                    ))
                })
                .optional()
                .map_err(sql)?;
            if let Some((2, kept, ..)) = row {
                found.done.insert(*id, OutcomeDetail::of_code(kept));
            }
            match row {
                Some((1, _, Some(_), _, _, process)) if process.is_alive(&self.path) => {
                    found.elsewhere.insert(*id);
                }
                Some((2, _, _, Some(version), commit, _))
                    if version != record.program_version || commit != record.program_commit =>
                {
                    let program = match commit {
                        Some(commit) => format!("{version} ({commit})"),
                        None => version,
                    };
                    *found.other_programs.entry(program).or_default() += 1;
                }
                Some((3, ..)) => {
                    found.failed.insert(*id);
                }
                _ => {}
            }
        }
        drop(statement);
        let mut statement = self
            .connection
            .prepare(
                "SELECT content FROM run_input i WHERE i.source = ?1 AND i.run =
                    (SELECT max(run) FROM run_input WHERE source = ?1)",
            )
            .map_err(sql)?;
        for input in &record.inputs {
            let before: Vec<String> = statement
                .query_map([&input.source], |row| row.get(0))
                .and_then(Iterator::collect)
                .map_err(sql)?;
            if !before.is_empty() && !before.contains(&input.content) {
                found.changed_inputs.push(input.source.clone());
            }
        }
        Ok(found)
    }

    /// Seconds a job that earlier simulations in this store took, by strategy: of the last 4,000
    /// simulations, with jobs as [`Study::work`](crate::study::Study::work) counts them.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn seconds_per_job(&self) -> Result<BTreeMap<String, f64>, StoreError> {
        let sql = |error| self.error("reading how long simulations took", error);
        let mut statement = self
            .connection
            .prepare(
                "SELECT s.name, m.spec, t.wall_seconds
                 FROM (SELECT simulation, wall_seconds FROM simulation_timing ORDER BY simulation DESC LIMIT 4000) t
                 JOIN simulation m ON m.id = t.simulation
                 JOIN strategy s ON s.code = m.strategy",
            )
            .map_err(sql)?;
        let mut rows = statement.query([]).map_err(sql)?;
        let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
        while let Some(row) = rows.next().map_err(sql)? {
            let text: String = row.get(1).map_err(sql)?;
            // Of another version, perhaps.
            let Ok(spec) = SimulationSpec::read(&text, self.studies) else {
                continue;
            };
            let sum = sums.entry(row.get(0).map_err(sql)?).or_default();
            sum.0 += row.get::<_, f64>(2).map_err(sql)?;
            sum.1 += spec.study.work(&spec);
        }
        let means = sums.into_iter().filter(|(_, (_, jobs))| *jobs > 0.0);
        Ok(means
            .map(|(strategy, (seconds, jobs))| (strategy, seconds / jobs))
            .collect())
    }
}

/// A simulation that is to be done in a run, and the points that need it.
#[derive(Clone, Debug)]
pub struct PendingSimulation<'s> {
    /// Its identity.
    pub id: Identity,
    /// What determines its result.
    pub spec: SimulationSpec,
    /// The points.
    pub points: Vec<&'s Point>,
}

/// How simulations and points that a run enters are numbered: by their first place in the sweep,
/// after everything that the store has. The shards of a run and the run on one machine thus give
/// the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlaceNumbers {
    pub(super) simulations: i64,
    pub(super) points: i64,
}

impl PlaceNumbers {
    /// Numbers beyond all that are taken.
    pub(super) fn after_all(connection: &Connection) -> rusqlite::Result<Self> {
        let last = |table: &str| {
            connection.query_row(
                &format!("SELECT coalesce(max(id), 0) FROM {table}"),
                [],
                |row| row.get(0),
            )
        };
        Ok(Self {
            simulations: last("simulation")?,
            points: last("point")?,
        })
    }

    /// The number of the simulation whose first point stands at this place.
    pub(super) fn simulation(self, place: u32) -> i64 {
        self.simulations + 1 + i64::from(place)
    }

    /// The number of the point whose first place this is.
    pub(super) fn point(self, place: u32) -> i64 {
        self.points + 1 + i64::from(place)
    }
}

/// Writes the end of a run and the digest of what it shows, without a transaction of its own.
pub(super) fn end_run(
    studies: Studies,
    connection: &Connection,
    run: RunId,
    state: RunState,
) -> rusqlite::Result<()> {
    let digest = Digests::new(&layout(studies)?.tables).of_run(connection, run.0)?;
    connection.execute(
        "UPDATE run SET state = ?2, ended = ?3, digest = ?4 WHERE id = ?1",
        params![run.0, state.code(), unix_milliseconds(), digest.text()],
    )?;
    Ok(())
}

/// A process that died must not look running: its runs were interrupted, and what it had under way
/// waits again.
pub(super) fn mark_dead_runs(
    connection: &Connection,
    store: &std::path::Path,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(&format!(
        "SELECT r.id, r.started, r.last_commit, {} FROM run r WHERE r.state = 0",
        Process::COLUMNS
    ))?;
    let running: Vec<(i64, i64, Option<i64>, Process)> = statement
        .query_map([], |row| {
            Ok((
                row.get(0)?,
                row.get(1)?,
                row.get(2)?,
                Process::read(row, 3)?,
            ))
        })?
        .collect::<Result<_, _>>()?;
    for (id, started, last_commit, process) in running {
        if process.is_alive(store) {
            continue;
        }
        connection.execute(
            "UPDATE run SET state = 2, ended = ?2 WHERE id = ?1",
            params![id, last_commit.unwrap_or(started)],
        )?;
        connection.execute(
            "UPDATE simulation SET state = 0, running_since = NULL, running_in = NULL WHERE state = 1 AND running_in = ?1",
            [id],
        )?;
    }
    Ok(())
}

/// Whether the run `?2` shows the simulation `m`. The order of the tables is said: SQLite would
/// look through every place of the run, for every simulation.
pub(super) const SHOWN_BY_RUN: &str =
    "EXISTS (SELECT 1 FROM point p CROSS JOIN run_point rp ON rp.point = p.id AND rp.run = ?2
    WHERE p.simulation = m.id)";

/// A transaction that takes the write lock at once: waiting for it later could not be retried.
pub(super) fn immediate(connection: &Connection) -> rusqlite::Result<rusqlite::Transaction<'_>> {
    rusqlite::Transaction::new_unchecked(connection, rusqlite::TransactionBehavior::Immediate)
}

pub(super) fn hex_digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub(super) fn unix_milliseconds() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| {
            i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_for_the_simulation_that_a_run_shows_reads_its_own_points_and_not_every_place_of_the_run()
     {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(Studies::default(), &folder.path().join("a.db")).unwrap();
        let plan: Vec<String> = store
            .connection
            .prepare(&format!(
                "EXPLAIN QUERY PLAN SELECT m.id FROM simulation m WHERE m.identity = ?1 ORDER BY {SHOWN_BY_RUN} DESC"
            ))
            .unwrap()
            .query_map(params!["", 1], |row| row.get(3))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        let plan = plan.join("\n");
        assert!(
            plan.contains("point_by_simulation (simulation=?)"),
            "{plan}"
        );
        assert!(
            plan.contains("run_point_by_point (point=? AND run=?)"),
            "{plan}"
        );
    }
}
