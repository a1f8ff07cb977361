//! The views about the outcomes of all studies: which simulations a run shows, their jobs, and
//! their reservations. What differs between studies comes from their folders ([`Outcomes`]).
//!
//! `v_run_simulation` is built so that a condition on run or simulation reaches the tables, and so
//! that what is worked out for a simulation is worked out once and not for each of its rows:
//! DISTINCT keeps SQLite from merging it into the question, CROSS JOIN keeps it outside.

use super::TableGroup;
use crate::study::{AnyStudy, Studies};
use crate::tables::{
    Definition, ExportKind, ExportSource, JOB_COLUMNS, Outcomes, RESERVATION_COLUMNS,
};

/// No tables of its own.
pub(super) struct OutcomeViews;

impl TableGroup for OutcomeViews {
    fn definition(&self) -> Definition {
        Definition {
            exports: EXPORTS,
            ..Definition::NONE
        }
    }
}

/// The names of the views and their queries.
pub(super) fn views(studies: Studies) -> [(&'static str, String); 3] {
    [
        ("v_run_simulation", run_simulations(studies)),
        ("v_all_jobs", all_jobs(studies)),
        ("v_all_reservations", all_reservations(studies)),
    ]
}

/// Columns of the simulation that stand in front of those of its outcomes.
const OF_SIMULATION: &str = "s.run, s.place, s.computed, s.study, s.strategy, s.algorithm, s.workload_label, s.replication, s.clusters, \
    s.axes";

/// The penalty ratio of the point `p` of the simulation `m` with the strategy `s`: an expression.
pub(super) fn penalty_ratio(studies: Studies) -> String {
    let own = |study: &dyn AnyStudy| {
        let own = said(study, |of| of.penalty_ratio)?;
        Some(format!("coalesce({own}, p.penalty_ratio)"))
    };
    by_study(studies, "s.name", own, "p.penalty_ratio")
}

/// The name of the study by the name of the strategy in this column: an expression.
pub(in crate::store) fn study(studies: Studies, column: &str) -> String {
    let policies = studies.iter().find(|study| study.strategy().is_none());
    let policies = policies.map(AnyStudy::name).unwrap_or_default();
    by_study(
        studies,
        column,
        |study| Some(format!("'{}'", study.name())),
        &format!("'{policies}'"),
    )
}

fn run_simulations(studies: Studies) -> String {
    let study = study(studies, "t.name");
    let algorithm = by_study(
        studies,
        "t.name",
        |study| said(study, |of| of.algorithm),
        "t.name",
    );
    let clusters = by_study(
        studies,
        "t.name",
        |study| said(study, |of| of.clusters),
        "1",
    );
    format!(
        "SELECT DISTINCT rp.run, p.simulation, rp.place, coalesce(m.computed_by = rp.run, 0) AS computed,
            {study} AS study, t.name AS strategy, {algorithm} AS algorithm,
            m.workload_label, m.replication, {clusters} AS clusters,
            (SELECT json_group_object(x.key, x.value) FROM (
                SELECT a.key, v.value FROM point b
                CROSS JOIN run_point q ON q.point = b.id AND q.run = rp.run
                CROSS JOIN point_axis c ON c.run = q.run AND c.place = q.place
                CROSS JOIN v_axis a ON a.run = c.run AND a.position = c.axis
                CROSS JOIN axis_value v ON v.run = c.run AND v.axis = c.axis AND v.position = c.value
                WHERE b.simulation = p.simulation
                GROUP BY c.axis HAVING min(c.value) = max(c.value) ORDER BY c.axis
            ) x) AS axes
         FROM run_point rp
         JOIN point p ON p.id = rp.point
         JOIN simulation m ON m.id = p.simulation
         JOIN strategy t ON t.code = m.strategy
         WHERE m.state = 2 AND rp.place = (
            SELECT min(q.place) FROM point b CROSS JOIN run_point q ON q.point = b.id AND q.run = rp.run
            WHERE b.simulation = p.simulation
         )"
    )
}

fn all_jobs(studies: Studies) -> String {
    let cluster = by_study(
        studies,
        "s.strategy",
        |study| said(study, |of| of.cluster_of_job),
        "NULL",
    );
    let common = format!(
        "SELECT {OF_SIMULATION}, {cluster} AS cluster, j.simulation, j.job, j.trace_number, j.user, j.application, j.nodes,
            j.estimate, j.runtime, j.submit, j.release, j.deadline, j.fixed, j.outcome, j.reason, j.class, j.class_label,
            j.overbooked, j.planned_start, j.planned_end, j.pof, j.start, j.\"end\", j.waiting, j.fee, j.penalty, j.restarts,
            j.node_failures
         FROM v_run_simulation s CROSS JOIN v_job j ON j.simulation = s.simulation"
    );
    let own = of_studies(studies, &JOB_COLUMNS, |of| of.jobs);
    let shows = own.iter().map(|(name, _, only)| {
        format!(
            " UNION ALL SELECT {OF_SIMULATION}, q.cluster, q.simulation, q.job, q.trace_number, q.user, q.application, q.nodes,
                q.estimate, q.runtime, q.submit, q.submit, NULL, 0, CASE WHEN q.\"end\" IS NOT NULL THEN 'successful' WHEN q.start IS NOT NULL THEN 'failed' END,
                CASE WHEN q.start IS NULL THEN 'not started' ELSE 'not promised' END, NULL, NULL, 0, NULL, NULL, NULL, q.start,
                q.\"end\", q.waiting, NULL, NULL, 0, 0
             FROM v_run_simulation s CROSS JOIN \"{name}\" q ON q.simulation = s.simulation
             WHERE {only}"
        )
    });
    let shows: String = shows.collect();
    format!("{}{common}{shows}", queries(&own))
}

fn all_reservations(studies: Studies) -> String {
    let shown = RESERVATION_COLUMNS
        .map(|column| format!("r.\"{column}\""))
        .join(", ");
    let own = of_studies(studies, &RESERVATION_COLUMNS, |of| of.reservations);
    let shows = own.iter().map(|(name, _, only)| {
        format!(
            "SELECT {OF_SIMULATION}, {shown}, r.start - r.asked_at AS waiting
             FROM v_run_simulation s CROSS JOIN \"{name}\" r ON r.simulation = s.simulation
             WHERE {only}"
        )
    });
    let shows: Vec<String> = shows.collect();
    if shows.is_empty() {
        let none = RESERVATION_COLUMNS
            .map(|column| format!("NULL AS \"{column}\""))
            .join(", ");
        return format!(
            "SELECT {OF_SIMULATION}, {none}, NULL AS waiting FROM v_run_simulation s WHERE 0"
        );
    }
    format!("{}{}", queries(&own), shows.join(" UNION ALL "))
}

/// The queries of studies with these columns: the name of the study, the query under it, and what
/// holds of its simulations only.
fn of_studies(
    studies: Studies,
    columns: &[&str],
    query: impl Fn(&Outcomes) -> Option<&'static str>,
) -> Vec<(String, String, String)> {
    let named: Vec<String> = columns
        .iter()
        .map(|column| format!("\"{column}\""))
        .collect();
    let of_study = |study: &dyn AnyStudy| {
        let query = query(&study.tables().outcomes)?;
        let name = study.name().to_owned();
        // By the strategy where there is one: a store without it has nothing to look through.
        let only = match study.strategy() {
            Some(strategy) => format!("s.strategy = '{}'", strategy.name),
            None => format!("s.study = '{name}'"),
        };
        let query = format!("\"{name}\" ({}) AS ({query})", named.join(", "));
        Some((name, query, only))
    };
    studies.iter().filter_map(of_study).collect()
}

/// The queries of studies, in front of what reads them.
fn queries(of_studies: &[(String, String, String)]) -> String {
    let queries: Vec<&str> = of_studies
        .iter()
        .map(|(_, query, _)| query.as_str())
        .collect();
    if queries.is_empty() {
        return String::new();
    }
    format!("WITH {} ", queries.join(", "))
}

/// What studies say by the strategy in a column; `otherwise` for those that say nothing, and for
/// policies.
fn by_study(
    studies: Studies,
    column: &str,
    said: impl Fn(&dyn AnyStudy) -> Option<String>,
    otherwise: &str,
) -> String {
    let cases: String = studies
        .iter()
        .filter_map(|study| {
            let (strategy, said) = (study.strategy()?, said(study)?);
            Some(format!(" WHEN '{}' THEN {said}", strategy.name))
        })
        .collect();
    if cases.is_empty() {
        return otherwise.to_owned();
    }
    format!("CASE {column}{cases} ELSE {otherwise} END")
}

/// What a study says of its outcomes.
fn said(study: &dyn AnyStudy, what: fn(&Outcomes) -> Option<&'static str>) -> Option<String> {
    what(&study.tables().outcomes).map(str::to_owned)
}

const EXPORTS: &[ExportKind] = &[
    ExportKind {
        name: "run-simulations",
        about: "One row for each simulation that the run shows",
        of_outcomes: false,
        source: ExportSource::Run("v_run_simulation", "simulation"),
        columns: "run, simulation, place, computed flag, study text, strategy text, algorithm text, workload_label text, replication, \
            clusters, axes text",
    },
    ExportKind {
        name: "all-jobs",
        about: "One row for each job of each simulation, with study, strategy and axes",
        of_outcomes: true,
        source: ExportSource::RunSimulations("v_all_jobs"),
        columns: "run, place, computed flag, study text, strategy text, algorithm text, workload_label text, replication, clusters, \
            axes text, cluster, simulation, job, trace_number, user, application, nodes, estimate, runtime, submit, release, \
            deadline, fixed flag, outcome text, reason text, class, class_label text, overbooked flag, planned_start, planned_end, \
            pof number, start, end, waiting, fee number, penalty number, restarts, node_failures",
    },
    ExportKind {
        name: "all-reservations",
        about: "One row for each reservation of any study",
        of_outcomes: false,
        source: ExportSource::Run("v_all_reservations", "simulation, request, part"),
        columns: "run, place, computed flag, study text, strategy text, algorithm text, workload_label text, replication, clusters, \
            axes text, simulation, request, part, parts, cluster, trace_number, user, nodes, asked_at, earliest, deadline, \
            duration, runtime, outcome text, reason text, pof number, start, end, fee number, penalty number, waiting",
    },
];
