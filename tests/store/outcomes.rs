//! The views about the outcomes of all studies, and the questions about them in `docs/schema.md`,
//! against what the runs themselves say.

use super::connection;
use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::types::Value;

use super::documents::documented_query;
use super::{co_reservations::several_clusters, count, folder, provisioning::workflows};
use bookahead::scheduling::JobOutcome;
use bookahead::store::{ExportKind, OutcomeDetail, RunId, Store};
use bookahead::studies::STUDIES;
use bookahead::study::inputs::RunInput;
use bookahead::study::{SimulationResult, StudySpec};
use bookahead::sweep::AxisValue;
use bookahead::units::Seconds;
use bookahead::workload::JobKind;
use bookahead_grid::co_reservation::study::CoReservationStudy;
use bookahead_grid::co_reservation::{Algorithm, CoVerdict};
use bookahead_testutils::runs::grid::grid;
use bookahead_testutils::runs::{axis, finished, outcome, point, record, result, text, write_run};

const STRATEGIES: [&str; 2] = ["heuristic-planning", "heuristic-overbooking"];

/// Jobs of the simulations of a threshold.
fn jobs_at(threshold: f64) -> u32 {
    if threshold > 0.15 { 150 } else { 120 }
}

/// A run of two thresholds, two penalty ratios and two replications in which each simulation is
/// shown by a point of each ratio, and those without overbooking by points of all thresholds, too.
/// Jobs of replication 1 are others than those of replication 0.
fn policies(path: &Path, name: &str, workload: &str) -> RunId {
    let thresholds = [0.1, 0.2];
    let ratios = [1.0, 2.0];
    let mut run = record(
        name,
        vec![
            axis("scheduling.strategy", &STRATEGIES.map(text)),
            axis("acceptance.pof_max", &thresholds.map(AxisValue::Real)),
            axis("accounting.penalty_ratio", &ratios.map(AxisValue::Real)),
        ],
        16,
    );
    run.inputs = vec![RunInput {
        source: format!("workload {workload}"),
        content: workload.to_owned(),
    }];
    let mut simulations = Vec::new();
    for (strategy, thresholds_shown) in [
        (STRATEGIES[0], vec![thresholds.to_vec()]),
        (
            STRATEGIES[1],
            thresholds.iter().map(|one| vec![*one]).collect(),
        ),
    ] {
        for shown in thresholds_shown {
            for replication in 0..2 {
                let id = format!("{workload} {strategy} {shown:?} {replication}");
                let mut points = Vec::new();
                for threshold in &shown {
                    for ratio in ratios {
                        let values = [
                            ("scheduling.strategy", text(strategy)),
                            ("acceptance.pof_max", AxisValue::Real(*threshold)),
                            ("accounting.penalty_ratio", AxisValue::Real(ratio)),
                        ];
                        points.push(point(&format!("{id} {ratio}"), &values, replication, ratio));
                    }
                }
                let jobs = jobs_at(shown[0]) + 10 * replication;
                simulations.push(finished(&id, strategy, replication, result(jobs), points));
            }
        }
    }
    write_run(path, &run, simulations)
}

/// The rows that a documented question gives, as it stands.
pub(super) fn answers(store: &Store, number: usize) -> Vec<Vec<Value>> {
    let connection = connection(store);
    let mut statement = connection
        .prepare(documented_query(number))
        .unwrap_or_else(|error| panic!("query {number}: {error}"));
    let columns = statement.column_count();
    statement
        .query_map([], |row| {
            (0..columns).map(|column| row.get(column)).collect()
        })
        .and_then(Iterator::collect)
        .unwrap_or_else(|error| panic!("query {number}: {error}"))
}

pub(super) fn integer(value: &Value) -> i64 {
    match value {
        Value::Integer(value) => *value,
        other => panic!("{other:?} is no whole number"),
    }
}

pub(super) fn number(value: &Value) -> f64 {
    match value {
        Value::Real(value) => *value,
        Value::Integer(value) => *value as f64,
        other => panic!("{other:?} is no number"),
    }
}

pub(super) fn string(value: &Value) -> String {
    match value {
        Value::Text(value) => value.clone(),
        other => panic!("{other:?} is no text"),
    }
}

pub(super) fn close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * other.abs().max(1.0)
}

/// Jobs of the simulations with overbooking, of both replications, at these thresholds.
fn overbooking(thresholds: &[f64]) -> Vec<JobOutcome> {
    let simulations = thresholds
        .iter()
        .flat_map(|threshold| (0..2).map(|replication| jobs_at(*threshold) + 10 * replication));
    simulations
        .flat_map(|jobs| (0..jobs).map(outcome))
        .collect()
}

