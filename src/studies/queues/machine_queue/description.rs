//! A machine as its operators configure it, in plain data: who may run where, who comes first, what
//! is closed when.

use bookahead_core::units::{Nodes, Seconds};

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

/// What a node has, or what a job asks for on each of its nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeResources {
    /// Cores.
    pub cores: u32,
    /// Memory, in megabytes; 0 where nobody counts it.
    pub memory_megabytes: u64,
    /// Graphics processors.
    pub gpus: u32,
}

/// Nodes that are alike.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeClass {
    /// Its name, as in the file.
    pub name: String,
    /// How many.
    pub nodes: Nodes,
    /// What each of them has.
    pub each: NodeResources,
}

/// How a partition hands out its nodes.
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
    /// What is multiplied with [`PriorityWeights::partition`], from 0 to 1.
    pub factor: f64,
    /// The longest request; `None` without a limit. Longer requests are refused.
    pub longest: Option<Seconds>,
    /// The most nodes of one job; `None` without a limit. Wider requests are refused.
    pub widest: Option<Nodes>,
}

/// Limits of what one user, or everybody together, may have; `None` without a limit. A job beyond
/// one waits.
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
    /// What is multiplied with [`PriorityWeights::quality`], from 0 to 1.
    pub factor: f64,
    /// What use counts in the shares, as a multiple; 0 is for free.
    pub usage_factor: f64,
    /// The longest request; `None` without a limit. Longer requests are refused.
    pub longest: Option<Seconds>,
    /// Of every single user.
    pub per_user: Limits,
    /// Of all its jobs together.
    pub in_all: Limits,
}

/// An account that has a share of the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// Its name, as in the file.
    pub name: String,
    /// The account above it, which the fair tree knows; no account is above itself, in whatever
    /// number of steps.
    pub parent: Option<AccountIndex>,
    /// Its share, in proportion to those of the others; in a fair tree to those below the same
    /// account.
    pub shares: f64,
    /// Of every single user.
    pub per_user: Limits,
    /// Of all its jobs together.
    pub in_all: Limits,
}

/// Whose use is held against whose share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShareHolder {
    /// Every user has the same share.
    #[default]
    User,
    /// The accounts have theirs.
    Account,
}

/// How use is held against shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FairShareAlgorithm {
    /// `2^(−(u/s)/damping)` of one level of holders: u is the part of all decayed use that was the
    /// holder's, s its part of all shares.
    #[default]
    Classic,
    /// Slurm's fair tree, its default since version 19.05: the rank of the user of an account among
    /// all, as a part of their number. Siblings are ranked by their part of the shares as a
    /// multiple of their part of the use, and everybody below one before everybody below the next.
    /// Users of an account are siblings with a share of 1 each; there are those who are in the
    /// jobs.
    FairTree,
}

/// What decides who comes first: a weighted sum of factors from 0 to 1 (Slurm's
/// priority/multifactor). Jobs of equal priority come in order of submission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PriorityWeights {
    /// Of the time that a job has waited, as a part of `oldest`.
    pub age: f64,
    /// The wait that counts fully.
    pub oldest: Seconds,
    /// Of the factor that [`FairShareAlgorithm`] says.
    pub fair_share: f64,
    /// Which it is.
    pub algorithm: FairShareAlgorithm,
    /// The damping of the classic one.
    pub damping: f64,
    /// Whose share counts in the classic one.
    pub holder: ShareHolder,
    /// After how long use counts half; `None`: it never decays.
    pub half_life: Option<Seconds>,
    /// Of the job's size, as a part of the machine.
    pub size: f64,
    /// Whether small jobs come first instead, by one minus that part.
    pub favours_small: bool,
    /// Of the partition's factor.
    pub partition: f64,
    /// Of the quality of service's factor.
    pub quality: f64,
}

/// How jobs start that are not the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backfilling {
    /// Not at all.
    None,
    /// Where they delay none of the first so many of each partition that cannot start; 1 is EASY.
    Reserving {
        /// How many get a reservation.
        depth: u32,
        /// How many waiting jobs are looked at for backfilling in one pass, from the first on that
        /// finds no nodes; `None`: all.
        tested: Option<u32>,
        /// Backfilling happens at whole multiples of it on the clock of the jobs, at the first
        /// after something has happened; 0: after each event. Where jobs start in order, nothing
        /// waits for that.
        interval: Seconds,
        /// How far ahead a reservation may begin (Slurm's `bf_window`): a job that cannot start
        /// sooner gets none. `None`: however far.
        window: Option<Seconds>,
    },
}

/// Nodes that are closed, but to some, for a time of the calendar.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Its name, as in the file.
    pub name: String,
    /// From when, on the clock of the jobs.
    pub begin: Seconds,
    /// Until before when.
    pub end: Seconds,
    /// How many nodes of which classes: the last ones of each class.
    pub nodes: Vec<(ClassIndex, Nodes)>,
    /// Users who may use them meanwhile; nobody in a maintenance window.
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
    /// Who comes first.
    pub priority: PriorityWeights,
    /// How jobs start that are not the first.
    pub backfilling: Backfilling,
    /// What is closed when, in order of their beginnings. Jobs that hold such nodes are not started
    /// unless their request ends before.
    pub windows: Vec<Window>,
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

/// A job that asks such a machine for something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineQueueJob {
    /// Its number in the trace.
    pub trace_number: i64,
    /// When it is submitted.
    pub submit: Seconds,
    /// How long it asks for; it is killed then.
    pub request: Seconds,
    /// How long it runs: known to the machine alone.
    pub runtime: Seconds,
    /// Processors (cores) in all.
    pub cores: u32,
    /// How many of them on one node at most; `None`: as many as a node has.
    pub cores_per_node: Option<u32>,
    /// Memory that it holds for each core, in megabytes; 0 where the trace does not say.
    pub memory_megabytes_per_core: u64,
    /// Graphics processors that it holds on each node.
    pub gpus_per_node: u32,
    /// Where it runs.
    pub partition: PartitionIndex,
    /// How it is served.
    pub quality: QualityIndex,
    /// Whose use it is.
    pub account: AccountIndex,
    /// The user's number in the trace; −1 where unknown, which is one user like others.
    pub user: i64,
}
