//! From results to rows: everything that one simulation leaves in the tables, through prepared statements.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Statement, params};
use sha2::{Digest, Sha256};

use super::record::{FailedSimulation, FinishedSimulation, OutcomeDetail};
use super::runs::{
    PendingSimulation, PlaceNumbers, RunAxes, SHOWN_BY_RUN, hex, link_point, unix_milliseconds,
};
use super::tables::co_reservations::{self, write_clusters, write_co_requests, write_time_lines};
use super::tables::distributions::Distributions;
use super::tables::measures::write_measures;
use super::tables::provisioning::{self, write_sites, write_submissions};
use super::tables::reservations::{write_reservations, write_trials};
use super::{RunId, StoreError, WriteSummary};
use crate::scheduling::{JobOutcome, SimulationMetrics, Verdict, registry};
use crate::sweep::{Point, SimulationSpec};
use crate::workload::Job;

/// A finished simulation with what can be computed before the writer's thread takes over.
pub(super) struct Prepared {
    pub(super) finished: FinishedSimulation,
    spec: String,
    workload: Option<String>,
    distributions: Option<Distributions>,
}

impl Prepared {
    /// Checks that the rows will say what the result says, and computes identities.
    pub(super) fn new(
        mut finished: FinishedSimulation,
        detail: OutcomeDetail,
    ) -> Result<Self, StoreError> {
        let outcomes = &finished.result.outcomes;
        let invalid = |reason: String| StoreError::InvalidResult {
            simulation: finished.id.clone(),
            reason,
        };
        if let Some(pair) = outcomes
            .windows(2)
            .find(|pair| pair[0].job.id >= pair[1].job.id)
        {
            return Err(invalid(format!(
                "job {} comes after job {}",
                pair[1].job.id.0, pair[0].job.id.0
            )));
        }
        for outcome in outcomes {
            let finite = outcome.promise.is_none_or(|promise| {
                promise.calibrated_pof.is_none_or(f64::is_finite)
                    && promise.success.is_none_or(|success| {
                        success.available.is_finite()
                            && success.executable.is_finite()
                            && success.survives.is_finite()
                    })
            });
            if !finite {
                return Err(invalid(format!(
                    "a probability of job {} is not a number",
                    outcome.job.id.0
                )));
            }
        }
        if let Some(reason) = finished
            .result
            .grid
            .as_ref()
            .and_then(co_reservations::problem)
        {
            return Err(invalid(reason));
        }
        let provisioned = finished.result.provisioning.as_ref();
        if let Some(reason) = provisioned.and_then(provisioning::problem) {
            return Err(invalid(reason));
        }
        // Before the outcomes go: reports need their distributions whatever is kept.
        let distributions = (!finished.result.outcomes.is_empty())
            .then(|| Distributions::of(&finished.result.outcomes));
        if detail != OutcomeDetail::All {
            finished.result.outcomes = Vec::new();
            finished.result.node_events = Vec::new();
            finished.result.reservations = Vec::new();
            finished.result.trials = Vec::new();
            // Requests are few, and pairs of runs are compared by them; of their probes one replication is enough to look at.
            if finished.spec.replication != 0
                && let Some(run) = &mut finished.result.grid
            {
                for outcome in &mut run.requests {
                    outcome.probes = Vec::new();
                }
            }
            // Reports draw the tasks of one submission.
            if finished.spec.replication != 0
                && let Some(run) = &mut finished.result.provisioning
            {
                provisioning::strip(run);
            }
        }
        let outcomes = &finished.result.outcomes;
        let spec = spec_json(&finished.id, &finished.spec)?;
        let workload = (!outcomes.is_empty()).then(|| workload_identity(outcomes));
        Ok(Self {
            spec,
            workload,
            distributions,
            finished,
        })
    }

    fn rows(&self) -> u64 {
        (self.finished.result.outcomes.len() + self.finished.result.node_events.len()) as u64
    }
}

