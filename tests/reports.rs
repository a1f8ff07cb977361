//! Reports of made-up runs: what they say, draw and write.

// Helpers of tests panic where their premises do not hold, as the tests do.
#![allow(clippy::unwrap_used)]

mod any_run;
mod batteries;
mod calibration;
mod courses;
mod earned;
mod grid;
mod market;
mod optimism;
mod promises;
mod studies;
mod variance;
mod workflows;
mod written;

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use bookahead_core::scheduling::SimulationMetrics;
use bookahead_core::units::{NodeSeconds, Seconds};
use bookahead_lab::store::{
    FailedSimulation, FinishedSimulation, METRICS, OutcomeDetail, RunRecord, RunSelector, RunState,
    Store, Writer,
};
use bookahead_lab::study::SimulationResult;
use bookahead_lab::study::Studies;
use bookahead_lab::sweep::{Axis, AxisValue};
use bookahead_report::PublishedOfRun;
use bookahead_report::figure::{Figure, Marks};
use bookahead_report::optimism::Optimism;
use bookahead_report::plots::paired::Pairs;
use bookahead_report::plots::studies::studies as figures_of_studies;
use bookahead_report::views::{self, Reported, ViewContent};
use bookahead_report::{
    Analysis, Cell, Csv, ReportError, ReportExtras, ReportSummary, Table, TableFormat, Terminal,
    best_table, summary_table,
};
use bookahead_studies::{STUDIES, VIEWS};
use bookahead_testutils::runs::{axis, finished, identity, point, record, spec, text, write_run};

/// Writes the report of a run as the program does.
fn write(
    studies: Studies,
    store: &Path,
    run: &RunSelector,
    out: &Path,
) -> Result<ReportSummary, ReportError> {
    bookahead_report::write(studies, store, run, out, &ReportExtras::of(VIEWS))
}

/// Totals with these fees and lost fees in coins.
fn totals(fees: i64, forfeited: i64) -> SimulationResult {
    SimulationResult {
        metrics: SimulationMetrics {
            submitted: 10,
            accepted: 8,
            dropped: 2,
            successful: 7,
            failed: 1,
            overbooked: 3,
            fees: NodeSeconds(fees * 3_600),
            forfeited: NodeSeconds(forfeited * 3_600),
            busy: NodeSeconds(1_500),
            useful: NodeSeconds(1_200),
            makespan: Seconds(100),
            capacity: NodeSeconds(2_000),
            wait_total: Seconds(160),
            started: 8,
            weighted_response: NodeSeconds(3_000),
            weighted_run: NodeSeconds(2_000),
            ..SimulationMetrics::default()
        },
        outcomes: Vec::new(),
        ..SimulationResult::default()
    }
}

const BASELINE: [i64; 3] = [100, 110, 120];
const OVERBOOKED: [(f64, [i64; 3]); 3] = [
    (0.1, [110, 122, 129]),
    // The maximum of replication 2 alone is at 0.3; the highest mean is here.
    (0.2, [130, 131, 150]),
    (0.3, [90, 180, 100]),
];

fn threshold_axes() -> Vec<Axis> {
    vec![
        axis(
            "scheduling.strategy",
            &[text("heuristic-planning"), text("heuristic-overbooking")],
        ),
        axis(
            "acceptance.pof_max",
            &OVERBOOKED.map(|(threshold, _)| AxisValue::Real(threshold)),
        ),
    ]
}

