//! Overbooking: the value of promised risks. The gain at the threshold at which a promise just pays
//! is compared with the best one.

use std::collections::BTreeMap;

use bookahead_lab::store::{METRICS, PointColumns, StoreError};
use bookahead_report::PublishedOfRun;
use bookahead_report::analysis::{Analysis, Combination, STRATEGY_AXIS};
use bookahead_report::plots::drawn::drawn;
use bookahead_report::plots::number;
use bookahead_report::plots::paired::Pairs;
use bookahead_report::sql::risk_optimal;
use bookahead_report::statistics::Choice;
use bookahead_report::summary_tables::axis_column;
use bookahead_report::table::short;
use bookahead_report::table::{Cell, Column, Table};
use bookahead_report::views::{Reported, View, ViewContent};

/// The axis of thresholds.
const THRESHOLD_AXIS: &str = "acceptance.pof_max";

/// A threshold that differs from a computed one by less was meant to be it.
const SAME: f64 = 1e-9;

/// Situation, place of the strategy in tables, strategy, bits of the penalty ratio (which order
/// ratios as they are positive).
type Key<'a> = (Vec<Option<u32>>, usize, &'a str, u64);

/// The view of the study.
pub struct Overbooking;

impl View for Overbooking {
    fn show(&self, run: &Reported<'_>, shown: &mut ViewContent) -> Result<(), StoreError> {
        shown.first_tables.extend(risk_optimal_table(run));
        shown.remedies.extend(remedies(run));
        Ok(())
    }
}

/// What makes promised risks truer, and the strategy without which nothing reads it: running jobs
/// are asked how long they have run, nobody is placed in front of overbooked jobs, and promises
/// learn from those before.
const REMEDIES: [(&str, Option<&str>); 3] = [
    (
        "scheduling.condition_on_elapsed",
        Some("comprehensive-overbooking"),
    ),
    (
        "scheduling.hold_for_overbooked",
        Some("comprehensive-overbooking"),
    ),
    ("acceptance.calibration", None),
];

