//! The measures of a study over its axes, with 95 % bands. They are drawn like the curves of the
//! metrics, but a study has one strategy, so its lines are rules and settings.

use std::collections::{BTreeMap, BTreeSet};

use super::drawn::{Drawn, drawn};
use super::lines::{Lines, MOST_LINES, free_axes};
use super::paired::{Line, Pairs};
use super::{
    MOST_FIRST_PANELS, MOST_FURTHER_PANELS, MOST_PANELS, axis_scale, condition, file_name, given,
    horizontal, is_numeric, is_ordered, mark, number, spread, titled,
};
use crate::analysis::{Analysis, Combination};
use crate::figure::{Course, Figure, Mark, Marks, Series};
use crate::table::short;

const NOTE: &str = "Means over replications with 95 % intervals.";
const NOTE_DEVIATION: &str = "Means over submissions; bars are one standard deviation up and down.";
const BEST_EFFORT: &str = "best effort";

/// For every measure a figure over the axis with the most numbers, and over further ones where that
/// gives few; and how many were left out.
pub fn studies(
    analysis: &Analysis,
    pairs: &Pairs<'_>,
    configuration_hash: &str,
) -> (Vec<Figure>, usize) {
    let free = free_axes(analysis);
    let layouts: Vec<Layout> = horizontal(analysis, &free)
        .into_iter()
        .enumerate()
        .map(|(rank, axis)| Layout::new(analysis, &free, axis, rank == 0))
        .collect();
    let mut figures = Vec::new();
    let mut left_out = 0;
    let quantities = pairs.in_order(drawn(analysis, configuration_hash));
    for (place, quantity) in quantities.iter().enumerate() {
        for layout in &layouts {
            let beside = quantity.best_effort(analysis, configuration_hash);
            let (drawn, more) =
                layout.figures(analysis, pairs, (quantity, place == 0), beside.as_ref());
            figures.extend(drawn);
            left_out += more;
        }
    }
    (figures, left_out)
}

/// Marks by place in the legend and label.
type Curves<'l> = BTreeMap<(usize, &'l str), Line<'l>>;

/// One horizontal axis, the lines over it, and the axes that tell figures apart.
struct Layout {
    axis: usize,
    is_numeric: bool,
    lines: Lines,
    panels: Vec<usize>,
    /// How many combinations of those axes the run has.
    situations: usize,
    most: usize,
}

impl Layout {
    fn new(analysis: &Analysis, free: &[usize], axis: usize, is_main: bool) -> Self {
        let lines = Lines::new(analysis, free, Some(axis), MOST_LINES);
        let panels: Vec<usize> = free
            .iter()
            .copied()
            .filter(|other| *other != axis && !lines.axes.contains(other))
            .collect();
        let situations: BTreeSet<Vec<Option<u32>>> = analysis
            .combinations
            .iter()
            .map(|combination| {
                panels
                    .iter()
                    .map(|axis| combination.places[*axis])
                    .collect()
            })
            .collect();
        Self {
            axis,
            is_numeric: is_numeric(analysis, axis),
            lines,
            panels,
            situations: situations.len(),
            most: if is_main {
                MOST_PANELS
            } else {
                MOST_FURTHER_PANELS
            },
        }
    }

    fn figures(
        &self,
        analysis: &Analysis,
        pairs: &Pairs<'_>,
        (quantity, is_first): (&Drawn, bool),
        beside: Option<&Drawn>,
    ) -> (Vec<Figure>, usize) {
        let most = match self.most {
            MOST_PANELS if is_first => MOST_FIRST_PANELS,
            most => most,
        };
        let mut panels = self.panels(analysis, quantity);
        let mut others = beside.map(|beside| self.panels(analysis, beside));
        panels.retain(|_, lines| lines.values().any(|marks| marks.len() > 1));
        let alone = panels.len() == 1;
        // Further axes are drawn completely or not at all: three of eleven situations would be an
        // accident.
        if self.most == MOST_FURTHER_PANELS && self.situations > self.most {
            return (Vec::new(), panels.len());
        }
        let left_out = panels.len().saturating_sub(most);
        let figures = panels
            .into_iter()
            .take(most)
            .enumerate()
            .map(|(number, (places, lines))| {
                let others = others.as_mut().and_then(|others| others.remove(&places));
                let beside = beside.zip(others);
                let mut figure = self.figure(analysis, (quantity, pairs), &places, &lines, beside);
                if !alone {
                    figure.name = format!("{}-{}", figure.name, number + 1);
                }
                figure
            })
            .collect();
        (figures, left_out)
    }

