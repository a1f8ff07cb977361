//! One trace under one policy as fast as it goes: jobs come in one by one, starts come out, and
//! nothing is kept of what has started and ended.
//!
//! Responsible for schedules: who starts when. Not responsible for promises, deadlines, failures,
//! outcomes a job or which nodes: that is what [`ClusterMachine`](super::ClusterMachine) and its
//! policies are for. Each engine makes, job by job, the schedule of a registered strategy when no
//! job has a deadline and no node fails:
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
    /// When it is submitted; never before the one in front of it.
    pub submit: Seconds,
    /// Its nodes, from 1 to those of the machine.
    pub nodes: Nodes,
    /// Who submitted it.
    pub user: UserIndex,
    /// What is booked, at least one second; the job never gets more.
    pub estimate: Seconds,
    /// What it uses, from one second to its estimate. Engines read it only to know when the job
    /// ends.
    pub runtime: Seconds,
}

/// Who is told what an engine decides.
pub trait Listener {
    /// The job starts at `start` and ends `runtime` later. Called once a job, not always in order
    /// of starts: an engine says it as soon as it cannot change any more.
    fn started(&mut self, request: &StreamRequest, start: Seconds);

    /// The request gets nothing.
    fn refused(&mut self, request: &StreamRequest);
}

/// An engine: a policy on one machine.
pub trait StreamScheduler {
    /// Hands over the next job; everything before its submission happens first.
    fn submit(&mut self, request: StreamRequest, listener: &mut impl Listener);

    /// Works off everything that was handed over.
    fn finish(&mut self, listener: &mut impl Listener);
}
