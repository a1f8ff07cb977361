//! Schedules one trace under one policy at full speed: jobs come in one by one, starts come out,
//! and nothing is kept of jobs that have ended.
//!
//! Responsible for schedules: when each job starts. Not responsible for promises, deadlines,
//! failures, outcomes of single jobs, or the choice of nodes: those belong to
//! [`ClusterMachine`](super::ClusterMachine) and its policies. Each engine makes, job by job, the
//! schedule that a strategy of the registry makes when no job has a deadline and no node fails:
//!
//! | engine | the schedule of |
//! |---|---|
//! | [`EasyStream`] | `easy-backfilling` |
//! | [`ConservativeStream`] | `heuristic-planning` |
//! | [`ExactStream`] | `heuristic-planning` where every estimate is exact |
//! | [`ReservationStream`] | fixed reservations under `heuristic-planning` |
//!
//! Memory holds the plan and the jobs in the system, however long the trace is. Events of one
//! second come in the order of the cluster: ends, starts, arrivals.

mod conservative;
mod easy;
mod exact;
mod failed;
mod floors;
mod planned;
mod released;
mod reservations;
mod summaries;
mod totals;
mod waiting;

pub use conservative::ConservativeStream;
pub use easy::EasyStream;
pub use exact::ExactStream;
pub use reservations::ReservationStream;
pub use totals::StreamTotals;

use crate::predictions::UserIndex;
use crate::units::{Nodes, Seconds};

/// A job as these engines see it: rigid, without deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamRequest {
    /// Place in the order of submission, from 0.
    pub index: u64,
    /// When it is submitted; never before the previous one.
    pub submit: Seconds,
    /// Its nodes, from 1 to those of the machine.
    pub nodes: Nodes,
    /// Its user.
    pub user: UserIndex,
    /// The booked time, at least one second; the job never gets more.
    pub estimate: Seconds,
    /// The time that it uses, from one second to its estimate. Engines read it only to know when
    /// the job ends.
    pub runtime: Seconds,
}

/// Receives the decisions of an engine.
pub trait Listener {
    /// The job starts at `start` and ends `runtime` later. Called once for each job as soon as its
    /// start is final, so not always in order of starts.
    fn started(&mut self, request: &StreamRequest, start: Seconds);

    /// The request is refused.
    fn refused(&mut self, request: &StreamRequest);
}

/// An engine: a policy on one machine.
pub trait StreamScheduler {
    /// Hands over the next job. Everything before its submission happens first.
    fn submit(&mut self, request: StreamRequest, listener: &mut impl Listener);

    /// Processes everything that was handed over.
    fn finish(&mut self, listener: &mut impl Listener);
}
