//! What a simulation will cost: how long, and how much of the disk. Estimates, for the order of work and for people.

use std::collections::BTreeMap;
use std::time::Duration;

use super::sink::OutcomeDetail;
use super::spec::{ProvisionedSettings, SimulationSpec};
use crate::brokering::StudySettings;
use crate::scheduling::reserving::Displacement;
use crate::workload::workflows::ApplicationSource;
use crate::workload::{RequestOrigin, StartRule, TemplateSelection};

/// Bytes of one stored job outcome, indexes included.
const JOB_BYTES: f64 = 40.0;
/// Bytes of one stored simulation with its points and node events.
const SIMULATION_BYTES: f64 = 4_000.0;

/// Bytes of one task of an application: its slot, its run and its run by best effort.
const TASK_BYTES: f64 = 120.0;
/// Tasks of a file, which is not read yet.
const TASKS_OF_A_FILE: f64 = 200.0;

/// Seconds a job by strategy: recorded ones where there are any.
#[derive(Clone, Debug, Default)]
pub struct CostModel {
    recorded: BTreeMap<String, f64>,
}

impl CostModel {
    /// A model that prefers what earlier simulations took.
    #[must_use]
    pub fn new(recorded: BTreeMap<String, f64>) -> Self {
        Self { recorded }
    }

    /// Seconds that a simulation will take on one core, about.
    ///
    /// Overbooked plans hold more jobs the higher the threshold is, so that the long simulations start first among
    /// those of one strategy.
    #[must_use]
    pub fn seconds(&self, spec: &SimulationSpec) -> f64 {
        let policy = &spec.scheduling;
        let job = self
            .recorded
            .get(&policy.strategy)
            .copied()
            .unwrap_or_else(|| seconds_per_job(&policy.strategy));
        jobs_of(spec) * job * (0.75 + 0.5 * policy.acceptance.threshold()) * congestion(spec)
    }
}

/// About so many jobs and requests: a whole trace is not known before it is read.
fn jobs_of(spec: &SimulationSpec) -> f64 {
    if let Some((settings, about)) = spec.provisioned() {
        // Applications of a hundred tasks; what all submissions share is made by the first.
        let replay = if spec.replication == 0 { 10.0 } else { 0.0 };
        // Answers and snapshots hold the more, the longer the queues of the sites are.
        let sites: f64 = (about.sites.iter())
            .map(|site| 0.4 / (1.0 - site.utilisation_percent.unwrap_or(60.0).min(99.0) / 100.0))
            .sum();
        return f64::from(settings.submissions()) * sites * weight_of(about) / 100.0 + replay;
    }
    if let Some(clusters) = &spec.clusters {
        let requests = spec
            .co_requests
            .as_ref()
            .map_or(0.0, |requests| match requests.selection {
                TemplateSelection::Count { count } => f64::from(count),
                TemplateSelection::Chance { probability } => probability * clusters.days * 150.0,
            });
        // A request asks every cluster.
        return f64::from(clusters.count) * (clusters.days * 150.0 + requests);
    }
    let jobs = match &spec.workload.whole {
        None => f64::from(spec.workload.battery_jobs),
        Some(whole) => {
            let all = whole.days.map_or(75_000.0, |days| days * 250.0);
            all * (1.0 + whole.copy.map_or(0.0, |copy| copy.percent / 100.0))
        }
    };
    let requests = spec
        .reservations
        .as_ref()
        .map_or(0.0, |requests| match requests.origin {
            RequestOrigin::Copy => requests.share_percent / 100.0,
            RequestOrigin::Instead => 0.0,
        });
    jobs * (1.0 + requests)
}

/// Tasks of an application, about, wide ones counted more than once: they have more places to choose from.
fn weight_of(about: &ProvisionedSettings) -> f64 {
    match &about.application.source {
        ApplicationSource::Synthetic(settings) => {
            f64::from(settings.tasks) * (2.0 + f64::from(settings.mean_nodes.0)) / 24.0
        }
        ApplicationSource::CyberShake(_) | ApplicationSource::File { .. } => tasks_of(about),
    }
}

/// Tasks of an application, about.
fn tasks_of(about: &ProvisionedSettings) -> f64 {
    match &about.application.source {
        ApplicationSource::Synthetic(settings) => f64::from(settings.tasks),
        ApplicationSource::CyberShake(_) => 8_039.0,
        ApplicationSource::File { .. } => TASKS_OF_A_FILE,
    }
}

/// How much longer a simulation takes when its queue grows: reservations that push jobs away do that.
fn congestion(spec: &SimulationSpec) -> f64 {
    match (&spec.study, &spec.reservations) {
        (Some(StudySettings::Replanning(settings)), Some(requests))
            if settings.admission.moves() =>
        {
            // In the place of jobs they leave fewer of them to be pushed away.
            if requests.origin == RequestOrigin::Instead {
                return 1.0 + 4.0 * (1.0 - requests.share_percent / 100.0);
            }
            let lead = match requests.start {
                StartRule::EstimateFactor { factor } => factor,
                StartRule::Lead { .. } | StartRule::Choice { .. } => 1.0,
            };
            let record = match settings.displacement {
                Displacement::Record => 10.0,
                Displacement::Skip => 1.0,
            };
            (1.0 + (requests.share_percent / 25.0).powi(2) * (0.5 + lead)) * record
        }
        _ => 1.0,
    }
}

/// Orders of magnitude measured on one core at 200 % load, before anything is recorded.
fn seconds_per_job(strategy: &str) -> f64 {
    match strategy {
        "fcfs" | "slots" => 1e-6,
        "replanning" => 4e-6,
        "virtual-reservations" => 2e-6,
        "co-reservation" => 1e-5,
        "provisioning" => 5e-2,
        "easy-backfilling" | "conservative-backfilling" | "heuristic-planning" => 2e-6,
        "heuristic-overbooking" | "overbooking-2008" => 2e-5,
        _ => 5e-5,
    }
}

/// The wall time of simulations on so many workers: the work shared out, and never less than the longest.
#[must_use]
pub fn wall_time(seconds: &[f64], workers: usize) -> Duration {
    let total: f64 = seconds.iter().sum();
    let longest = seconds.iter().copied().fold(0.0, f64::max);
    Duration::from_secs_f64((total / workers.max(1) as f64).max(longest))
}

/// Megabytes that the results of these simulations take in a store.
#[must_use]
pub fn megabytes<'a>(
    specs: impl Iterator<Item = &'a SimulationSpec>,
    detail: OutcomeDetail,
) -> f64 {
    let bytes: f64 = specs
        .map(|spec| match detail {
            OutcomeDetail::None => 0.0,
            OutcomeDetail::Metrics => SIMULATION_BYTES,
            // These studies keep no outcome of a job.
            OutcomeDetail::All
                if matches!(
                    spec.study,
                    Some(StudySettings::Slots(_) | StudySettings::VirtualReservations(_))
                ) =>
            {
                SIMULATION_BYTES
            }
            OutcomeDetail::All => {
                SIMULATION_BYTES
                    + match spec.provisioned() {
                        Some((settings, about)) => {
                            f64::from(settings.submissions()) * tasks_of(about) * TASK_BYTES
                        }
                        None => JOB_BYTES * jobs_of(spec),
                    }
            }
        })
        .sum();
    // An empty sum of floats is −0.
    (bytes + 0.0) / 1e6
}
