//! From results to rows: everything that one simulation leaves in the tables, through prepared
//! statements.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};

use super::record::{FailedSimulation, FinishedSimulation, OutcomeDetail};
use super::runs::{
    PendingSimulation, PlaceNumbers, RunAxes, SHOWN_BY_RUN, link_point, unix_milliseconds,
};
use super::tables::distributions::Distributions;
use super::tables::{GROUPS, definitions, jobs, layout};
use super::{RunId, StoreError, WriteSummary};
use crate::study::Studies;
use crate::sweep::{Point, SimulationSpec};
use crate::tables::{Digest, Lookups, RowWriter};

/// A finished simulation with what can be computed before the writer takes over.
pub(super) struct Prepared {
    pub(super) finished: FinishedSimulation,
    spec: String,
    workload: Option<String>,
    pub(super) distributions: Option<Distributions>,
}

impl Prepared {
    /// Checks that the rows will say what the result says, and computes identities.
    pub(super) fn new(
        mut finished: FinishedSimulation,
        detail: OutcomeDetail,
    ) -> Result<Self, StoreError> {
        if let Some(reason) = GROUPS
            .iter()
            .find_map(|group| group.problem(&finished.result))
            .or_else(|| finished.result.rows.rows().problem())
        {
            return Err(StoreError::InvalidResult {
                simulation: finished.id.to_string(),
                reason,
            });
        }
        // Before the outcomes go: reports need their distributions whatever is kept.
        let is_result = !finished.spec.study.jobs_are_background();
        let distributions = (is_result && !finished.result.outcomes.is_empty())
            .then(|| Distributions::of(&finished.result.outcomes));
        if detail != OutcomeDetail::All {
            for group in GROUPS {
                group.strip(&mut finished.result);
            }
            if let Some(rows) = finished.result.rows.rows_mut() {
                rows.strip(finished.spec.replication);
            }
        }
        let outcomes = &finished.result.outcomes;
        let spec = spec_json(&finished.id, &finished.spec)?;
        let workload = (!outcomes.is_empty()).then(|| jobs::workload_identity(outcomes));
        Ok(Self {
            spec,
            workload,
            distributions,
            finished,
        })
    }
}

/// The canonical JSON of a spec.
pub(super) fn spec_json(id: &str, spec: &SimulationSpec) -> Result<String, StoreError> {
    serde_json::to_string(spec).map_err(|error| StoreError::InvalidResult {
        simulation: id.to_owned(),
        reason: format!("its specification is no JSON: {error}"),
    })
}

/// What one writer has looked up so far. The connection is lent to each call, so that whoever owns
/// it can own this too.
pub(super) struct Rows {
    studies: Studies,
    run: RunId,
    detail: OutcomeDetail,
    axes: RunAxes,
    strategies: HashMap<String, i64>,
    workloads: HashMap<String, i64>,
    lookups: Lookups,
    fresh: bool,
    /// Found once for each simulation, because newer ones may be entered at any time.
    generations: HashMap<String, i64>,
    pub(super) summary: WriteSummary,
}

impl Rows {
    pub(super) fn new(
        studies: Studies,
        connection: &Connection,
        run: RunId,
        detail: OutcomeDetail,
        fresh: bool,
    ) -> rusqlite::Result<Self> {
        Ok(Self {
            studies,
            run,
            detail,
            axes: RunAxes::load(connection, run)?,
            strategies: HashMap::new(),
            workloads: HashMap::new(),
            lookups: Lookups::default(),
            fresh,
            generations: HashMap::new(),
            summary: WriteSummary::default(),
        })
    }

