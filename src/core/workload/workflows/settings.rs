//! What determines the application of a study.

use serde::{Deserialize, Serialize};

use super::{CyberShakeSettings, Negatives, Network, SyntheticSettings};

/// Everything that determines an application, apart from seed, replication and sites.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ApplicationSettings {
    /// Where the workflow comes from.
    pub source: ApplicationSource,
    /// How data travel between sites.
    pub network: Network,
    /// Whether all submissions are of one workflow (AMB-16b).
    pub instances: Instances,
}

/// Where a workflow comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum ApplicationSource {
    /// The layered workflow of the evaluation (Singh 2008, §4.7).
    Synthetic(SyntheticSettings),
    /// The seismic hazard workflow (Singh 2008, §4.8).
    CyberShake(CyberShakeSettings),
    /// A DAX file or WfCommons instance, looked up as it stands, then in the folder of workflows.
    File {
        /// Its name.
        file: String,
        /// What becomes of negative run times and volumes.
        negatives: Negatives,
    },
}

/// How many workflows there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Instances {
    /// One, for all submissions and replications (AMB-16b).
    #[default]
    One,
    /// One a replication.
    OneAReplication,
}

impl Default for ApplicationSource {
    fn default() -> Self {
        Self::Synthetic(SyntheticSettings::default())
    }
}
