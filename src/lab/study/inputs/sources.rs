//! The seam between a sweep and the modules that make inputs: everything that a sweep asks of them.

use std::sync::Arc;

use super::{InputError, InputFolders};
use crate::estimates::{EstimateModel, EstimateSettings, LearningJobs};
use crate::failures::{
    self, FailureFolder, FailureSettings, FailureTrace, FailuresByLoad, LanlTable,
};
use crate::units::{Nodes, Seconds};
use crate::workload::workflows::{Negatives, Workflow, WorkflowFolder};
use crate::workload::{
    self, CleaningReport, FirstJobs, Job, ParsedTrace, TraceFolder, UsableJobs, WorkloadSettings,
};

/// Where a sweep finds traces, failure tables and workflows, and how it makes jobs, statistics and
/// failures of them.
#[derive(Clone, Debug)]
pub struct InputSources {
    traces: TraceFolder,
    failures: FailureFolder,
    workflows: WorkflowFolder,
}

impl InputSources {
    /// Sources that look for files in these folders, within their budget of memory.
    #[must_use]
    pub fn new(folders: &InputFolders) -> Self {
        Self {
            traces: TraceFolder {
                path: folders.traces.clone(),
                memory: folders.memory,
            },
            failures: FailureFolder {
                path: folders.failures.clone(),
                memory: folders.memory,
            },
            workflows: WorkflowFolder {
                path: folders.workflows.clone(),
                memory: folders.memory,
            },
        }
    }
}

impl InputSources {
    /// Settings with the same text share records.
    pub(super) fn source_key(&self, settings: &WorkloadSettings) -> String {
        settings.source_key()
    }

    /// A text that names the workload with everything that shapes its jobs.
    pub(super) fn workload_key(&self, settings: &WorkloadSettings) -> String {
        settings.key()
    }

    /// Reads the records, or generates a draw of them, beside others that take `held` bytes.
    ///
    /// # Errors
    ///
    /// When a trace is missing or faulty, or there is no room for its records.
    pub(super) fn records(
        &self,
        settings: &WorkloadSettings,
        seed: u64,
        draw: u32,
        held: u64,
    ) -> Result<ParsedTrace, InputError> {
        let folder = TraceFolder {
            memory: self.traces.memory.without(held),
            ..self.traces.clone()
        };
        workload::load(&settings.source, settings.nodes, &folder, seed, draw)
            .map_err(|error| InputError::Workload(error.to_string()))
    }

    /// Cleans the records, a draw of them, and ends jobs early where the settings say so.
    ///
    /// # Errors
    ///
    /// When the settings refuse what the records hold.
    pub(super) fn usable(
        &self,
        records: &ParsedTrace,
        settings: &WorkloadSettings,
        seed: u64,
        draw: u32,
    ) -> Result<UsableJobs, InputError> {
        workload::usable_jobs(records, settings, seed, draw)
            .map_err(|error| InputError::Workload(error.to_string()))
    }

    /// Splits and scales usable jobs for a replication; the seed matters where a part of them is
    /// drawn.
    ///
    /// # Errors
    ///
    /// When the settings ask for what the jobs do not hold.
    pub(super) fn workload(
        &self,
        usable: &UsableJobs,
        settings: &WorkloadSettings,
        seed: u64,
        replication: u32,
    ) -> Result<PreparedWorkload, InputError> {
        let workload = workload::prepare_usable(usable, settings, seed, replication)
            .map_err(|error| InputError::Workload(error.to_string()))?;
        Ok(PreparedWorkload {
            label: workload.label,
            learning: workload.learning,
            batteries: workload.batteries,
            first_factor: workload.factors.first().copied().unwrap_or(1.0),
            cleaning: workload.report,
            nodes: settings.nodes,
            log_nodes: workload.log_nodes,
            content_hash: workload.content_hash,
        })
    }

