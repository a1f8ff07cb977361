//! What a report says of a study in which policies compete for what is earned.

use super::*;
use bookahead_studies::STUDIES;
use bookahead_testutils::runs::result;

const POLICY: &str = "clusters.policy";
const THRESHOLD: &str = "acceptance.pof_max";
const RATIO: &str = "acceptance.penalty_ratio";

/// What clusters earned with a policy, a threshold and a penalty ratio in one of three replications:
/// overbooking best at 0.1 where broken promises cost much, and at 0.3 where they cost little.
fn earned(policy: &str, threshold: f64, ratio: f64, replication: u32) -> f64 {
    let base = 1_000.0 + 10.0 * f64::from(replication);
    match policy {
        "heuristic-overbooking" if ratio < 1.0 => base + 1_000.0 * threshold,
        "heuristic-overbooking" => base + 400.0 - 1_000.0 * threshold + f64::from(replication),
        _ => base,
    }
}

/// A run over these policies, two thresholds and two ratios, and its report's page.
fn written(path: &Path, policies: &[&str]) -> String {
    let (thresholds, ratios) = ([0.1, 0.3], [0.5, 8.0]);
    let mut simulations = Vec::new();
    for ratio in ratios {
        for policy in policies {
            for threshold in thresholds {
                for replication in 0..3 {
                    let mut own = result(2);
                    own.measured
                        .add("grid_gain", earned(policy, threshold, ratio, replication));
                    let id = format!("{policy} {threshold} {ratio} {replication}");
                    let axes = [
                        (POLICY, text(policy)),
                        (THRESHOLD, AxisValue::Real(threshold)),
                        (RATIO, AxisValue::Real(ratio)),
                    ];
                    let points = vec![point(&id, &axes, replication, 1.0)];
                    simulations.push(finished(&id, "co-reservation", replication, own, points));
                }
            }
        }
    }
    let policies: Vec<AxisValue> = policies.iter().map(|policy| text(policy)).collect();
    let axes = vec![
        axis(POLICY, &policies),
        axis(THRESHOLD, &thresholds.map(AxisValue::Real)),
        axis(RATIO, &ratios.map(AxisValue::Real)),
    ];
    let count = simulations.len() as u64;
    write_run(path, &record("grid", axes, count), simulations);
    let out = path.with_extension("report");
    let summary = write(STUDIES, path, &RunSelector::Latest, &out).unwrap();
    std::fs::read_to_string(summary.report).unwrap()
}

fn number(cell: &Cell) -> f64 {
    match cell {
        Cell::Number(value) => *value,
        Cell::Integer(value) => *value as f64,
        Cell::Estimate(estimate) => estimate.mean,
        // The value of an axis.
        Cell::Text(value) => value.parse().unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_answer_says_which_policy_earns_most_and_which_axis_moves_its_threshold() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let page = written(&path, &["heuristic-planning", "heuristic-overbooking"]);
    for said in [
        "heuristic-overbooking earns most in 2 of 2 situations, significantly more than the next in",
        "From 0.1 to 0.3, by situation: 0.3 at penalty_ratio 0.5; 0.1 at penalty_ratio 8.",
        "chosen and judged on the same replications",
    ] {
        assert!(page.contains(said), "{said}");
    }
}

#[test]
fn nothing_is_said_to_earn_most_where_no_policies_compete() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let page = written(&path, &["heuristic-overbooking"]);
    assert!(!page.contains("earns most"));
    // What is earned is still what the page begins with.
    assert!(page.contains("Earned by clusters (VC) by pof_max"));
}

#[test]
fn the_tables_of_what_is_earned_are_what_their_queries_give() {
    let folder = folder();
    let path = folder.path().join("store.db");
    written(&path, &["heuristic-planning", "heuristic-overbooking"]);
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    let run = store.run(&RunSelector::Latest).unwrap();
    let points = store.points(run.id).unwrap();
    let analysis = Analysis::new(&points).unwrap();
    let published = PublishedOfRun::default();
    let pairs = Pairs::new(&points, &published);
    let best = best_table(&analysis, &pairs, &run);
    let at = |table: &Table, row: &[Cell], key: &str| {
        let column = table.columns.iter().position(|column| column.key == key);
        row[column.unwrap()].clone()
    };
    let of = |ratio: f64, policy: &str| {
        let mut rows = best.rows.iter();
        let row = rows.find(|row| {
            number(&row[0]) == ratio && at(&best, row, "policy") == Cell::Text(policy.to_owned())
        });
        row.unwrap()
    };
    let connection = Connection::open(&path).unwrap();
    let query = best.sql.trim_end_matches(';');
    for (ratio, threshold, mean, surplus) in
        [(0.5, 0.3, 1_310.0, 300.0), (8.0, 0.1, 1_311.0, 301.0)]
    {
        let row = of(ratio, "heuristic-overbooking");
        close(number(&at(&best, row, "at_acceptance.pof_max")), threshold);
        close(number(&at(&best, row, "earned")), mean);
        close(number(&at(&best, row, "surplus")), surplus);
        let found: f64 = connection
            .query_row(
                &format!(
                    "SELECT earned FROM ({query}) WHERE axes ->> '$.\"{RATIO}\"' = {ratio}
                     AND axes ->> '$.\"{POLICY}\"' = 'heuristic-overbooking'"
                ),
                [],
                |row| row.get(0),
            )
            .unwrap();
        close(found, mean);
        // A threshold says nothing about a policy that does not look at it.
        let row = of(ratio, "heuristic-planning");
        assert_eq!(at(&best, row, "at_acceptance.pof_max"), Cell::Missing);
    }
    let count = format!("SELECT count(*) FROM ({query})");
    let rows: i64 = connection.query_row(&count, [], |row| row.get(0)).unwrap();
    assert_eq!(rows as usize, best.rows.len());

    let optimism = Optimism::new(&analysis, &pairs, &run.configuration_hash).unwrap();
    let table = optimism.table(&run.configuration_hash);
    for (query, policy) in table
        .sql
        .split("\n\n")
        .zip(["any", "heuristic-overbooking"])
    {
        let query = query.trim_end_matches(';');
        let condition = match policy {
            "any" => "true".to_owned(),
            policy => format!("strategy = '{policy}'"),
        };
        let mut rows = table
            .rows
            .iter()
            .filter(|row| at(&table, row, "strategy") == Cell::Text(policy.to_owned()));
        for ratio in [0.5, 8.0] {
            let row = rows.next().unwrap();
            for key in ["same", "others", "optimism"] {
                let found: f64 = connection
                    .query_row(
                        &format!(
                            "SELECT 1.0 * {key} FROM ({query}) WHERE {condition}
                             AND given ->> '$.\"{RATIO}\"' = {ratio}"
                        ),
                        [],
                        |row| row.get(0),
                    )
                    .unwrap();
                close(found, number(&at(&table, row, key)));
            }
        }
    }
}
