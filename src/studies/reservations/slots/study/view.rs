//! Advertised slots: their number and width (Singh 2008, Figures 4 and 7), as bars.

use bookahead_lab::store::StoreError;
use bookahead_report::analysis::Analysis;
use bookahead_report::figure::{Figure, Marks, Scale, ScaleKind, Section, Series};
use bookahead_report::plots::bars::{NOTE, panels, sql};
use bookahead_report::plots::lines::{Lines, free_axes};
use bookahead_report::plots::{mark, titled};
use bookahead_report::views::{Reported, View, ViewContent};

/// More bars than this beside each other are too thin.
const MOST_BARS: usize = 4;

/// A distribution whose bins are measures: their common prefix, and words.
struct Binned {
    prefix: &'static str,
    name: &'static str,
    title: &'static str,
    x: &'static str,
    y: &'static str,
}

const BINNED: [Binned; 2] = [
    Binned {
        prefix: "slots_",
        name: "slots-distribution",
        title: "Samples by number of advertised slots",
        x: "advertised slots",
        y: "share of samples (%)",
    },
    Binned {
        prefix: "slot_nodes_",
        name: "slot-nodes-distribution",
        title: "Slots by nodes",
        x: "nodes of a slot",
        y: "share of slots (%)",
    },
];

/// The view of the study.
pub struct Slots;

impl View for Slots {
    fn show(&self, run: &Reported<'_>, shown: &mut ViewContent) -> Result<(), StoreError> {
        for binned in &BINNED {
            shown
                .first_figures
                .extend(distribution(run.analysis, binned, run.hash()));
        }
        Ok(())
    }
}

/// The bin that a measure of a distribution counts: `0–1` of `slots_0_1`. Other measures may begin
/// with the same letters.
fn bin_of<'m>(measure: &'m str, prefix: &str) -> Option<&'m str> {
    let bin = measure.strip_prefix(prefix)?;
    let counts = bin
        .chars()
        .all(|letter| letter.is_ascii_digit() || letter == '_');
    (counts || bin == "more").then_some(bin)
}

fn distribution(analysis: &Analysis, binned: &Binned, configuration_hash: &str) -> Vec<Figure> {
    let bins: Vec<(usize, String)> = analysis
        .measures
        .iter()
        .enumerate()
        .filter_map(|(index, measure)| {
            Some((
                index,
                bin_of(&measure.name, binned.prefix)?.replace('_', "–"),
            ))
        })
        .collect();
    if bins.is_empty() {
        return Vec::new();
    }
    let free = free_axes(analysis);
    let lines = Lines::new(analysis, &free, None, MOST_BARS);
    let indices: Vec<usize> = bins.iter().map(|(index, _)| *index).collect();
    let names: Vec<&str> = bins
        .iter()
        .map(|(index, _)| analysis.measures[*index].name.as_str())
        .collect();
    panels(analysis, &free, &lines.axes, &indices)
        .map(|(given, suffix, members)| {
            let mut series: Vec<(usize, Series)> = members
                .into_iter()
                .map(|combination| {
                    let (rank, label) = lines.of(combination);
                    let marks = bins
                        .iter()
                        .enumerate()
                        .filter_map(|(x, (index, _))| {
                            let estimate = combination.measured[*index]?;
                            Some(mark(x as f64, &estimate))
                        })
                        .collect();
                    let series = Series::new(label, rank, Marks::Bars(marks));
                    (rank, series)
                })
                .collect();
            series.sort_by_key(|(rank, _)| *rank);
            Figure {
                name: format!("{}{suffix}", binned.name),
                section: Section::Slots,
                title: titled(binned.title, &given),
                x: Scale {
                    title: binned.x.to_owned(),
                    kind: ScaleKind::Categories(
                        bins.iter().map(|(_, label)| label.clone()).collect(),
                    ),
                },
                y: Scale::linear(binned.y),
                series: series.into_iter().map(|(_, series)| series).collect(),
                note: NOTE.to_owned(),
                sql: sql(&names, &given, configuration_hash),
                given,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_is_told_from_a_figure_of_the_same_beginning() {
        assert_eq!(bin_of("slots_0_1", "slots_"), Some("0_1"));
        assert_eq!(bin_of("slots_more", "slots_"), Some("more"));
        assert_eq!(bin_of("slots_mean", "slots_"), None);
        assert_eq!(bin_of("slots_around_16_peak", "slots_"), None);
        assert_eq!(bin_of("slot_nodes_1", "slot_nodes_"), Some("1"));
        assert_eq!(bin_of("tasks_mean", "slots_"), None);
    }
}
