//! A site of a provisioning study: a trace on a machine, brought to a wanted utilisation.

use serde::{Deserialize, Serialize};

use super::WorkloadSettings;

/// Everything that determines the jobs of a site, apart from the seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteSettings {
    /// The trace and the machine; a whole trace.
    pub workload: WorkloadSettings,
    /// The utilisation that its jobs shall come to, in percent, by thinning the trace or by
    /// submitting jobs of a second copy a week later (AMB-15, AMB-19); `None` for the trace as it
    /// is.
    pub utilisation_percent: Option<f64>,
}
