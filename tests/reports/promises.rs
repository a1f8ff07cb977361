//! What a report says of the promises of clusters: to jobs of their own and to co-reservations.

use super::{close, folder};
use crate::support::program::{output, program, text};
use bookahead_report::figure::Marks;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::Path;

/// Two clusters of 64 nodes that fail, with jobs that save their work and owe by their lateness.
const TEXT: &str = r#"
[experiment]
name = "promises"
seed = 21
replications = 3

[workload]
model = "lublin-feitelson"
jobs = 3000
nodes = 64
whole_trace = true
fresh = true
load = { value = 1.5 }

[failures]
source = "generated"

[scheduling]
strategy = "co-reservation"
condition_on_elapsed = true
hold_for_overbooked = true

[clusters]
days = 3
deadlines = true
count = 2

[requests]
workload = "rw3"
count = 40

[broker]
algorithm = "a5"

[acceptance]
pof_max = 0.45

[risk]
choice = "expected-cost"

[checkpoint]
interval = "fixed"
cost_seconds = 60
restart_seconds = 60

[penalty]
function = "linear"
full_after_hours = 6.0

[[axis]]
key = "clusters.policy"
values = ["heuristic-planning", "comprehensive-overbooking", "heuristic-overbooking"]

[[axis]]
key = "requests.alpha"
values = [0.2, 0.8]
"#;

const OVERBOOKING: [&str; 2] = ["comprehensive-overbooking", "heuristic-overbooking"];

/// Runs the experiment without the outcomes of jobs, with its report beside its store.
fn ran(folder: &Path) -> Connection {
    std::fs::write(folder.join("promises.toml"), TEXT).unwrap();
    let arguments = "run promises.toml --outcomes metrics --store promises.db --report report";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let done = output(program(folder, &arguments));
    assert!(done.status.success(), "{}", text(&done.stderr));
    Connection::open(folder.join("promises.db")).unwrap()
}

/// The rows of a table of the report by the headings of its file.
fn rows(folder: &Path, table: &str) -> Vec<BTreeMap<String, String>> {
    let file = folder.join(format!("report/tables/{table}.csv"));
    let mut reader = csv::Reader::from_path(file).unwrap();
    let names = reader.headers().unwrap().clone();
    let records = reader.records().map(Result::unwrap);
    records
        .map(|record| {
            let cells = names.iter().zip(record.iter());
            cells
                .map(|(name, cell)| (name.to_owned(), cell.to_owned()))
                .collect()
        })
        .collect()
}

/// Compares a table's rows with what a query finds by policy and α: how many were promised
/// something, the mean of the promises, the share that failed and the Brier score.
fn compare(folder: &Path, connection: &Connection, table: &str, promises: &str) {
    let query = format!(
        "WITH point AS (
            SELECT DISTINCT simulation, axes ->> '$.\"clusters.policy\"' AS policy,
                axes ->> '$.\"requests.alpha\"' AS alpha FROM v_point
         ), promise AS ({promises})
         SELECT sum(jobs), 1.0 * sum(pof) / sum(jobs), 1.0 * sum(failed) / sum(jobs), sum(brier) / sum(jobs)
         FROM promise JOIN point USING (simulation) WHERE policy = ?1 AND ?2 IN (alpha, 'all')"
    );
    let rows = rows(folder, table);
    // Everything together and each α, of the two policies that promise a probability.
    assert_eq!(rows.len(), 3 * 2, "{rows:?}");
    for row in &rows {
        let (policy, alpha) = (&row["clusters.policy"], &row["requests.alpha"]);
        assert!(OVERBOOKING.contains(&policy.as_str()), "{policy}");
        assert!(["all", "0.2", "0.8"].contains(&alpha.as_str()), "{alpha}");
        let alpha_value = alpha.parse::<f64>();
        let mut statement = connection.prepare(&query).unwrap();
        let read = |found: &rusqlite::Row<'_>| {
            (0..4)
                .map(|column| found.get::<_, f64>(column))
                .collect::<Result<Vec<f64>, _>>()
        };
        let found = match alpha_value {
            Ok(value) => statement.query_row(rusqlite::params![policy, value], read),
            Err(_) => statement.query_row(rusqlite::params![policy, alpha], read),
        };
        let shown = ["jobs", "predicted", "failed", "brier"];
        for (name, found) in shown.iter().zip(found.unwrap()) {
            close(row[*name].parse().unwrap(), found);
        }
    }
}

#[test]
fn promises_of_clusters_are_scored_by_policy_and_the_store_says_the_same() {
    let folder = folder();
    let connection = ran(folder.path());
    compare(
        folder.path(),
        &connection,
        "calibration",
        "SELECT simulation, jobs, failed, pof_sum AS pof, brier_sum AS brier FROM v_calibration",
    );
    compare(
        folder.path(),
        &connection,
        "co-calibration",
        "SELECT simulation, 1 AS jobs, lost_parts > 0 AS failed, pof,
            (pof - (lost_parts > 0)) * (pof - (lost_parts > 0)) AS brier
         FROM v_co_request WHERE granted AND pof > 0",
    );
    let page = std::fs::read_to_string(folder.path().join("report/report.md")).unwrap();
    for title in [
        "## Do promised risks come true?\n",
        "## Do promised risks of co-reservations come true?\n",
        "## Promised and realised risk of co-reservations by bin\n",
    ] {
        assert!(page.contains(title), "{title}");
    }
}