#[test]
fn the_users_whose_jobs_fail_most_at_a_threshold_are_those_of_its_simulations_each_counted_once() {
    let folder = folder();
    let path = folder.path().join("store.db");
    policies(&path, "documented", "jobs");
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    let mut by_user: BTreeMap<i64, (i64, i64, f64)> = BTreeMap::new();
    for outcome in overbooking(&[0.2]) {
        if let (Some(user), false) = (outcome.job.user, outcome.verdict.is_dropped()) {
            let sums = by_user.entry(user).or_default();
            sums.0 += 1;
            if outcome.verdict.is_failed() {
                sums.1 += 1;
                sums.2 += outcome.job.fee().coins().0;
            }
        }
    }
    let mut expected: Vec<(i64, (i64, i64, f64))> = by_user.into_iter().collect();
    expected.sort_by_key(|(user, (_, failed, _))| (-failed, *user));
    let rows = answers(&store, 25);
    assert_eq!(rows.len(), 20);
    for (row, (user, (jobs, failed, penalty))) in rows.iter().zip(&expected) {
        assert_eq!(
            [0, 1, 2].map(|column| integer(&row[column])),
            [*user, *jobs, *failed]
        );
        assert!(close(number(&row[4]), *penalty), "{row:?}");
    }
}

#[test]
fn mean_waits_over_all_runs_of_a_year_count_an_outcome_once_however_many_runs_and_points_show_it() {
    let folder = folder();
    let path = folder.path().join("store.db");
    policies(&path, "first", "jobs");
    // Shows the simulations of the first one.
    policies(&path, "second", "jobs");
    let store = Store::open(STUDIES, &path).unwrap();
    let other_year = policies(&path, "third", "other jobs");
    connection(&store)
        .execute_batch(&format!(
            "UPDATE run SET started = unixepoch('now', 'start of year', '+40 days') * 1000;
             UPDATE run SET started = unixepoch('now', 'start of year', '-1 day') * 1000 WHERE id = {}",
            other_year.0
        ))
        .unwrap();
    let mut waits: BTreeMap<(String, String), (i64, i64)> = BTreeMap::new();
    for (strategy, jobs) in [
        (STRATEGIES[0], [120, 130].as_slice()),
        (STRATEGIES[1], &[120, 130, 150, 160]),
    ] {
        for outcome in jobs.iter().flat_map(|jobs| (0..*jobs).map(outcome)) {
            let width = match outcome.job.nodes.0 {
                ..=8 => "1-8",
                9..=32 => "9-32",
                _ => "more",
            };
            if let Some(start) = outcome.start {
                let sums = waits
                    .entry((strategy.to_owned(), width.to_owned()))
                    .or_default();
                sums.0 += 1;
                sums.1 += (start - outcome.job.release).0;
            }
        }
    }
    let rows = answers(&store, 26);
    assert_eq!(rows.len(), 2 * 3);
    for row in rows {
        let (started, wait) = waits[&(string(&row[0]), string(&row[1]))];
        assert_eq!(integer(&row[2]), started, "{row:?}");
        assert!(
            close(number(&row[3]), wait as f64 / started as f64),
            "{row:?}"
        );
    }
}

#[test]
fn reservations_that_each_algorithm_lost_are_counted_by_the_clusters_of_their_simulation() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let algorithms = [Algorithm::ALL[0], Algorithm::ALL[2]];
    let (mut simulations, mut expected) = (Vec::new(), BTreeMap::new());
    for (algorithm, name, _) in algorithms {
        for clusters in [2_u16, 3] {
            let granted = |request: u32| request.is_multiple_of(2) || clusters == 3;
            let made = grid(clusters, 8, granted);
            let Some(rows) = made
                .rows
                .get::<bookahead_grid::co_reservation::study::Rows>()
            else {
                panic!("a grid");
            };
            let requests = &rows.run.as_ref().unwrap().requests;
            let sums: &mut [i64; 3] = expected
                .entry((i64::from(clusters), name.to_owned()))
                .or_default();
            for request in requests {
                let granted = request.verdict == CoVerdict::Granted;
                sums[0] += 1;
                sums[1] += i64::from(!granted);
                sums[2] += i64::from(granted && request.lost_parts > request.replaced_parts);
            }
            let id = format!("{name} {clusters}");
            let mut done = finished(
                &id,
                "co-reservation",
                0,
                made,
                vec![point(&id, &[], 0, 1.0)],
            );
            let mut study = CoReservationStudy {
                settings: Default::default(),
                clusters: Default::default(),
                requests: None,
            };
            study.settings.search.algorithm = algorithm;
            done.spec.study = StudySpec::of(study);
            simulations.push(done);
        }
    }
    write_run(&path, &record("grids", Vec::new(), 4), simulations);
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    let found: BTreeMap<(i64, String), [i64; 3]> = answers(&store, 27)
        .iter()
        .map(|row| {
            let key = (integer(&row[1]), string(&row[0]));
            (key, [2, 3, 4].map(|column| integer(&row[column])))
        })
        .collect();
    assert!(
        expected
            .values()
            .any(|[_, rejected, lost]| *rejected > 0 && *lost > 0)
    );
    assert_eq!(found, expected);
}

