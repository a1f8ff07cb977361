//! The messages between a broker and a local reservation service, and other events of a cluster.

use serde::{Deserialize, Serialize};

use bookahead_core::scheduling::{JobOutcome, SimulationMetrics};
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::{CoRequestId, FurtherCounts, FurtherResource, Job};

use super::ProbeFilters;

/// A cluster's place among the clusters of a simulation, from 0.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct ClusterId(pub u16);

/// A status query (step 4): which of these starts would you admit, for which parts?
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// The request that it is about.
    pub request: CoRequestId,
    /// How long every part lasts.
    pub duration: Seconds,
    /// CPUs of the parts, most first.
    pub parts: Vec<Nodes>,
    /// What the parts need beside CPUs, in the same order; empty where none needs anything.
    pub further: Vec<FurtherCounts>,
    /// Candidate starts, rising.
    pub starts: Vec<Seconds>,
    /// By which rules.
    pub filters: ProbeFilters,
    /// Whether the answer says how far the cluster would be reserved.
    pub degrees: bool,
    /// Whether it says which jobs ran lately.
    pub job_mix: bool,
    /// Whether it says how many CPUs are free at each start.
    pub free_cpus: bool,
    /// What the parts may take from others.
    pub precedence: Precedence,
}

impl Probe {
    /// What a part needs beside CPUs.
    #[must_use]
    pub fn further_of(&self, part: u16) -> FurtherCounts {
        let further = self.further.get(usize::from(part));
        further.copied().unwrap_or_default()
    }
}

/// Whose CPUs a part may take, and who may take its own (Meltzer 2005, §7.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precedence {
    /// Nobody's: it takes nothing from others, and stays.
    #[default]
    Fixed,
    /// Until it begins, parts that displace others may take its CPUs.
    Yields,
    /// It may take those of parts that yield.
    Displaces,
}

/// An admitted TR candidate: a part at a start on the cluster that answered (step 7).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfferedPart {
    /// Index into [`Probe::parts`].
    pub part: u16,
    /// Start.
    pub start: Seconds,
    /// Partial cost in units of money (Meltzer 2005, §4.7.3).
    pub cost: f64,
    /// The probability that the part is not there when it starts, in `[0, 1]`; 0 on clusters that
    /// do not overbook.
    pub pof: f64,
    /// The mean share of the cluster's CPUs that parts would hold over the part's interval, this
    /// one included, in `[0, 1]`; 0 where it was not asked for.
    pub degree: f64,
}

/// The answer to a [`Probe`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProbeAnswer {
    /// When the cluster answered.
    pub at: Seconds,
    /// What is admitted, in the order of (start, part).
    pub offered: Vec<OfferedPart>,
    /// How many candidates there were and why some are missing.
    pub counts: FilterCounts,
    /// Backlog time as of now (Q22, first reading): of jobs, and parts that have started.
    pub backlog_now: Seconds,
    /// Backlog time as the filter uses it for the first candidate start (Q22, second reading).
    pub backlog_earliest: Seconds,
    /// The share of large jobs in what ran lately, in `[0, 1]` (Meltzer 2005, §7.2); 0 where it was
    /// not asked for.
    pub large_share: f64,
    /// What the widest part could hold from each start on, for the duration; empty where it was not
    /// asked for. What parts may take from others is not free, and neither quota nor backlog count.
    pub free_cpus: Vec<Nodes>,
}

/// The results of filtering the TR candidates of one request at one cluster (Meltzer 2005, §6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilterCounts {
    /// Candidates that A1 would build.
    pub unfiltered: u32,
    /// Discarded for want of free CPUs (also those whose start is past, Q36).
    pub counting: u32,
    /// Discarded for want of free licences, with CPUs that were free.
    pub licences: u32,
    /// Discarded for want of free storage, with CPUs and licences that were free.
    pub storage: u32,
    /// Discarded because of the backlog.
    pub backlog: u32,
    /// Discarded by the quota.
    pub quota: u32,
    /// Kept only because they end before the next scheduling event.
    pub exempt: u32,
}

impl FilterCounts {
    /// Discarded for any reason.
    #[must_use]
    pub fn filtered(&self) -> u32 {
        self.counting + self.licences + self.storage + self.backlog + self.quota
    }

    /// Discarded for want of a resource beside CPUs.
    #[must_use]
    pub fn lacking(&self, resource: FurtherResource) -> u32 {
        match resource {
            FurtherResource::Licences => self.licences,
            FurtherResource::Storage => self.storage,
        }
    }
}

/// An order to reserve one part (step 8).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartOrder {
    /// The request.
    pub request: CoRequestId,
    /// Tells the orders of one request apart; a cancellation names it.
    pub order: u32,
    /// Index of the part, most CPUs first.
    pub part: u16,
    /// CPUs.
    pub nodes: Nodes,
    /// What it holds beside them.
    pub further: FurtherCounts,
    /// Start.
    pub start: Seconds,
    /// Duration.
    pub duration: Seconds,
    /// The highest PoF at which the part is still wanted; 0 asks for free CPUs.
    pub pof_limit: f64,
    /// What it may take from others, and they from it.
    pub precedence: Precedence,
}

/// An order to put a part into the queue, where it waits like a job and then for its request's
/// other parts (step 8 of a broker that reserves nothing).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuedPart {
    /// The request.
    pub request: CoRequestId,
    /// Tells the orders of one request apart; a cancellation names it.
    pub order: u32,
    /// Index of the part, most CPUs first.
    pub part: u16,
    /// CPUs.
    pub nodes: Nodes,
    /// The longest that it may hold them: the run and the time for which it waits for the others.
    pub limit: Seconds,
}

