//! Trials of virtual reservations, and the jobs that ran meanwhile.

use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};

use crate::virtual_reservations::{CombinedScheme, VirtualStudyRun, VirtualTrial};
use bookahead_core::scheduling::JobOutcome;
use bookahead_core::units::Seconds;
use bookahead_lab::tables::{
    Definition, ExportKind, ExportSource, Outcomes, RowWriter, Rows, Shared, View, free_number,
};

/// The tables.
pub(super) const TABLES: Definition = Definition {
    sql: SQL,
    results: &["virtual_trial"],
    shared: &[Shared {
        table: "virtual_background",
        parts: "virtual_background_job",
        identity: background_identity,
    }],
    views: VIEWS,
    exports: EXPORTS,
    outcomes: OUTCOMES,
    ..Definition::NONE
};

/// The trials, and the jobs that ran meanwhile; empty unless outcomes were asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialRows {
    /// One an instant.
    pub trials: Vec<VirtualTrial>,
    /// What became of the trace's own jobs: the same in all simulations that differ only in their
    /// request, and stored once.
    pub background: Vec<JobOutcome>,
    /// The hash of what is stored of them.
    identity: String,
}

impl TrialRows {
    /// What a run leaves.
    #[must_use]
    pub fn new(run: VirtualStudyRun) -> Self {
        let mut hash = Sha256::new();
        for outcome in &run.jobs {
            hash_background(&mut hash, &background_row(0, outcome));
        }
        Self {
            trials: run.trials,
            background: run.jobs,
            identity: hexadecimal(hash),
        }
    }

    /// Writes the jobs if they are not there yet, and that they are this simulation's; returns the
    /// rows.
    fn write_background(&self, writer: &RowWriter<'_>) -> rusqlite::Result<u64> {
        let connection = writer.connection();
        if self.background.is_empty() {
            return Ok(0);
        }
        let known: Option<i64> = connection
            .prepare_cached("SELECT id FROM virtual_background WHERE identity = ?1")?
            .query_row([&self.identity], |row| row.get(0))
            .optional()?;
        let mut rows = 1;
        let number = match known {
            Some(number) => number,
            None => {
                let number = free_number(connection, "virtual_background", &self.identity)?;
                connection.execute(
                    "INSERT INTO virtual_background VALUES (?1, ?2, ?3)",
                    params![number, self.identity, self.background.len() as i64],
                )?;
                let jobs = self.background.iter();
                let jobs = jobs.map(|outcome| background_row(number, outcome));
                rows += 1 + writer.write_many("virtual_background_job", jobs)?;
                number
            }
        };
        writer
            .table("virtual_simulation")?
            .insert(params![writer.simulation(), number])?;
        Ok(rows)
    }
}

/// Adds what a row says to the hash of all, without the number of what it belongs to.
fn hash_background(hash: &mut Sha256, row: &[Option<i64>; 10]) {
    for value in &row[1..] {
        hash.update([u8::from(value.is_some())]);
        hash.update(value.unwrap_or(0).to_le_bytes());
    }
}