#[test]
fn predicted_and_realised_failures_by_user_are_those_of_the_promises() {
    let folder = folder();
    let path = folder.path().join("store.db");
    policies(&path, "documented", "jobs");
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    let mut by_user: BTreeMap<i64, (i64, f64, i64)> = BTreeMap::new();
    for outcome in overbooking(&[0.1, 0.2]) {
        if let (Some(user), Some(promise)) = (outcome.job.user, outcome.promise)
            && promise.overbooked
        {
            let sums = by_user.entry(user).or_default();
            sums.0 += 1;
            sums.1 += promise.pof().unwrap();
            sums.2 += i64::from(outcome.verdict.is_failed());
        }
    }
    let rows = answers(&store, 28);
    assert_eq!(rows.len(), by_user.len());
    for row in rows {
        let (jobs, pof, failed) = by_user[&integer(&row[0])];
        assert_eq!(integer(&row[1]), jobs);
        assert!(close(number(&row[2]), pof / jobs as f64), "{row:?}");
        assert!(
            close(number(&row[3]), failed as f64 / jobs as f64),
            "{row:?}"
        );
    }
}

#[test]
fn what_a_run_of_last_month_with_the_same_workload_earned_is_the_mean_of_its_points() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let before = policies(&path, "before", "jobs");
    policies(&path, "of other jobs", "other jobs");
    policies(&path, "last", "jobs");
    let store = Store::open(STUDIES, &path).unwrap();
    let last_month = "unixepoch('now', 'start of month', '-3 days') * 1000";
    connection(&store)
        .execute_batch(&format!(
            "UPDATE run SET started = {last_month} WHERE name <> 'last'"
        ))
        .unwrap();
    let rows = answers(&store, 29);
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert_eq!(integer(&row[0]), before.0);
        let strategy = string(&row[3]);
        let shown: &[u32] = if strategy == STRATEGIES[0] {
            &[120, 120, 130, 130]
        } else {
            &[120, 130, 150, 160]
        };
        let gains: Vec<f64> = shown
            .iter()
            .flat_map(|jobs| [1.0, 2.0].map(|ratio| (result(*jobs).metrics, ratio)))
            .map(|(metrics, ratio)| metrics.fees.coins().0 - ratio * metrics.forfeited.coins().0)
            .collect();
        assert_eq!(integer(&row[4]), gains.len() as i64);
        let mean = gains.iter().sum::<f64>() / gains.len() as f64;
        assert!(close(number(&row[5]), mean), "{row:?}: {mean}");
    }
}

#[test]
fn a_simulation_has_the_axes_on_which_the_points_that_show_it_agree() {
    let folder = folder();
    let path = folder.path().join("store.db");
    policies(&path, "documented", "jobs");
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    let axes: Vec<(String, String, i64)> = connection(&store)
        .prepare("SELECT axes, study, clusters FROM v_run_simulation WHERE replication = 0 ORDER BY axes")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let expected = [
        r#"{"scheduling.strategy":"heuristic-overbooking","acceptance.pof_max":0.1}"#,
        r#"{"scheduling.strategy":"heuristic-overbooking","acceptance.pof_max":0.2}"#,
        r#"{"scheduling.strategy":"heuristic-planning"}"#,
    ];
    assert_eq!(
        axes,
        expected.map(|axes| (axes.to_owned(), "overbooking".to_owned(), 1))
    );
    // One row an outcome, and as many as there are.
    assert_eq!(
        count(&connection(&store), "SELECT count(*) FROM v_all_jobs"),
        count(&connection(&store), "SELECT count(*) FROM job_outcome")
    );
}