/// The canonical JSON of a spec.
pub(super) fn spec_json(id: &str, spec: &SimulationSpec) -> Result<String, StoreError> {
    serde_json::to_string(spec).map_err(|error| StoreError::InvalidResult {
        simulation: id.to_owned(),
        reason: format!("its specification is no JSON: {error}"),
    })
}

/// The content hash of the jobs: simulations of the same jobs share their rows in `job`.
fn workload_identity(outcomes: &[JobOutcome]) -> String {
    let mut hash = Sha256::new();
    let mut bytes = Vec::with_capacity(outcomes.len() * 72);
    for JobOutcome { job, .. } in outcomes {
        for number in [
            i64::from(job.id.0),
            job.trace_number,
            job.submit.0,
            job.release.0,
            job.estimate.0,
            job.runtime.0,
            job.deadline.0,
            i64::from(job.nodes.0),
        ] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        for number in [job.user, job.application] {
            bytes.push(u8::from(number.is_some()));
            bytes.extend_from_slice(&number.unwrap_or(0).to_le_bytes());
        }
        // Workloads without reservations keep the identity that they had before there were any.
        if job.is_reservation() {
            bytes.extend_from_slice(b"fixed");
        }
    }
    hash.update(&bytes);
    hex(&hash.finalize())
}

/// The prepared statements of one writer and what it has looked up so far.
pub(super) struct Rows<'c> {
    connection: &'c Connection,
    run: RunId,
    detail: OutcomeDetail,
    axes: RunAxes,
    strategies: HashMap<String, i64>,
    workloads: HashMap<String, i64>,
    job: Statement<'c>,
    outcome: Statement<'c>,
    outcomes: Statement<'c>,
    event: Statement<'c>,
    histogram: Statement<'c>,
    calibration: Statement<'c>,
    fresh: bool,
    /// Found once for each simulation, because newer ones may be entered at any time.
    generations: HashMap<String, i64>,
    measures: HashMap<&'static str, i64>,
    pub(super) summary: WriteSummary,
}

