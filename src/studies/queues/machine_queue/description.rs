//! The configuration of a machine as plain data: who may run where, who comes first, and what is
//! closed when.

use bookahead_core::units::{Nodes, Seconds};

use super::topology::Topology;

/// The position of a class of nodes in [`QueueMachine::classes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassIndex(pub usize);

/// The position of a partition in [`QueueMachine::partitions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionIndex(pub usize);

/// The position of a quality of service in [`QueueMachine::qualities`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QualityIndex(pub usize);

/// The position of an account in [`QueueMachine::accounts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountIndex(pub usize);

/// The resources of a node, or those that a job asks for on each of its nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeResources {
    /// Cores.
    pub cores: u32,
    /// Memory in megabytes; 0 where memory is not counted.
    pub memory_megabytes: u64,
    /// Graphics processors.
    pub gpus: u32,
}

/// A class of equal nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeClass {
    /// Its name, as in the file.
    pub name: String,
    /// How many.
    pub nodes: Nodes,
    /// The resources of each of them.
    pub each: NodeResources,
}

/// How a partition assigns its nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NodeSharing {
    /// A node belongs to one job at a time.
    #[default]
    Exclusive,
    /// Jobs share nodes, and hold what they asked for.
    Shared,
}

/// A partition: the nodes that a queue may use, and its limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    /// Its name, as in the file.
    pub name: String,
    /// Classes of nodes that it may use; several partitions may use one class. In the order in
    /// which their nodes are tried.
    pub classes: Vec<ClassIndex>,
    /// Whether jobs share its nodes.
    pub sharing: NodeSharing,
    /// Jobs of a higher tier come before all jobs of lower ones, whatever their priority.
    pub tier: u32,
    /// Its factor, from 0 to 1, which is multiplied by [`PriorityWeights::partition`].
    pub factor: f64,
    /// The longest request; `None` without a limit. Longer requests are refused.
    pub longest: Option<Seconds>,
    /// The most nodes of one job; `None` without a limit. Wider requests are refused.
    pub widest: Option<Nodes>,
}

/// Limits of one user, or of all users together; `None` without a limit. A job beyond a limit
/// waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Jobs that run.
    pub running_jobs: Option<u32>,
    /// Nodes that running jobs hold, in whole or in part.
    pub nodes: Option<u32>,
    /// Cores that running jobs hold.
    pub cores: Option<u32>,
    /// Jobs that wait or run; a job beyond it is refused.
    pub submitted_jobs: Option<u32>,
}

/// A quality of service: a priority that is bought, or limits of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct QualityOfService {
    /// Its name, as in the file.
    pub name: String,
    /// Its factor, from 0 to 1, which is multiplied by [`PriorityWeights::quality`].
    pub factor: f64,
    /// The multiple with which use counts in the shares; 0 is free.
    pub usage_factor: f64,
    /// The longest request; `None` without a limit. Longer requests are refused.
    pub longest: Option<Seconds>,
    /// Limits of every single user.
    pub per_user: Limits,
    /// Limits of all its jobs together.
    pub in_all: Limits,
}

/// An account that has a share of the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// Its name, as in the file.
    pub name: String,
    /// The account above it, used by the fair tree. No account is above itself, in any number of
    /// steps.
    pub parent: Option<AccountIndex>,
    /// Its share, in proportion to those of the others; in a fair tree to those below the same
    /// account.
    pub shares: f64,
    /// Limits of every single user.
    pub per_user: Limits,
    /// Limits of all its jobs together.
    pub in_all: Limits,
}

/// Who holds shares: users or accounts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShareHolder {
    /// Every user has the same share.
    #[default]
    User,
    /// Each account has its own share.
    Account,
}

/// How a fair-share factor follows from use and shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FairShareAlgorithm {
    /// `2^(−(u/s)/damping)`, with one level of holders: u is the holder's part of all decayed use,
    /// s its part of all shares.
    #[default]
    Classic,
    /// Slurm's fair tree, its default since version 19.05: the rank of a user of an account among
    /// all of them, as a part of their number. Siblings are ranked by the ratio of their part of
    /// the shares to their part of the use, and all users below one sibling come before all below
    /// the next. Users of an account are siblings with a share of 1 each; only users with jobs
    /// exist.
    FairTree,
}

