//! How long the questions about outcomes take in a store of 100 million of them. The store is made
//! here: a run through the writer, and copies of its rows by SQL.
//!
//! `cargo test --release --test main a_store_of_100_million -- --ignored --nocapture`;
//! `BOOKAHEAD_BIG_STORE` names a folder with room for 5 GB, `BOOKAHEAD_BIG_ROWS` another number of
//! rows.

use std::path::Path;
use std::time::Instant;

use rusqlite::Connection;

use super::documents::documented_query;
use super::{connection, count};
use bookahead::store::Store;
use bookahead::studies::STUDIES;
use bookahead::study::StudySpec;
use bookahead::study::inputs::RunInput;
use bookahead::sweep::AxisValue;
use bookahead_grid::co_reservation::Algorithm;
use bookahead_grid::co_reservation::study::CoReservationStudy;
use bookahead_testutils::runs::grid::grid;
use bookahead_testutils::runs::{axis, finished, point, record, result, text, write_run};

const STRATEGIES: [&str; 2] = ["heuristic-planning", "heuristic-overbooking"];
const REPLICATIONS: u32 = 40;

/// A run of two strategies, twenty thresholds and two penalty ratios: 3,200 points of 840
/// simulations with about 1,020 jobs.
fn policies(path: &Path) {
    let thresholds: Vec<AxisValue> = (1..=20)
        .map(|step| AxisValue::Real(f64::from(step) / 50.0))
        .collect();
    let ratios = [1.0, 2.0];
    let axes = vec![
        axis("scheduling.strategy", &STRATEGIES.map(text)),
        axis("acceptance.pof_max", &thresholds),
        axis("accounting.penalty_ratio", &ratios.map(AxisValue::Real)),
    ];
    let mut simulations = Vec::new();
    for strategy in STRATEGIES {
        let shown: Vec<&[AxisValue]> = if strategy == STRATEGIES[0] {
            vec![&thresholds]
        } else {
            thresholds.chunks(1).collect()
        };
        for shown in shown {
            for replication in 0..REPLICATIONS {
                let id = format!("{strategy} {shown:?} {replication}");
                let mut points = Vec::new();
                for (threshold, ratio) in shown
                    .iter()
                    .flat_map(|one| ratios.map(|ratio| (one, ratio)))
                {
                    let values = [
                        ("scheduling.strategy", text(strategy)),
                        ("acceptance.pof_max", threshold.clone()),
                        ("accounting.penalty_ratio", AxisValue::Real(ratio)),
                    ];
                    points.push(point(&format!("{id} {ratio}"), &values, replication, ratio));
                }
                simulations.push(finished(
                    &id,
                    strategy,
                    replication,
                    result(1_000 + replication),
                    points,
                ));
            }
        }
    }
    let mut run = record("policies", axes, 3_200);
    run.inputs = vec![RunInput {
        source: "workload made up".to_owned(),
        content: "made up".to_owned(),
    }];
    write_run(path, &run, simulations);
}

/// 400 simulations of several clusters with 500 requests each.
fn clusters(path: &Path) {
    let mut simulations = Vec::new();
    for (algorithm, name, _) in &Algorithm::ALL[..5] {
        for clusters in [2, 4, 8, 16] {
            for replication in 0..20 {
                let id = format!("{name} {clusters} {replication}");
                let made = grid(clusters, 500, |request| request % 3 > 0);
                let points = vec![point(&id, &[], replication, 1.0)];
                let mut done = finished(&id, "co-reservation", replication, made, points);
                let mut study = CoReservationStudy {
                    settings: Default::default(),
                    clusters: Default::default(),
                    requests: None,
                };
                study.settings.search.algorithm = *algorithm;
                done.spec.study = StudySpec::of(study);
                simulations.push(done);
            }
        }
    }
    write_run(path, &record("clusters", Vec::new(), 400), simulations);
}

