//! Simulations: what was asked for, how far each is, its totals and its time.

use std::time::Duration;

use rusqlite::params;

use super::TableGroup;
use crate::kernel::{Decision, DecisionTimes};
use crate::scheduling::SimulationMetrics;
use crate::store::rows::Prepared;
use crate::store::runs::unix_milliseconds;
use crate::tables::{Definition, ExportKind, ExportSource, RowWriter, View};

/// The tables of simulations.
pub(super) struct Simulations;

impl TableGroup for Simulations {
    fn definition(&self) -> Definition {
        Definition {
            sql: SQL,
            results: &["decision_histogram", "decision_timing"],
            views: VIEWS,
            exports: EXPORTS,
            ..Definition::NONE
        }
    }

    fn write(&self, writer: &RowWriter<'_>, prepared: &Prepared) -> rusqlite::Result<u64> {
        let finished = &prepared.finished;
        let metrics = &finished.result.metrics;
        let totals = write_totals(writer, metrics, finished.wall)?;
        Ok(totals + write_decision_times(writer, &finished.result.decision_times)?)
    }
}

/// Writes how long decisions took, which is no part of any digest; returns the rows.
fn write_decision_times(
    writer: &RowWriter<'_>,
    measured: &[(Decision, DecisionTimes)],
) -> rusqlite::Result<u64> {
    let mut insert = writer
        .connection()
        .prepare_cached("INSERT INTO decision_timing VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
    for (decision, times) in measured {
        insert.execute(params![
            writer.simulation(),
            decision.name(),
            times.decisions() as i64,
            times.quantile_seconds(0.5),
            times.quantile_seconds(0.99),
            times.longest_seconds()
        ])?;
    }
    let mut rows = measured.len() as u64;
    let mut insert = writer
        .connection()
        .prepare_cached("INSERT INTO decision_histogram VALUES (?1, ?2, ?3, ?4)")?;
    for (decision, times) in measured {
        for (up_to_seconds, decisions) in times.histogram() {
            let (simulation, name) = (writer.simulation(), decision.name());
            insert.execute(params![simulation, name, up_to_seconds, decisions as i64])?;
            rows += 1;
        }
    }
    Ok(rows)
}

/// Writes the totals of a simulation and how long it took; returns the rows.
pub(in crate::store) fn write_totals(
    writer: &RowWriter<'_>,
    metrics: &SimulationMetrics,
    wall: Duration,
) -> rusqlite::Result<u64> {
    let simulation = writer.simulation();
    writer
        .connection()
        .prepare_cached("INSERT OR REPLACE INTO simulation_timing VALUES (?1, ?2, ?3)")?
        .execute(params![simulation, wall.as_secs_f64(), unix_milliseconds()])?;
    writer.table("simulation_metrics")?.insert(params![
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
    Ok(2)
}

const SQL: &str = "
CREATE TABLE simulation_state (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO simulation_state VALUES (0, 'pending'), (1, 'running'), (2, 'done'), (3, 'failed');

CREATE TABLE strategy (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    overbooks INTEGER CHECK (overbooks IN (0, 1)),
    baseline TEXT
) STRICT;

CREATE TABLE simulation (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL,
    generation INTEGER NOT NULL,
    spec TEXT NOT NULL CHECK (json_valid(spec)),
    workload_label TEXT NOT NULL,
    workload INTEGER REFERENCES workload (id),
    strategy INTEGER NOT NULL REFERENCES strategy (code),
    replication INTEGER NOT NULL,
    state INTEGER NOT NULL REFERENCES simulation_state (code),
    detail INTEGER NOT NULL CHECK (detail BETWEEN 0 AND 2),
    attempts INTEGER NOT NULL,
    error TEXT,
    running_since INTEGER,
    running_in INTEGER REFERENCES run (id),
    computed_by INTEGER REFERENCES run (id),
    digest TEXT,
    jobs_hash TEXT,
    failures_hash TEXT,
    UNIQUE (identity, generation)
) STRICT;
CREATE INDEX simulation_not_done ON simulation (state) WHERE state <> 2;

CREATE TABLE simulation_timing (
    simulation INTEGER PRIMARY KEY REFERENCES simulation (id),
    wall_seconds REAL NOT NULL,
    finished INTEGER NOT NULL
) STRICT;

CREATE TABLE decision_timing (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    decision TEXT NOT NULL CHECK (decision IN ('admission', 'request', 'quote')),
    decisions INTEGER NOT NULL,
    p50_seconds REAL NOT NULL,
    p99_seconds REAL NOT NULL,
    longest_seconds REAL NOT NULL,
    PRIMARY KEY (simulation, decision)
) STRICT, WITHOUT ROWID;

CREATE TABLE decision_histogram (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    decision TEXT NOT NULL CHECK (decision IN ('admission', 'request', 'quote')),
    up_to_seconds REAL NOT NULL,
    decisions INTEGER NOT NULL,
    PRIMARY KEY (simulation, decision, up_to_seconds)
) STRICT, WITHOUT ROWID;

CREATE TABLE simulation_metrics (
    simulation INTEGER PRIMARY KEY REFERENCES simulation (id),
    submitted INTEGER NOT NULL,
    accepted INTEGER NOT NULL,
    dropped INTEGER NOT NULL,
    dropped_too_wide INTEGER NOT NULL,
    overbooked INTEGER NOT NULL,
    successful INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    failed_overbooked INTEGER NOT NULL,
    failed_nodes INTEGER NOT NULL,
    failed_unstartable INTEGER NOT NULL,
    restarts INTEGER NOT NULL,
    fees INTEGER NOT NULL,
    forfeited INTEGER NOT NULL,
    busy INTEGER NOT NULL,
    useful INTEGER NOT NULL,
    makespan INTEGER NOT NULL,
    capacity INTEGER NOT NULL,
    wait_total INTEGER NOT NULL,
    started INTEGER NOT NULL,
    weighted_response INTEGER NOT NULL,
    weighted_run INTEGER NOT NULL,
    pof_evaluations INTEGER NOT NULL,
    convolutions INTEGER NOT NULL,
    replans INTEGER NOT NULL,
    moves INTEGER NOT NULL
) STRICT;
";

const VIEWS: &[View] = &[
    (
        "v_simulation",
        "SELECT m.id AS simulation, m.identity, m.generation, st.name AS state,
            CASE m.detail WHEN 2 THEN 'all' ELSE 'metrics' END AS outcomes, m.attempts, m.error, m.workload_label,
            m.workload, s.name AS strategy, m.replication, m.jobs_hash, m.failures_hash, m.spec, m.computed_by, r.program_version, r.program_commit,
            t.wall_seconds,
            datetime(t.finished / 1000, 'unixepoch') AS finished_utc
         FROM simulation m
         JOIN simulation_state st ON st.code = m.state
         JOIN strategy s ON s.code = m.strategy
         LEFT JOIN run r ON r.id = m.computed_by
         LEFT JOIN simulation_timing t ON t.simulation = m.id",
    ),
];

const EXPORTS: &[ExportKind] = &[
    ExportKind {
        name: "simulations",
        about: "One row for each simulation",
        of_outcomes: false,
        source: ExportSource::Simulations("v_simulation"),
        columns: "simulation, identity text, generation, state text, outcomes text, attempts, error text, workload_label text, workload, \
            strategy text, replication, jobs_hash text, failures_hash text, spec text, computed_by, program_version text, program_commit text, wall_seconds number, \
            finished_utc text",
    },
    ExportKind {
        name: "decision-times",
        about: "One row for each kind of decision whose time was measured, of each simulation",
        of_outcomes: false,
        source: ExportSource::Simulations("decision_timing"),
        columns: "simulation, decision text, decisions, p50_seconds number, p99_seconds number, longest_seconds number",
    },
    ExportKind {
        name: "decision-histograms",
        about: "How many decisions took no longer than so long, of each kind and simulation",
        of_outcomes: false,
        source: ExportSource::Simulations("decision_histogram"),
        columns: "simulation, decision text, up_to_seconds number, decisions",
    },
];
