//! A queue on a configured machine: partitions, qualities of service, fair shares, limits, classes
//! of nodes and a calendar.
//!
//! The fast engines of [`stream`](bookahead_core::scheduling::stream) count equal nodes and serve
//! jobs in order of submission. This engine knows single nodes and the jobs on them, and sorts by a
//! weighted priority as Slurm's multifactor plugin does; it is for machines that need that.

mod agreement;
mod description;
mod events;
mod fair_tree;
mod limits;
pub mod machines;
mod measured;
mod nodes;
mod pass;
mod priority;
mod queue;
mod reservation;
mod shapes;
mod site;
pub mod study;
#[cfg(test)]
mod tests;
mod topology;

pub use agreement::{Agreement, Waits};
pub use description::{
    Account, AccountIndex, Backfilling, ClassIndex, FairShareAlgorithm, Limits, MachineQueueJob,
    NodeClass, NodeResources, NodeSharing, Partition, PartitionIndex, PriorityWeights,
    QualityIndex, QualityOfService, QueueMachine, ShareHolder, Window,
};
pub use events::{MachineQueuePlan, machine_queue_scene};
pub use measured::{PlacedJobs, crossing_measures, machine_measures, machine_queue_outcomes};
pub use reservation::{AddedReservation, delay_measures};
pub use topology::{NodesBy, Topology};

use std::sync::Arc;

use bookahead_core::kernel::drive;
use bookahead_core::units::Seconds;

/// The first reservation of a waiting job: when it was made, and for which start. The machine does
/// not keep it: later passes make all reservations anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// The time of the pass that made the reservation.
    pub at: Seconds,
    /// The start that was reserved; after `at`.
    pub start: Seconds,
}

/// The outcome of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineQueueOutcome {
    /// It ran.
    Ran {
        /// Its start.
        start: Seconds,
        /// Its end.
        end: Seconds,
        /// The first announcement of its start; `None` if it never had a reservation, for instance
        /// because it started at once.
        announced: Option<Announcement>,
        /// Whether its nodes were below more than one switch.
        crosses: bool,
    },
    /// The machine can never run it.
    Refused(Refusal),
}

/// Why a job is refused at its submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// Longer than its partition or quality of service allows.
    TooLong,
    /// Wider than its partition allows.
    TooWide,
    /// It does not fit into the empty machine, or into a limit of running jobs.
    NeverFits,
    /// Its user, account or quality of service has reached its limit of submitted jobs.
    TooManySubmitted,
}

/// Simulates jobs, given in order of submission, on a machine with partitions. Returns one outcome
/// for each job, in the same order.
///
/// Events of one second come first (ends, windows that end, submissions), then one pass over the
/// waiting jobs in order of tier, priority and submission. A job ends after its run time, at the
/// latest when its request ends; a run time or request of less than a second counts as one second.
/// The rules are in docs/model.md, "Machines with partitions".
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