/// Copies the rows of a table with other values in some columns.
fn copy(connection: &Connection, table: &str, other: &[(&str, String)]) {
    let columns: Vec<String> = connection
        .prepare("SELECT name FROM pragma_table_info(?1)")
        .and_then(|mut columns| columns.query_map([table], |row| row.get(0))?.collect())
        .unwrap();
    let values: Vec<String> = columns
        .iter()
        .map(|column| {
            let changed = other.iter().find(|(name, _)| name == column);
            changed.map_or_else(|| format!("\"{column}\""), |(_, value)| value.clone())
        })
        .collect();
    connection
        .execute_batch(&format!(
            "INSERT INTO {table} SELECT {} FROM original.{table}",
            values.join(", ")
        ))
        .unwrap_or_else(|error| panic!("{table}: {error}"));
}

#[test]
#[ignore = "takes minutes and gigabytes"]
fn a_store_of_100_million_outcomes_answers_the_questions_about_outcomes() {
    let rows: i64 = std::env::var("BOOKAHEAD_BIG_ROWS")
        .map_or(100_000_000, |rows| rows.parse().expect("a number"));
    let folder = match std::env::var_os("BOOKAHEAD_BIG_STORE") {
        Some(folder) => tempfile::tempdir_in(folder),
        None => tempfile::tempdir(),
    }
    .unwrap();
    let (original, path) = (
        folder.path().join("original.db"),
        folder.path().join("big.db"),
    );
    let began = Instant::now();
    policies(&original);
    policies(&path);
    let store = Store::open(STUDIES, &path).unwrap();
    let big = &connection(&store);
    let [of_run, simulations, points] = ["job_outcome", "simulation", "point"]
        .map(|table| count(big, &format!("SELECT count(*) FROM {table}")));
    let runs = rows.div_euclid(of_run) + 1;
    big.execute("ATTACH ?1 AS original", [original.to_str().unwrap()])
        .unwrap();
    big.execute_batch("PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF")
        .unwrap();
    for more in 1..runs {
        big.execute_batch("BEGIN").unwrap();
        let (run, simulation) = (more + 1, more * simulations);
        let of_run = ("run", run.to_string());
        let of_simulation = ("simulation", format!("simulation + {simulation}"));
        let days_ago = 2 * (runs - more);
        copy(
            big,
            "run",
            &[
                ("id", run.to_string()),
                ("started", format!("started - {days_ago} * 86400000")),
            ],
        );
        for table in ["axis", "axis_value", "run_input", "point_axis"] {
            copy(big, table, std::slice::from_ref(&of_run));
        }
        copy(
            big,
            "simulation",
            &[
                ("id", format!("id + {simulation}")),
                ("identity", format!("identity || '-{more}'")),
                ("computed_by", run.to_string()),
            ],
        );
        for table in [
            "simulation_timing",
            "simulation_metrics",
            "simulation_width",
            "job_outcome",
        ] {
            copy(big, table, std::slice::from_ref(&of_simulation));
        }
        let point = more * points;
        copy(
            big,
            "point",
            &[
                ("id", format!("id + {point}")),
                ("identity", format!("identity || '-{more}'")),
                of_simulation.clone(),
            ],
        );
        copy(
            big,
            "run_point",
            &[of_run, ("point", format!("point + {point}"))],
        );
        big.execute_batch("COMMIT").unwrap();
    }
    drop(store);
    clusters(&path);
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    println!(
        "{} rows, {} runs, {:.1} GB, made in {:.0} s",
        runs * of_run,
        runs + 1,
        std::fs::metadata(&path).unwrap().len() as f64 / 1e9,
        began.elapsed().as_secs_f64()
    );
    for number in 25..=29 {
        let mut question = documented_query(number).to_owned();
        if number != 27 {
            question = question.replace("SELECT max(id) FROM run)", "SELECT max(run) FROM axis)");
        }
        // The second time without reading from the disk.
        for seconds in [f64::INFINITY, 5.0] {
            let began = Instant::now();
            let rows = connection(&store)
                .prepare(&question)
                .and_then(|mut rows| Ok(rows.query_map([], |_| Ok(()))?.count()))
                .unwrap();
            let took = began.elapsed().as_secs_f64();
            println!("{number}: {rows} rows in {took:.2} s");
            assert!(rows > 0 && took < seconds, "question {number}");
        }
    }
}
