//! Workloads with their jobs, what became of each job in each simulation, and the failures of nodes.
//!
//! Many rows are made small: a job's own attributes are kept once per workload (`job`), not once per simulation, and an
//! outcome holds times as seconds after the release, which take two or three bytes where absolute times take four.
//! Probabilities stay `REAL`: they are read back bit by bit, and only overbooked slots have any.

use rusqlite::{Connection, params};

use super::{TableGroup, View};
use crate::scheduling::Verdict;
use crate::store::export::{ExportKind, ExportSource};

/// The tables of jobs and node events.
pub(super) struct Jobs;

impl TableGroup for Jobs {
    fn sql(&self) -> &'static str {
        SQL
    }

    fn views(&self) -> &'static [View] {
        VIEWS
    }

    fn exports(&self) -> &'static [ExportKind] {
        EXPORTS
    }

    fn enter_lookups(&self, connection: &Connection) -> rusqlite::Result<()> {
        for (code, verdict) in Verdict::ALL.into_iter().enumerate() {
            let outcome = if verdict.is_dropped() {
                "dropped"
            } else if verdict.is_successful() {
                "successful"
            } else {
                "failed"
            };
            connection.execute(
                "INSERT OR REPLACE INTO verdict VALUES (?1, ?2, ?3)",
                params![code as i64, verdict.name(), outcome],
            )?;
        }
        Ok(())
    }
}

const SQL: &str = "
CREATE TABLE verdict (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    outcome TEXT NOT NULL CHECK (outcome IN ('dropped', 'successful', 'failed'))
) STRICT;

CREATE TABLE workload (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,
    jobs INTEGER NOT NULL
) STRICT;

CREATE TABLE job (
    workload INTEGER NOT NULL REFERENCES workload (id),
    job INTEGER NOT NULL,
    trace_number INTEGER NOT NULL,
    submit INTEGER NOT NULL,
    release INTEGER NOT NULL,
    estimate INTEGER NOT NULL,
    runtime INTEGER NOT NULL,
    deadline INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    user INTEGER,
    application INTEGER,
    fixed INTEGER NOT NULL DEFAULT 0 CHECK (fixed IN (0, 1)),
    PRIMARY KEY (workload, job)
) STRICT, WITHOUT ROWID;

CREATE TABLE job_outcome (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    job INTEGER NOT NULL,
    verdict INTEGER NOT NULL,
    class INTEGER,
    overbooked INTEGER,
    planned_start INTEGER,
    planned_cut INTEGER,
    available REAL,
    executable REAL,
    survives REAL,
    predecessors INTEGER,
    start INTEGER,
    \"end\" INTEGER,
    restarts INTEGER NOT NULL,
    node_failures INTEGER NOT NULL,
    calibrated_pof REAL,
    PRIMARY KEY (simulation, job)
) STRICT, WITHOUT ROWID;

CREATE TABLE node_event (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    sequence INTEGER NOT NULL,
    time INTEGER NOT NULL,
    node INTEGER NOT NULL,
    up INTEGER NOT NULL CHECK (up IN (0, 1)),
    PRIMARY KEY (simulation, sequence)
) STRICT, WITHOUT ROWID;
";

const VIEWS: &[View] = &[
    (
        "v_job",
        "SELECT o.simulation, o.job, j.trace_number, j.user, j.application, j.nodes, j.submit, j.release, j.estimate,
            j.runtime, j.deadline, j.fixed, v.outcome, v.name AS reason, o.class, o.overbooked,
            j.release + o.planned_start AS planned_start,
            j.release + o.planned_start + j.estimate - o.planned_cut AS planned_end,
            j.estimate - o.planned_cut AS slot_length,
            o.available, o.executable, o.survives,
            o.available * o.executable * o.survives AS pos,
            coalesce(o.calibrated_pof, 1.0 - o.available * o.executable * o.survives) AS pof,
            1.0 - o.available * o.executable * o.survives AS raw_pof,
            o.predecessors,
            j.release + o.start AS start,
            j.release + o.\"end\" AS \"end\",
            o.start AS waiting,
            CASE v.outcome WHEN 'successful' THEN j.nodes * j.estimate / 3600.0 ELSE 0.0 END AS fee,
            CASE v.outcome WHEN 'failed' THEN j.nodes * j.estimate / 3600.0 ELSE 0.0 END AS penalty,
            o.restarts, o.node_failures
         FROM job_outcome o
         JOIN simulation m ON m.id = o.simulation
         JOIN job j ON j.workload = m.workload AND j.job = o.job
         JOIN verdict v ON v.code = o.verdict",
    ),
];

const EXPORTS: &[ExportKind] = &[
    ExportKind {
        name: "jobs",
        about: "One row for each job of each simulation",
        of_outcomes: true,
        source: ExportSource::Simulations("v_job"),
        columns: "simulation, job, trace_number, user, application, nodes, submit, release, estimate, runtime, deadline, \
            fixed flag, outcome text, reason text, class, overbooked flag, planned_start, planned_end, slot_length, available number, \
            executable number, survives number, pos number, pof number, raw_pof number, predecessors, start, end, waiting, \
            fee number, penalty number, restarts, node_failures",
    },
    ExportKind {
        name: "node-events",
        about: "One row for each failure and repair of a node",
        of_outcomes: true,
        source: ExportSource::Simulations("node_event"),
        columns: "simulation, sequence, time, node, up flag",
    },
];
