//! What arrives: jobs, traces, cleaning, load scaling, model generators.
//!
//! Records (of a trace or a model) → [`clean`] → usable jobs → learning set and batteries.
//! [`prepare`] goes the whole way; [`load`] and [`prepare_parsed`] are its halves, so that settings
//! which differ only in machine size, cleaning or scaling share one parsed trace.

pub mod arminius;
pub mod battery;
mod cleaning;
mod clusters;
mod co_reservations;
mod daily_cycle;
mod delay_costs;
mod early_ends;
mod error;
mod estimated;
pub mod input_file;
mod job;
mod job_stream;
mod logged;
pub mod lublin_feitelson;
mod name_kind;
mod prepare;
mod releases;
mod reservations;
mod settings;
mod site;
mod site_load;
mod summary;
pub mod swf;
mod test_jobs;
mod tightness;
mod trace_file;
pub mod tsafrir;
pub mod uniform_ratio;
mod users;
mod variates;
mod whole;
pub mod workflows;

pub use battery::FirstJobs;
pub use cleaning::{CleanedTrace, CleaningReport, clean};
pub use clusters::{
    ClusterExcerpt, ClusterExcerpts, ClusterSettings, ClusterSizes, Excerpts, FINGERPRINT_STEP,
    PUBLISHED_CLUSTERS, PublishedCluster, cut_clusters,
};
pub use co_reservations::{
    Bursts, CoRequest, CoRequestId, CoRequestSettings, FurtherCounts, FurtherParts,
    FurtherResource, LeadRule, MOST_PARTS, MOST_STAGES, PartNeed, Preference, RequestKind,
    RequestKinds, RequestPreset, SlackRule, TemplateSelection, TemplateSource, WORK_TOLERANCE,
    WorkflowShape, WorkflowTask, generate_co_requests,
};
pub use delay_costs::{COST_CLASSES, CostSpread, DELAY_COSTS_STREAM, DelayCosts};
pub use early_ends::EarlyEnds;
pub use error::WorkloadError;
pub use job::{Job, JobId, JobKind};
pub use job_stream::{Demand, JobStream, JobStreamError};
pub use logged::{JobLog, LoggedJob, job_log};
pub use name_kind::NameKind;
pub use prepare::{
    UsableJobs, Workload, load, prepare, prepare_parsed, prepare_usable, usable_jobs,
};
pub use releases::ReleaseSettings;
pub use reservations::{
    DurationUsed, LeadRounding, MixedWorkload, RequestDuration, RequestId, RequestOrigin,
    RequestSettings, ReservationRequest, SameInstant, StartRule, WantedStart, generate_requests,
};
pub use settings::{
    CleaningRules, Compression, CopyShift, LoadTime, MissingEstimate, Origin, ProcessorsField,
    TraceCopy, WholeTrace, Windows, WorkloadSettings, WorkloadSource,
};
pub use site::SiteSettings;
pub use site_load::{AdjustableTrace, SECOND_COPY_SHIFT};
pub use summary::{Quantiles, TraceSummary, summarise};
pub use swf::{ParsedTrace, Provenance, SwfError, TraceFolder};
pub use test_jobs::TestJobs;
pub use tightness::{Tightness, WhichEstimate};
pub use trace_file::{TraceFile, TraceRecords};
pub use variates::log_normal;
pub use whole::{shaken, window};