/// Two strategies, three thresholds, three replications; the baseline has points at the first
/// `thresholds` thresholds.
fn thresholds(thresholds: usize) -> (RunRecord, Vec<FinishedSimulation>) {
    let mut simulations = Vec::new();
    for replication in 0..3u32 {
        let place = replication as usize;
        let values = |strategy: &str, threshold: f64| {
            [
                ("scheduling.strategy", text(strategy)),
                ("acceptance.pof_max", AxisValue::Real(threshold)),
            ]
        };
        let points = OVERBOOKED[..thresholds]
            .iter()
            .map(|(threshold, _)| {
                let id = format!("plan-{threshold}-{replication}");
                point(
                    &id,
                    &values("heuristic-planning", *threshold),
                    replication,
                    1.0,
                )
            })
            .collect();
        let id = format!("plan-{replication}");
        simulations.push(finished(
            &id,
            "heuristic-planning",
            replication,
            totals(BASELINE[place], 0),
            points,
        ));
        for (threshold, gains) in OVERBOOKED {
            let id = format!("over-{threshold}-{replication}");
            let points = vec![point(
                &id,
                &values("heuristic-overbooking", threshold),
                replication,
                1.0,
            )];
            // 20 coins lost at ratio 1: fees are higher than the gain by as much.
            simulations.push(finished(
                &id,
                "heuristic-overbooking",
                replication,
                totals(gains[place] + 20, 20),
                points,
            ));
        }
    }
    let count = 3 * (thresholds as u64 + 3);
    (record("thresholds", threshold_axes(), count), simulations)
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn analysed(path: &Path) -> (Analysis, Table, Table) {
    let store = Store::open_read_only(STUDIES, path).unwrap();
    let run = store.run(&RunSelector::Latest).unwrap();
    let points = store.points(run.id).unwrap();
    let analysis = Analysis::new(&points).unwrap();
    let published = PublishedOfRun::default();
    let pairs = Pairs::new(&points, &published);
    let best = best_table(&analysis, &pairs, &run);
    let summary = summary_table(&analysis, &run);
    (analysis, best, summary)
}

/// What the views of the studies of the last run show.
fn viewed(path: &Path) -> ViewContent {
    let store = Store::open_read_only(STUDIES, path).unwrap();
    let run = store.run(&RunSelector::Latest).unwrap();
    let points = store.points(run.id).unwrap();
    let analysis = Analysis::new(&points).unwrap();
    views::shown(
        VIEWS,
        &Reported {
            store: &store,
            run: &run,
            points: &points,
            analysis: &analysis,
        },
    )
    .unwrap()
}

/// The figures of the measures of the last run, and how many are left out.
fn over_axes(path: &Path) -> (Vec<Figure>, usize) {
    let store = Store::open_read_only(STUDIES, path).unwrap();
    let run = store.run(&RunSelector::Latest).unwrap();
    let points = store.points(run.id).unwrap();
    let analysis = Analysis::new(&points).unwrap();
    figures_of_studies(
        &analysis,
        &Pairs::new(&points, &PublishedOfRun::default()),
        &run.configuration_hash,
    )
}

fn values(figure: &Figure) -> Vec<f64> {
    let marks = figure.series.iter().flat_map(|series| match &series.marks {
        Marks::Curve(marks)
        | Marks::Whiskers(marks)
        | Marks::Bars(marks)
        | Marks::Points(marks) => marks.clone(),
        Marks::Front(marks) => marks.clone(),
        Marks::Named(marks) => marks.iter().map(|(mark, _)| *mark).collect(),
        _ => Vec::new(),
    });
    marks.map(|mark| mark.mean).collect()
}

/// Reports read only the store: the values of the query are those of the marks. A query may know
/// lines that are not drawn.
fn the_query_gives_the_marks(path: &Path, figure: &Figure) {
    let connection = Connection::open(path).unwrap();
    let mut statement = connection
        .prepare(&figure.sql)
        .unwrap_or_else(|error| panic!("{}: {error}\n{}", figure.name, figure.sql));
    let mut from_sql: Vec<f64> = statement
        .query_map([], |row| row.get::<_, Option<f64>>("mean"))
        .unwrap()
        .filter_map(Result::unwrap)
        .collect();
    let mut drawn = values(figure);
    from_sql.sort_by(f64::total_cmp);
    drawn.sort_by(f64::total_cmp);
    assert_eq!(
        from_sql.len(),
        drawn.len(),
        "{}: {}",
        figure.name,
        figure.sql
    );
    for (left, right) in from_sql.iter().zip(&drawn) {
        close(*left, *right);
    }
}

fn labels(figure: &Figure) -> Vec<&str> {
    let series = figure.series.iter();
    series.map(|series| series.label.as_str()).collect()
}

fn close(left: f64, right: f64) {
    assert!(
        (left - right).abs() < 1e-9 * right.abs().max(1.0),
        "{left} instead of {right}"
    );
}

#[test]
fn means_deviations_and_intervals_are_those_computed_by_hand() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let (record, simulations) = thresholds(3);
    write_run(&path, &record, simulations);
    let (analysis, _, _) = analysed(&path);
    assert_eq!(analysis.combinations.len(), 6);
    let planning = &analysis.combinations[0];
    let gain = planning.estimates[0].unwrap();
    assert_eq!(gain.count, 3);
    close(gain.mean, 110.0);
    close(gain.deviation.unwrap(), 10.0);
    // 4.302652… · 10 / √3
    assert!((gain.half_width().unwrap() - 24.841_377).abs() < 1e-5);
    let overbooking = &analysis.combinations[4];
    // 130, 131, 150: mean 137; the fees are 20 more, the penalties 20, the booked coins 40 more.
    for (name, expected) in [
        ("gain", 137.0),
        ("fees", 157.0),
        ("penalties", 20.0),
        ("booked", 177.0),
        ("accepted", 8.0),
        ("rejection_rate", 2.0 / 10.0),
        ("utilisation", 0.75),
        ("mean_wait", 20.0),
        ("slowdown", 1.5),
    ] {
        let index = METRICS.iter().position(|metric| metric.name == name);
        close(
            overbooking.estimates[index.unwrap()].unwrap().mean,
            expected,
        );
    }
}

