//! The page of the flagship: its table is made from what a query found, and its sentences say what
//! that is. `BOOKAHEAD_PAGES=write cargo test --release four_axes` writes the table again.

use std::collections::BTreeMap;
use std::fs;

use crate::support::pages::{assert_current, project};

const PAGE: &str = "docs/four-axes.md";

/// A policy at its best threshold in one situation.
struct Row {
    penalty_ratio: f64,
    alpha: f64,
    clusters: u32,
    policy: String,
    numbers: BTreeMap<String, f64>,
}

fn rows() -> Vec<Row> {
    let text = fs::read_to_string(project().join("docs/examples/four-axes.csv")).expect("a file");
    let mut lines = text.lines();
    let heads: Vec<&str> = lines.next().expect("a head").split(',').collect();
    let row = |line: &str| {
        let cells: BTreeMap<String, String> = (heads.iter().map(ToString::to_string))
            .zip(line.split(',').map(ToOwned::to_owned))
            .collect();
        let number = |name: &str| cells[name].parse::<f64>().expect("a number");
        Row {
            penalty_ratio: number("penalty_ratio"),
            alpha: number("alpha"),
            clusters: number("clusters") as u32,
            policy: cells["policy"].clone(),
            numbers: (heads.iter().filter(|name| **name != "policy"))
                .map(|name| ((*name).to_owned(), number(name)))
                .collect(),
        }
    };
    lines.map(row).collect()
}

fn mean<'r>(rows: impl Iterator<Item = &'r Row>, name: &str) -> f64 {
    let values: Vec<f64> = rows.map(|row| row.numbers[name]).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

const POLICIES: [&str; 4] = [
    "conservative-backfilling",
    "heuristic-planning",
    "comprehensive-overbooking",
    "heuristic-overbooking",
];

fn table(rows: &[Row]) -> String {
    let mut table = "| ρ | Policy | Best threshold | Earned (VC) | Overbooked (%) | Broken (%) | Refused (%) | Promised (%) | Lost (%) | Paid | Lead (h) |\n\
                     |---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for ratio in [0.5, 2.0, 8.0] {
        for policy in POLICIES {
            let own = || {
                (rows.iter()).filter(move |row| row.penalty_ratio == ratio && row.policy == policy)
            };
            let thresholds = || own().map(|row| row.numbers["pof_max"]);
            let (low, high) = (
                thresholds().fold(f64::INFINITY, f64::min),
                thresholds().fold(0.0, f64::max),
            );
            let threshold = match policy.ends_with("-overbooking") {
                false => "–".to_owned(),
                true => format!("{low} to {high}"),
            };
            let percent = |name: &str| format!("{:.1}", 100.0 * mean(own(), name));
            table.push_str(&format!(
                "| {ratio} | {policy} | {threshold} | {:.0} | {} | {} | {} | {} | {} | {:.0} | {:.1} |\n",
                mean(own(), "earned"),
                percent("overbooked"),
                percent("broken"),
                percent("refused"),
                percent("promised"),
                percent("lost"),
                mean(own(), "paid"),
                mean(own(), "lead")
            ));
        }
    }
    table
}

#[test]
fn the_page_of_the_four_axes_shows_what_the_query_found() {
    let rows = rows();
    let page = fs::read_to_string(project().join(PAGE)).expect("a page");
    let (head, rest) = page.split_once("<!-- four axes -->\n").expect("a mark");
    let (_, tail) = rest.split_once("<!-- end -->").expect("an end");
    let now = format!(
        "{head}<!-- four axes -->\n{}<!-- end -->{tail}",
        table(&rows)
    );
    assert_current(PAGE, &now, "four_axes");
}

#[test]
fn its_sentences_are_so_in_the_situations_that_they_speak_of() {
    let rows = rows();
    let of = |ratio: f64, alpha: f64, clusters: u32, policy: &str| {
        (rows.iter())
            .find(|row| {
                (row.penalty_ratio, row.alpha, row.clusters) == (ratio, alpha, clusters)
                    && row.policy == policy
            })
            .map(|row| row.numbers["earned"])
            .expect("a situation")
    };
    let mut wins: BTreeMap<&str, usize> = BTreeMap::new();
    for ratio in [0.5, 2.0, 8.0] {
        for alpha in [0.0, 0.5, 1.0] {
            for clusters in [3, 4, 6] {
                let earned = |policy: &&str| of(ratio, alpha, clusters, policy);
                let best = POLICIES
                    .iter()
                    .max_by(|one, other| earned(one).total_cmp(&earned(other)));
                *wins.entry(best.expect("policies")).or_default() += 1;
            }
        }
    }
    let wins: Vec<(&str, usize)> = wins.into_iter().collect();
    assert_eq!(
        wins,
        [
            ("comprehensive-overbooking", 3),
            ("heuristic-overbooking", 24)
        ]
    );
    let overbooking = |ratio: f64| {
        let own = rows
            .iter()
            .filter(move |row| row.penalty_ratio == ratio && row.policy == "heuristic-overbooking");
        own.map(|row| row.numbers["pof_max"])
            .fold((f64::INFINITY, 0.0), |(low, high), value| {
                (f64::min(low, value), f64::max(high, value))
            })
    };
    assert_eq!(overbooking(0.5), (0.45, 0.6));
    assert_eq!(overbooking(2.0), (0.2, 0.45));
    assert_eq!(overbooking(8.0), (0.1, 0.3));
    let heuristic = |wish: &dyn Fn(&&Row) -> bool, name: &str| {
        let own = (rows.iter())
            .filter(|row| row.policy == "heuristic-overbooking" && row.penalty_ratio == 2.0);
        mean(own.filter(wish), name)
    };
    let rounded = |value: f64| value.round() as i64;
    assert_eq!(rounded(heuristic(&|row| row.alpha == 1.0, "paid")), 208);
    assert_eq!(rounded(heuristic(&|row| row.alpha == 0.0, "paid")), 230);
    let tenths = |value: f64| (value * 10.0).round() as i64;
    assert_eq!(tenths(heuristic(&|row| row.alpha == 1.0, "lead")), 108);
    assert_eq!(tenths(heuristic(&|row| row.alpha == 0.0, "lead")), 65);
    let refused = |clusters| 100.0 * heuristic(&|row| row.clusters == clusters, "refused");
    assert_eq!((tenths(refused(6)), tenths(refused(3))), (30, 251));
}
