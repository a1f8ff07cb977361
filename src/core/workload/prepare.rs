//! From settings to the jobs of a simulation: find or generate records, clean, split, scale.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::arminius;
use super::battery::{self, Batteries, FirstJobs};
use super::cleaning::{CleanedTrace, CleaningReport, clean};
use super::error::WorkloadError;
use super::estimated::EstimatedJobs;
use super::job::Job;
use super::settings::{LoadTime, WorkloadSettings, WorkloadSource};
use super::swf::{ParsedTrace, Provenance, TraceFolder};
use super::whole;
use super::{lublin_feitelson, uniform_ratio};
use crate::random;
use crate::units::Nodes;

/// Everything that simulations of one workload need to know about it; read-only, shared by all of
/// them.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// What a report calls it; a model's label says that it is one.
    pub label: String,
    /// Recorded (and the file) or generated.
    pub provenance: Provenance,
    /// All usable jobs before the evaluated ones, at their original times: what statistics are
    /// learned from. Only their ratio of runtime to estimate and their classes matter.
    pub learning: FirstJobs,
    /// The evaluated jobs: each battery starts at time 0 on an empty machine.
    pub batteries: Vec<Arc<[Job]>>,
    /// The compression factor f of each battery.
    pub factors: Vec<f64>,
    /// Offered load of the evaluated jobs by their estimates over their own span, before
    /// compression; `None` where they have no span.
    pub offered_load: Option<f64>,
    /// What cleaning dropped and noted.
    pub report: CleaningReport,
    /// The size of the machine that the header of the records says.
    pub log_nodes: Option<Nodes>,
    /// SHA-256 over the records and [`WorkloadSettings::key`], in hex.
    pub content_hash: String,
    /// Whom to acknowledge, from the trace's header.
    pub acknowledgement: Option<String>,
}

/// Reads the trace or runs the model that `source` names, without cleaning or scaling it.
///
/// Settings with the same [`WorkloadSettings::source_key`] give the same records for the same seed,
/// so one parsed trace serves all of them. Seed and draw matter for models only; `nodes` is the
/// size of the machine that a model makes jobs for.
///
/// # Errors
/// [`WorkloadError`] where the trace is missing or faulty, or takes more memory than the folder's
/// budget allows.
pub fn load(
    source: &WorkloadSource,
    nodes: Nodes,
    folder: &TraceFolder,
    seed: u64,
    draw: u32,
) -> Result<ParsedTrace, WorkloadError> {
    if let WorkloadSource::LublinFeitelson { jobs }
    | WorkloadSource::UniformRatio { jobs }
    | WorkloadSource::Arminius { jobs } = source
    {
        ParsedTrace::has_room(folder.memory, (*jobs).into(), "jobs")?;
    }
    match source {
        WorkloadSource::Trace { file } => Ok(folder.read(file)?),
        WorkloadSource::LublinFeitelson { jobs } => {
            lublin_feitelson::generate(*jobs, nodes, seed, draw)
        }
        WorkloadSource::UniformRatio { jobs } => uniform_ratio::generate(*jobs, nodes, seed, draw),
        WorkloadSource::Arminius { jobs } => Ok(arminius::generate(*jobs, seed, draw)),
    }
}

/// Loads, cleans, splits and scales a workload; where replications are fresh, that of the first
/// one.
///
/// # Errors
/// [`WorkloadError`] where the trace is missing or faulty, or the settings ask for what it does not
/// hold.
pub fn prepare(
    settings: &WorkloadSettings,
    folder: &TraceFolder,
    seed: u64,
) -> Result<Workload, WorkloadError> {
    let trace = load(&settings.source, settings.nodes, folder, seed, 0)?;
    prepare_parsed(&trace, settings, seed)
}

/// Cleans, splits and scales records that are already in memory; where replications are fresh, for
/// the first one.
///
/// # Errors
/// [`WorkloadError`] where the settings ask for what the trace does not hold.
pub fn prepare_parsed(
    trace: &ParsedTrace,
    settings: &WorkloadSettings,
    seed: u64,
) -> Result<Workload, WorkloadError> {
    prepare_usable(&usable_jobs(trace, settings, seed, 0)?, settings, seed, 0)
}

/// The usable jobs of a trace, before they are split and scaled: fresh replications of a log share
/// them.
#[derive(Clone, Debug)]
pub struct UsableJobs {
    label: String,
    provenance: Provenance,
    jobs: EstimatedJobs,
    report: CleaningReport,
    log_nodes: Option<Nodes>,
    content_hash: String,
    acknowledgement: Option<String>,
}

/// Cleans records, tightens estimates and ends jobs early where the settings say so, and gives the
/// jobs the deadlines that they have at their original times. Seed and draw, which is that of the
/// records, say which jobs end early.
///
/// # Errors
/// [`WorkloadError`] where the settings refuse what the trace holds.
pub fn usable_jobs(
    trace: &ParsedTrace,
    settings: &WorkloadSettings,
    seed: u64,
    draw: u32,
) -> Result<UsableJobs, WorkloadError> {
    let CleanedTrace { jobs, report, .. } = clean(trace, &settings.cleaning, settings.nodes);
    report.require_estimates(&trace.label, &settings.cleaning)?;
    let chances = random::stream(seed, &settings.source_key(), draw, "early ends");
    Ok(UsableJobs {
        label: trace.label.clone(),
        provenance: trace.provenance.clone(),
        jobs: EstimatedJobs::of(jobs, settings, chances),
        report,
        log_nodes: trace.header.machine().map(Nodes),
        content_hash: trace.content_hash.clone(),
        acknowledgement: trace.header.acknowledgement(),
    })
}

/// Splits and scales jobs that are usable by the same settings for a replication, which matters
/// where replications are fresh; `seed` draws the second copy of a whole trace.
///
/// # Errors
/// [`WorkloadError`] where the settings ask for what the jobs do not hold.
pub fn prepare_usable(
    usable: &UsableJobs,
    settings: &WorkloadSettings,
    seed: u64,
    replication: u32,
) -> Result<Workload, WorkloadError> {
    let UsableJobs {
        label,
        report,
        jobs,
        ..
    } = usable;
    let (learning, split) = match &settings.whole {
        None => battery::split(label, report.records, jobs, settings, replication)?,
        Some(whole) => {
            let draw = settings.draw_of(replication);
            let stream = |key: &str| random::stream(seed, key, draw, "trace copy");
            let (jobs, factor) =
                whole::whole(label, report.records, jobs, settings, whole, stream)?;
            let batteries = Batteries {
                offered_load: battery::offered_load(&jobs, settings.nodes, LoadTime::Estimates),
                batteries: vec![jobs],
                factors: vec![factor],
            };
            (FirstJobs::from(Vec::new()), batteries)
        }
    };
    let Batteries {
        batteries,
        factors,
        offered_load,
    } = split;
    let mut hash = Sha256::new();
    hash.update(usable.content_hash.as_bytes());
    hash.update(settings.key().as_bytes());
    Ok(Workload {
        label: label.clone(),
        provenance: usable.provenance.clone(),
        learning,
        batteries,
        factors,
        offered_load,
        report: report.clone(),
        log_nodes: usable.log_nodes,
        content_hash: super::swf::hex(&hash.finalize()),
        acknowledgement: usable.acknowledgement.clone(),
    })
}

#[cfg(test)]
mod tests;
