//! What arrives: jobs, traces, cleaning, load scaling, model generators.

mod job;
mod settings;

pub use job::{Job, JobId};
pub use settings::{CleaningRules, Compression, ProcessorsField, WorkloadSettings, WorkloadSource};