    /// Marks by situation, line and place.
    fn panels<'l>(
        &'l self,
        analysis: &'l Analysis,
        quantity: &Drawn,
    ) -> BTreeMap<Vec<Option<u32>>, Curves<'l>> {
        let mut panels: BTreeMap<Vec<Option<u32>>, Curves<'l>> = BTreeMap::new();
        for combination in &analysis.combinations {
            let (Some(estimate), Some(x)) = (
                quantity.estimate(combination),
                self.place(analysis, combination),
            ) else {
                continue;
            };
            let key = self
                .panels
                .iter()
                .map(|axis| combination.places[*axis])
                .collect();
            panels
                .entry(key)
                .or_default()
                .entry(self.lines.of(combination))
                .or_default()
                .push(if quantity.shows_deviation() {
                    (spread(x, &estimate), combination)
                } else {
                    (mark(x, &estimate), combination)
                });
        }
        for line in panels.values_mut().flat_map(BTreeMap::values_mut) {
            line.sort_by(|(mark, _), (other, _)| mark.x.total_cmp(&other.x));
        }
        panels
    }

    fn place(&self, analysis: &Analysis, combination: &Combination) -> Option<f64> {
        let place = combination.places[self.axis]?;
        let value = analysis.value(combination, self.axis)?;
        Some(
            number(value)
                .filter(|_| self.is_numeric)
                .unwrap_or(f64::from(place)),
        )
    }

    fn figure(
        &self,
        analysis: &Analysis,
        (quantity, pairs): (&Drawn, &Pairs<'_>),
        places: &[Option<u32>],
        lines: &Curves<'_>,
        beside: Option<(&Drawn, Curves<'_>)>,
    ) -> Figure {
        let axis = &analysis.axes[self.axis];
        let given = given(analysis, &self.panels, places);
        let first = lines.iter().next();
        let mut series: Vec<Series> = lines
            .iter()
            .enumerate()
            .map(|(number, ((rank, label), line))| {
                let reference = first.filter(|_| number > 0);
                let beside = reference.map_or(&[][..], |(_, line)| line.as_slice());
                let marks = pairs.marks(quantity, line, beside);
                Series {
                    reference: reference.map(|((_, label), _)| (*label).to_owned()),
                    published: pairs.published(quantity, analysis, line),
                    course: self.course(analysis, (quantity, pairs), line),
                    ..self.series(quantity, (*label).to_owned(), *rank, marks)
                }
            })
            .collect();
        let mut sql = self.sql(analysis, quantity, &given);
        if let Some((quantity, lines)) = beside {
            let first = series.len();
            let common = common(&lines);
            sql = self.with_best_effort(analysis, &sql, quantity, &given, common.is_some());
            match common {
                Some(marks) => {
                    series.push(self.series(quantity, BEST_EFFORT.to_owned(), first, marks));
                }
                None => {
                    series.extend(lines.into_iter().map(|((rank, label), marks)| {
                        let label = format!("{BEST_EFFORT}, {label}");
                        let marks = marks.into_iter().map(|(mark, _)| mark).collect();
                        self.series(quantity, label, first + rank, marks)
                    }));
                }
            }
        }
        Figure {
            name: format!("{}-by-{}", file_name(&quantity.key), file_name(&axis.key)),
            section: quantity.section,
            title: titled(
                &format!("{} by {}", quantity.title, short(&axis.key)),
                &given,
            ),
            x: axis_scale(analysis, self.axis),
            y: quantity.scale(),
            series,
            note: if quantity.shows_deviation() {
                NOTE_DEVIATION
            } else {
                NOTE
            }
            .to_owned(),
            sql,
            given,
        }
    }

    /// How a line changes; `None` over names, which have no order.
    fn course(
        &self,
        analysis: &Analysis,
        (quantity, pairs): (&Drawn, &Pairs<'_>),
        line: &[(Mark, &Combination)],
    ) -> Option<Course> {
        if !is_ordered(analysis, self.axis) {
            return None;
        }
        let (_, first) = line.first()?;
        let axes = &self.lines.axes;
        let places: Vec<Option<u32>> = axes.iter().map(|axis| first.places[*axis]).collect();
        let (change, turn) = pairs.change(quantity, line)?;
        Some(Course {
            of: given(analysis, axes, &places),
            change,
            turn,
        })
    }

    fn series(&self, quantity: &Drawn, label: String, rank: usize, marks: Vec<Mark>) -> Series {
        Series::new(
            label,
            rank,
            match (self.is_numeric, quantity.shows_deviation()) {
                (true, true) => Marks::Whiskers(marks),
                (true, false) => Marks::Curve(marks),
                (false, _) => Marks::Bars(marks),
            },
        )
    }

    /// The query with the rows of best effort below: where all lines have the same, one row a
    /// place.
    fn with_best_effort(
        &self,
        analysis: &Analysis,
        sql: &str,
        quantity: &Drawn,
        given: &[(String, String)],
        is_common: bool,
    ) -> String {
        let split = sql.rfind("\nORDER BY").unwrap_or(sql.len());
        let (plans, order) = sql.split_at(split);
        let rows = if is_common {
            let nulls = "NULL, ".repeat(self.lines.axes.len());
            format!(
                "SELECT {nulls}value, count(b), avg(b), (avg(b * b) - avg(b) * avg(b)) * count(b) / (count(b) - 1)
FROM (SELECT DISTINCT axes ->> '$.\"{}\"' AS value, replication, {} AS b
      FROM {}{})
GROUP BY value",
                analysis.axes[self.axis].key,
                quantity.key,
                quantity.from,
                condition(given)
            )
        } else {
            let rows = self.sql(analysis, quantity, given);
            let end = rows.rfind("\nORDER BY").unwrap_or(rows.len());
            rows[..end].to_owned()
        };
        format!("{plans}\nUNION ALL\n{rows}{order}")
    }

    fn sql(&self, analysis: &Analysis, quantity: &Drawn, given: &[(String, String)]) -> String {
        let names: String = self
            .lines
            .axes
            .iter()
            .map(|axis| {
                let key = &analysis.axes[*axis].key;
                format!("axes ->> '$.\"{key}\"' AS \"{key}\", ")
            })
            .collect();
        format!(
            "SELECT {names}axes ->> '$.\"{0}\"' AS value, count({1}) AS n, avg({1}) AS mean,
    sum(({1} - centre) * ({1} - centre)) / (count({1}) - 1) AS variance
FROM (SELECT *, avg({1}) OVER (PARTITION BY axes, strategy) AS centre
      FROM {2}){3}
GROUP BY strategy, axes
ORDER BY {4}value;",
            analysis.axes[self.axis].key,
            quantity.key,
            quantity.from,
            condition(given).replacen("\n    AND", "\nWHERE", 1),
            self.lines
                .axes
                .iter()
                .map(|axis| format!("\"{}\", ", analysis.axes[*axis].key))
                .collect::<String>()
        )
    }
}

/// The marks of all lines where they are the same at every place.
fn common(lines: &Curves<'_>) -> Option<Vec<Mark>> {
    let mut found: Vec<Mark> = Vec::new();
    for (mark, _) in lines.values().flatten() {
        match found.iter().find(|known| known.x == mark.x) {
            None => found.push(*mark),
            Some(known) => {
                let near = |one: f64, other: f64| (one - other).abs() <= 1e-9 * one.abs();
                if known.count != mark.count
                    || !near(known.mean, mark.mean)
                    || !near(known.low, mark.low)
                {
                    return None;
                }
            }
        }
    }
    Some(found)
}
