//! The queries that give the numbers of a comparison, as text. Those of runs in one store give
//! differences; of runs in several stores each store is asked for its part.

use std::fmt::Write as _;

use super::{ComparedRun, Comparison, Method, Pairing, Quantity};
use crate::plots::condition;

/// Where a quantity stands, one row a point: `run`, `axes`, `replication`, `identity`, and the
/// quantity by its name.
fn from(quantity: &Quantity) -> String {
    if quantity.is_metric() {
        return "(SELECT * FROM v_point WHERE state = 'done')".to_owned();
    }
    format!(
        "(SELECT d.run, d.axes, d.strategy, d.replication, p.identity, p.simulation, p.jobs_hash, p.failures_hash, d.value AS {0}
      FROM v_measure d JOIN v_point p ON p.run = d.run AND p.place = d.place WHERE d.measure = '{0}')",
        quantity.name
    )
}

/// A query for each store, which names its runs.
fn by_store(comparison: &Comparison<'_>, query: impl Fn(&str) -> String) -> String {
    let number = |run: &ComparedRun| run.run.id.0.to_string();
    if comparison.is_one_store() {
        let runs: Vec<String> = comparison.runs.iter().map(number).collect();
        return query(&runs.join(", "));
    }
    let each = comparison.runs.iter().map(|run| {
        let store = run
            .store
            .display()
            .to_string()
            .replace(['\n', '\r', '`'], " ");
        format!("-- in {store}\n{}", query(&number(run)))
    });
    each.collect::<Vec<_>>().join("\n\n")
}

/// Means at every place of an axis.
pub(super) fn curves(
    comparison: &Comparison<'_>,
    quantity: &Quantity,
    axis: Option<&str>,
    given: &[(String, String)],
) -> String {
    let value = axis.map_or("''".to_owned(), |axis| format!("axes ->> '$.\"{axis}\"'"));
    by_store(comparison, |runs| {
        format!(
            "SELECT run, {value} AS value, count({0}) AS n, avg({0}) AS mean\nFROM {1}\nWHERE run IN ({runs}){2}\n\
             GROUP BY run, 2 ORDER BY run, 2;",
            quantity.name,
            from(quantity),
            condition(given)
        )
    })
}

/// What two points have in common that are partners.
fn partners(comparison: &Comparison<'_>) -> String {
    let pairings = &comparison.pairings;
    let mut seen = "b.jobs_hash = a.jobs_hash".to_owned();
    if pairings.iter().all(Pairing::has_same_failures) {
        seen.push_str(" AND b.failures_hash = a.failures_hash");
    }
    let mut by = format!("(b.simulation = a.simulation OR ({seen}))");
    // Replications of one workload are distinguished by their numbers.
    if pairings.iter().all(Pairing::pairs_by_number) {
        by.push_str(" AND b.replication = a.replication");
    }
    by
}

/// A condition that leaves out strategies in which nothing changed.
fn of_changed_strategies(comparison: &Comparison<'_>, quantity: &Quantity) -> String {
    let mut conditions = String::new();
    for (at, run) in comparison.others().iter().enumerate() {
        let overall = comparison.overall(at, quantity);
        let unchanged = overall.iter().flat_map(|row| &row.difference.unchanged);
        let names: Vec<String> = unchanged
            .map(|name| format!("'{}'", name.replace('\'', "''")))
            .collect();
        if !names.is_empty() {
            let _ = write!(
                conditions,
                "\n        AND NOT (b.run = {} AND a.strategy IN ({}))",
                run.run.id.0,
                names.join(", ")
            );
        }
    }
    conditions
}

/// The paired differences of a quantity over all points, with their variance: the interval is t ·
/// √(variance ÷ n).
pub(super) fn differences(
    comparison: &Comparison<'_>,
    quantity: &Quantity,
    by_axes: bool,
) -> String {
    let same_axes = comparison
        .runs
        .iter()
        .all(|run| run.points().axes() == comparison.reference().points().axes());
    let (name, from) = (quantity.name, from(quantity));
    let are_paired = (comparison.pairings.iter()).all(|pairing| pairing.method == Method::Paired);
    if !same_axes || !comparison.is_one_store() || !are_paired {
        return by_store(comparison, |runs| {
            format!(
                "SELECT run, axes, replication, {name}\nFROM {from}\nWHERE run IN ({runs}) ORDER BY run, axes, replication;"
            )
        });
    }
    let others: Vec<String> = comparison
        .others()
        .iter()
        .map(|run| run.run.id.0.to_string())
        .collect();
    let by = partners(comparison);
    let changed = match by_axes {
        true => String::new(),
        false => of_changed_strategies(comparison, quantity),
    };
    let (column, comma) = if by_axes { ("axes", ", ") } else { ("", "") };
    format!(
        "WITH result AS (
    SELECT DISTINCT b.run{comma}{}, a.replication, a.identity, b.identity, a.{name} AS first, b.{name} AS second
    FROM {from} a
    JOIN {from} b ON b.axes = a.axes AND {by}
    WHERE a.run = {} AND b.run IN ({}) AND a.{name} IS NOT NULL AND b.{name} IS NOT NULL{changed}
),
unit AS (
    SELECT run{comma}{column}, replication, avg(first) AS first, avg(second) AS second, avg(second) - avg(first) AS difference
    FROM result GROUP BY run{comma}{column}, replication
)
SELECT run{comma}{column}, count(*) AS n, avg(first) AS first, avg(second) AS second, avg(difference) AS difference,
    (sum(difference * difference) - count(*) * avg(difference) * avg(difference)) / (count(*) - 1) AS variance
FROM unit GROUP BY run{comma}{column} ORDER BY run{comma}{column};",
        if by_axes { "a.axes" } else { "" },
        comparison.reference().run.id.0,
        others.join(", "),
    )
}
