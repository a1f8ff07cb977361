//! What was measured of all strategies, in the form of the paper's tables.

use crate::report::claims::{Experiment, Found, Measured, Published, Quantity, compact, measure};

/// A table of measured values alone.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredTable {
    /// What it shows.
    pub title: String,
    /// Column heads.
    pub header: Vec<String>,
    /// Cells, as shown.
    pub rows: Vec<Vec<String>>,
}

/// The strategies that the paper compares, in the order of its tables.
const STRATEGIES: [&str; 4] = [
    "conservative-backfilling",
    "heuristic-planning",
    "comprehensive-overbooking",
    "heuristic-overbooking",
];

/// All strategies of a trace as measured, in the form of the paper's tables: best thresholds, and gains by ratio.
#[must_use]
pub fn measured_tables(published: &Published, measured: &dyn Measured) -> Vec<MeasuredTable> {
    let mut tables = Vec::new();
    for family in measured.families() {
        let cell = |experiment, strategy: &str, quantity, at| match measure(
            published,
            measured,
            (experiment, family, strategy),
            quantity,
            at,
        ) {
            Ok(Found::Value { value, .. }) => compact(value),
            _ => "–".to_owned(),
        };
        let names = |heads: &[&str]| heads.iter().map(|head| (*head).to_owned()).collect();
        tables.push(MeasuredTable {
            title: format!("Measured: PoF test, {family} classes"),
            header: names(&["strategy", "max gain", "surplus %", "at PoF_max"]),
            rows: STRATEGIES
                .iter()
                .map(|strategy| {
                    let overbooks = strategy.ends_with("overbooking");
                    let only = |quantity| {
                        if overbooks {
                            cell(Experiment::Pof, strategy, quantity, None)
                        } else {
                            "–".to_owned()
                        }
                    };
                    vec![
                        (*strategy).to_owned(),
                        cell(Experiment::Pof, strategy, Quantity::MaxGain, None),
                        only(Quantity::Surplus),
                        only(Quantity::BestThreshold),
                    ]
                })
                .collect(),
        });
        let mut header: Vec<String> = vec!["strategy".to_owned()];
        for ratio in &published.ratios {
            header.push(format!("gain at ratio {ratio}"));
            header.push("surplus %".to_owned());
        }
        tables.push(MeasuredTable {
            title: format!("Measured: risk test, {family} classes"),
            header,
            rows: STRATEGIES
                .iter()
                .map(|strategy| {
                    let mut row = vec![(*strategy).to_owned()];
                    for ratio in &published.ratios {
                        let at = Some(*ratio);
                        row.push(cell(Experiment::Risk, strategy, Quantity::Gain, at));
                        row.push(cell(Experiment::Risk, strategy, Quantity::Surplus, at));
                    }
                    row
                })
                .collect(),
        });
    }
    tables
}
