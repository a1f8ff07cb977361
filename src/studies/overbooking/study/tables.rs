//! Jobs that were promised nothing: what became of them, and their runs.

use rusqlite::params;

use crate::best_effort::{BestEffortOutcome, Fate};
use bookahead_core::scheduling::measures::Measure;
use bookahead_lab::tables::{
    Definition, ExportKind, ExportSource, Outcomes, RowWriter, Rows, View,
};
use rusqlite::Connection;

/// The tables.
pub(super) const TABLES: Definition = Definition {
    sql: SQL,
    results: &["best_effort_run", "best_effort_job"],
    views: VIEWS,
    exports: EXPORTS,
    outcomes: Outcomes {
        jobs: Some(
            "SELECT q.simulation, NULL, q.job, q.trace_number, q.user, q.application, q.nodes, q.estimate, q.runtime, q.submit, q.start,
                CASE q.fate WHEN 'done' THEN q.\"end\" END, q.waiting
             FROM v_best_effort_job q",
        ),
        reservations: Some(FIXED_JOBS),
        nodes_fail: true,
        ..Outcomes::NONE
    },
    enter_lookups,
    ..Definition::NONE
};

/// What became of each job without a promise, in the order of their ids; empty unless asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BestEffortRows(pub Vec<BestEffortOutcome>);

impl Rows for BestEffortRows {
    fn strip(&mut self, _replication: u32) {
        self.0 = Vec::new();
    }

    fn write(&self, writer: &RowWriter<'_>, _replication: u32) -> rusqlite::Result<u64> {
        let mut job_table = writer.table("best_effort_job")?;
        let mut run_table = writer.table("best_effort_run")?;
        let mut rows = 0;
        for outcome in &self.0 {
            let job = &outcome.job;
            job_table.insert(params![
                writer.simulation(),
                job.id.0,
                job.trace_number,
                job.submit.0,
                (job.release - job.submit).0,
                job.estimate.0,
                job.runtime.0,
                job.nodes.0,
                job.user,
                job.application,
                outcome.fate as i64,
                outcome.stops,
                outcome.node_failures,
            ])?;
            for (place, run) in outcome.runs.iter().enumerate() {
                run_table.insert(params![
                    writer.simulation(),
                    job.id.0,
                    place as i64,
                    (run.start - job.submit).0,
                    (run.end - job.submit).0,
                    run.kept,
                ])?;
            }
            rows += 1 + outcome.runs.len() as u64;
        }
        Ok(rows)
    }
}

fn enter_lookups(connection: &Connection, _: &[&'static Measure]) -> rusqlite::Result<()> {
    for (code, fate) in Fate::ALL.iter().enumerate() {
        connection.execute(
            "INSERT OR REPLACE INTO best_effort_fate VALUES (?1, ?2)",
            params![code as i64, fate.name()],
        )?;
    }
    Ok(())
}

/// Times are seconds after the submission, as they are small then.
const SQL: &str = "
CREATE TABLE best_effort_fate (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE best_effort_job (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    job INTEGER NOT NULL,
    trace_number INTEGER NOT NULL,
    submit INTEGER NOT NULL,
    release INTEGER NOT NULL,
    estimate INTEGER NOT NULL,
    runtime INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    user INTEGER,
    application INTEGER,
    fate INTEGER NOT NULL REFERENCES best_effort_fate (code),
    stops INTEGER NOT NULL,
    node_failures INTEGER NOT NULL,
    PRIMARY KEY (simulation, job)
) STRICT, WITHOUT ROWID;

CREATE TABLE best_effort_run (
    simulation INTEGER NOT NULL,
    job INTEGER NOT NULL,
    run INTEGER NOT NULL,
    start INTEGER NOT NULL,
    \"end\" INTEGER NOT NULL,
    kept INTEGER NOT NULL CHECK (kept IN (0, 1)),
    PRIMARY KEY (simulation, job, run),
    FOREIGN KEY (simulation, job) REFERENCES best_effort_job (simulation, job)
) STRICT, WITHOUT ROWID;
";

const VIEWS: &[View] = &[
    (
        "v_best_effort_run",
        "SELECT r.simulation, r.job, r.run, j.submit + r.start AS start, j.submit + r.\"end\" AS \"end\", r.kept,
            j.nodes * (r.\"end\" - r.start) / 3600.0 AS node_hours
         FROM best_effort_run r JOIN best_effort_job j ON j.simulation = r.simulation AND j.job = r.job",
    ),
    (
        "v_best_effort_job",
        "SELECT j.simulation, j.job, j.trace_number, j.user, j.application, j.nodes, j.estimate, j.runtime, j.submit,
            j.submit + j.release AS release, f.name AS fate, r.start, r.\"end\", r.start - j.submit - j.release AS waiting,
            j.stops, j.node_failures, coalesce(r.kept, 0.0) AS node_hours, coalesce(r.lost, 0.0) AS lost_node_hours
         FROM best_effort_job j JOIN best_effort_fate f ON f.code = j.fate
         LEFT JOIN (
            SELECT simulation, job, min(start) AS start, max(\"end\") AS \"end\", sum(node_hours * kept) AS kept,
                sum(node_hours * (1 - kept)) AS lost
            FROM v_best_effort_run GROUP BY simulation, job
         ) r ON r.simulation = j.simulation AND r.job = j.job",
    ),
];

const EXPORTS: &[ExportKind] = &[
    ExportKind {
        name: "best-effort-jobs",
        about: "One row for each job without a promise",
        of_outcomes: true,
        source: ExportSource::Simulations("v_best_effort_job"),
        columns: "simulation, job, trace_number, user, application, nodes, estimate, runtime, submit, release, fate text, start, end, \
            waiting, stops, node_failures, node_hours number, lost_node_hours number",
    },
    ExportKind {
        name: "best-effort-runs",
        about: "One row for each time that a job without a promise ran",
        of_outcomes: true,
        source: ExportSource::Simulations("v_best_effort_run"),
        columns: "simulation, job, run, start, end, kept flag, node_hours number",
    },
];

/// Fixed reservations are jobs whose window every policy keeps, or refuses at once.
const FIXED_JOBS: &str = "
    SELECT m.id, o.job, NULL, 1, NULL, j.trace_number, j.user, j.nodes, j.submit, j.release, j.deadline, j.estimate,
        j.runtime, CASE v.outcome WHEN 'dropped' THEN 'rejected' WHEN 'failed' THEN 'lost' ELSE 'granted' END, v.name,
        coalesce(o.calibrated_pof, 1.0 - o.available * o.executable * o.survives), j.release + o.start, j.release + o.\"end\",
        CASE v.outcome WHEN 'successful' THEN j.nodes * j.estimate / 3600.0 ELSE 0.0 END,
        CASE v.outcome WHEN 'failed' THEN j.nodes * j.estimate / 3600.0 ELSE 0.0 END
    FROM simulation m
    CROSS JOIN job j INDEXED BY job_fixed ON j.workload = m.workload AND j.fixed = 1
    CROSS JOIN job_outcome o ON o.simulation = m.id AND o.job = j.job
    JOIN verdict v ON v.code = o.verdict";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fates_of_jobs_without_promises_keep_their_codes() {
        let names: Vec<&str> = Fate::ALL.iter().map(|fate| fate.name()).collect();
        assert_eq!(names, ["done", "killed", "too-wide"]);
        assert!(
            Fate::ALL
                .iter()
                .enumerate()
                .all(|(code, fate)| *fate as usize == code)
        );
    }
}
