//! The real sweeps, traces and store behind [`SweepRunner`].

use std::path::{Path, PathBuf};

use super::stored::StoredCurves;
use super::{AnyError, Configuration, SweepOutcome, SweepRunner};
use crate::cli::run::complain;
use crate::cli::studies;
use crate::store::{RunSelector, Store, run_sweep};
use crate::sweep::{Experiment, RunState, SweepOptions};
use crate::workload::TraceFolder;
use bookahead_papers::findings::{FindingsFile, MeasuredCurves};
use bookahead_report::{self, ReportExtras};

/// Runs sweeps into one store and reads measured values back from it.
#[derive(Debug)]
pub struct StoredRunner {
    options: SweepOptions,
}

impl StoredRunner {
    /// A runner with these options.
    #[must_use]
    pub fn new(options: SweepOptions) -> Self {
        Self { options }
    }
}

impl SweepRunner for StoredRunner {
    fn find_trace(&self, file: &str) -> Result<PathBuf, AnyError> {
        let folder = TraceFolder {
            path: self.options.folders.traces.clone(),
            memory: self.options.folders.memory,
        };
        Ok(folder.find(file)?)
    }

    fn run(&mut self, configuration: &Configuration) -> Result<SweepOutcome, AnyError> {
        let experiment = Experiment::parse(
            studies(),
            &configuration.origin(),
            &configuration.text,
            None,
        )
        .inspect_err(complain)?;
        let name = experiment.sweep.name.clone();
        let replications = experiment.sweep.replications;
        let summary = run_sweep(experiment.sweep, &self.options)?;
        Ok(SweepOutcome {
            experiment: name,
            run: summary.run.unwrap_or_default(),
            replications,
            done: (summary.done_before + summary.tally.points) as u64,
            failed: summary.tally.failed_points as u64,
            interrupted: summary.state == RunState::Interrupted,
        })
    }

    fn curves(
        &self,
        runs: &[(&str, SweepOutcome)],
        findings: &FindingsFile,
    ) -> Result<Box<dyn MeasuredCurves>, AnyError> {
        let store = Store::open_read_only(studies(), &self.options.store)?;
        Ok(Box::new(StoredCurves::read(&store, runs, findings)?))
    }

    fn report(
        &self,
        run: &SweepOutcome,
        folder: &Path,
        extras: &ReportExtras,
    ) -> Result<(), AnyError> {
        let run = RunSelector::Id(run.run);
        let summary =
            bookahead_report::write(studies(), &self.options.store, &run, folder, extras)?;
        if let Some(kept) = summary.kept.sentence(folder) {
            crate::cli::say(kept);
        }
        Ok(())
    }
}
