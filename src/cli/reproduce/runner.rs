//! The real sweeps, traces and store behind [`SweepRunner`].

use std::path::{Path, PathBuf};

use super::stored::StoredCurves;
use super::{AnyError, Configuration, SweepOutcome, SweepRunner};
use crate::cli::run::complain;
use crate::cli::studies;
use crate::store::{RunSelector, RunSummary, Store, StoreError, dry_run, run_sweep};
use crate::sweep::{Experiment, RunState, Sweep, SweepOptions};
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

    /// The newest run that holds every point of this sweep, all of them done with the detail that
    /// is asked for: another one would only point to the same results.
    fn standing(&self, sweep: &Sweep) -> Result<Option<RunSummary>, AnyError> {
        if !self.options.store.exists() {
            return Ok(None);
        }
        let store = match Store::open_read_only(studies(), &self.options.store) {
            // Its results will stand there, too: it is brought up to date as if it were written.
            Err(StoreError::OlderVersion { .. }) => {
                Store::open_existing(studies(), &self.options.store)?
            }
            opened => opened?,
        };
        let mut runs = store.runs()?;
        drop(store);
        runs.retain(|run| {
            let is_whole = run.state == "done" && run.points_done == run.points;
            is_whole && run.configuration == sweep.text
        });
        if runs.is_empty() {
            return Ok(None);
        }
        // What stands in the inputs is part of what a point is, so they are read.
        let (sweep, plan) = dry_run(sweep.clone(), &self.options)?;
        if plan.done < plan.points {
            return Ok(None);
        }
        let wanted = sweep.points.iter().map(|point| point.id.as_str());
        let wanted: Vec<String> = wanted.map(str::to_owned).collect();
        let store = Store::open_read_only(studies(), &self.options.store)?;
        for run in runs.into_iter().rev() {
            if identities(&store, &run)? == wanted {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }
}

/// The content hashes of a run's points, in the order of the sweep.
fn identities(store: &Store, run: &RunSummary) -> Result<Vec<String>, AnyError> {
    let mut identities = Vec::new();
    let question = format!(
        "SELECT identity FROM v_point WHERE run = {} ORDER BY place",
        run.id.0
    );
    store.query(&question, &mut |_| Ok(()), &mut |row| {
        identities.extend(row.first().map(ToString::to_string));
        Ok(true)
    })?;
    Ok(identities)
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
        if let Some(run) = self.standing(&experiment.sweep)? {
            crate::cli::say(format_args!(
                "nothing to do: the results of run {} stand",
                run.id.0
            ));
            return Ok(SweepOutcome {
                experiment: name,
                run: run.id.0,
                replications,
                done: run.points_done,
                failed: 0,
                interrupted: false,
            });
        }
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