/// Those that a strategy of the run would read and no point of it uses.
fn remedies(run: &Reported<'_>) -> impl Iterator<Item = &'static str> {
    let configuration: toml::Table = toml::from_str(&run.run.configuration).unwrap_or_default();
    let is_used = move |key: &str| {
        let (section, name) = key.split_once('.').unwrap_or_default();
        match configuration.get(section).and_then(|given| given.get(name)) {
            Some(toml::Value::Boolean(is_on)) => *is_on,
            Some(toml::Value::String(method)) => method != "none",
            _ => false,
        }
    };
    let axes: Vec<String> = run
        .analysis
        .axes
        .iter()
        .map(|axis| axis.key.clone())
        .collect();
    let is_simulated = |strategy: &str| {
        let mut combinations = run.analysis.combinations.iter();
        combinations.any(|combination| combination.strategy == strategy)
    };
    REMEDIES
        .into_iter()
        .filter(move |(_, reader)| reader.is_none_or(is_simulated))
        .map(|(key, _)| key)
        .filter(move |key| !is_used(key) && !axes.iter().any(|axis| axis == key))
}

/// For each overbooking strategy and situation the best threshold and the risk-optimal one: a
/// promise with probability of failure p earns its fee with 1 − p and costs ρ fees with p, so it
/// pays when p < 1 ÷ (1 + ρ). `None` without an axis of thresholds.
fn risk_optimal_table(run: &Reported<'_>) -> Option<Table> {
    let (analysis, points) = (run.analysis, run.points);
    let axis = |key: &str| analysis.axes.iter().position(|axis| axis.key == key);
    let threshold = axis(THRESHOLD_AXIS).filter(|axis| analysis.axes[*axis].values.len() > 1)?;
    let given: Vec<usize> = (0..analysis.axes.len())
        .filter(|axis| *axis != threshold && analysis.axes[*axis].key != STRATEGY_AXIS)
        .collect();
    let ratios = penalty_ratios(points);
    let mut curves: BTreeMap<Key<'_>, Vec<(f64, &Combination)>> = BTreeMap::new();
    for combination in &analysis.combinations {
        let strategy = combination.strategy.as_str();
        let overbooks = analysis
            .studies
            .policy(strategy)
            .is_some_and(|known| known.overbooks);
        let at = analysis.value(combination, threshold).and_then(number);
        let ratio = ratios.get(&(combination.places.clone(), strategy));
        if let (true, Some(at), Some(ratio)) = (overbooks, at, ratio) {
            let places = given.iter().map(|axis| combination.places[*axis]).collect();
            let key = (
                places,
                analysis.studies.rank(strategy),
                strategy,
                ratio.to_bits(),
            );
            curves.entry(key).or_default().push((at, combination));
        }
    }
    let published = PublishedOfRun::default();
    let pairs = Pairs::new(points, &published);
    let gain = drawn(analysis, run.hash()).into_iter().next()?;
    let rows: Vec<Vec<Cell>> = curves
        .iter()
        .filter_map(|(key, curve)| {
            let settings: Vec<&Combination> =
                curve.iter().map(|(_, combination)| *combination).collect();
            let gains = pairs.together(&gain, &settings);
            let choice = gains.and_then(|gains| Choice::of(&gains));
            row(analysis, &given, key, curve, choice)
        })
        .collect();
    if rows.is_empty() {
        return None;
    }
    let mut columns: Vec<Column> = given
        .iter()
        .map(|axis| axis_column(analysis, *axis))
        .collect();
    columns.extend([
        Column::plain("strategy", "Strategy"),
        Column::number("penalty_ratio", "ρ", 2),
        Column::number("pays_below", "Pays below", 3),
        Column::number(
            "best_threshold",
            format!("Best {}", short(THRESHOLD_AXIS)),
            3,
        ),
        Column::estimate("best_gain", "Gain there (VC)", 0),
        Column::number("best_on_others", "Chosen on the others (VC)", 0),
        Column::estimate("best_failed", "Failed jobs there", 1),
        Column::number(
            "threshold",
            format!("Risk-optimal {}", short(THRESHOLD_AXIS)),
            3,
        ),
        Column::estimate("gain", "Gain there (VC)", 0),
        Column::estimate("failed", "Failed jobs there", 1),
        Column::number("forgone", "Gain forgone (VC)", 0),
    ]);
    Some(Table {
        name: "risk-optimal".to_owned(),
        title: "What it is worth to take promises at their word".to_owned(),
        columns,
        rows,
        note: "At penalty ratio ρ a promise with probability of failure p earns a fee with 1 − p and costs ρ fees with p: it pays when \
               p < 1 ÷ (1 + ρ). The risk-optimal threshold is the largest of the sweep up to that; were all promised risks true, no \
               other would earn more from the promise at hand (what an accepted job takes from later ones is not in it). The best \
               threshold is the one with the highest mean gain, chosen on the very batteries that judge it, so the gain forgone is 0 or \
               more by construction; chosen on the others: each battery judges the threshold with the highest mean gain on the \
               others. Means over replications, gains ± the half width of the 95 % interval (Student's t)."
            .to_owned(),
        sql: risk_optimal(run.hash()),
    })
}

/// The penalty ratio of every combination: all of its points have the same.
fn penalty_ratios(points: &PointColumns) -> BTreeMap<(Vec<Option<u32>>, &str), f64> {
    (0..points.len())
        .map(|point| {
            let places = points
                .axes
                .iter()
                .map(|column| column.positions[point])
                .collect();
            (
                (places, points.strategy[point].as_str()),
                points.penalty_ratio[point],
            )
        })
        .collect()
}

fn row(
    analysis: &Analysis,
    given: &[usize],
    (_, _, strategy, ratio): &Key<'_>,
    curve: &[(f64, &Combination)],
    choice: Option<Choice>,
) -> Option<Vec<Cell>> {
    let ratio = f64::from_bits(*ratio);
    let pays_below = 1.0 / (1.0 + ratio);
    // At equal gains the first of the sweep, as in the table of the best.
    let best = curve
        .iter()
        .fold(None::<&(f64, &Combination)>, |best, entry| match best {
            Some(best) if analysis.mean_earned(best.1) >= analysis.mean_earned(entry.1) => {
                Some(best)
            }
            _ => Some(entry),
        })?;
    let optimal = curve
        .iter()
        .filter(|(at, _)| *at <= pays_below + SAME)
        .max_by(|one, other| one.0.total_cmp(&other.0));
    let failed = METRICS.iter().position(|metric| metric.name == "failed");
    let failed_of = |combination: &Combination| {
        Cell::from(failed.and_then(|failed| combination.estimates[failed]))
    };
    let mut row: Vec<Cell> = given
        .iter()
        .map(|axis| analysis.value(best.1, *axis).into())
        .collect();
    row.extend([
        Cell::Text((*strategy).to_owned()),
        Cell::Number(ratio),
        Cell::Number(pays_below),
        Cell::Number(best.0),
        best.1.estimates[0].into(),
        choice.map_or(Cell::Missing, |choice| Cell::Number(choice.others)),
        failed_of(best.1),
    ]);
    match optimal {
        Some((at, combination)) => row.extend([
            Cell::Number(*at),
            combination.estimates[0].into(),
            failed_of(combination),
            Cell::Number(analysis.mean_earned(best.1) - analysis.mean_earned(combination)),
        ]),
        None => row.extend([Cell::Missing, Cell::Missing, Cell::Missing, Cell::Missing]),
    }
    Some(row)
}