fn hexadecimal(hash: Sha256) -> String {
    let digest = hash.finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The identity that jobs have as they are stored.
fn background_identity(connection: &Connection, background: i64) -> rusqlite::Result<String> {
    let mut statement = connection.prepare_cached(
        "SELECT background, job, trace_number, submit, estimate, runtime, nodes, user, application, start
         FROM virtual_background_job WHERE background = ?1 ORDER BY job",
    )?;
    let mut hash = Sha256::new();
    let mut rows = statement.query([background])?;
    while let Some(found) = rows.next()? {
        let mut row = [None; 10];
        for (column, value) in row.iter_mut().enumerate() {
            *value = found.get(column)?;
        }
        hash_background(&mut hash, &row);
    }
    Ok(hexadecimal(hash))
}

/// The row of a job. Its start is seconds after its submission.
fn background_row(background: i64, outcome: &JobOutcome) -> [Option<i64>; 10] {
    let job = &outcome.job;
    [
        Some(background),
        Some(i64::from(job.id.0)),
        Some(job.trace_number),
        Some(job.submit.0),
        Some(job.estimate.0),
        Some(job.runtime.0),
        Some(i64::from(job.nodes.0)),
        job.user,
        job.application,
        outcome.start.map(|start| (start - job.submit).0),
    ]
}

impl Rows for TrialRows {
    fn strip(&mut self, _replication: u32) {
        *self = Self::default();
    }

    /// Times but the first are seconds after it.
    fn write(&self, writer: &RowWriter<'_>, _replication: u32) -> rusqlite::Result<u64> {
        let mut insert = writer.table("virtual_trial")?;
        for (number, trial) in self.trials.iter().enumerate() {
            let after = |time: Seconds| (time - trial.asked_at).0;
            let scheme = match trial.combined.scheme {
                CombinedScheme::Reservation => "reservation",
                CombinedScheme::Virtual => "virtual",
                CombinedScheme::Neither => "neither",
            };
            let submission = trial.submission;
            insert.insert(params![
                writer.simulation(),
                number as i64,
                trial.asked_at.0,
                after(trial.wanted_start),
                trial.nodes.0,
                trial.duration.0,
                trial.price.map(|price| price.0),
                submission.map(|submission| after(submission.submit)),
                submission.map(|submission| submission.runtime.0),
                submission.map(|submission| submission.probability),
                trial.virtual_start.map(after),
                scheme,
                trial.combined.extra_cost.map(|cost| cost.0),
            ])?;
        }
        Ok(self.trials.len() as u64 + self.write_background(writer)?)
    }
}

const SQL: &str = "
CREATE TABLE virtual_trial (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    trial INTEGER NOT NULL,
    asked_at INTEGER NOT NULL,
    wanted_start INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    duration INTEGER NOT NULL,
    price INTEGER,
    submitted INTEGER,
    padded_runtime INTEGER,
    probability REAL,
    virtual_start INTEGER,
    scheme TEXT NOT NULL CHECK (scheme IN ('reservation', 'virtual', 'neither')),
    combined_cost INTEGER,
    PRIMARY KEY (simulation, trial)
) STRICT, WITHOUT ROWID;

CREATE TABLE virtual_background (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,
    jobs INTEGER NOT NULL
) STRICT;

CREATE TABLE virtual_background_job (
    background INTEGER NOT NULL REFERENCES virtual_background (id),
    job INTEGER NOT NULL,
    trace_number INTEGER NOT NULL,
    submit INTEGER NOT NULL,
    estimate INTEGER NOT NULL,
    runtime INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    user INTEGER,
    application INTEGER,
    start INTEGER,
    PRIMARY KEY (background, job)
) STRICT, WITHOUT ROWID;

CREATE TABLE virtual_simulation (
    simulation INTEGER PRIMARY KEY REFERENCES simulation (id),
    background INTEGER NOT NULL REFERENCES virtual_background (id)
) STRICT;
";

const VIEWS: &[View] = &[
    (
        "v_virtual_trial",
        "SELECT t.simulation, t.trial, t.asked_at, t.asked_at + t.wanted_start AS wanted_start, t.nodes, t.duration,
            t.price / 3600.0 AS reservation_cost_su, t.asked_at + t.submitted AS submitted, t.padded_runtime, t.probability,
            t.asked_at + t.virtual_start AS virtual_start,
            t.nodes * (t.wanted_start - t.virtual_start) / 3600.0 AS virtual_cost_su, t.scheme,
            t.combined_cost / 3600.0 AS combined_cost_su, t.nodes * t.duration / 3600.0 AS base_price_su
         FROM virtual_trial t",
    ),
    (
        "v_virtual_job",
        "SELECT s.simulation, j.job, j.trace_number, j.user, j.application, j.nodes, j.submit, j.estimate, j.runtime,
            j.submit + j.start AS start, j.submit + j.start + min(j.runtime, j.estimate) AS \"end\", j.start AS waiting
         FROM virtual_simulation s JOIN virtual_background_job j ON j.background = s.background",
    ),
];

/// What the views about all studies show of them.
const OUTCOMES: Outcomes = Outcomes {
    algorithm: None,
    clusters: None,
    cluster_of_job: None,
    penalty_ratio: None,
    jobs: Some(
        "SELECT q.simulation, NULL, q.job, q.trace_number, q.user, q.application, q.nodes, q.estimate, q.runtime, q.submit, q.start,
            q.\"end\", q.waiting
         FROM v_virtual_job q",
    ),
    reservations: Some(
        "SELECT q.simulation, q.trial, NULL, 1, NULL, NULL, NULL, q.nodes, q.asked_at, q.wanted_start, NULL, q.duration, NULL,
            CASE q.scheme WHEN 'neither' THEN 'rejected' ELSE 'granted' END, q.scheme,
            CASE q.scheme WHEN 'virtual' THEN 1.0 - q.probability END,
            CASE q.scheme WHEN 'neither' THEN NULL ELSE q.wanted_start END,
            CASE q.scheme WHEN 'neither' THEN NULL ELSE q.wanted_start + q.duration END, q.combined_cost_su, NULL
         FROM v_virtual_trial q",
    ),
    nodes_fail: false,
    machines: None,
    held: Some("SELECT q.simulation, 0, 'jobs', q.start, q.\"end\", q.nodes FROM v_virtual_job q"),
};

const EXPORTS: &[ExportKind] = &[
    ExportKind {
        name: "trials",
        about: "One row for each trial of a virtual reservation",
        of_outcomes: true,
        source: ExportSource::Simulations("v_virtual_trial"),
        columns: "simulation, trial, asked_at, wanted_start, nodes, duration, reservation_cost_su number, submitted, \
            padded_runtime, probability number, virtual_start, virtual_cost_su number, scheme text, combined_cost_su number, \
            base_price_su number",
    },
    ExportKind {
        name: "virtual-jobs",
        about: "One row for each job that ran while virtual reservations were tried out",
        of_outcomes: true,
        source: ExportSource::Simulations("v_virtual_job"),
        columns: "simulation, job, trace_number, user, application, nodes, submit, estimate, runtime, start, end, waiting",
    },
];
