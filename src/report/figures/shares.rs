//! Bars of studies whose measures belong together: the distributions of slots (spec `provisioning.md` §6, Figures 4 and 7 of
//! the dissertation), and the schemes of reservation beside each other (§11.4).

use std::collections::BTreeMap;

use super::lines::{Lines, free_axes};
use super::{condition, given, mark, titled};
use crate::report::analysis::{Analysis, Combination};
use crate::report::figure::{Figure, Mark, Marks, Scale, ScaleKind, Section, Series};
use crate::report::sql::this_run;
use crate::report::table::value_text;

/// More bars than this beside each other are too thin.
const MOST_BARS: usize = 4;
/// More situations than this are left to the tables.
const MOST_SITUATIONS: usize = 12;
const NOTE: &str = "Means over replications with 95 % intervals (Student's t).";
/// The axis that the schemes are shown over.
const LEAD: &str = "virtual.lead_hours";

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

/// The bars of a run; none where it has none of these measures.
pub(in crate::report) fn shares(analysis: &Analysis, configuration_hash: &str) -> Vec<Figure> {
    let mut figures = Vec::new();
    for binned in &BINNED {
        figures.extend(distribution(analysis, binned, configuration_hash));
    }
    for compared in &COMPARED {
        figures.extend(schemes(analysis, compared, configuration_hash));
    }
    figures
}

/// The bin that a measure of a distribution counts: `0–1` of `slots_0_1`. Other measures may begin with the same letters.
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
                    let series = Series {
                        label: label.to_owned(),
                        rank,
                        marks: Marks::Bars(marks),
                    };
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
                y: Scale {
                    title: binned.y.to_owned(),
                    kind: ScaleKind::Linear,
                },
                series: series.into_iter().map(|(_, series)| series).collect(),
                note: NOTE.to_owned(),
                sql: sql(&names, &given, configuration_hash),
                given,
            }
        })
        .collect()
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
            y: Scale {
                title: (*title).to_owned(),
                kind: ScaleKind::Linear,
            },
            series: measures
                .iter()
                .enumerate()
                .map(|(rank, (index, label))| Series {
                    label: (*label).to_owned(),
                    rank,
                    marks: Marks::Bars(bars(&members, axis, *index)),
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

type Panel<'a> = (Vec<(String, String)>, String, Vec<&'a Combination>);

/// Combinations by their values on the axes that a figure does not show, with what tells the figures apart.
fn panels<'a>(
    analysis: &'a Analysis,
    free: &[usize],
    shown: &[usize],
    measures: &[usize],
) -> impl Iterator<Item = Panel<'a>> {
    let others: Vec<usize> = free
        .iter()
        .copied()
        .filter(|axis| !shown.contains(axis))
        .collect();
    let mut panels: BTreeMap<Vec<Option<u32>>, Vec<&'a Combination>> = BTreeMap::new();
    // A run may have points of other machines, which measure other things.
    let measured = analysis.combinations.iter().filter(|combination| {
        measures
            .iter()
            .any(|index| combination.measured[*index].is_some())
    });
    for combination in measured {
        let key = others
            .iter()
            .map(|axis| combination.places[*axis])
            .collect();
        panels.entry(key).or_default().push(combination);
    }
    let alone = panels.len() == 1;
    panels
        .into_iter()
        .take(MOST_SITUATIONS)
        .enumerate()
        .map(move |(number, (places, members))| {
            let suffix = if alone {
                String::new()
            } else {
                format!("-{}", number + 1)
            };
            (given(analysis, &others, &places), suffix, members)
        })
}

fn sql(measures: &[&str], given: &[(String, String)], configuration_hash: &str) -> String {
    let names: Vec<String> = measures
        .iter()
        .map(|measure| format!("'{measure}'"))
        .collect();
    format!(
        "SELECT axes, strategy, measure, count(*) AS n, avg(value) AS mean,
    sum((value - centre) * (value - centre)) / (count(*) - 1) AS variance
FROM (SELECT *, avg(value) OVER (PARTITION BY axes, strategy, measure) AS centre
      FROM v_measure WHERE run = {}{}
    AND measure IN ({}))
GROUP BY axes, strategy, measure
ORDER BY axes, strategy, measure;",
        this_run(configuration_hash),
        condition(given),
        names.join(", ")
    )
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