    /// Learns the statistics.
    ///
    /// # Errors
    ///
    /// When there is nothing to learn from.
    pub(super) fn estimates(
        &self,
        workload: &PreparedWorkload,
        settings: &EstimateSettings,
    ) -> Result<EstimateModel, InputError> {
        let evaluated: Vec<Job>;
        let learning = match settings.learn_from {
            LearningJobs::Before => &workload.learning[..],
            LearningJobs::Evaluated => {
                evaluated = workload
                    .batteries
                    .iter()
                    .flat_map(|battery| battery.iter().cloned())
                    .collect();
                &evaluated
            }
        };
        EstimateModel::learn(learning, settings).map_err(|error| InputError::Estimates {
            workload: workload.label.clone(),
            reason: error.to_string(),
        })
    }

    /// Reads the table of failures that the settings name, if they name one.
    ///
    /// # Errors
    ///
    /// When the failure data is missing or faulty.
    pub(super) fn failure_table(
        &self,
        settings: &FailureSettings,
    ) -> Result<Option<LanlTable>, InputError> {
        failures::read_table(settings, &self.failures)
            .map_err(|error| InputError::Failures(error.to_string()))
    }

    /// Replays or generates node failures up to a horizon.
    ///
    /// # Errors
    ///
    /// When a setting is impossible.
    pub(super) fn failures(
        &self,
        table: &Option<LanlTable>,
        request: &FailureRequest<'_>,
    ) -> Result<FailureTrace, InputError> {
        failures::prepare_with_table(
            request.settings,
            table.as_ref(),
            request.nodes,
            request.horizon,
            request.seed,
            request.workload_key,
            request.replication,
        )
        .map_err(|error| InputError::Failures(error.to_string()))
    }

    /// Draws the failures that may happen up to a horizon, by the load.
    ///
    /// # Errors
    ///
    /// When a setting is impossible, or the failures are known beforehand.
    pub(super) fn failures_by_load(
        &self,
        request: &FailureRequest<'_>,
    ) -> Result<FailuresByLoad, InputError> {
        let drawn = failures::prepare_by_load(
            request.settings,
            request.nodes,
            request.horizon,
            request.seed,
            request.workload_key,
            request.replication,
        );
        let drawn = drawn.map_err(|error| InputError::Failures(error.to_string()))?;
        Ok(drawn.unwrap_or_default())
    }

    /// Reads the workflow in a file, with the hash of the file's content.
    ///
    /// # Errors
    ///
    /// When the file is missing or faulty.
    pub(super) fn workflow(
        &self,
        file: &str,
        negatives: Negatives,
    ) -> Result<(Workflow, String), InputError> {
        let read = self.workflows.read(file, negatives);
        let (read, hash) = read.map_err(|error| InputError::Workflow(error.to_string()))?;
        Ok((read.workflow, hash))
    }
}

/// The jobs of a workload as a sweep needs them.
#[derive(Clone, Debug)]
pub struct PreparedWorkload {
    /// Its name for people.
    pub label: String,
    /// The jobs that statistics are learned from.
    pub learning: FirstJobs,
    /// The jobs of each replication; where replications are fresh, those of one.
    pub batteries: Vec<Arc<[Job]>>,
    /// The compression factor of the first one.
    pub first_factor: f64,
    /// What cleaning dropped and noted.
    pub cleaning: CleaningReport,
    /// Size of the machine.
    pub nodes: Nodes,
    /// The size of the machine that the header of the records says.
    pub log_nodes: Option<Nodes>,
    /// Hash of everything that determines the jobs.
    pub content_hash: String,
}

/// Which failures are asked for.
#[derive(Clone, Copy, Debug)]
pub struct FailureRequest<'a> {
    /// Where they come from.
    pub settings: &'a FailureSettings,
    /// Size of the machine.
    pub nodes: Nodes,
    /// No event is needed from here on.
    pub horizon: Seconds,
    /// The sweep's seed.
    pub seed: u64,
    /// Names the workload for random streams.
    pub workload_key: &'a str,
    /// The replication.
    pub replication: u32,
}
