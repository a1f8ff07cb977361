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
    /// Applications of the same source that are submitted with the first, at the same instant.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub further: u32,
    /// Files of applications that are submitted with that of the source, at the same instant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further_files: Vec<String>,
}

impl ApplicationSettings {
    /// How many applications are submitted at an instant.
    #[must_use]
    pub fn number(&self) -> u32 {
        1 + self.further + self.further_files.len() as u32
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
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
