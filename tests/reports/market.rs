//! What a report says of the clusters of a market.

use super::{close, folder, labels, the_query_gives_the_marks, viewed};
use crate::support::program::{output, program, text};
use bookahead_report::figure::{Figure, Section};
use bookahead_report::table::{Cell, Table};
use rusqlite::Connection;
use std::path::Path;

/// Three clusters, one of them optimistic, at two thresholds.
const TEXT: &str = r#"
[experiment]
name = "clusters-of-a-market"
seed = 5
replications = 2

[workload]
model = "lublin-feitelson"
jobs = 900
nodes = 32
fresh = true
battery_jobs = 300
load = { value = 12.0 }

[failures]
source = "generated"

[scheduling]
strategy = "market"

[clusters]
count = 3

[market]
optimists = 0.34

[[axis]]
key = "acceptance.pof_max"
values = [0.1, 0.4]
"#;

/// Runs it with the outcomes of jobs, or without.
fn ran(folder: &Path, outcomes: &str) -> Connection {
    std::fs::write(folder.join("market.toml"), TEXT).unwrap();
    let arguments = ["run", "market.toml", "--outcomes", outcomes, "--store"];
    let done = output(program(folder, &[&arguments[..], &["market.db"]].concat()));
    assert!(done.status.success(), "{}", text(&done.stderr));
    Connection::open(folder.join("market.db")).unwrap()
}

fn by_cluster(tables: &[Table]) -> &Table {
    let found = tables
        .iter()
        .find(|table| table.name == "market-by-cluster");
    found.expect("a table of clusters")
}

/// The means of a column, in the order of the rows.
fn means(table: &Table, key: &str) -> Vec<f64> {
    let column = table.columns.iter().position(|column| column.key == key);
    let cells = table.rows.iter().map(|row| &row[column.unwrap()]);
    cells
        .map(|cell| match cell {
            Cell::Estimate(estimate) => estimate.mean,
            other => panic!("{key}: {other:?}"),
        })
        .collect()
}

#[test]
fn each_cluster_of_a_market_has_what_it_earned_paid_overbooked_and_broke() {
    let folder = folder();
    let connection = ran(folder.path(), "all");
    let shown = viewed(&folder.path().join("market.db"));
    let table = by_cluster(&shown.tables);
    assert_eq!(table.rows.len(), 2 * 3);
    // The last cluster says a quarter of its risk.
    let optimism = [1.0, 1.0, 0.25, 1.0, 1.0, 0.25];
    assert_eq!(means(table, "market_cluster_optimism"), optimism);
    // What the store says of every job by itself: penalties are the fee, as ρ is 1.
    let mut statement = connection
        .prepare(
            "SELECT avg(jobs), avg(earned), avg(penalties), avg(broken), avg(overbooked), avg(promised) FROM (
                SELECT p.axes ->> '$.\"acceptance.pof_max\"' AS threshold, c.cluster, p.replication,
                    1.0 * count(d.job) AS jobs,
                    sum(CASE WHEN j.outcome = 'successful' THEN d.price ELSE 0 END) AS earned,
                    sum(CASE WHEN j.outcome = 'failed' THEN d.fee ELSE 0 END) AS penalties,
                    100.0 * sum(j.outcome = 'failed') / count(d.job) AS broken,
                    100.0 * sum(j.overbooked) / count(d.job) AS overbooked, 100.0 * avg(d.pof) AS promised
                FROM v_point p JOIN v_market_cluster c USING (simulation)
                LEFT JOIN v_market_delegation d ON d.simulation = c.simulation AND d.cluster = c.cluster
                LEFT JOIN v_job j ON j.simulation = d.simulation AND j.job = d.job
                GROUP BY threshold, c.cluster, p.replication
             ) GROUP BY threshold, cluster ORDER BY threshold, cluster",
        )
        .unwrap();
    let keys = [
        "market_cluster_jobs",
        "market_cluster_revenue",
        "market_cluster_penalties",
        "market_cluster_broken_percent",
        "market_cluster_overbooked_percent",
        "market_cluster_promised_percent",
    ];
    let rows: Vec<Vec<f64>> = statement
        .query_map([], |row| (0..keys.len()).map(|at| row.get(at)).collect())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for (at, key) in keys.iter().enumerate() {
        let shown = means(table, key);
        assert!(shown.iter().any(|mean| *mean > 0.0), "{key}");
        for (shown, row) in shown.iter().zip(&rows) {
            close(*shown, row[at]);
        }
    }
    let sums = means(table, "market_cluster_revenue");
    let paid = means(table, "market_cluster_penalties");
    for ((gain, sum), paid) in (means(table, "market_cluster_gain").iter())
        .zip(&sums)
        .zip(&paid)
    {
        close(*gain, sum - paid);
    }
}

#[test]
fn the_figures_and_the_table_of_the_clusters_of_a_market_are_what_their_queries_give() {
    let folder = folder();
    let connection = ran(folder.path(), "metrics");
    let path = folder.path().join("market.db");
    let shown = viewed(&path);
    let clusters = |figure: &&Figure| figure.section == Section::Clusters;
    let figures: Vec<&Figure> = shown.figures.iter().filter(clusters).collect();
    assert_eq!(figures.len(), 3);
    for figure in figures {
        assert_eq!(
            labels(figure),
            ["pof_max 0.1", "pof_max 0.4"],
            "{}",
            figure.name
        );
        the_query_gives_the_marks(&path, figure);
    }
    let table = by_cluster(&shown.tables);
    // Whether a job was overbooked is not known without its outcome.
    let has = |key| table.columns.iter().any(|column| column.key == key);
    assert!(has("market_cluster_broken_percent") && !has("market_cluster_overbooked_percent"));
    let mut statement = connection.prepare(&table.sql).unwrap();
    let gains = statement
        .query_map([], |row| {
            Ok((row.get::<_, String>("measure")?, row.get("mean")?))
        })
        .unwrap()
        .map(Result::unwrap);
    let found: Vec<f64> = gains
        .filter(|(measure, _)| measure == "market_cluster_gain")
        .map(|(_, mean)| mean)
        .collect();
    let gains = means(table, "market_cluster_gain");
    assert_eq!(found.len(), gains.len());
    for (found, shown) in found.iter().zip(&gains) {
        close(*found, *shown);
    }
}