#[test]
fn surplus_is_paired_by_replication_and_relative_to_the_mean_of_the_baseline() {
    let folder = folder();
    for baseline_thresholds in [3, 1] {
        let path = folder.path().join(format!("{baseline_thresholds}.db"));
        let (record, simulations) = thresholds(baseline_thresholds);
        write_run(&path, &record, simulations);
        let (analysis, _, _) = analysed(&path);
        let at = |threshold: u32| {
            analysis
                .combinations
                .iter()
                .find(|combination| combination.places == [Some(1), Some(threshold)])
                .unwrap()
                .additional
                .unwrap()
        };
        // 30, 21, 30 more than 100, 110, 120: mean 27, s = √27, half width 4.302652… · √27 / √3 =
        // 12.90796.
        let best = at(1);
        close(best.difference.mean, 27.0);
        close(best.difference.deviation.unwrap(), 27f64.sqrt());
        assert!((best.difference.half_width().unwrap() - 12.907_958).abs() < 1e-5);
        close(best.baseline, 110.0);
        close(best.percent.unwrap(), 100.0 * 27.0 / 110.0);
        close(at(0).difference.mean, (10.0 + 12.0 + 9.0) / 3.0);
        assert!(analysis.combinations[0].additional.is_none());
        let relaxed: &[&str] = if baseline_thresholds == 3 {
            &[]
        } else {
            &["acceptance.pof_max"]
        };
        assert_eq!(analysis.relaxed_axes, relaxed);
    }
}

#[test]
fn the_best_threshold_is_that_of_the_highest_mean_and_not_of_the_highest_run() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let (record, simulations) = thresholds(3);
    write_run(&path, &record, simulations);
    let (_, best, _) = analysed(&path);
    let text: Vec<Vec<String>> = best
        .rows
        .iter()
        .map(|row| {
            row.iter()
                .zip(&best.columns)
                .map(|(cell, column)| cell.text(column.decimals))
                .collect()
        })
        .collect();
    assert_eq!(
        text[0],
        ["heuristic-planning", "110 ± 25", "–", "–", "–", "–", "3"]
    );
    assert_eq!(
        text[1],
        [
            "heuristic-overbooking",
            "137 ± 28",
            "27 ± 13",
            "24.5",
            "110",
            "0.2",
            "3"
        ]
    );
}

/// Strategy, gain, surplus, percent, axes.
type BestRow = (String, f64, Option<f64>, Option<f64>, String);

/// Reports read only the store: every number of a table can be had by the query below it.
#[test]
fn the_queries_below_the_tables_give_the_numbers_in_them() {
    let folder = folder();
    for baseline_thresholds in [3, 1] {
        let path = folder.path().join(format!("{baseline_thresholds}.db"));
        let (record, simulations) = thresholds(baseline_thresholds);
        write_run(&path, &record, simulations);
        let (analysis, best, summary) = analysed(&path);
        let connection = Connection::open(&path).unwrap();
        let mut statement = connection.prepare(&best.sql).unwrap();
        let rows: Vec<BestRow> = statement
            .query_map([], |row| {
                Ok((
                    row.get("strategy")?,
                    row.get("gain")?,
                    row.get("surplus")?,
                    row.get("surplus_percent")?,
                    row.get("axes")?,
                ))
            })
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].0, "heuristic-overbooking");
        close(rows[0].1, 137.0);
        close(rows[0].2.unwrap(), 27.0);
        close(rows[0].3.unwrap(), 100.0 * 27.0 / 110.0);
        assert!(rows[0].4.contains("0.2"));
        close(rows[1].1, 110.0);
        assert_eq!(rows[1].2, None);
        let mut statement = connection.prepare(&summary.sql).unwrap();
        let rows: Vec<(f64, f64, i64)> = statement
            .query_map([], |row| {
                Ok((
                    row.get("gain")?,
                    row.get("gain_variance")?,
                    row.get("replications")?,
                ))
            })
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        let mut from_sql: Vec<(f64, f64)> = rows.iter().map(|row| (row.0, row.1)).collect();
        let mut from_report: Vec<(f64, f64)> = analysis
            .combinations
            .iter()
            .map(|combination| combination.estimates[0].unwrap())
            .map(|gain| (gain.mean, gain.deviation.unwrap().powi(2)))
            .collect();
        from_sql.sort_by(|left, right| left.partial_cmp(right).unwrap());
        from_report.sort_by(|left, right| left.partial_cmp(right).unwrap());
        assert_eq!(from_sql.len(), from_report.len());
        for (left, right) in from_sql.iter().zip(&from_report) {
            close(left.0, right.0);
            close(left.1, right.1);
        }
        assert!(rows.iter().all(|row| row.2 == 3));
    }
}
