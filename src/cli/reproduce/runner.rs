//! Reproducing with the real sweeps, traces and store behind [`SweepRunner`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::stored::StoredCurves;
use super::{Configuration, RoomError, SweepOutcome, SweepRunner};
use crate::cli::run::complain;
use crate::report::claims::{Alignment, Experiment as Part, Measured, Sample, Samples};
use crate::report::findings::{FindingsFile, MeasuredCurves};
use crate::report::{self, ClaimsSection, ReportExtras};
use crate::store::run_sweep;
use crate::store::{PointColumns, RunSelector, Store};
use crate::sweep::{AxisValue, Experiment, RunState, SweepOptions};
use crate::workload::TraceFolder;

/// The axis of an experiment on alignments.
const OFFSET: &str = "failures.offset_hours";

/// Runs sweeps into one store and reads measured values back from it.
#[derive(Debug)]
pub struct HouseRunner {
    options: SweepOptions,
}

impl HouseRunner {
    /// A runner with these options.
    #[must_use]
    pub fn new(options: SweepOptions) -> Self {
        Self { options }
    }
}

impl SweepRunner for HouseRunner {
    fn find_trace(&self, file: &str) -> Result<PathBuf, RoomError> {
        let folder = TraceFolder {
            path: self.options.folders.traces.clone(),
        };
        Ok(folder.find(file)?)
    }

    fn run(&mut self, configuration: &Configuration) -> Result<SweepOutcome, RoomError> {
        let experiment = Experiment::parse(&configuration.origin(), &configuration.text, None)
            .inspect_err(complain)?;
        let name = experiment.sweep.name.clone();
        let summary = run_sweep(experiment.sweep, &self.options)?;
        Ok(SweepOutcome {
            experiment: name,
            run: summary.run.unwrap_or_default(),
            done: (summary.done_before + summary.tally.points) as u64,
            failed: summary.tally.failed_points as u64,
            interrupted: summary.state == RunState::Interrupted,
        })
    }

    fn measured(
        &self,
        runs: &[SweepOutcome],
        batteries: usize,
    ) -> Result<Box<dyn Measured>, RoomError> {
        let mut samples = Samples::new(batteries);
        for (part, outcome) in [Part::Pof, Part::Risk].into_iter().zip(runs) {
            read_samples(&self.options.store, outcome.run, part, &mut samples)?;
        }
        Ok(Box::new(samples))
    }

    fn alignments(
        &self,
        run: &SweepOutcome,
        batteries: usize,
    ) -> Result<Vec<Alignment>, RoomError> {
        // Offsets in thousandths of an hour, so that they can be told apart and sorted.
        let mut offsets: BTreeMap<i64, Samples> = BTreeMap::new();
        let store = Store::open_read_only(&self.options.store)?;
        let run = store.run(&RunSelector::Id(run.run))?.id;
        let points = store.points(run)?;
        for point in 0..points.len() {
            let Some(&AxisValue::Real(hours)) = value(&points, OFFSET, point) else {
                continue;
            };
            let samples = offsets
                .entry((hours * 1e3).round() as i64)
                .or_insert_with(|| Samples::new(batteries));
            add_sample(&points, point, Part::Risk, samples);
        }
        Ok(offsets
            .into_iter()
            .map(|(thousandths, samples)| Alignment {
                offset_hours: thousandths as f64 / 1e3,
                measured: Box::new(samples),
            })
            .collect())
    }

    fn curves(
        &self,
        runs: &[(&str, SweepOutcome)],
        findings: &FindingsFile,
    ) -> Result<Box<dyn MeasuredCurves>, RoomError> {
        let store = Store::open_read_only(&self.options.store)?;
        Ok(Box::new(StoredCurves::read(&store, runs, findings)?))
    }

    fn report(
        &self,
        run: &SweepOutcome,
        folder: &Path,
        claims: Option<ClaimsSection>,
    ) -> Result<(), RoomError> {
        let extras = ReportExtras {
            claims,
            ..ReportExtras::default()
        };
        let run = RunSelector::Id(run.run);
        report::write_with(&self.options.store, &run, folder, &extras)?;
        Ok(())
    }
}

fn read_samples(
    store: &Path,
    run: i64,
    part: Part,
    samples: &mut Samples,
) -> Result<(), RoomError> {
    let store = Store::open_read_only(store)?;
    let run = store.run(&RunSelector::Id(run))?.id;
    let points = store.points(run)?;
    for point in 0..points.len() {
        add_sample(&points, point, part, samples);
    }
    Ok(())
}

/// Adds what one battery gave at a point; a point without classes or setting is none of the paper's.
fn add_sample(points: &PointColumns, point: usize, part: Part, samples: &mut Samples) {
    let Some(AxisValue::Text(family)) = value(points, "estimates.classes", point) else {
        return;
    };
    let at = match (part, value(points, "acceptance.pof_max", point)) {
        (Part::Pof, Some(&AxisValue::Real(threshold))) => threshold,
        (Part::Pof, _) => return,
        (Part::Risk, _) => points.penalty_ratio[point],
    };
    samples.push(
        part,
        family,
        &points.strategy[point],
        at,
        points.replication[point],
        Sample {
            fees: points.fees[point],
            forfeited: points.forfeited[point],
            successful: points.successful[point].unsigned_abs(),
            failed: points.failed[point].unsigned_abs(),
        },
    );
}

fn value<'a>(points: &'a PointColumns, key: &str, point: usize) -> Option<&'a AxisValue> {
    let column = points.axes.iter().find(|column| column.axis.key == key)?;
    column.axis.values.get(column.positions[point]? as usize)
}