    /// Writes a simulation, its mark and its points inside the current transaction; returns the
    /// rows that it took.
    pub(super) fn finished(
        &mut self,
        connection: &Connection,
        prepared: &Prepared,
    ) -> rusqlite::Result<u64> {
        let finished = &prepared.finished;
        let known: Option<(i64, i64, i64)> = connection
            .prepare_cached(
                "SELECT id, state, detail FROM simulation WHERE identity = ?1 AND generation = ?2",
            )?
            .query_row(
                params![
                    finished.id.as_str(),
                    self.generation(connection, &finished.id)?
                ],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .optional()?;
        if let Some((simulation, 2, detail)) = known
            && detail >= self.detail.code()
        {
            self.summary.already_there += 1;
            self.points(connection, simulation, &finished.points)?;
            self.moment(connection)?;
            return Ok(finished.points.len() as u64);
        }
        let mut writer = RowWriter::with(
            connection,
            layout(self.studies)?,
            std::mem::take(&mut self.lookups),
        );
        let workload = match &prepared.workload {
            None => None,
            Some(identity) => Some(match self.workloads.get(identity) {
                Some(id) => *id,
                None => {
                    let id = jobs::workload(&writer, identity, &finished.result.outcomes)?;
                    self.workloads.insert(identity.clone(), id);
                    id
                }
            }),
        };
        let simulation = self.simulation(
            connection,
            &finished.id,
            &prepared.spec,
            &finished.workload_label,
            &finished.spec,
            None,
        )?;
        connection
            .prepare_cached(
                "UPDATE simulation SET state = 2, detail = ?2, workload = ?3, error = NULL, running_since = NULL,
                 running_in = NULL, computed_by = ?4, attempts = attempts + (state <> 1), jobs_hash = ?5, failures_hash = ?6
                 WHERE id = ?1",
            )?
            .execute(params![
                simulation,
                self.detail.code(),
                workload,
                self.run.0,
                finished.result.seen.jobs.as_deref(),
                finished.result.seen.failures.as_deref()
            ])?;
        if known.is_some() {
            for table in definitions(self.studies).flat_map(|tables| tables.results) {
                connection
                    .prepare_cached(&format!("DELETE FROM {table} WHERE simulation = ?1"))?
                    .execute([simulation])?;
            }
        }
        writer.begin(simulation);
        let mut rows = 0;
        for group in GROUPS {
            rows += group.write(&writer, prepared)?;
        }
        let of_study = finished.result.rows.rows();
        rows += of_study.write(&writer, finished.spec.replication)?;
        writer.seal(Digest::default())?;
        self.lookups = writer.into_lookups();
        self.points(connection, simulation, &finished.points)?;
        self.moment(connection)?;
        self.summary.simulations += 1;
        self.summary.job_rows += finished.result.outcomes.len() as u64;
        self.summary.node_event_rows += finished.result.failures.events.len() as u64;
        Ok(rows + 1 + 2 * finished.points.len() as u64)
    }

    /// Writes a failed simulation and the points that it leaves without a result.
    pub(super) fn failed(
        &mut self,
        connection: &Connection,
        failed: &FailedSimulation,
        spec: &str,
    ) -> rusqlite::Result<u64> {
        let done: bool = connection
            .prepare_cached(
                "SELECT 1 FROM simulation WHERE identity = ?1 AND generation = ?2 AND state = 2",
            )?
            .exists(params![
                failed.id.as_str(),
                self.generation(connection, &failed.id)?
            ])?;
        let simulation = if done {
            // A result that another run has is not taken away by a failure of this one.
            connection.query_row(
                "SELECT id FROM simulation WHERE identity = ?1 AND generation = ?2",
                params![failed.id.as_str(), self.generation(connection, &failed.id)?],
                |row| row.get(0),
            )?
        } else {
            let simulation = self.simulation(
                connection,
                &failed.id,
                spec,
                &failed.workload_label,
                &failed.spec,
                None,
            )?;
            connection
                .prepare_cached(
                    "UPDATE simulation SET state = 3, error = ?2, attempts = attempts + (state <> 1), running_since = NULL,
                        running_in = NULL
                     WHERE id = ?1",
                )?
                .execute(params![simulation, failed.error])?;
            simulation
        };
        self.points(connection, simulation, &failed.points)?;
        self.summary.failed += 1;
        Ok(1 + failed.points.len() as u64)
    }

    fn simulation(
        &mut self,
        connection: &Connection,
        identity: &str,
        json: &str,
        label: &str,
        spec: &SimulationSpec,
        number: Option<i64>,
    ) -> rusqlite::Result<i64> {
        let generation = self.generation(connection, identity)?;
        let strategy = self.strategy(connection, &spec.scheduling.strategy)?;
        connection
            .prepare_cached(
                "INSERT INTO simulation
                    (id, identity, generation, spec, workload_label, strategy, replication, state, detail, attempts)
                 VALUES (?7, ?1, ?2, ?3, ?4, ?5, ?6, 0, 0, 0)
                 ON CONFLICT (identity, generation) DO UPDATE SET workload_label =
                    CASE excluded.workload_label WHEN '' THEN workload_label ELSE excluded.workload_label END
                 RETURNING id",
            )?
            .query_row(
                params![
                    identity,
                    generation,
                    json,
                    label,
                    strategy,
                    spec.replication,
                    number
                ],
                |row| row.get(0),
            )
    }

    /// The generation that this run reads and writes: the one that it was entered with, else the
    /// newest one that there is; one beyond it, once, where everything is to be computed anew.
    fn generation(&mut self, connection: &Connection, identity: &str) -> rusqlite::Result<i64> {
        if let Some(generation) = self.generations.get(identity) {
            return Ok(*generation);
        }
        // What this run was entered with stays its own, whatever another run begins anew meanwhile.
        let known: Option<i64> = connection
            .prepare_cached(&format!(
                "SELECT m.generation FROM simulation m WHERE m.identity = ?1
                 ORDER BY {SHOWN_BY_RUN} DESC, m.generation DESC LIMIT 1"
            ))?
            .query_row(params![identity, self.run.0], |row| row.get(0))
            .optional()?;
        let generation = known.map_or(1, |known| known + i64::from(self.fresh));
        self.generations.insert(identity.to_owned(), generation);
        Ok(generation)
    }

    /// Enters a simulation that is to be done, with its points, so that what is missing is known.
    pub(super) fn pending(
        &mut self,
        connection: &Connection,
        pending: &PendingSimulation<'_>,
        json: &str,
        numbers: PlaceNumbers,
    ) -> rusqlite::Result<()> {
        let number = pending
            .points
            .first()
            .map(|point| numbers.simulation(point.place));
        let simulation =
            self.simulation(connection, &pending.id, json, "", &pending.spec, number)?;
        for point in &pending.points {
            self.point(
                connection,
                simulation,
                point,
                Some(numbers.point(point.place)),
            )?;
        }
        Ok(())
    }

    /// Marks a simulation as under way in this run, and counts the attempt.
    pub(super) fn started(
        &mut self,
        connection: &Connection,
        identity: &str,
    ) -> rusqlite::Result<u64> {
        let generation = self.generation(connection, identity)?;
        connection
            .prepare_cached(
                "UPDATE simulation SET state = 1, attempts = attempts + 1, running_since = ?3, running_in = ?4
                 WHERE identity = ?1 AND generation = ?2 AND state <> 2",
            )?
            .execute(params![identity, generation, unix_milliseconds(), self.run.0])?;
        Ok(1)
    }

    /// Makes points whose simulation another program has done part of this run.
    pub(super) fn adopted(
        &mut self,
        connection: &Connection,
        identity: &str,
        points: &[Point],
    ) -> rusqlite::Result<u64> {
        let generation = self.generation(connection, identity)?;
        let simulation = connection.query_row(
            "SELECT id FROM simulation WHERE identity = ?1 AND generation = ?2",
            params![identity, generation],
            |row| row.get(0),
        )?;
        self.points(connection, simulation, points)?;
        Ok(points.len() as u64)
    }

    fn moment(&self, connection: &Connection) -> rusqlite::Result<()> {
        connection
            .prepare_cached("UPDATE run SET last_commit = ?2 WHERE id = ?1")?
            .execute(params![self.run.0, unix_milliseconds()])?;
        Ok(())
    }

    fn points(
        &mut self,
        connection: &Connection,
        simulation: i64,
        points: &[Point],
    ) -> rusqlite::Result<()> {
        for point in points {
            self.point(connection, simulation, point, None)?;
        }
        self.summary.points += points.len() as u64;
        Ok(())
    }

    fn point(
        &mut self,
        connection: &Connection,
        simulation: i64,
        point: &Point,
        number: Option<i64>,
    ) -> rusqlite::Result<()> {
        let id: i64 = connection
            .prepare_cached(
                "INSERT INTO point (id, identity, simulation, penalty_ratio, replication) VALUES (?5, ?1, ?2, ?3, ?4)
                 ON CONFLICT (identity, simulation) DO UPDATE SET replication = excluded.replication
                 RETURNING id",
            )?
            .query_row(
                params![
                    point.id.as_str(),
                    simulation,
                    point.penalty_ratio,
                    point.replication,
                    number
                ],
                |row| row.get(0),
            )?;
        link_point(connection, self.run, id, point, &mut self.axes)
    }

    fn strategy(&mut self, connection: &Connection, name: &str) -> rusqlite::Result<i64> {
        if let Some(code) = self.strategies.get(name) {
            return Ok(*code);
        }
        let known = self.studies.policy(name);
        let code = connection.query_row(
            "INSERT INTO strategy (name, overbooks, baseline) VALUES (?1, ?2, ?3)
             ON CONFLICT (name) DO UPDATE SET overbooks = excluded.overbooks, baseline = excluded.baseline
             RETURNING code",
            params![
                name,
                known.map(|strategy| strategy.overbooks),
                known.and_then(|strategy| strategy.baseline)
            ],
            |row| row.get(0),
        )?;
        self.strategies.insert(name.to_owned(), code);
        Ok(code)
    }
}