impl<'c> Rows<'c> {
    pub(super) fn new(
        connection: &'c Connection,
        run: RunId,
        detail: OutcomeDetail,
        fresh: bool,
    ) -> rusqlite::Result<Self> {
        Ok(Self {
            connection,
            run,
            detail,
            axes: RunAxes::load(connection, run)?,
            strategies: HashMap::new(),
            workloads: HashMap::new(),
            job: connection.prepare(
                "INSERT INTO job VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )?,
            outcome: connection.prepare(&insert_outcomes(1))?,
            outcomes: connection.prepare(&insert_outcomes(ROWS_AT_ONCE))?,
            event: connection.prepare("INSERT INTO node_event VALUES (?1, ?2, ?3, ?4, ?5)")?,
            histogram: connection
                .prepare("INSERT INTO simulation_histogram VALUES (?1, ?2, ?3, ?4)")?,
            calibration: connection.prepare(
                "INSERT INTO simulation_calibration VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?,
            fresh,
            generations: HashMap::new(),
            measures: HashMap::new(),
            summary: WriteSummary::default(),
        })
    }

    /// Writes a simulation, its mark and its points inside the current transaction; returns the rows that it took.
    pub(super) fn finished(&mut self, prepared: &Prepared) -> rusqlite::Result<u64> {
        let finished = &prepared.finished;
        let known: Option<(i64, i64, i64)> = self
            .connection
            .prepare_cached(
                "SELECT id, state, detail FROM simulation WHERE identity = ?1 AND generation = ?2",
            )?
            .query_row(
                params![finished.id, self.generation(&finished.id)?],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .optional()?;
        if let Some((simulation, 2, detail)) = known
            && detail >= self.detail.code()
        {
            self.summary.already_there += 1;
            self.points(simulation, &finished.points)?;
            self.moment()?;
            return Ok(finished.points.len() as u64);
        }
        let workload = match &prepared.workload {
            Some(identity) => Some(self.workload(identity, &finished.result.outcomes)?),
            None => None,
        };
        let simulation = self.simulation(
            &finished.id,
            &prepared.spec,
            &finished.workload_label,
            &finished.spec,
            None,
        )?;
        self.connection
            .prepare_cached(
                "UPDATE simulation SET state = 2, detail = ?2, workload = ?3, error = NULL, running_since = NULL,
                 running_in = NULL, computed_by = ?4, attempts = attempts + (state <> 1) WHERE id = ?1",
            )?
            .execute(params![simulation, self.detail.code(), workload, self.run.0])?;
        self.connection
            .prepare_cached("INSERT OR REPLACE INTO simulation_timing VALUES (?1, ?2, ?3)")?
            .execute(params![
                simulation,
                finished.wall.as_secs_f64(),
                unix_milliseconds()
            ])?;
        self.metrics(simulation, &finished.result.metrics)?;
        if known.is_some() {
            for table in [
                "job_outcome",
                "node_event",
                "simulation_histogram",
                "simulation_calibration",
                "simulation_measure",
                "time_line",
                "co_probe",
                "co_part",
                "co_request",
                "cluster_measure",
                "cluster",
                "offer",
                "reservation_outcome",
                "virtual_trial",
            ]
            .into_iter()
            .chain(provisioning::TABLES)
            {
                self.connection.execute(
                    &format!("DELETE FROM {table} WHERE simulation = ?1"),
                    [simulation],
                )?;
            }
        }
        write_outcomes(
            &mut self.outcomes,
            &mut self.outcome,
            simulation,
            &finished.result.outcomes,
        )?;
        for (sequence, event) in finished.result.node_events.iter().enumerate() {
            self.event.execute(params![
                simulation,
                sequence as i64,
                event.time.0,
                event.node.0,
                event.up
            ])?;
        }
        if let Some(distributions) = &prepared.distributions {
            self.distributions(simulation, distributions)?;
        }
        let measured = write_measures(
            self.connection,
            &mut self.measures,
            simulation,
            &finished.result.measured,
        )?;
        let reservations =
            write_reservations(self.connection, simulation, &finished.result.reservations)?
                + write_trials(self.connection, simulation, &finished.result.trials)?
                + self.grid(simulation, finished)?
                + self.provisioning(simulation, finished)?;
        self.points(simulation, &finished.points)?;
        self.moment()?;
        self.summary.simulations += 1;
        self.summary.job_rows += finished.result.outcomes.len() as u64;
        self.summary.node_event_rows += finished.result.node_events.len() as u64;
        Ok(prepared.rows() + measured + reservations + 3 + 2 * finished.points.len() as u64)
    }

    /// Writes what a study of several clusters left. Time lines are kept of the first replication only, which bounds the file.
    fn grid(&self, simulation: i64, finished: &FinishedSimulation) -> rusqlite::Result<u64> {
        let result = &finished.result;
        let mut rows = write_clusters(
            self.connection,
            simulation,
            &result.clusters,
            &result.cluster_values,
        )?;
        if let Some(run) = &result.grid {
            rows += write_co_requests(self.connection, simulation, run)?;
            if finished.spec.replication == 0 {
                rows += write_time_lines(self.connection, simulation, &run.time_lines)?;
            }
        }
        Ok(rows)
    }

    /// Writes what a study of provisioning left.
    fn provisioning(
        &self,
        simulation: i64,
        finished: &FinishedSimulation,
    ) -> rusqlite::Result<u64> {
        let result = &finished.result;
        let sites = write_sites(self.connection, simulation, &result.sites)?;
        let run = result.provisioning.as_ref();
        Ok(sites
            + run.map_or(Ok(0), |run| {
                write_submissions(self.connection, simulation, run, &result.hypervolumes)
            })?)
    }

    /// Writes a failed simulation and the points that it leaves without a result.
    pub(super) fn failed(
        &mut self,
        failed: &FailedSimulation,
        spec: &str,
    ) -> rusqlite::Result<u64> {
        let done: bool = self
            .connection
            .prepare_cached(
                "SELECT 1 FROM simulation WHERE identity = ?1 AND generation = ?2 AND state = 2",
            )?
            .exists(params![failed.id, self.generation(&failed.id)?])?;
        let simulation = if done {
            // A result that another run has is not taken away by a failure of this one.
            self.connection.query_row(
                "SELECT id FROM simulation WHERE identity = ?1 AND generation = ?2",
                params![failed.id, self.generation(&failed.id)?],
                |row| row.get(0),
            )?
        } else {
            let simulation =
                self.simulation(&failed.id, spec, &failed.workload_label, &failed.spec, None)?;
            self.connection
                .prepare_cached(
                    "UPDATE simulation SET state = 3, error = ?2, attempts = attempts + (state <> 1), running_since = NULL,
                        running_in = NULL
                     WHERE id = ?1",
                )?
                .execute(params![simulation, failed.error])?;
            simulation
        };
        self.points(simulation, &failed.points)?;
        self.summary.failed += 1;
        Ok(1 + failed.points.len() as u64)
    }

    fn simulation(
        &mut self,
        identity: &str,
        json: &str,
        label: &str,
        spec: &SimulationSpec,
        number: Option<i64>,
    ) -> rusqlite::Result<i64> {
        let generation = self.generation(identity)?;
        let strategy = self.strategy(&spec.scheduling.strategy)?;
        self.connection
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

    /// The generation that this run reads and writes: the one that it was entered with, else the newest one that there is; one
    /// beyond it, once, where everything is to be computed anew.
    fn generation(&mut self, identity: &str) -> rusqlite::Result<i64> {
        if let Some(generation) = self.generations.get(identity) {
            return Ok(*generation);
        }
        // What this run was entered with stays its own, whatever another run begins anew meanwhile.
        let known: Option<i64> = self
            .connection
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
        pending: &PendingSimulation<'_>,
        json: &str,
        numbers: PlaceNumbers,
    ) -> rusqlite::Result<()> {
        let number = pending
            .points
            .first()
            .map(|point| numbers.simulation(point.place));
        let simulation = self.simulation(pending.id, json, "", pending.spec, number)?;
        for point in &pending.points {
            self.point(simulation, point, Some(numbers.point(point.place)))?;
        }
        Ok(())
    }

    /// Marks a simulation as under way in this run, and counts the attempt.
    pub(super) fn started(&mut self, identity: &str) -> rusqlite::Result<u64> {
        let generation = self.generation(identity)?;
        self.connection
            .prepare_cached(
                "UPDATE simulation SET state = 1, attempts = attempts + 1, running_since = ?3, running_in = ?4
                 WHERE identity = ?1 AND generation = ?2 AND state <> 2",
            )?
            .execute(params![identity, generation, unix_milliseconds(), self.run.0])?;
        Ok(1)
    }

    /// Makes points whose simulation another program has done part of this run.
    pub(super) fn adopted(&mut self, identity: &str, points: &[Point]) -> rusqlite::Result<u64> {
        let generation = self.generation(identity)?;
        let simulation = self.connection.query_row(
            "SELECT id FROM simulation WHERE identity = ?1 AND generation = ?2",
            params![identity, generation],
            |row| row.get(0),
        )?;
        self.points(simulation, points)?;
        Ok(points.len() as u64)
    }

    fn moment(&self) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached("UPDATE run SET last_commit = ?2 WHERE id = ?1")?
            .execute(params![self.run.0, unix_milliseconds()])?;
        Ok(())
    }

    fn distributions(
        &mut self,
        simulation: i64,
        distributions: &Distributions,
    ) -> rusqlite::Result<()> {
        for (quantity, counts) in distributions.histograms.iter().enumerate() {
            for (bin, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                self.histogram
                    .execute(params![simulation, quantity as i64, bin as i64, count])?;
            }
        }
        let kinds = [Some(&distributions.promised), distributions.raw.as_ref()];
        for (kind, bins) in kinds.into_iter().enumerate() {
            for (index, entry) in bins.into_iter().flatten().enumerate() {
                if entry.jobs > 0 {
                    self.calibration.execute(params![
                        simulation,
                        kind as i64,
                        index as i64 + 1,
                        entry.jobs as i64,
                        entry.failed as i64,
                        entry.failed_overbooked as i64,
                        entry.pof_sum,
                        entry.brier_sum
                    ])?;
                }
            }
        }
        Ok(())
    }

    fn points(&mut self, simulation: i64, points: &[Point]) -> rusqlite::Result<()> {
        for point in points {
            self.point(simulation, point, None)?;
        }
        self.summary.points += points.len() as u64;
        Ok(())
    }

    fn point(
        &mut self,
        simulation: i64,
        point: &Point,
        number: Option<i64>,
    ) -> rusqlite::Result<()> {
        let id: i64 = self
            .connection
            .prepare_cached(
                "INSERT INTO point (id, identity, simulation, penalty_ratio, replication) VALUES (?5, ?1, ?2, ?3, ?4)
                 ON CONFLICT (identity, simulation) DO UPDATE SET replication = excluded.replication
                 RETURNING id",
            )?
            .query_row(
                params![
                    point.id,
                    simulation,
                    point.penalty_ratio,
                    point.replication,
                    number
                ],
                |row| row.get(0),
            )?;
        link_point(self.connection, self.run, id, point, &mut self.axes)
    }

    fn strategy(&mut self, name: &str) -> rusqlite::Result<i64> {
        if let Some(code) = self.strategies.get(name) {
            return Ok(*code);
        }
        let known = registry::strategy(name);
        let code = self.connection.query_row(
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

    fn workload(&mut self, identity: &str, outcomes: &[JobOutcome]) -> rusqlite::Result<i64> {
        if let Some(id) = self.workloads.get(identity) {
            return Ok(*id);
        }
        let known: Option<i64> = self
            .connection
            .query_row(
                "SELECT id FROM workload WHERE identity = ?1",
                [identity],
                |row| row.get(0),
            )
            .optional()?;
        let id = match known {
            Some(id) => id,
            None => {
                let id = self.workload_number(identity)?;
                self.connection.execute(
                    "INSERT INTO workload (id, identity, jobs) VALUES (?1, ?2, ?3)",
                    params![id, identity, outcomes.len() as i64],
                )?;
                for outcome in outcomes {
                    write_job(&mut self.job, id, &outcome.job)?;
                }
                id
            }
        };
        self.workloads.insert(identity.to_owned(), id);
        Ok(id)
    }

    /// The first free number from the one that the identity begins with: it does not depend on who comes first, and takes six
    /// bytes at most.
    fn workload_number(&self, identity: &str) -> rusqlite::Result<i64> {
        let digits = identity.get(..12).unwrap_or(identity);
        let mut number = i64::from_str_radix(digits, 16).unwrap_or(0) >> 1;
        while self
            .connection
            .prepare_cached("SELECT 1 FROM workload WHERE id = ?1")?
            .exists([number])?
        {
            number += 1;
        }
        Ok(number)
    }

    fn metrics(&self, simulation: i64, metrics: &SimulationMetrics) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached(
                "INSERT OR REPLACE INTO simulation_metrics VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,
                 ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26)",
            )?
            .execute(params![
                simulation,
                metrics.submitted as i64,
                metrics.accepted as i64,
                metrics.dropped as i64,
                metrics.dropped_too_wide as i64,
                metrics.overbooked as i64,
                metrics.successful as i64,
                metrics.failed as i64,
                metrics.failed_overbooked as i64,
                metrics.failed_nodes as i64,
                metrics.failed_unstartable as i64,
                metrics.restarts as i64,
                metrics.fees.0,
                metrics.forfeited.0,
                metrics.busy.0,
                metrics.useful.0,
                metrics.makespan.0,
                metrics.capacity.0,
                metrics.wait_total.0,
                metrics.started as i64,
                metrics.weighted_response.0,
                metrics.weighted_run.0,
                metrics.work.pof_evaluations as i64,
                metrics.work.convolutions as i64,
                metrics.work.replans as i64,
                metrics.work.moves as i64,
            ])?;
        Ok(())
    }
}

/// The code of a verdict: its place in [`Verdict::ALL`].
pub(super) fn verdict_code(verdict: Verdict) -> i64 {
    match verdict {
        Verdict::DroppedNoSlot => 0,
        Verdict::DroppedTooWide => 1,
        Verdict::SuccessfulFinished => 2,
        Verdict::SuccessfulFullGrant => 3,
        Verdict::FailedOverbooked => 4,
        Verdict::FailedNodes => 5,
        Verdict::FailedUnstartable => 6,
    }
}

fn write_job(statement: &mut Statement<'_>, workload: i64, job: &Job) -> rusqlite::Result<()> {
    statement.execute(params![
        workload,
        job.id.0,
        job.trace_number,
        job.submit.0,
        job.release.0,
        job.estimate.0,
        job.runtime.0,
        job.deadline.0,
        job.nodes.0,
        job.user,
        job.application,
        job.is_reservation()
    ])?;
    Ok(())
}

/// Rows that one statement inserts at a time: less of its work is done anew for each.
const ROWS_AT_ONCE: usize = 16;
const OUTCOME_COLUMNS: usize = 16;

/// `INSERT INTO job_outcome` of so many rows.
fn insert_outcomes(rows: usize) -> String {
    let row = format!("({})", vec!["?"; OUTCOME_COLUMNS].join(", "));
    format!(
        "INSERT INTO job_outcome VALUES {}",
        vec![row; rows].join(", ")
    )
}

/// Writes the outcomes, in groups of [`ROWS_AT_ONCE`] and the rest one by one.
fn write_outcomes(
    many: &mut Statement<'_>,
    single: &mut Statement<'_>,
    simulation: i64,
    outcomes: &[JobOutcome],
) -> rusqlite::Result<()> {
    let groups = outcomes.chunks_exact(ROWS_AT_ONCE);
    let rest = groups.remainder();
    for group in groups {
        for (row, outcome) in group.iter().enumerate() {
            bind_outcome(many, row * OUTCOME_COLUMNS, simulation, outcome)?;
        }
        many.raw_execute()?;
    }
    for outcome in rest {
        bind_outcome(single, 0, simulation, outcome)?;
        single.raw_execute()?;
    }
    Ok(())
}

fn bind_outcome(
    statement: &mut Statement<'_>,
    before: usize,
    simulation: i64,
    outcome: &JobOutcome,
) -> rusqlite::Result<()> {
    let release = outcome.job.release;
    let promise = outcome.promise;
    let success = promise.and_then(|promise| promise.success);
    let mut column = before;
    let mut next = || {
        column += 1;
        column
    };
    statement.raw_bind_parameter(next(), simulation)?;
    statement.raw_bind_parameter(next(), outcome.job.id.0)?;
    statement.raw_bind_parameter(next(), verdict_code(outcome.verdict))?;
    statement.raw_bind_parameter(next(), outcome.class)?;
    statement.raw_bind_parameter(next(), promise.map(|promise| promise.overbooked))?;
    statement.raw_bind_parameter(next(), promise.map(|promise| (promise.start - release).0))?;
    statement.raw_bind_parameter(
        next(),
        promise.map(|promise| (outcome.job.estimate - (promise.end - promise.start)).0),
    )?;
    statement.raw_bind_parameter(next(), success.map(|success| success.available))?;
    statement.raw_bind_parameter(next(), success.map(|success| success.executable))?;
    statement.raw_bind_parameter(next(), success.map(|success| success.survives))?;
    statement.raw_bind_parameter(next(), promise.map(|promise| promise.predecessors))?;
    statement.raw_bind_parameter(next(), outcome.start.map(|start| (start - release).0))?;
    statement.raw_bind_parameter(next(), outcome.end.map(|end| (end - release).0))?;
    statement.raw_bind_parameter(next(), outcome.restarts)?;
    statement.raw_bind_parameter(next(), outcome.node_failures)?;
    statement.raw_bind_parameter(next(), promise.and_then(|promise| promise.calibrated_pof))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdict_codes_are_the_places_in_the_list_of_all_verdicts() {
        for (code, verdict) in Verdict::ALL.into_iter().enumerate() {
            assert_eq!(verdict_code(verdict), code as i64);
        }
    }
}
