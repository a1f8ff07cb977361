//! What arrives: jobs, traces, cleaning, load scaling, model generators.

mod job;
mod settings;
pub mod swf;

pub use job::{Job, JobId};
pub use settings::{CleaningRules, Compression, ProcessorsField, WorkloadSettings, WorkloadSource};
pub use swf::{ParsedTrace, Provenance, SwfError, TraceFolder};
