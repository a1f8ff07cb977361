//! A queue on a machine as it is: partitions, qualities of service, fair shares, limits, classes of nodes and a calendar.
//!
//! The fast engines of [`stream`](super::stream) count nodes that are all alike and serve in order of submission. This one knows single
//! nodes and what is on them, and sorts by a weighted priority as Slurm's multifactor plugin does; it is for machines that need that.

mod description;

pub use description::{
    Account, AccountIndex, Backfilling, ClassIndex, Limits, NodeClass, NodeResources, NodeSharing,
    Partition, PartitionIndex, PartitionedJob, PartitionedMachine, PriorityWeights, QualityIndex,
    QualityOfService, ShareHolder, Window,
};

use crate::units::Seconds;

/// What became of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionedOutcome {
    /// It ran.
    Ran {
        /// From when.
        start: Seconds,
        /// Until when.
        end: Seconds,
    },
    /// The machine would never run it.
    Refused(Refusal),
}

/// Why a job is refused at its submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// Longer than its partition or quality of service allows.
    TooLong,
    /// Wider than its partition allows.
    TooWide,
    /// No empty machine, or no limit of running jobs, has room for it.
    NeverFits,
    /// Its user, account or quality of service has as many jobs submitted as may be.
    TooManySubmitted,
}