/// The weights of priority: a weighted sum of factors from 0 to 1 (Slurm's priority/multifactor).
/// Jobs of equal priority come in order of submission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PriorityWeights {
    /// The weight of a job's wait, as a part of `oldest`.
    pub age: f64,
    /// The wait that counts fully.
    pub oldest: Seconds,
    /// The weight of the factor of [`FairShareAlgorithm`].
    pub fair_share: f64,
    /// The fair-share algorithm.
    pub algorithm: FairShareAlgorithm,
    /// The damping of the classic algorithm.
    pub damping: f64,
    /// Whose share counts in the classic algorithm.
    pub holder: ShareHolder,
    /// The time after which use counts half; `None`: it never decays.
    pub half_life: Option<Seconds>,
    /// The weight of the job's size, as a part of the machine.
    pub size: f64,
    /// Whether small jobs come first instead: their factor is one minus that part.
    pub favours_small: bool,
    /// The weight of the partition's factor.
    pub partition: f64,
    /// The weight of the factor of the quality of service.
    pub quality: f64,
}

/// How jobs start that are not the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backfilling {
    /// Jobs start in order only.
    None,
    /// A job may start out of order if it delays none of the first jobs of each partition that
    /// cannot start. With a depth of 1 this is EASY.
    Reserving {
        /// The number of jobs of each partition that get a reservation.
        depth: u32,
        /// The number of waiting jobs that one pass tries to backfill, counted from the first that
        /// finds no nodes; `None`: all.
        tested: Option<u32>,
        /// Backfilling takes place at whole multiples of this time on the clock of the jobs, at the
        /// first one after an event; 0: after each event. Starts in order do not wait for it.
        interval: Seconds,
        /// How far ahead a reservation may begin (Slurm's `bf_window`): a job that cannot start
        /// sooner gets none. `None`: however far.
        window: Option<Seconds>,
    },
}

/// Nodes that are closed for a time of the calendar, except to some users.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Its name, as in the file.
    pub name: String,
    /// The beginning, on the clock of the jobs.
    pub begin: Seconds,
    /// The end, exclusive.
    pub end: Seconds,
    /// How many nodes of which classes: the last ones of each class.
    pub nodes: Vec<(ClassIndex, Nodes)>,
    /// Users who may use these nodes in the window; none in a maintenance window.
    pub users: Vec<i64>,
}

/// A machine as its operators configure it.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueMachine {
    /// Its name.
    pub name: String,
    /// Its nodes; at least one class of at least one node of at least one core.
    pub classes: Vec<NodeClass>,
    /// At least one.
    pub partitions: Vec<Partition>,
    /// At least one; the first is that of jobs that name none.
    pub qualities: Vec<QualityOfService>,
    /// At least one; the first is that of jobs that name none.
    pub accounts: Vec<Account>,
    /// The weights of priority.
    pub priority: PriorityWeights,
    /// How jobs start that are not the first.
    pub backfilling: Backfilling,
    /// Windows in order of their beginnings. A job that would hold a closed node does not start
    /// unless its request ends before.
    pub windows: Vec<Window>,
    /// Which nodes are near each other, and what that does.
    pub topology: Topology,
}

impl QueueMachine {
    /// The cores of all its nodes.
    #[must_use]
    pub fn cores(&self) -> u64 {
        let classes = self.classes.iter();
        classes
            .map(|class| u64::from(class.nodes.0) * u64::from(class.each.cores))
            .sum()
    }
}

/// A job on such a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineQueueJob {
    /// Its number in the trace.
    pub trace_number: i64,
    /// When it is submitted.
    pub submit: Seconds,
    /// Its requested time, after which it is killed.
    pub request: Seconds,
    /// Its run time, known only to the machine.
    pub runtime: Seconds,
    /// Processors (cores) in all.
    pub cores: u32,
    /// The most cores on one node; `None`: as many as a node has.
    pub cores_per_node: Option<u32>,
    /// Memory that it holds for each core, in megabytes; 0 where the trace does not say.
    pub memory_megabytes_per_core: u64,
    /// Graphics processors that it holds on each node.
    pub gpus_per_node: u32,
    /// Its partition.
    pub partition: PartitionIndex,
    /// Its quality of service.
    pub quality: QualityIndex,
    /// The account that it is charged to.
    pub account: AccountIndex,
    /// The user's number in the trace; −1 where unknown, which is one user like others.
    pub user: i64,
}
