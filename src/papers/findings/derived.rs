//! Differences of curves along an axis, as runs of their own: the effect of a setting, in the words
//! of a paper ("the start factor matters less under move").

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::curves::{CurveCell, MeasuredCurves};
use bookahead_lab::sweep::{Axis, AxisValue};
use bookahead_report::same;
use bookahead_report::statistics::Estimate;

/// A run whose values are differences between two places on an axis of another run. The axis itself
/// is gone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Derived {
    /// Its name, used as `run` by checks.
    pub run: String,
    /// The run that it is made of.
    pub of: String,
    /// The axis.
    pub along: String,
    /// The place that is subtracted.
    pub from: AxisValue,
    /// The place that it is subtracted from.
    pub to: AxisValue,
}

/// Measured curves, and the runs that are derived from them.
pub(super) struct WithDerived<'c> {
    curves: &'c dyn MeasuredCurves,
    derived: &'c [Derived],
    /// The axes of each derived run; `None` where it is made of a run that there is not.
    axes: Vec<Option<Vec<Axis>>>,
}

impl<'c> WithDerived<'c> {
    pub(super) fn new(curves: &'c dyn MeasuredCurves, derived: &'c [Derived]) -> Self {
        let without = |derived: &Derived| {
            let axes = curves.axes(&derived.of)?.iter();
            Some(
                axes.filter(|axis| axis.key != derived.along)
                    .cloned()
                    .collect(),
            )
        };
        Self {
            curves,
            derived,
            axes: derived.iter().map(without).collect(),
        }
    }
}

impl MeasuredCurves for WithDerived<'_> {
    fn axes(&self, run: &str) -> Option<&[Axis]> {
        match self.derived.iter().position(|derived| derived.run == run) {
            None => self.curves.axes(run),
            Some(place) => self.axes[place].as_deref(),
        }
    }

    fn cells(&self, run: &str, measure: &str) -> Vec<CurveCell> {
        let Some(derived) = self.derived.iter().find(|derived| derived.run == run) else {
            return self.curves.cells(run, measure);
        };
        let cells = self.curves.cells(&derived.of, measure);
        let at = |cell: &CurveCell, place: &AxisValue| {
            let found = cell.values.get(&derived.along);
            found.is_some_and(|value| same(value, place))
        };
        let rest = |cell: &CurveCell| -> BTreeMap<String, AxisValue> {
            let mut values = cell.values.clone();
            values.remove(&derived.along);
            values
        };
        cells
            .iter()
            .filter(|cell| at(cell, &derived.to))
            .filter_map(|cell| {
                let values = rest(cell);
                let other = cells
                    .iter()
                    .find(|other| at(other, &derived.from) && rest(other) == values)?;
                difference(cell, other, values)
            })
            .collect()
    }
}

/// Replications are paired where both have them and saw the same; else the means are subtracted and
/// nothing is known of their spread.
fn difference(
    cell: &CurveCell,
    other: &CurveCell,
    values: BTreeMap<String, AxisValue>,
) -> Option<CurveCell> {
    let samples: Vec<(u32, f64)> = (cell.pairs(other).into_iter())
        .map(|(replication, value, below)| (replication, value - below))
        .collect();
    if samples.is_empty() {
        let mean = cell.estimate.mean - other.estimate.mean;
        return Some(CurveCell {
            values,
            estimate: Estimate::without_interval(1, mean),
            samples,
            seen: BTreeMap::new(),
        });
    }
    let difference = CurveCell::new(values, samples)?;
    Some(difference.that_saw(cell.seen.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Two(Vec<Axis>);

    impl MeasuredCurves for Two {
        fn axes(&self, _: &str) -> Option<&[Axis]> {
            Some(&self.0)
        }

        fn cells(&self, _: &str, _: &str) -> Vec<CurveCell> {
            let cell = |a: f64, samples: [f64; 2]| CurveCell {
                values: BTreeMap::from([
                    ("a".to_owned(), AxisValue::Real(a)),
                    ("b".to_owned(), AxisValue::Text("x".to_owned())),
                ]),
                estimate: Estimate::of(&samples).unwrap(),
                samples: (0..).zip(samples).collect(),
                seen: BTreeMap::new(),
            };
            vec![cell(1.0, [1.0, 3.0]), cell(2.0, [5.0, 8.0])]
        }
    }

    #[test]
    fn the_effect_of_an_axis_is_a_run_without_it() {
        let derived = [Derived {
            run: "effect".to_owned(),
            of: "main".to_owned(),
            along: "a".to_owned(),
            from: AxisValue::Real(1.0),
            to: AxisValue::Integer(2),
        }];
        let axis = |key: &str, values: Vec<AxisValue>| Axis {
            key: key.to_owned(),
            values,
        };
        let two = Two(vec![
            axis("a", vec![AxisValue::Real(1.0), AxisValue::Real(2.0)]),
            axis("b", vec![AxisValue::Text("x".to_owned())]),
        ]);
        let curves = WithDerived::new(&two, &derived);
        let axes = curves.axes("effect").unwrap();
        assert_eq!(axes.len(), 1);
        let cells = curves.cells("effect", "anything");
        assert_eq!(cells.len(), 1);
        // 5 − 1 and 8 − 3.
        assert_eq!(cells[0].samples, [(0, 4.0), (1, 5.0)]);
        assert!((cells[0].estimate.mean - 4.5).abs() < 1e-12);
        assert_eq!(curves.cells("main", "anything").len(), 2);
    }
}