/// A queued part that holds its CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BegunPart {
    /// Since when.
    pub at: Seconds,
    /// The request.
    pub request: CoRequestId,
    /// The order that it was queued for.
    pub order: u32,
}

/// Why a part was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// Not enough free CPUs.
    Occupied,
    /// Not enough of this is free.
    Lacking(FurtherResource),
    /// The start is past.
    Past,
    /// The part would exceed the quota.
    Quota,
    /// A cancellation of this order came before the order.
    Cancelled,
}

/// What hits a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutageEvent {
    /// The whole cluster goes down: running jobs start anew later, running parts are lost, messages
    /// are not answered.
    ClusterDown,
    /// It is back, with its queue and its table of later parts.
    ClusterUp,
    /// CPUs go down: whatever runs on them is hit.
    NodesDown {
        /// The first CPU.
        first: u32,
        /// How many.
        count: u32,
    },
    /// They are back.
    NodesUp {
        /// The first CPU.
        first: u32,
        /// How many.
        count: u32,
    },
}

/// A promised part that the cluster cannot keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostPart {
    /// When it was lost.
    pub at: Seconds,
    /// The request.
    pub request: CoRequestId,
    /// The order that it was granted for.
    pub order: u32,
    /// Whether it was running.
    pub running: bool,
    /// Whether another part has taken its CPUs.
    pub displaced: bool,
}

/// The outcome of a promised part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartOutcome {
    /// The order.
    pub order: PartOrder,
    /// When it was cancelled or lost; `None` for a part that was kept to its end.
    pub gone: Option<Seconds>,
    /// Whether the cluster lost it (and it was not cancelled).
    pub lost: bool,
}

/// Sums over a simulation that a cluster keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LocalTotals {
    /// CPU-seconds of jobs before the end of submissions.
    pub job_work: NodeSeconds,
    /// CPU-seconds held by parts before the end of submissions.
    pub part_work: NodeSeconds,
    /// When the last job or part ended.
    pub drained: Seconds,
    /// Jobs that were hit and started anew.
    pub restarts: u64,
    /// Parts that were lost.
    pub lost_parts: u64,
}

/// CPUs in use at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLinePoint {
    /// The instant.
    pub time: Seconds,
    /// CPUs that run jobs.
    pub jobs: u32,
    /// CPUs that parts hold.
    pub parts: u32,
}

/// A cluster as a broker and the actors see it. Everything happens at a time that is given; nothing
/// reads a clock.
///
/// Order in one instant: first ends, starts of parts, and starts of waiting jobs
/// ([`LocalService::settle`]); then answers to messages; then submissions of jobs, and again starts
/// of waiting jobs (Q49).
pub trait LocalService: Send {
    /// Its size in CPUs.
    fn nodes(&self) -> Nodes;

    /// Hands over jobs in the order of submission, none in the past.
    fn submit(&mut self, jobs: &[Job]);

    /// Processes everything before `until`.
    fn advance(&mut self, until: Seconds);

    /// Processes everything before `now`, and at `now` the ends, starts of parts and starts of
    /// waiting jobs, but no submission.
    fn settle(&mut self, now: Seconds);

    /// Answers a status query. [`LocalService::settle`] has been called for `now`.
    fn probe(&mut self, now: Seconds, probe: &Probe) -> ProbeAnswer;

    /// Reserves a part, or says why not. An order that is repeated is granted again without effect.
    ///
    /// # Errors
    ///
    /// The refusal.
    fn reserve(&mut self, now: Seconds, order: &PartOrder) -> Result<(), Refusal>;

    /// Puts a part into the queue. An order that is repeated, or comes after its cancellation, does
    /// nothing.
    fn queue(&mut self, now: Seconds, part: &QueuedPart);

    /// All parts of a request hold their CPUs: this one, which was queued and has begun, ends at
    /// `end`, or at its limit if that is earlier.
    fn proceed(&mut self, now: Seconds, request: CoRequestId, order: u32, end: Seconds);

    /// Gives a part back, reserved or queued. Cancelling twice, or what was never granted, does
    /// nothing, but an order that comes after its cancellation is refused. Returns whether
    /// something was given back.
    fn cancel(&mut self, now: Seconds, request: CoRequestId, order: u32) -> bool;

    /// Something hits the cluster. [`LocalService::settle`] has been called for `now`, except for a
    /// repair: that comes before anything else of its instant, so that it is there for a part that
    /// starts then.
    fn apply_outage(&mut self, now: Seconds, outage: OutageEvent);

    /// Whether the cluster is up and answers messages.
    fn is_up(&self) -> bool;

    /// When something will happen by itself; `None` when nothing is left.
    fn next_event(&self) -> Option<Seconds>;

    /// Whether every job has its outcome and no part is left.
    fn is_idle(&self) -> bool;

    /// Outcomes of jobs that became final since the last call.
    fn take_job_outcomes(&mut self) -> Vec<JobOutcome>;

    /// Outcomes of parts that became final since the last call.
    fn take_part_outcomes(&mut self) -> Vec<PartOutcome>;

    /// Parts that were lost since the last call.
    fn take_lost_parts(&mut self) -> Vec<LostPart>;

    /// Queued parts that have begun since the last call.
    fn take_begun_parts(&mut self) -> Vec<BegunPart>;

    /// When a queued part may begin at the earliest, unless a message comes before; `None` where
    /// none waits.
    fn next_look(&self) -> Option<Seconds>;

    /// Totals over the jobs so far.
    fn metrics(&self) -> SimulationMetrics;

    /// Sums so far; work counts before `stop` only.
    fn totals(&self) -> LocalTotals;

    /// CPUs in use now.
    fn in_use(&self) -> TimeLinePoint;

    /// CPUs that are up and run nothing now.
    fn free(&self) -> Nodes;
}
