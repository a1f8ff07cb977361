//! Curves of all runs in one plot: the main quantities over the longest numeric axis that all runs
//! have, and the differences from the first run in the answer's quantity.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::differences::Set;
use super::pairs::values_key;
use super::{ComparedRun, Comparison, Difference, Group, Quantity, sql};
use crate::figure::{Figure, Mark, Marks, Scale, Section, Series};
use crate::plots::{file_name, mark, number, titled};
use crate::statistics::Estimate;
use crate::table::short;
use crate::table::value_text;
use bookahead_lab::store::MeasuredPoint;
use bookahead_lab::sweep::AxisValue;

/// Figures of the quantity of the answer, and of each other one: as many as a person compares.
const MOST_PANELS: (usize, usize) = (12, 4);

/// A numeric axis with fewer values makes no curve, only bars.
const FEWEST_VALUES: usize = 3;

/// Figures, and how many were left out because all runs coincide in them, or because they are too
/// many.
pub struct Drawn {
    pub(super) figures: Vec<Figure>,
    pub(super) coinciding: usize,
    pub(super) too_many: usize,
}

/// The horizontal axis, and the other axes, which distinguish figures.
struct Layout {
    /// `None` where the runs have no axis in common: all points at one place.
    axis: Option<String>,
    /// The values that any run has there, in order.
    values: Vec<AxisValue>,
    is_numeric: bool,
    /// The other axes that all runs have.
    others: Vec<String>,
}

/// What the other axes are fixed at.
struct Situation<'c> {
    key: String,
    values: Vec<(String, String)>,
    /// The points of each run.
    points: Vec<Vec<&'c MeasuredPoint>>,
}