#[test]
fn jobs_of_several_clusters_say_which_one_they_ran_on_and_reservations_of_every_study_are_there() {
    let folder = folder();
    let path = folder.path().join("store.db");
    several_clusters(&path, OutcomeDetail::All);
    workflows(&path, OutcomeDetail::All);
    let mut fixed = SimulationResult {
        outcomes: (0..14).map(outcome).collect(),
        ..result(0)
    };
    for outcome in &mut fixed.outcomes {
        outcome.job.kind = JobKind::Reservation;
    }
    let done = finished(
        "fixed",
        "easy-backfilling",
        0,
        fixed,
        vec![point("fixed", &[], 0, 1.0)],
    );
    write_run(&path, &record("fixed", Vec::new(), 1), vec![done]);
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    let whole = |sql: &str| count(&connection(&store), sql);
    for cluster in 0..3 {
        let of = format!(
            "SELECT count(*) FROM v_all_jobs WHERE study = 'co-reservation' AND cluster = {cluster}"
        );
        assert_eq!(whole(&of), 4 * 5);
    }
    // Jobs that a study keeps in tables of its own are there, too.
    assert_eq!(
        whole("SELECT count(*) FROM v_all_jobs WHERE study = 'provisioning'"),
        whole("SELECT count(*) FROM workflow_site_job")
    );
    assert!(whole("SELECT count(*) FROM workflow_site_job") > 0);
    for (study, rows) in [
        ("co-reservation", 4 * 8),
        ("provisioning", 8 * 2),
        ("overbooking", 14),
    ] {
        let of = format!("SELECT count(*) FROM v_all_reservations WHERE study = '{study}'");
        assert_eq!(whole(&of), rows, "{study}");
    }
    let rejected = (0..14)
        .filter(|id| outcome(*id).verdict.is_dropped())
        .count() as i64;
    let failed = (0..14)
        .filter(|id| outcome(*id).verdict.is_failed())
        .count() as i64;
    let of = "SELECT sum(outcome = 'rejected') * 100 + sum(outcome = 'lost') FROM v_all_reservations WHERE study = 'overbooking'";
    assert_eq!(whole(of), rejected * 100 + failed);
}

#[test]
fn questions_about_a_run_or_a_simulation_read_no_rows_of_others() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let store = Store::open(STUDIES, &path).unwrap();
    for view in ["v_all_jobs", "v_all_reservations"] {
        for condition in [
            "run = 1",
            "run = (SELECT max(id) FROM run)",
            "simulation = 1",
        ] {
            for question in [
                format!("SELECT * FROM {view} WHERE {condition}"),
                format!(
                    "SELECT strategy, count(*) FROM {view} WHERE {condition} GROUP BY strategy"
                ),
            ] {
                let plan: Vec<String> = connection(&store)
                    .prepare(&format!("EXPLAIN QUERY PLAN {question}"))
                    .unwrap()
                    .query_map([], |row| row.get(3))
                    .unwrap()
                    .collect::<Result<_, _>>()
                    .unwrap();
                let names = ["rp", "p", "o", "j", "m", "q", "t", "b"];
                for step in &plan {
                    let scanned = step
                        .strip_prefix("SCAN ")
                        .and_then(|rest| rest.split(' ').next());
                    assert!(
                        scanned.is_none_or(|table| !names.contains(&table)),
                        "{question}: {plan:#?}"
                    );
                }
            }
        }
    }
}

#[test]
fn no_view_shows_the_number_that_stands_for_never() {
    let folder = folder();
    let path = folder.path().join("store.db");
    several_clusters(&path, OutcomeDetail::All);
    workflows(&path, OutcomeDetail::All);
    policies(&path, "policies", "jobs");
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    assert_eq!(
        count(
            &connection(&store),
            "SELECT count(*) FROM v_job WHERE deadline IS NULL"
        ),
        4 * 15
    );
    let columns: Vec<(String, String)> = connection(&store)
        .prepare(
            "SELECT l.name, i.name FROM pragma_table_list l, pragma_table_info(l.name) i
             WHERE l.schema = 'main' AND l.name NOT LIKE 'sqlite%'",
        )
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    for (table, column) in columns {
        let far = format!(
            "SELECT count(*) FROM {table} WHERE typeof(\"{column}\") = 'integer' AND abs(\"{column}\") >= {}",
            Seconds::FAR.0 / 2
        );
        assert_eq!(count(&connection(&store), &far), 0, "{table}.{column}");
    }
}

#[test]
fn every_table_and_every_view_can_be_exported() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let run = policies(&path, "exported", "jobs");
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    let names: Vec<String> = connection(&store)
        .prepare(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite%'",
        )
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    for name in names {
        let kind =
            ExportKind::find(STUDIES, &name).unwrap_or_else(|| panic!("{name} cannot be exported"));
        let export = store.export(run, kind, &Default::default()).unwrap();
        connection(&store)
            .prepare(&export.sql)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
