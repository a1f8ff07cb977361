//! Curves as the store has them, for whoever judges findings.

use std::collections::{BTreeMap, BTreeSet};

use super::SweepOutcome;
use crate::report::findings::{CurveCell, FindingsFile, MeasuredCurves};
use crate::scheduling::measures::MEASURES;
use crate::store::{RunId, Store, StoreError, curve_metrics};
use crate::sweep::Axis;

/// Every curve that some findings ask for, read from the runs of their configurations.
#[derive(Debug, Default)]
pub struct StoredCurves {
    axes: BTreeMap<String, Vec<Axis>>,
    cells: BTreeMap<(String, String), Vec<CurveCell>>,
}

impl StoredCurves {
    /// Reads what the findings ask for of these runs (stem of the configuration, and how its sweep ended), each curve once.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn read(
        store: &Store,
        runs: &[(&str, SweepOutcome)],
        findings: &FindingsFile,
    ) -> Result<Self, StoreError> {
        let mut curves = Self::default();
        let wanted: BTreeSet<(&str, &str)> = findings
            .findings
            .iter()
            .flat_map(|finding| finding.sources())
            .collect();
        for (stem, outcome) in runs {
            let run = RunId(outcome.run);
            curves.axes.insert((*stem).to_owned(), store.axes(run)?);
            for (_, measure) in wanted.iter().filter(|(wanted, _)| wanted == stem) {
                let cells = store
                    .curve_cells(run, measure)?
                    .into_iter()
                    .filter_map(|cell| CurveCell::new(cell.values, cell.samples))
                    .collect();
                curves
                    .cells
                    .insert(((*stem).to_owned(), (*measure).to_owned()), cells);
            }
        }
        Ok(curves)
    }
}

impl MeasuredCurves for StoredCurves {
    fn axes(&self, run: &str) -> Option<&[Axis]> {
        self.axes.get(run).map(Vec::as_slice)
    }

    fn cells(&self, run: &str, measure: &str) -> Vec<CurveCell> {
        self.cells
            .get(&(run.to_owned(), measure.to_owned()))
            .cloned()
            .unwrap_or_default()
    }
}

/// The names that a finding may give as `measure`: the measures of studies, and totals of jobs.
#[must_use]
pub fn known_measures() -> Vec<&'static str> {
    MEASURES
        .iter()
        .map(|measure| measure.name)
        .chain(curve_metrics())
        .collect()
}
