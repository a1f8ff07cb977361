//! The specification of a simulation: everything that determines one schedule.

use serde::{Deserialize, Serialize};

use super::{CommonSettings, JOBS_A_DAY, Studies, StudySpec, spec_format};
use crate::estimates::{EstimateSettings, LearningSettings};
use crate::failures::FailureSettings;
use crate::scheduling::PolicySpec;
use crate::workload::{RequestOrigin, RequestSettings, WorkloadSettings, WorkloadSource};

/// Everything that determines one schedule. Its canonical JSON is hashed into the simulation's
/// identity, and kept in the store.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimulationSpec {
    /// The jobs.
    pub workload: WorkloadSettings,
    /// The statistics; `None` where the policy never asks for a distribution, so that all families
    /// share one baseline.
    pub estimates: Option<EstimateSettings>,
    /// Node failures.
    pub failures: FailureSettings,
    /// The policy; values that the strategy does not read are set to their defaults, for the same
    /// reason.
    pub scheduling: PolicySpec,
    /// What is simulated.
    #[serde(flatten)]
    pub study: StudySpec,
    /// Which battery, or which draw of the model; for plans that are discarded, which submission.
    pub replication: u32,
    /// The sweep's seed.
    pub seed: u64,
}

/// What of a specification no study adds.
#[derive(Deserialize)]
struct Common {
    workload: WorkloadSettings,
    estimates: Option<EstimateSettings>,
    failures: FailureSettings,
    scheduling: PolicySpec,
    replication: u32,
    seed: u64,
    #[serde(flatten)]
    study: serde_json::Map<String, serde_json::Value>,
}

impl SimulationSpec {
    /// Reads a specification as it was written, of one of these studies.
    ///
    /// # Errors
    ///
    /// When it is no JSON, lacks a field, or is of none of these studies.
    pub fn read(json: &str, studies: Studies) -> Result<Self, serde_json::Error> {
        let common: Common = serde_json::from_str(json)?;
        let (name, settings) = spec_format::stored(common.study);
        Ok(Self {
            workload: common.workload,
            estimates: common.estimates,
            failures: common.failures,
            scheduling: common.scheduling,
            study: studies.stored(name.as_deref(), settings)?,
            replication: common.replication,
            seed: common.seed,
        })
    }

    /// The same simulation with everything that it does not read set to its default.
    #[must_use]
    pub fn normalised(mut self, studies: Studies) -> Self {
        let Self {
            estimates,
            failures,
            scheduling,
            study,
            workload,
            ..
        } = &mut self;
        study.normalise(CommonSettings {
            studies,
            estimates,
            failures,
            scheduling,
        });
        if let (true, Some(estimates)) = (workload.fresh, estimates) {
            // Nothing lies between the learning jobs and the battery.
            estimates.learning.batteries_before = LearningSettings::default().batteries_before;
        }
        self
    }
}

/// Jobs of a log, about.
const JOBS_OF_A_LOG: f64 = 75_000.0;

/// Jobs of a battery, or of a whole trace, about: how many a log has is not known before it is
/// read.
#[must_use]
pub fn jobs_of(workload: &WorkloadSettings) -> f64 {
    match &workload.whole {
        None => f64::from(workload.battery_jobs),
        Some(whole) => {
            let of_source = match workload.source {
                WorkloadSource::Trace { .. } => JOBS_OF_A_LOG,
                WorkloadSource::LublinFeitelson { jobs }
                | WorkloadSource::UniformRatio { jobs }
                | WorkloadSource::Arminius { jobs } => f64::from(jobs),
            };
            let all = (whole.days).map_or(of_source, |days| of_source.min(days * JOBS_A_DAY));
            let all = (whole.windows.as_ref()).map_or(all, |windows| f64::from(windows.jobs));
            all * (1.0 + whole.copy.map_or(0.0, |copy| copy.percent / 100.0))
        }
    }
}

/// Jobs and requests together, as a multiple of the jobs.
#[must_use]
pub fn with_copies(requests: Option<&RequestSettings>) -> f64 {
    1.0 + requests.map_or(0.0, |requests| match requests.origin {
        RequestOrigin::Copy => requests.share_percent / 100.0,
        RequestOrigin::Instead => 0.0,
    })
}
