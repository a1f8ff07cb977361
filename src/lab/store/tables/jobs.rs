//! Workloads with their jobs, what became of each job in each simulation, and the failures of
//! nodes.
//!
//! Many rows are made small: a job's own attributes are kept once per workload (`job`), not once
//! per simulation, and an outcome holds times as seconds after the release, which take two or three
//! bytes where absolute times take four. Probabilities stay `REAL`: they are read back bit by bit,
//! and only overbooked slots have any.

mod workload;

use std::collections::BTreeSet;
use std::sync::Arc;

use rusqlite::{Connection, params};

use super::TableGroup;
use crate::scheduling::measures::Measure;
use crate::scheduling::{JobOutcome, Promise, Verdict};
use crate::store::rows::Prepared;
use crate::study::SimulationResult;
use crate::tables::{Definition, ExportKind, ExportSource, Number, RowWriter, Shared, View};
use workload::stored_identity;

pub use workload::WorkloadHash;
pub(in crate::store) use workload::{workload, workload_identity, workload_number, write_jobs};

/// The tables of jobs and node events.
pub(super) struct Jobs;

impl TableGroup for Jobs {
    fn definition(&self) -> Definition {
        Definition {
            sql: SQL,
            results: &["job_outcome", "estimate_class", "node_event"],
            shared: &[Shared {
                table: "workload",
                parts: "job",
                identity: stored_identity,
            }],
            views: VIEWS,
            exports: EXPORTS,
            enter_lookups,
            ..Definition::NONE
        }
    }

    fn problem(&self, result: &SimulationResult) -> Option<String> {
        let outcomes = &result.outcomes;
        if let Some(pair) = outcomes
            .windows(2)
            .find(|pair| pair[0].job.id >= pair[1].job.id)
        {
            return Some(format!(
                "job {} comes after job {}",
                pair[1].job.id.0, pair[0].job.id.0
            ));
        }
        let finite = |outcome: &&JobOutcome| {
            outcome.promise.is_none_or(|promise| {
                promise.calibrated_pof.is_none_or(f64::is_finite)
                    && promise.success.is_none_or(|success| {
                        success.available.is_finite()
                            && success.executable.is_finite()
                            && success.survives.is_finite()
                    })
            })
        };
        let broken = outcomes.iter().find(|outcome| !finite(outcome))?;
        Some(format!(
            "a probability of job {} is not a number",
            broken.job.id.0
        ))
    }

    fn strip(&self, result: &mut SimulationResult) {
        result.outcomes = Vec::new();
        result.failures = Arc::default();
    }

    fn write(&self, writer: &RowWriter<'_>, prepared: &Prepared) -> rusqlite::Result<u64> {
        let result = &prepared.finished.result;
        write_outcomes(writer, &result.outcomes)?;
        let classes = write_classes(writer, result)?;
        let events = result.failures.events.iter().zip(0_i64..);
        let events = writer.write_many(
            "node_event",
            events.map(|(event, sequence)| {
                [
                    writer.simulation(),
                    sequence,
                    event.time.0,
                    i64::from(event.node.0),
                    i64::from(event.up),
                ]
            }),
        )?;
        Ok(result.outcomes.len() as u64 + classes + events)
    }
}

fn enter_lookups(connection: &Connection, _: &[&'static Measure]) -> rusqlite::Result<()> {
    for (code, verdict) in Verdict::ALL.iter().enumerate() {
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
    deadline INTEGER,
    nodes INTEGER NOT NULL,
    user INTEGER,
    application INTEGER,
    fixed INTEGER NOT NULL DEFAULT 0 CHECK (fixed IN (0, 1)),
    PRIMARY KEY (workload, job)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_fixed ON job (workload, job) WHERE fixed = 1;

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

CREATE TABLE estimate_class (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    class INTEGER NOT NULL,
    label TEXT NOT NULL,
    samples INTEGER NOT NULL,
    PRIMARY KEY (simulation, class)
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
            j.runtime, j.deadline, j.fixed, v.outcome, v.name AS reason, o.class,
            (SELECT e.label FROM estimate_class e WHERE e.simulation = o.simulation AND e.class = o.class) AS class_label,
            o.overbooked,
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
            fixed flag, outcome text, reason text, class, class_label text, overbooked flag, planned_start, planned_end, slot_length, available number, \
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

/// Writes the outcomes of jobs.
pub(in crate::store) fn write_outcomes(
    writer: &RowWriter<'_>,
    outcomes: &[JobOutcome],
) -> rusqlite::Result<()> {
    let simulation = writer.simulation();
    let rows = outcomes.iter();
    writer.write_many(
        "job_outcome",
        rows.map(|outcome| outcome_row(simulation, outcome)),
    )?;
    Ok(())
}

/// Writes what the classes are that outcomes name; returns the rows.
fn write_classes(writer: &RowWriter<'_>, result: &SimulationResult) -> rusqlite::Result<u64> {
    let Some(model) = &result.estimates else {
        return Ok(0);
    };
    let named: BTreeSet<u16> = result
        .outcomes
        .iter()
        .filter_map(|outcome| outcome.class)
        .collect();
    let mut insert = writer.table("estimate_class")?;
    let mut rows = 0;
    for class in named {
        if let Some(summary) = model.classes().get(usize::from(class)) {
            insert.insert(params![
                writer.simulation(),
                class,
                summary.label,
                summary.samples as i64
            ])?;
            rows += 1;
        }
    }
    Ok(rows)
}

fn outcome_row(simulation: i64, outcome: &JobOutcome) -> [Number; 16] {
    let release = outcome.job.release;
    let promise = outcome.promise;
    let success = promise.and_then(|promise| promise.success);
    let slot_cut = |promise: Promise| outcome.job.estimate - (promise.end - promise.start);
    [
        simulation.into(),
        i64::from(outcome.job.id.0).into(),
        (outcome.verdict as i64).into(),
        outcome.class.map(i64::from).into(),
        promise.map(|promise| i64::from(promise.overbooked)).into(),
        promise.map(|promise| (promise.start - release).0).into(),
        promise.map(|promise| slot_cut(promise).0).into(),
        success.map(|success| success.available).into(),
        success.map(|success| success.executable).into(),
        success.map(|success| success.survives).into(),
        promise
            .map(|promise| i64::from(promise.predecessors))
            .into(),
        outcome.start.map(|start| (start - release).0).into(),
        outcome.end.map(|end| (end - release).0).into(),
        i64::from(outcome.restarts).into(),
        i64::from(outcome.node_failures).into(),
        promise.and_then(|promise| promise.calibrated_pof).into(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_keep_their_codes() {
        let names = Verdict::ALL.iter().map(|verdict| verdict.name());
        let by_code = [
            "dropped-no-slot",
            "dropped-too-wide",
            "successful-finished",
            "successful-full-grant",
            "failed-overbooked",
            "failed-nodes",
            "failed-unstartable",
            "dropped-by-customer",
        ];
        assert!(names.eq(by_code));
    }
}
