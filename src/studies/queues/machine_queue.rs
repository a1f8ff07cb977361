//! A queue on a machine as it is: partitions, qualities of service, fair shares, limits, classes of
//! nodes and a calendar.
//!
//! The fast engines of [`stream`](bookahead_core::scheduling::stream) count nodes that are all
//! alike and serve in order of submission. This one knows single nodes and what is on them, and
//! sorts by a weighted priority as Slurm's multifactor plugin does; it is for machines that need
//! that.

mod agreement;
mod description;
mod fair_tree;
mod limits;
mod machine;
mod measured;
mod nodes;
mod pass;
mod priority;
mod queue;
mod reservation;
mod shapes;
mod site;
#[cfg(test)]
mod tests;

pub use agreement::{Agreement, Waits};
pub use description::{
    Account, AccountIndex, Backfilling, ClassIndex, FairShareAlgorithm, Limits, MachineQueueJob,
    NodeClass, NodeResources, NodeSharing, Partition, PartitionIndex, PriorityWeights,
    QualityIndex, QualityOfService, QueueMachine, ShareHolder, Window,
};
pub use machine::{MachineQueuePlan, machine_queue_scene};
pub use measured::{PlacedJobs, machine_measures, machine_queue_outcomes};
pub use reservation::{AddedReservation, delay_measures};

use std::sync::Arc;

use bookahead_core::kernel::drive;
use bookahead_core::units::Seconds;

/// The first reservation that a waiting job was given: when, and from when on it was to have its
/// nodes. The machine does not keep to it: later passes make all reservations anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// When the pass was that made the reservation.
    pub at: Seconds,
    /// The start that was reserved; after `at`.
    pub start: Seconds,
}

/// What became of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineQueueOutcome {
    /// It ran.
    Ran {
        /// From when.
        start: Seconds,
        /// Until when.
        end: Seconds,
        /// What was first said of its start; `None` if it never had a reservation, as who starts at
        /// once.
        announced: Option<Announcement>,
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

/// What becomes of jobs, given in order of submission, on a machine with partitions: one outcome a
/// job, in the same order.
///
/// Events of one second come first (ends, windows that end, submissions), then one pass over the
/// waiting jobs in order of tier, priority and submission. A job ends after its run time, at the
/// latest when its request ends; a run time or request of less than a second is one second.
/// docs/model.md, "Machines with partitions", says the rules.
///
/// # Panics
/// If a job, partition, window or account names what the machine does not have.
#[must_use]
pub fn simulate_machine_queue(
    machine: &Arc<QueueMachine>,
    jobs: &Arc<[MachineQueueJob]>,
) -> Vec<MachineQueueOutcome> {
    let played = drive(machine_queue_scene(machine, jobs), false);
    played.machine.into_outcomes()
}
