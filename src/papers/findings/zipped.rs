//! Axes of a run that moved together (`[[zip]]` of an experiment): one of them says where a cell
//! is, the others follow.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::curves::{CurveCell, MeasuredCurves};
use bookahead_lab::sweep::Axis;

/// Keys of a run that moved together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zipped {
    /// The stem of the configuration.
    pub run: String,
    /// The axis that names the place: no two rows of the zip agree on it.
    pub leads: String,
    /// The axes that follow it. Checks do not know them.
    pub follow: Vec<String>,
}

/// Measured curves without the axes that follow others.
pub(super) struct WithZipped<'c> {
    curves: &'c dyn MeasuredCurves,
    zipped: &'c [Zipped],
    /// The axes of each zipped run; `None` where it was not made.
    axes: Vec<Option<Vec<Axis>>>,
}

impl<'c> WithZipped<'c> {
    pub(super) fn new(curves: &'c dyn MeasuredCurves, zipped: &'c [Zipped]) -> Self {
        let rest = |zipped: &Zipped| {
            let axes = curves.axes(&zipped.run)?.iter();
            Some(
                axes.filter(|axis| !zipped.follow.contains(&axis.key))
                    .cloned()
                    .collect(),
            )
        };
        Self {
            curves,
            zipped,
            axes: zipped.iter().map(rest).collect(),
        }
    }

    fn place(&self, run: &str) -> Option<usize> {
        self.zipped.iter().position(|zipped| zipped.run == run)
    }
}

impl MeasuredCurves for WithZipped<'_> {
    fn axes(&self, run: &str) -> Option<&[Axis]> {
        match self.place(run) {
            None => self.curves.axes(run),
            Some(place) => self.axes[place].as_deref(),
        }
    }

    // Two rows that agree on the leading axis become two cells at one place, which the selection of
    // cells refuses.
    fn cells(&self, run: &str, measure: &str) -> Vec<CurveCell> {
        let mut cells = self.curves.cells(run, measure);
        if let Some(place) = self.place(run) {
            let follow = &self.zipped[place].follow;
            for cell in &mut cells {
                let values = std::mem::take(&mut cell.values);
                cell.values = values
                    .into_iter()
                    .filter(|(key, _)| !follow.contains(key))
                    .collect::<BTreeMap<_, _>>();
            }
        }
        cells
    }
}
