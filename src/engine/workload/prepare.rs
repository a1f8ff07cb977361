//! From settings to the jobs of a simulation: find or generate records, clean, split, scale.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::arminius;
use super::battery::{self, Batteries};
use super::cleaning::{CleanedTrace, CleaningReport, clean};
use super::error::WorkloadError;
use super::job::Job;
use super::settings::{WorkloadSettings, WorkloadSource};
use super::swf::{ParsedTrace, Provenance, TraceFolder};
use super::whole;
use super::{lublin_feitelson, uniform_ratio};
use crate::units::Nodes;

/// Everything that simulations of one workload need to know about it; read-only, shared by all of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// What a report calls it; a model's label says that it is one.
    pub label: String,
    /// Recorded (and the file) or generated.
    pub provenance: Provenance,
    /// All usable jobs before the evaluated ones, at their original times: what statistics are learned from. Only their
    /// ratio of runtime to estimate and their classes matter.
    pub learning: Vec<Job>,
    /// The evaluated jobs: each battery starts at time 0 on an empty machine.
    pub batteries: Vec<Arc<[Job]>>,
    /// The compression factor f of each battery.
    pub factors: Vec<f64>,
    /// Offered load of the evaluated jobs by their estimates over their own span, before compression; `None` where they
    /// have no span.
    pub offered_load: Option<f64>,
    /// What cleaning dropped and noted.
    pub report: CleaningReport,
    /// SHA-256 over the records and [`WorkloadSettings::key`], in hex.
    pub content_hash: String,
    /// Whom to acknowledge, from the trace's header.
    pub acknowledgement: Option<String>,
}

/// Reads the trace or runs the model that `source` names, without cleaning or scaling it.
///
/// Settings with the same [`WorkloadSettings::source_key`] give the same records for the same seed, so one parsed trace
/// serves all of them. The seed matters for models only; `nodes` is the size of the machine that a model makes jobs for.
///
/// # Errors
/// [`WorkloadError`] where the trace is missing or faulty, or takes more memory than the folder's budget allows.
pub fn load(
    source: &WorkloadSource,
    nodes: Nodes,
    folder: &TraceFolder,
    seed: u64,
) -> Result<ParsedTrace, WorkloadError> {
    if let WorkloadSource::LublinFeitelson { jobs }
    | WorkloadSource::UniformRatio { jobs }
    | WorkloadSource::Arminius { jobs } = source
    {
        ParsedTrace::has_room(folder.memory, (*jobs).into(), "jobs")?;
    }
    match source {
        WorkloadSource::Trace { file } => Ok(folder.read(file)?),
        WorkloadSource::LublinFeitelson { jobs } => lublin_feitelson::generate(*jobs, nodes, seed),
        WorkloadSource::UniformRatio { jobs } => uniform_ratio::generate(*jobs, nodes, seed),
        WorkloadSource::Arminius { jobs } => Ok(arminius::generate(*jobs, seed)),
    }
}

/// Loads, cleans, splits and scales a workload.
///
/// # Errors
/// [`WorkloadError`] where the trace is missing or faulty, or the settings ask for what it does not hold.
pub fn prepare(
    settings: &WorkloadSettings,
    folder: &TraceFolder,
    seed: u64,
) -> Result<Workload, WorkloadError> {
    let trace = load(&settings.source, settings.nodes, folder, seed)?;
    prepare_parsed(&trace, settings, seed)
}

/// Cleans, splits and scales records that are already in memory; `seed` draws the second copy of a whole trace.
///
/// # Errors
/// [`WorkloadError`] where the settings ask for what the trace does not hold.
pub fn prepare_parsed(
    trace: &ParsedTrace,
    settings: &WorkloadSettings,
    seed: u64,
) -> Result<Workload, WorkloadError> {
    let CleanedTrace { jobs, report, .. } = clean(trace, &settings.cleaning, settings.nodes);
    report.require_estimates(&trace.label, &settings.cleaning)?;
    let (learning, split) = match &settings.whole {
        None => battery::split(&trace.label, report.records, jobs, settings)?,
        Some(whole) => {
            let (jobs, factor) =
                whole::whole(&trace.label, report.records, &jobs, settings, whole, seed)?;
            let batteries = Batteries {
                offered_load: battery::offered_load(&jobs, settings.nodes),
                batteries: vec![jobs],
                factors: vec![factor],
            };
            (Vec::new(), batteries)
        }
    };
    let Batteries {
        batteries,
        factors,
        offered_load,
    } = split;
    let mut hash = Sha256::new();
    hash.update(trace.content_hash.as_bytes());
    hash.update(settings.key().as_bytes());
    Ok(Workload {
        label: trace.label.clone(),
        provenance: trace.provenance.clone(),
        learning,
        batteries,
        factors,
        offered_load,
        report,
        content_hash: super::swf::hex(&hash.finalize()),
        acknowledgement: trace.header.acknowledgement(),
    })
}