pub(super) fn figures(comparison: &Comparison<'_>) -> Drawn {
    let mut drawn = Drawn {
        figures: Vec::new(),
        coinciding: 0,
        too_many: 0,
    };
    let layout = Layout::new(comparison.runs);
    let situations = layout.situations(comparison.runs);
    let axes: Vec<String> = layout.axis.iter().chain(&layout.others).cloned().collect();
    let pairings = comparison.pairings.iter();
    let grouped: Vec<Vec<Group<'_>>> = pairings.map(|pairing| pairing.groups(&axes)).collect();
    // The first figure in which the runs coincide: where they do in all, it says so better than no
    // figure.
    let mut same: Option<(&Quantity, &Situation<'_>, Vec<Series>)> = None;
    for (rank, quantity) in comparison.main.iter().enumerate() {
        let most = if rank == 0 {
            MOST_PANELS.0
        } else {
            MOST_PANELS.1
        };
        let mut shown = 0;
        for (at, situation) in situations.iter().enumerate() {
            let series = layout.curves(comparison.runs, quantity, situation);
            if series.len() < 2 || coincide(&series) {
                drawn.coinciding += 1;
                if series.len() > 1 && same.is_none() {
                    same = Some((quantity, situation, series));
                }
                continue;
            }
            shown += 1;
            if shown > most {
                drawn.too_many += 1;
                continue;
            }
            let mut figure = layout.figure(quantity, situation, series);
            figure.sql = sql::curves(
                comparison,
                quantity,
                layout.axis.as_deref(),
                &situation.values,
            );
            if situations.len() > 1 {
                figure.name = format!("{}-{}", figure.name, at + 1);
            }
            if rank == 0 {
                let differences = layout.differences(comparison, &grouped, quantity, situation);
                let mut second = figure.clone();
                second.name = format!("difference-{}", figure.name);
                second.title = format!(
                    "Difference from {}: {}",
                    comparison.reference().label,
                    figure.title
                );
                second.y = Scale::linear(format!("difference in {}", quantity.title));
                second.series = differences;
                second.sql = sql::differences(comparison, quantity, true);
                second.note = "Mean difference over pairs of replications with its 95 % interval (Student's t; Welch where the runs drew \
                               their jobs independently), not corrected for their number."
                    .to_owned();
                drawn.figures.push(figure);
                drawn.figures.push(second);
            } else {
                drawn.figures.push(figure);
            }
        }
    }
    if drawn.figures.is_empty()
        && let Some((quantity, situation, series)) = same
    {
        let mut figure = layout.figure(quantity, situation, series);
        figure.sql = sql::curves(
            comparison,
            quantity,
            layout.axis.as_deref(),
            &situation.values,
        );
        figure.note = format!("The runs coincide here. {}", figure.note);
        drawn.figures.push(figure);
        drawn.coinciding -= 1;
    }
    drawn
}

/// Whether all series have the same marks.
fn coincide(series: &[Series]) -> bool {
    series.iter().all(|other| other.marks == series[0].marks)
}

impl Layout {
    fn new(runs: &[ComparedRun]) -> Self {
        let mut shared: Vec<String> = runs[0].points().axes();
        for run in runs {
            let own = run.points().axes();
            // A run without any point has no axes to be left out of.
            shared.retain(|axis| own.contains(axis) || own.is_empty());
        }
        let values = |axis: &String| -> Vec<AxisValue> {
            let mut seen = BTreeSet::new();
            let points = runs.iter().flat_map(|run| &run.points);
            let all = points.filter_map(|point| value_on(point, axis));
            all.filter(|value| seen.insert(value_text(value)))
                .cloned()
                .collect()
        };
        let is_numeric = |values: &[AxisValue]| {
            values.len() >= FEWEST_VALUES && values.iter().all(|value| number(value).is_some())
        };
        let best = shared
            .iter()
            .map(|axis| (axis, values(axis)))
            .filter(|(_, values)| !values.is_empty())
            // The last of the longest: files list what varies fastest last.
            .max_by_key(|(_, values)| (is_numeric(values), values.len()));
        let (axis, values) = match best {
            Some((axis, values)) => (Some(axis.clone()), values),
            None => (None, Vec::new()),
        };
        Self {
            is_numeric: is_numeric(&values),
            others: shared
                .into_iter()
                .filter(|other| Some(other) != axis.as_ref())
                .collect(),
            axis,
            values,
        }
    }

    /// The combinations of the other axes, in the order of the first run.
    fn situations<'c>(&self, runs: &'c [ComparedRun]) -> Vec<Situation<'c>> {
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut situations: Vec<Situation<'c>> = Vec::new();
        for (at, run) in runs.iter().enumerate() {
            for point in &run.points {
                let key = values_key(&point.axes, &self.others);
                let place = *places.entry(key.clone()).or_insert(situations.len());
                if place == situations.len() {
                    let axes = self.others.iter();
                    let value = |axis: &String| Some(value_text(value_on(point, axis)?));
                    situations.push(Situation {
                        key,
                        values: axes
                            .filter_map(|axis| Some((axis.clone(), value(axis)?)))
                            .collect(),
                        points: vec![Vec::new(); runs.len()],
                    });
                }
                situations[place].points[at].push(point);
            }
        }
        situations
    }

    /// Where a value stands.
    fn place(&self, axes: &[(String, AxisValue)]) -> Option<f64> {
        let Some(axis) = &self.axis else {
            return Some(0.0);
        };
        let (_, value) = axes.iter().find(|(key, _)| key == axis)?;
        if self.is_numeric {
            return number(value);
        }
        let text = value_text(value);
        let at = self.values.iter().position(|own| value_text(own) == text)?;
        Some(at as f64)
    }

    fn marks(&self, marks: Vec<Mark>) -> Marks {
        if self.is_numeric {
            Marks::Curve(marks)
        } else {
            Marks::Bars(marks)
        }
    }

    fn curves(
        &self,
        runs: &[ComparedRun],
        quantity: &Quantity,
        situation: &Situation<'_>,
    ) -> Vec<Series> {
        let mut series = Vec::new();
        for (rank, (run, points)) in runs.iter().zip(&situation.points).enumerate() {
            let marks = self.means(points, quantity);
            if !marks.is_empty() {
                series.push(Series::new(&run.label, rank, self.marks(marks)));
            }
        }
        series
    }

    /// Means over replications at every place, in order; points of one replication at a place are
    /// averaged first, one that several share counts once, and so does a replication that repeats
    /// another one.
    fn means(&self, points: &[&MeasuredPoint], quantity: &Quantity) -> Vec<Mark> {
        // Bits of a place that is not negative are in its order; of all others the sort below takes
        // care.
        let mut places: BTreeMap<u64, Set<'_>> = BTreeMap::new();
        for point in points {
            if let Some(place) = self.place(&point.axes) {
                let set = places.entry(place.to_bits()).or_default();
                set.add(point, quantity.of(point));
            }
        }
        let mut marks: Vec<Mark> = places
            .into_iter()
            .filter_map(|(place, set)| {
                let mean = Estimate::of_kind(&set.means(), quantity.kind)?;
                Some(mark(f64::from_bits(place), &mean))
            })
            .collect();
        marks.sort_by(|one, other| one.x.total_cmp(&other.x));
        marks
    }

    /// What each run has more than the first, and the line where that is nothing.
    fn differences(
        &self,
        comparison: &Comparison<'_>,
        grouped: &[Vec<Group<'_>>],
        quantity: &Quantity,
        situation: &Situation<'_>,
    ) -> Vec<Series> {
        let mut series = Vec::new();
        let mut zero: BTreeMap<u64, Mark> = BTreeMap::new();
        for (rank, (groups, run)) in grouped.iter().zip(comparison.others()).enumerate() {
            let mut marks = self.paired(groups, quantity, situation);
            marks.sort_by(|one, other| one.x.total_cmp(&other.x));
            for mark in &marks {
                let none = Mark {
                    mean: 0.0,
                    low: 0.0,
                    high: 0.0,
                    ..*mark
                };
                zero.insert(mark.x.to_bits(), none);
            }
            series.push(Series::new(&run.label, rank + 1, self.marks(marks)));
        }
        let mut zero: Vec<Mark> = zero.into_values().collect();
        zero.sort_by(|one, other| one.x.total_cmp(&other.x));
        let label = &comparison.reference().label;
        if self.is_numeric {
            series.insert(0, Series::new(label, 0, self.marks(zero)));
        }
        series
    }

    fn paired(
        &self,
        groups: &[Group<'_>],
        quantity: &Quantity,
        situation: &Situation<'_>,
    ) -> Vec<Mark> {
        let marks = groups.iter().filter_map(|group| {
            let point = &group.example()?.axes;
            if values_key(point, &self.others) != situation.key {
                return None;
            }
            let estimate = Difference::of(quantity, group).difference?;
            Some(mark(self.place(point)?, &estimate))
        });
        marks.collect()
    }

    fn figure(
        &self,
        quantity: &Quantity,
        situation: &Situation<'_>,
        series: Vec<Series>,
    ) -> Figure {
        let axis = self.axis.as_deref();
        let over = axis.map_or(String::new(), |axis| format!(" by {}", short(axis)));
        let (key, given) = (axis.unwrap_or("all points"), situation.values.clone());
        Figure {
            name: format!("{}-by-{}", file_name(quantity.name), file_name(axis.unwrap_or("run"))),
            section: Section::Money,
            title: titled(&format!("{}{over}", quantity.title), &given),
            given,
            x: if self.is_numeric {
                Scale::linear(key)
            } else {
                let names = self.values.iter().map(value_text);
                let alone = std::iter::once("all points".to_owned()).filter(|_| axis.is_none());
                Scale::categories(key, names.chain(alone))
            },
            y: Scale::linear(quantity.title),
            series,
            note: "Means over replications with 95 % intervals by the kind of the quantity, of all points of each run.".to_owned(),
            sql: String::new(),
        }
    }
}

fn value_on<'p>(point: &'p MeasuredPoint, axis: &str) -> Option<&'p AxisValue> {
    let mut axes = point.axes.iter();
    axes.find(|(key, _)| key == axis).map(|(_, value)| value)
}
