//! The measured values of all strategies, in the form of a paper's tables.

use super::evaluate::{Reader, Subject};
use super::measured::Samples;
use super::{Experiment, Layout, Quantity, Shown, run};
use crate::findings::MeasuredCurves;
use bookahead_report::table::value_text;

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

/// All strategies of a trace as measured, in the form of the paper's tables: for each family and
/// experiment the best settings, or gains by setting.
#[must_use]
pub fn measured_tables(
    layout: &Layout,
    curves: &dyn MeasuredCurves,
    trace: &str,
) -> Vec<MeasuredTable> {
    let names = |key: &str| {
        let axes = layout
            .experiments
            .iter()
            .filter_map(|own| curves.axes(&run(trace, &own.name)));
        let axis = axes.flatten().find(|axis| axis.key == key);
        let values = axis.map_or(&[][..], |axis| &axis.values);
        values.iter().map(value_text).collect::<Vec<_>>()
    };
    let (families, strategies) = (names(&layout.family), names(&layout.strategy));
    let cells = &Samples::read(layout, curves, trace);
    let reader = Reader { layout, cells };
    families
        .iter()
        .flat_map(|family| layout.experiments.iter().map(move |own| (family, own)))
        .map(|(family, experiment)| table(&reader, experiment, family, &strategies))
        .collect()
}

fn table(
    reader: &Reader<'_>,
    experiment: &Experiment,
    family: &str,
    strategies: &[String],
) -> MeasuredTable {
    let columns: Vec<(String, Quantity, Option<f64>)> = match experiment.shown {
        Shown::Best => vec![
            ("max gain".to_owned(), Quantity::MaxGain, None),
            ("surplus %".to_owned(), Quantity::Surplus, None),
            (
                format!("at {}", experiment.called),
                Quantity::BestThreshold,
                None,
            ),
        ],
        Shown::Each => {
            let short = experiment.short.as_ref().unwrap_or(&experiment.called);
            let pair = |at: &f64| {
                [
                    (format!("gain at {short} {at}"), Quantity::Gain, Some(*at)),
                    ("surplus %".to_owned(), Quantity::Surplus, Some(*at)),
                ]
            };
            experiment.values.iter().flat_map(pair).collect()
        }
    };
    let row = |strategy: &String| {
        let subject = Subject {
            experiment: &experiment.name,
            family,
            strategy,
        };
        let cell = |(_, quantity, at): &(String, Quantity, Option<f64>)| {
            // Without a baseline the setting does not matter, so none is the best.
            let is_flat = *quantity == Quantity::BestThreshold
                && subject.baseline(reader.layout.studies).is_err();
            let found = reader.quantity(*quantity, subject, *at);
            found.ok().filter(|_| !is_flat)
        };
        let cells = columns
            .iter()
            .map(|column| cell(column).map_or_else(|| "–".to_owned(), |found| found.to_string()));
        std::iter::once(strategy.clone()).chain(cells).collect()
    };
    MeasuredTable {
        title: format!("Measured: {}, {family} classes", experiment.title),
        rows: strategies.iter().map(row).collect(),
        header: std::iter::once("strategy".to_owned())
            .chain(columns.iter().map(|(head, ..)| head.clone()))
            .collect(),
    }
}
