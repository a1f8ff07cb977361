//! Curves of all runs in one plot: the main quantities over the longest numeric axis that all runs
//! have, and the differences from the first run in the answer's quantity.

use std::collections::{BTreeMap, BTreeSet};

use super::differences::Set;
use super::pairs::values_key;
use super::{ComparedRun, Comparison, Difference, Pairing, Quantity, sql};
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

/// What the other axes are fixed at: as a key, and as the values themselves.
type Situation = (String, Vec<(String, String)>);

pub(super) fn figures(comparison: &Comparison<'_>) -> Drawn {
    let mut drawn = Drawn {
        figures: Vec::new(),
        coinciding: 0,
        too_many: 0,
    };
    let layout = Layout::new(comparison.runs);
    let situations = layout.situations(comparison.runs);
    // The first figure in which the runs coincide: where they do in all, it says so better than no
    // figure.
    let mut same: Option<(&Quantity, &Situation, Vec<Series>)> = None;
    for (rank, quantity) in comparison.main.iter().enumerate() {
        let most = if rank == 0 {
            MOST_PANELS.0
        } else {
            MOST_PANELS.1
        };
        let mut shown = 0;
        for (at, situation) in situations.iter().enumerate() {
            let series = layout.curves(comparison.runs, quantity, &situation.0);
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
            figure.sql = sql::curves(comparison, quantity, layout.axis.as_deref(), &situation.1);
            if situations.len() > 1 {
                figure.name = format!("{}-{}", figure.name, at + 1);
            }
            if rank == 0 {
                let differences = layout.differences(comparison, quantity, &situation.0);
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
        figure.sql = sql::curves(comparison, quantity, layout.axis.as_deref(), &situation.1);
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
    fn situations(&self, runs: &[ComparedRun]) -> Vec<Situation> {
        let mut seen = BTreeSet::new();
        let mut situations = Vec::new();
        for point in runs.iter().flat_map(|run| &run.points) {
            let key = values_key(&point.axes, &self.others);
            if seen.insert(key.clone()) {
                let given = self
                    .others
                    .iter()
                    .filter_map(|axis| Some((axis.clone(), value_text(value_on(point, axis)?))));
                situations.push((key, given.collect()));
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

    fn curves(&self, runs: &[ComparedRun], quantity: &Quantity, situation: &str) -> Vec<Series> {
        let mut series = Vec::new();
        for (rank, run) in runs.iter().enumerate() {
            let points = run.points.iter();
            let points = points.filter(|point| values_key(&point.axes, &self.others) == situation);
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
    fn means<'p>(
        &self,
        points: impl Iterator<Item = &'p MeasuredPoint>,
        quantity: &Quantity,
    ) -> Vec<Mark> {
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
        quantity: &Quantity,
        situation: &str,
    ) -> Vec<Series> {
        let mut series = Vec::new();
        let mut zero: BTreeMap<u64, Mark> = BTreeMap::new();
        for (rank, (pairing, run)) in comparison
            .pairings
            .iter()
            .zip(comparison.others())
            .enumerate()
        {
            let mut marks = self.paired(pairing, quantity, situation);
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

    fn paired(&self, pairing: &Pairing<'_>, quantity: &Quantity, situation: &str) -> Vec<Mark> {
        let axes: Vec<String> = self.axis.iter().chain(&self.others).cloned().collect();
        let groups = pairing.groups(&axes);
        let marks = groups.iter().filter_map(|group| {
            let point = &group.example()?.axes;
            if values_key(point, &self.others) != situation {
                return None;
            }
            let estimate = Difference::of(quantity, group).difference?;
            Some(mark(self.place(point)?, &estimate))
        });
        marks.collect()
    }

    fn figure(&self, quantity: &Quantity, situation: &Situation, series: Vec<Series>) -> Figure {
        let axis = self.axis.as_deref();
        let over = axis.map_or(String::new(), |axis| format!(" by {}", short(axis)));
        let (key, given) = (axis.unwrap_or("all points"), situation.1.clone());
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
