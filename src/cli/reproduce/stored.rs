//! Curves from the store, for judging findings.

use std::collections::{BTreeMap, BTreeSet};

use super::SweepOutcome;
use crate::store::{PAIRED_MEASURES, RunId, Store, StoreError};
use crate::sweep::{Axis, AxisValue};
use bookahead_papers::findings::{CurveCell, FindingsFile, MeasuredCurves, Paired};

/// Values on the axes, and replications with their values.
type PairedCell<'v> = (&'v BTreeMap<String, AxisValue>, Vec<(u32, f64)>);

/// Every curve that some findings ask for, read from the runs of their configurations.
#[derive(Debug, Default)]
pub struct StoredCurves {
    axes: BTreeMap<String, Vec<Axis>>,
    replications: BTreeMap<String, u32>,
    cells: BTreeMap<(String, String), Vec<CurveCell>>,
}

impl StoredCurves {
    /// Reads what the findings ask for of these runs (stem of the configuration, and how its sweep
    /// ended), each curve once.
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
            // A derived run is made of curves of its own run.
            .map(|(run, measure)| (findings.made_of(run), measure))
            .collect();
        for (stem, outcome) in runs {
            let run = RunId(outcome.run);
            curves.axes.insert((*stem).to_owned(), store.axes(run)?);
            curves
                .replications
                .insert((*stem).to_owned(), outcome.replications);
            for (_, measure) in wanted.iter().filter(|(wanted, _)| wanted == stem) {
                let cells = store
                    .curve_cells(run, measure)?
                    .into_iter()
                    .filter_map(|cell| {
                        let replications = cell.samples.iter().map(|(replication, _)| *replication);
                        let seen = replications.zip(cell.seen).collect();
                        Some(CurveCell::new(cell.values, cell.samples)?.that_saw(seen))
                    })
                    .collect();
                curves
                    .cells
                    .insert(((*stem).to_owned(), (*measure).to_owned()), cells);
            }
            for paired in findings.paired.iter().filter(|paired| paired.of == *stem) {
                curves.pair(store, run, paired)?;
            }
        }
        Ok(curves)
    }

    fn pair(&mut self, store: &Store, run: RunId, paired: &Paired) -> Result<(), StoreError> {
        let axes = paired.axes(&store.axes(run)?);
        self.axes.insert(paired.run.clone(), axes);
        let pairs = store.paired_requests(run, &paired.left, &paired.right)?;
        for measure in PAIRED_MEASURES {
            let mut cells: Vec<PairedCell<'_>> = Vec::new();
            for pair in &pairs {
                let Some((_, value)) = pair.measures.iter().find(|(name, _)| *name == measure)
                else {
                    continue;
                };
                let sample = (pair.replication, *value);
                match cells.iter_mut().find(|(values, _)| *values == &pair.values) {
                    Some((_, samples)) => samples.push(sample),
                    None => cells.push((&pair.values, vec![sample])),
                }
            }
            let cells = cells
                .into_iter()
                .filter_map(|(values, mut samples)| {
                    // A sum of fractions depends on its order.
                    samples.sort_by_key(|(replication, _)| *replication);
                    CurveCell::new(values.clone(), samples)
                })
                .collect();
            let key = (paired.run.clone(), measure.to_owned());
            self.cells.insert(key, cells);
        }
        Ok(())
    }
}

impl MeasuredCurves for StoredCurves {
    fn axes(&self, run: &str) -> Option<&[Axis]> {
        self.axes.get(run).map(Vec::as_slice)
    }

    fn replications(&self, run: &str) -> u32 {
        self.replications.get(run).copied().unwrap_or_default()
    }

    fn cells(&self, run: &str, measure: &str) -> Vec<CurveCell> {
        self.cells
            .get(&(run.to_owned(), measure.to_owned()))
            .cloned()
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studies::STUDIES;
    use bookahead_papers::findings::{self, MeasureNames, evaluate};
    use bookahead_testutils::runs::grid::grid;
    use bookahead_testutils::runs::{axis, finished, point, record, text, write_run};

    const FILE: &str = r#"

[[derived]]
run = "by backfilling"
of = "e4"
along = "broker.algorithm"
from = "a3"
to = "a3-backfill"

[[paired]]
run = "backfilling alone"
of = "e4"
left = { "broker.algorithm" = "a3" }
right = { "broker.algorithm" = "a3-backfill" }

[[finding]]
id = "T14"
section = "7.4"
statement = "Two requests are granted only with backfilling."
provenance = "stated"
[finding.value]
run = "backfilling alone"
measure = "only_right"
expected = 2
tolerance = 0

[[finding]]
id = "T14-rate"
section = "7.4"
statement = "The failure rate falls."
provenance = "stated"
[finding.value]
run = "by backfilling"
measure = "co_failure_rate"
expected = -0.25
tolerance = 0

[[finding]]
id = "T15"
section = "7.4"
statement = "A quarter of all requests is infeasible at the second cluster."
provenance = "stated"
[finding.value]
run = "e4"
measure = "infeasibility_rate@1"
at = { "broker.algorithm" = "a3" }
expected = 0.25
tolerance = 0
"#;

    #[test]
    fn findings_about_pairs_of_requests_differences_and_clusters_are_judged_from_the_store() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let algorithms = ["a3", "a3-backfill"];
        let mut simulations = Vec::new();
        for algorithm in algorithms {
            for replication in 0..2 {
                let result = grid(2, 8, |request| {
                    request % 2 == 0 || (algorithm == "a3-backfill" && request > 4)
                });
                let id = format!("{algorithm}-{replication}");
                let values = [("broker.algorithm", text(algorithm))];
                let points = vec![point(&id, &values, replication, 1.0)];
                simulations.push(finished(&id, "co-reservation", replication, result, points));
            }
        }
        let axes = vec![axis("broker.algorithm", &algorithms.map(text))];
        let run = write_run(&path, &record("e4", axes, 4), simulations);
        let file = findings::parse("findings.toml", FILE, STUDIES, MeasureNames::Known).unwrap();
        assert_eq!(file.made_of("backfilling alone"), "e4");
        let outcome = SweepOutcome {
            experiment: "e4".to_owned(),
            run: run.0,
            replications: 2,
            done: 4,
            failed: 0,
            interrupted: false,
        };
        let store = Store::open_read_only(STUDIES, &path).unwrap();
        let curves = StoredCurves::read(&store, &[("e4", outcome)], &file).unwrap();
        assert_eq!(curves.axes("backfilling alone"), Some(&[][..]));
        let results = evaluate(&file, &curves, None);
        for result in &results {
            assert_eq!(
                result.verdict,
                findings::Verdict::Held,
                "{}: {:?}",
                result.finding.id,
                result.judged
            );
        }
        assert_eq!(results.len(), 3);

        let unknown = FILE.replace("infeasibility_rate@1", "infeasibility_rate@x");
        let error = findings::parse("findings.toml", &unknown, STUDIES, MeasureNames::Known)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("unknown measure `infeasibility_rate@x`"),
            "{error}"
        );
        let nothing = FILE.replace(r#"left = { "broker.algorithm" = "a3" }"#, "left = {}");
        let error = findings::parse("findings.toml", &nothing, STUDIES, MeasureNames::Any)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("run `backfilling alone`: `left` fixes no axis"),
            "{error}"
        );
    }
}
