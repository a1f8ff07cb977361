//! The study of a queue on a machine as its operators configure it: partitions, priorities, limits,
//! classes of nodes and a calendar.

use serde::{Deserialize, Serialize, Serializer};

use crate::machine_queue::{AddedReservation, Topology};
use bookahead_lab::study::{Strategy, spec_format};

/// Its name and what it is.
pub const STRATEGY: Option<Strategy> = Some(Strategy {
    name: "machine-queue",
    about: "queue of a machine as its operators configure it",
    has_metrics: true,
    primary: "mean_wait",
    earned: None,
});

/// Where a machine is described.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MachineSource {
    /// In a machine file or `slurm.conf` at this path.
    File(String),
    /// In the experiment itself: the text of a machine file.
    Text(String),
}

/// Which machine, and what is added to it. What is in the files is part of a simulation's identity
/// by its content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineQueueSettings {
    /// Where the machine is described.
    pub source: MachineSource,
    /// The list of names of the trace's numbers, as `bookahead trace import --names` writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<String>,
    /// A reservation at a drawn second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<AddedReservation>,
    /// Which nodes are near each other, and what that does.
    #[serde(default, skip_serializing_if = "Topology::is_flat")]
    pub topology: Topology,
}

/// The machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineQueueStudy {
    /// Its file, and what is added to it.
    #[serde(rename = "study", serialize_with = "named")]
    pub settings: MachineQueueSettings,
}

fn named<S: Serializer>(settings: &MachineQueueSettings, serializer: S) -> Result<S::Ok, S::Error> {
    spec_format::named(STRATEGY, settings, serializer)
}