#[test]
fn the_queries_below_the_scores_of_co_reservations_give_the_numbers_in_them() {
    let folder = folder();
    let path = folder.path().join("promises.db");
    let connection = ran(folder.path());
    let shown = super::viewed(&path);
    for (name, columns) in [
        ("co-calibration", ["jobs", "predicted", "failed", "brier"]),
        (
            "co-calibration-bins",
            ["jobs", "pof_from", "predicted", "realised"],
        ),
    ] {
        let table = shown.tables.iter().find(|table| table.name == name);
        let mut found: Vec<Vec<f64>> = Vec::new();
        for query in table.unwrap().sql.split("\n\n") {
            let mut statement = connection.prepare(query).unwrap();
            let values = statement.query_map([], |row| {
                columns.iter().map(|column| row.get(*column)).collect()
            });
            found.extend(values.unwrap().map(Result::unwrap));
        }
        let mut drawn: Vec<Vec<f64>> = (rows(folder.path(), name).iter())
            .map(|row| columns.map(|column| row[column].parse().unwrap()).to_vec())
            .collect();
        let order = |one: &Vec<f64>, other: &Vec<f64>| {
            let places = one.iter().zip(other).map(|(one, other)| {
                // Digits that a file leaves out decide no order.
                (one * 1e6).round().total_cmp(&(other * 1e6).round())
            });
            places.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
        };
        found.sort_by(order);
        drawn.sort_by(order);
        assert_eq!(found.len(), drawn.len(), "{name}");
        for (found, drawn) in found.iter().flatten().zip(drawn.iter().flatten()) {
            close(*found, *drawn);
        }
    }
}

#[test]
fn what_is_measured_at_each_cluster_adds_up_to_what_is_measured_of_all() {
    let folder = folder();
    let connection = ran(folder.path());
    let number = |query: &str| -> f64 {
        let found = connection.query_row(query, [], |row| row.get(0));
        found.unwrap_or_else(|error| panic!("{query}: {error}"))
    };
    let of_clusters = |value: &str| {
        number(&format!(
            "WITH value AS (
                SELECT d.simulation, d.cluster,
                    max(d.value) FILTER (WHERE q.name = 'cluster_overbooked_jobs') AS jobs,
                    max(d.value) FILTER (WHERE q.name = 'cluster_overbooked_promised') AS promised,
                    max(d.value) FILTER (WHERE q.name = 'cluster_overbooked_failed') AS failed,
                    max(d.value) FILTER (WHERE q.name = 'cluster_late_jobs') AS late,
                    max(d.value) FILTER (WHERE q.name = 'cluster_restarts') AS restarts
                FROM cluster_measure d JOIN measure q ON q.code = d.measure WHERE d.class = ''
                GROUP BY d.simulation, d.cluster
             ) SELECT sum({value}) FROM value"
        ))
    };
    let counted = |column: &str| number(&format!("SELECT sum({column}) FROM v_calibration"));
    assert!(of_clusters("jobs") > 0.0);
    close(of_clusters("jobs"), counted("jobs"));
    close(of_clusters("jobs * promised"), counted("pof_sum"));
    close(of_clusters("jobs * failed"), counted("failed"));
    let measured = |name: &str| {
        number(&format!(
            "SELECT total(d.value) FROM simulation_measure d JOIN measure q ON q.code = d.measure WHERE q.name = '{name}'"
        ))
    };
    assert!(measured("late_jobs") > 0.0 && measured("checkpoint_node_hours") > 0.0);
    close(of_clusters("late"), measured("late_jobs"));
    close(
        of_clusters("restarts"),
        number("SELECT sum(restarts) FROM simulation_metrics"),
    );
}

#[test]
fn promises_of_co_reservations_are_drawn_against_what_became_of_them() {
    let folder = folder();
    let connection = ran(folder.path());
    let shown = super::viewed(&folder.path().join("promises.db"));
    let drawn = |name: &str| {
        let figure = shown.figures.iter().find(|figure| figure.name == name);
        figure.unwrap_or_else(|| panic!("no {name}"))
    };
    // As a whole, at each α, and how many there are.
    for name in ["co-calibration", "co-calibration-1", "co-calibration-2"] {
        let figure = drawn(name);
        let lines = [&OVERBOOKING[..], &["as promised"]].concat();
        assert_eq!(super::labels(figure), lines, "{name}");
        assert_eq!(figure.y.title, "share of co-reservations that failed");
        let mut statement = connection.prepare(&figure.sql).unwrap();
        let found = statement.query_map([], |row| {
            Ok((row.get::<_, f64>("predicted")?, row.get("realised")?))
        });
        let mut found: Vec<(f64, f64)> = found.unwrap().map(Result::unwrap).collect();
        let mut marks: Vec<(f64, f64)> = Vec::new();
        for series in &figure.series {
            if let Marks::Points(points) = &series.marks {
                marks.extend(points.iter().map(|mark| (mark.x, mark.mean)));
            }
        }
        assert!(!marks.is_empty(), "{name}");
        for points in [&mut found, &mut marks] {
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
        }
        assert_eq!(found.len(), marks.len(), "{name}");
        for (found, drawn) in found.iter().zip(&marks) {
            close(found.0, drawn.0);
            close(found.1, drawn.1);
        }
    }
    assert_eq!(drawn("co-calibration-jobs").y.title, "co-reservations");
}
