//! One simulation whose jobs come one by one, in whatever order: nothing of it is kept in memory.

use std::time::Duration;

use super::durability::JournalSync;
use super::record::{OutcomeDetail, RunId, RunRecord, RunState};
use super::runs::{PendingSimulation, end_run};
use super::tables::distributions::Distributions;
use super::tables::simulations::write_totals;
use super::tables::{definitions, jobs, layout};
use super::{Store, StoreError};
use crate::scheduling::{JobOutcome, SimulationMetrics};
use crate::sweep::{Seen, Sweep};
use crate::tables::{Digest, RowWriter};
use crate::units::{Nodes, Seconds};
pub use jobs::WorkloadHash;

/// Outcomes that are written with one call.
const BATCH: usize = 4_096;

/// Writes the outcomes of one simulation. Everything is one transaction, so that a kill leaves
/// nothing of it; other programs wait meanwhile.
#[derive(Debug)]
pub struct OutcomeStream {
    store: Store,
    run: RunId,
    simulation: i64,
    workload: i64,
    /// Whether the jobs are not in the store yet.
    with_jobs: bool,
    batch: Vec<JobOutcome>,
    metrics: SimulationMetrics,
    distributions: Distributions,
    first_submit: Option<Seconds>,
    last_end: Seconds,
    /// Of the rows that are written.
    digest: Digest,
}

impl Store {
    /// Begins a run of a sweep of one simulation, whose jobs hash to `workload`, and which saw
    /// this. Where the store has that simulation already there is nothing to write: the run shows
    /// what is there, and is over.
    ///
    /// # Errors
    ///
    /// When the store cannot be written.
    pub fn stream_outcomes(
        self,
        sweep: &Sweep,
        label: &str,
        workload: WorkloadHash,
        seen: Seen,
    ) -> Result<(RunId, Option<OutcomeStream>), StoreError> {
        let run = self.begin_run(&RunRecord::of(sweep, self.studies))?;
        let ids = sweep.points.iter().map(|point| point.id);
        if !self.done_points(ids, OutcomeDetail::All)?.is_empty() {
            self.link_done_points(run, &sweep.points)?;
            end_run(self.studies, &self.connection, run, RunState::Done)
                .map_err(|error| self.error("ending a run", error))?;
            return Ok((run, None));
        }
        let identity = sweep.simulation_ids[0];
        let pending = PendingSimulation {
            id: identity,
            spec: sweep.simulations.get(0),
            points: sweep.points.iter().collect(),
        };
        self.enter_pending(run, [pending], false)?;
        let begin = || -> rusqlite::Result<(i64, i64, bool)> {
            self.connection.execute_batch("BEGIN IMMEDIATE")?;
            let (number, is_new) = jobs::workload_number(
                &self.connection,
                &workload.clone().finish(),
                workload.jobs(),
            )?;
            let simulation = self.connection.query_row(
                "UPDATE simulation SET state = 2, detail = ?2, workload = ?3, workload_label = ?4, computed_by = ?5, error = NULL,
                    running_since = NULL, running_in = NULL, attempts = attempts + 1, jobs_hash = ?6, failures_hash = ?7
                 WHERE id = (SELECT id FROM simulation WHERE identity = ?1 ORDER BY generation DESC LIMIT 1) RETURNING id",
                rusqlite::params![
                    identity.as_str(),
                    OutcomeDetail::All.code(),
                    number,
                    label,
                    run.0,
                    seen.jobs.as_deref(),
                    seen.failures.as_deref()
                ],
                |row| row.get(0),
            )?;
            for table in definitions(self.studies).flat_map(|tables| tables.results) {
                let delete = format!("DELETE FROM {table} WHERE simulation = ?1");
                self.connection.execute(&delete, [simulation])?;
            }
            Ok((simulation, number, is_new))
        };
        let (simulation, workload, with_jobs) =
            begin().map_err(|error| self.error("beginning a simulation", error))?;
        let stream = OutcomeStream {
            store: self,
            run,
            simulation,
            workload,
            with_jobs,
            batch: Vec::with_capacity(BATCH),
            metrics: SimulationMetrics::default(),
            distributions: Distributions::default(),
            first_submit: None,
            last_end: Seconds::ZERO,
            digest: Digest::default(),
        };
        Ok((run, Some(stream)))
    }
}

impl OutcomeStream {
    /// Takes the outcome of one more job.
    ///
    /// # Errors
    ///
    /// When the store cannot be written.
    pub fn write(&mut self, outcome: JobOutcome) -> Result<(), StoreError> {
        let submit = outcome.job.submit;
        let first = self.first_submit.get_or_insert(submit);
        *first = submit.min(*first);
        self.metrics.count(&outcome);
        self.distributions.count(&outcome);
        if let (Some(start), Some(end)) = (outcome.start, outcome.end) {
            self.last_end = self.last_end.max(end);
            self.metrics.busy += outcome.job.nodes.for_span(end - start);
        }
        self.batch.push(outcome);
        if self.batch.len() == BATCH {
            self.flush()?;
        }
        Ok(())
    }

    /// Marks the simulation as done on a machine of `nodes` nodes, and the run as ended.
    ///
    /// # Errors
    ///
    /// When the store cannot be written; nothing of the simulation is kept then.
    pub fn finish(mut self, nodes: Nodes, wall: Duration) -> Result<(), StoreError> {
        self.flush()?;
        let first = self.first_submit.unwrap_or(self.last_end);
        self.metrics.makespan = (self.last_end - first).max(Seconds::ZERO);
        self.metrics.capacity = nodes.for_span(self.metrics.makespan);
        let connection = &self.store.connection;
        let write = || {
            let writer = self.writer()?;
            write_totals(&writer, &self.metrics, wall)?;
            self.distributions.write(&writer)?;
            writer.seal(self.digest)?;
            end_run(self.store.studies, connection, self.run, RunState::Done)?;
            connection.execute_batch("COMMIT")
        };
        write().map_err(|error| self.store.error("writing results", error))?;
        let mut journal = JournalSync::default();
        journal.committed(&self.store);
        journal.sync(&self.store)?;
        if !self.store.is_in_place() {
            let path = self.store.path.clone();
            return Err(StoreError::Gone { path });
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        // In the order of ids, as far as they are at hand: neighbours share pages of the file.
        self.batch.sort_unstable_by_key(|outcome| outcome.job.id);
        let write = || {
            let writer = self.writer()?;
            if self.with_jobs {
                jobs::write_jobs(&writer, self.workload, &self.batch)?;
            }
            jobs::write_outcomes(&writer, &self.batch)?;
            Ok(writer.digest())
        };
        self.digest += write().map_err(|error| self.store.error("writing results", error))?;
        self.batch.clear();
        Ok(())
    }

    fn writer(&self) -> rusqlite::Result<RowWriter<'_>> {
        let mut writer = RowWriter::new(&self.store.connection, layout(self.store.studies)?);
        writer.begin(self.simulation);
        Ok(writer)
    }
}
