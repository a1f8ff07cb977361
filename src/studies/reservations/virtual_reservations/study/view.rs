//! Virtual reservations: a comparison of the schemes of reservation (Singh 2008, §6.3, §6.4), as
//! bars.

use bookahead_lab::store::StoreError;
use bookahead_report::analysis::{Analysis, Combination};
use bookahead_report::figure::{Figure, Mark, Marks, Scale, ScaleKind, Section, Series};
use bookahead_report::plots::bars::{NOTE, panels, sql};
use bookahead_report::plots::lines::free_axes;
use bookahead_report::plots::{mark, titled};
use bookahead_report::table::value_text;
use bookahead_report::views::{Reported, View, ViewContent};

/// The axis that the schemes are shown over.
const LEAD: &str = "virtual.lead_hours";

/// Measures that are compared: the file's name, words, and measure with label each.
type Compared = (
    &'static str,
    &'static str,
    [(&'static str, &'static str); 3],
);

const COMPARED: [Compared; 2] = [
    (
        "schemes-cost",
        "Cost (÷ nodes·duration)",
        [
            ("var_cost", "virtual"),
            ("ar_cost", "reservation"),
            ("combined_cost", "combined"),
        ],
    ),
    (
        "schemes-success",
        "Success (%)",
        [
            ("var_success_percent", "virtual"),
            ("ar_success_percent", "reservation"),
            ("combined_success_percent", "combined"),
        ],
    ),
];

/// The view of the study.
pub struct VirtualReservations;

impl View for VirtualReservations {
    fn show(&self, run: &Reported<'_>, shown: &mut ViewContent) -> Result<(), StoreError> {
        for compared in &COMPARED {
            shown
                .first_figures
                .extend(schemes(run.analysis, compared, run.hash()));
        }
        Ok(())
    }
}

fn schemes(
    analysis: &Analysis,
    (name, title, measures): &Compared,
    configuration_hash: &str,
) -> Vec<Figure> {
    let measures: Vec<(usize, &str)> = measures
        .iter()
        .filter_map(|(name, label)| {
            let index = analysis
                .measures
                .iter()
                .position(|measure| measure.name == *name)?;
            Some((index, *label))
        })
        .collect();
    let free = free_axes(analysis);
    let lead = free
        .iter()
        .copied()
        .find(|axis| analysis.axes[*axis].key == LEAD);
    let Some(axis) = lead
        .or(free.last().copied())
        .filter(|_| !measures.is_empty())
    else {
        return Vec::new();
    };
    let indices: Vec<usize> = measures.iter().map(|(index, _)| *index).collect();
    let names: Vec<&str> = measures
        .iter()
        .map(|(index, _)| analysis.measures[*index].name.as_str())
        .collect();
    let key = &analysis.axes[axis].key;
    panels(analysis, &free, &[axis], &indices)
        .map(|(given, suffix, members)| Figure {
            name: format!("{name}{suffix}"),
            section: Section::Virtual,
            title: titled(&format!("{title} of the schemes"), &given),
            x: Scale {
                title: key.clone(),
                kind: ScaleKind::Categories(
                    analysis.axes[axis].values.iter().map(value_text).collect(),
                ),
            },
            y: Scale::linear(*title),
            series: measures
                .iter()
                .enumerate()
                .map(|(rank, (index, label))| {
                    Series::new(
                        (*label).to_owned(),
                        rank,
                        Marks::Bars(bars(&members, axis, *index)),
                    )
                })
                .collect(),
            note: NOTE.to_owned(),
            sql: sql(&names, &given, configuration_hash),
            given,
        })
        .collect()
}

fn bars(members: &[&Combination], axis: usize, measure: usize) -> Vec<Mark> {
    let mut marks: Vec<Mark> = members
        .iter()
        .filter_map(|combination| {
            let estimate = combination.measured[measure]?;
            Some(mark(f64::from(combination.places[axis]?), &estimate))
        })
        .collect();
    marks.sort_by(|mark, other| mark.x.total_cmp(&other.x));
    marks
}
