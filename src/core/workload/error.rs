//! Why a workload cannot be prepared.

use thiserror::Error;

use super::swf::SwfError;
use crate::memory::OverBudget;
use crate::units::Seconds;

/// A fault of a trace, or settings that a trace or a model cannot meet.
#[derive(Debug, Error)]
pub enum WorkloadError {
    /// The trace cannot be found or read.
    #[error(transparent)]
    Trace(#[from] SwfError),
    /// More jobs of a model than the budget of memory has room for.
    #[error("the model cannot generate so many jobs: {0}")]
    Memory(#[from] OverBudget),
    /// Fewer usable jobs than are to be evaluated.
    #[error(
        "{label}: {usable} usable jobs of {records} records, but evaluation_jobs asks for {needed}; ask for fewer, \
         generate more, or relax the cleaning rules"
    )]
    TooFewJobs {
        /// The workload.
        label: String,
        /// Jobs left after cleaning.
        usable: usize,
        /// Records before cleaning.
        records: u64,
        /// Jobs asked for.
        needed: u32,
    },
    /// Fewer batteries than there are replications, each of which takes its own from the end of the
    /// log.
    #[error(
        "{label}: {usable} usable jobs of {records} records hold {have} batteries of {battery_jobs}, and replication \
         {wanted} of `workload.fresh` takes the one before them; lower experiment.replications or workload.battery_jobs"
    )]
    TooFewBatteries {
        /// The workload.
        label: String,
        /// Jobs left after cleaning.
        usable: usize,
        /// Records before cleaning.
        records: u64,
        /// Batteries that they hold.
        have: usize,
        /// Jobs a battery.
        battery_jobs: u32,
        /// The replication, from 1.
        wanted: u32,
    },
    /// Nothing to simulate.
    #[error(
        "{label}: none of {records} records is a usable job: each needs a run time, processors and a requested time \
         (`bookahead trace info` counts what is missing); choose another trace, or relax the cleaning rules"
    )]
    NoJobs {
        /// The workload.
        label: String,
        /// Records before cleaning.
        records: u64,
    },
    /// Records without requested time, where the settings refuse them.
    #[error(
        "{label}: {missing} of {records} records have no requested time; set workload.missing_estimate to \"drop\", or to \
         \"runtime\" to take their run times for it"
    )]
    MissingEstimates {
        /// The workload.
        label: String,
        /// Records without requested time.
        missing: u64,
        /// Records in all.
        records: u64,
    },
    /// A load is asked for, but the jobs offer none that arrivals could scale.
    #[error(
        "{label}: {part} have no span (all submitted at once) or no job that fits the machine, so no factor gives a \
         target load; give a compression factor instead"
    )]
    NoLoad {
        /// The workload.
        label: String,
        /// Which jobs.
        part: String,
    },
    /// Arrivals or deadlines are scaled to times that nobody can mean.
    #[error(
        "{label}: scaled as asked, battery {battery} lasts longer than {} seconds ({:.0} years); use a smaller \
         compression factor, a larger load or a smaller laxity",
        limit.0, limit.hours() / 8_766.0
    )]
    TooLong {
        /// The workload.
        label: String,
        /// The battery, from 0.
        battery: usize,
        /// The latest deadline that is allowed.
        limit: Seconds,
    },
    /// More clusters than the trace holds excerpts for.
    #[error(
        "the jobs span {days:.1} days, which hold {have} windows of {length} days, but clusters.count asks for {wanted}; ask \
         for fewer clusters, shorter clusters.days, or use a longer trace"
    )]
    TooFewWindows {
        /// Days between the first submission and the last.
        days: f64,
        /// Windows asked for.
        wanted: u32,
        /// Days of a window.
        length: f64,
        /// Windows that fit without overlap.
        have: i64,
    },
    /// A replication has no window, or the trace ends before it does.
    #[error(
        "{label} has {usable} usable jobs, and replication {replication} has no window of {jobs} of them: each needs an \
         entry in workload.window_first_jobs that is at most the usable jobs less workload.window_jobs"
    )]
    NoWindow {
        /// The workload.
        label: String,
        /// Its usable jobs.
        usable: usize,
        /// Jobs of a window.
        jobs: u32,
        /// The replication, from 1.
        replication: u32,
    },
    /// More requests than there are jobs to make them from.
    #[error(
        "requests.count asks for {wanted} requests, but there are {have} jobs to make them from; ask for fewer, give \
         requests.chance, or set requests.templates = \"all\""
    )]
    TooFewTemplates {
        /// Jobs.
        have: usize,
        /// Requests asked for.
        wanted: u32,
    },
    /// No draw of templates comes to the work that is asked for.
    #[error(
        "requests.total_cpu_seconds is {wanted}, and none of {draws} draws comes within 5 % of it; a draw has {mean} on average: \
         choose a value nearer to that, or leave the key out"
    )]
    NoDrawOfThisWork {
        /// CPU-seconds asked for.
        wanted: i64,
        /// Draws that were tried.
        draws: u32,
        /// CPU-seconds of a draw on average.
        mean: i64,
    },
    /// A setting is outside of what is possible.
    #[error("{key} is {found}; allowed is {allowed}")]
    ImpossibleSetting {
        /// The configuration key.
        key: &'static str,
        /// The value found.
        found: String,
        /// What is allowed.
        allowed: &'static str,
    },
}
