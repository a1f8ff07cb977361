//! Applications: workflows of tasks with any number of processors (Singh 2008, §4.1, §4.7, §4.8).
//!
//! A [`Workflow`] is read from a Pegasus DAX file or a WfCommons instance, or generated; it is
//! checked when it is made, and never changes. [`heft`](heft::heft) ranks and schedules it,
//! [`summarise_workflow`] counts it.

mod cyber_shake;
mod dax;
mod draft;
mod error;
mod folder;
pub mod heft;
mod merged;
mod network;
mod read;
#[cfg(test)]
mod read_tests;
mod settings;
mod speeds;
mod summary;
mod synthetic;
mod uncertainty;
mod wf_commons;
mod workflow;
mod write;

pub use cyber_shake::{CyberShakeSettings, cyber_shake};
pub use error::{WorkflowError, WorkflowFault};
pub use folder::WorkflowFolder;
pub use network::{Network, NetworkError, TransferMean};
pub use read::{Negatives, ReadWorkflow, ReadingNotes, parse_workflow, read_workflow};
pub use settings::{ApplicationSettings, ApplicationSource, Instances};
pub use summary::{
    LevelSummary, ModuleSummary, WorkflowSummary, critical_path_seconds, summarise_workflow,
};
pub use synthetic::{
    LevelSizes, NodesShape, RuntimeShape, SyntheticSettings, VolumeShape, synthetic,
};
pub use uncertainty::{RealRuntimes, RuntimeUncertainty};
pub use workflow::{Edge, Task, TaskId, Workflow};
pub use write::{dax_text, wf_commons_text, write_workflow};
