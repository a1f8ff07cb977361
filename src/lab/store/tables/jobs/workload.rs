//! Workloads: the jobs of simulations, each job once, under the hash of all of them.

use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};

use crate::scheduling::JobOutcome;
use crate::store::runs::hex;
use crate::tables::{Number, RowWriter, free_number};
use crate::units::Seconds;
use crate::workload::Job;

/// The content hash of jobs, fed job by job in the order of their ids: simulations of the same jobs
/// share their rows in `job`.
#[derive(Clone, Debug, Default)]
pub struct WorkloadHash {
    hash: Sha256,
    jobs: u64,
}

impl WorkloadHash {
    /// Adds the next job.
    pub fn add(&mut self, job: &Job) {
        self.add_row(&JobRow::of(job));
    }

    fn add_row(&mut self, job: &JobRow) {
        let mut bytes = [0; 87];
        let mut length = 0;
        let mut append = |part: &[u8]| {
            bytes[length..length + part.len()].copy_from_slice(part);
            length += part.len();
        };
        for number in job.numbers {
            append(&number.to_le_bytes());
        }
        for number in [job.user, job.application] {
            append(&[u8::from(number.is_some())]);
            append(&number.unwrap_or(0).to_le_bytes());
        }
        // Workloads without reservations keep the identity that they had before there were any.
        if job.fixed {
            append(b"fixed");
        }
        self.hash.update(&bytes[..length]);
        self.jobs += 1;
    }

    /// How many jobs were added.
    #[must_use]
    pub fn jobs(&self) -> u64 {
        self.jobs
    }

    /// The hash of all of them, in hexadecimal digits.
    #[must_use]
    pub fn finish(self) -> String {
        hex(&self.hash.finalize())
    }
}

/// What a job's row in `job` says.
struct JobRow {
    /// Number, number in the trace, submission, release, estimate, run time, deadline (far away
    /// where there is none), nodes.
    numbers: [i64; 8],
    user: Option<i64>,
    application: Option<i64>,
    fixed: bool,
}

/// The place of the deadline in [`JobRow::numbers`].
const DEADLINE: usize = 6;

impl JobRow {
    fn of(job: &Job) -> Self {
        Self {
            numbers: [
                i64::from(job.id.0),
                job.trace_number,
                job.submit.0,
                job.release.0,
                job.estimate.0,
                job.runtime.0,
                job.deadline.0,
                i64::from(job.nodes.0),
            ],
            user: job.user,
            application: job.application,
            fixed: job.is_reservation(),
        }
    }

    /// The row's values behind the number of the workload.
    fn values(&self, workload: i64) -> [Number; 12] {
        let [
            id,
            trace_number,
            submit,
            release,
            estimate,
            runtime,
            deadline,
            nodes,
        ] = self.numbers.map(Number::from);
        // None at all is far away inside the engine.
        let has_deadline = self.numbers[DEADLINE] < Seconds::FAR.0;
        [
            workload.into(),
            id,
            trace_number,
            submit,
            release,
            estimate,
            runtime,
            if has_deadline { deadline } else { Number::Null },
            nodes,
            self.user.into(),
            self.application.into(),
            i64::from(self.fixed).into(),
        ]
    }
}

/// The identity that a workload has by its jobs as they are stored.
pub(super) fn stored_identity(connection: &Connection, workload: i64) -> rusqlite::Result<String> {
    let mut statement = connection.prepare_cached(
        "SELECT job, trace_number, submit, release, estimate, runtime, deadline, nodes, user, application, fixed
         FROM job WHERE workload = ?1 ORDER BY job",
    )?;
    let mut hash = WorkloadHash::default();
    let mut rows = statement.query([workload])?;
    while let Some(row) = rows.next()? {
        let mut numbers = [0; 8];
        for (column, number) in numbers.iter_mut().enumerate() {
            let value: Option<i64> = row.get(column)?;
            *number = value.unwrap_or(Seconds::FAR.0);
        }
        hash.add_row(&JobRow {
            numbers,
            user: row.get(8)?,
            application: row.get(9)?,
            fixed: row.get(10)?,
        });
    }
    Ok(hash.finish())
}

/// The content hash of the jobs of these outcomes.
pub(in crate::store) fn workload_identity(outcomes: &[JobOutcome]) -> String {
    let mut hash = WorkloadHash::default();
    for outcome in outcomes {
        hash.add(&outcome.job);
    }
    hash.finish()
}

/// The number of a workload, whose jobs are entered where they are not there yet.
pub(in crate::store) fn workload(
    writer: &RowWriter<'_>,
    identity: &str,
    outcomes: &[JobOutcome],
) -> rusqlite::Result<i64> {
    let (id, is_new) = workload_number(writer.connection(), identity, outcomes.len() as u64)?;
    if is_new {
        write_jobs(writer, id, outcomes)?;
    }
    Ok(id)
}

/// The number of a workload of so many jobs, and whether it was not there yet: its jobs are to be
/// written then.
pub(in crate::store) fn workload_number(
    connection: &Connection,
    identity: &str,
    jobs: u64,
) -> rusqlite::Result<(i64, bool)> {
    let known: Option<i64> = connection
        .query_row(
            "SELECT id FROM workload WHERE identity = ?1",
            [identity],
            |row| row.get(0),
        )
        .optional()?;
    if let Some(id) = known {
        return Ok((id, false));
    }
    let id = free_number(connection, "workload", identity)?;
    connection.execute(
        "INSERT INTO workload (id, identity, jobs) VALUES (?1, ?2, ?3)",
        params![id, identity, jobs as i64],
    )?;
    Ok((id, true))
}

/// Writes the jobs of outcomes as those of a workload.
pub(in crate::store) fn write_jobs(
    writer: &RowWriter<'_>,
    workload: i64,
    outcomes: &[JobOutcome],
) -> rusqlite::Result<()> {
    let jobs = outcomes.iter().map(|outcome| JobRow::of(&outcome.job));
    writer.write_many("job", jobs.map(|job| job.values(workload)))?;
    Ok(())
}
