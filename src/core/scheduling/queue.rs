//! The core under every queue and every plan of a queue: waiting jobs in an order, and the choice
//! of the jobs that start now.
//!
//! A pass (`pass`) goes over the waiting jobs in their order. A job that fits starts; the first
//! ones that do not fit get reserved places, which no job behind them may delay. The number of
//! these places is the whole difference between the usual rules ([`Backfilling`]): none is first
//! come, first served, one is EASY, one for every job is conservative backfilling. A job is planned
//! for its request or for a prediction. A `Rule` decides which jobs start in a pass:
//!
//! * On equal nodes, a `View` holds the nodes that are free now. With at most one reserved place
//!   (`backfill`), the fixed entries are a `Room`: a profile ([`due_now`]), or only the
//!   `PlannedEnds` of running jobs. With a place for every job (`conservative`) they are a profile.
//! * On different nodes, the machines of operators decide which jobs may start on which nodes
//!   (`machine_queue/pass.rs`).
//!
//! [`plan_queue`] repeats passes until every job has a start.

mod conservative;
mod ends;
mod pass;
mod plan;
mod planned;
mod policy;
mod projection;
mod shortest;
mod view;

pub use self::ends::PlannedEnds;
pub use self::pass::{Room, Rule, backfill, due_now, pass, remove_due};
pub use self::plan::{place, plan_beside, plan_queue};
pub use self::planned::PlannedQueue;
pub use self::policy::{Queue, QueuePass, QueuePolicy, QueueSettings};
pub use self::shortest::ShortestFirst;
pub use self::view::View;

use serde::{Deserialize, Serialize};

use crate::units::{Megabytes, Nodes, Seconds};
use crate::workload::{Job, JobId};

/// A waiting job. Jobs that come earlier in the order of the queue are less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Waiting {
    /// Its place in an order that is not that of arrival: lower ranks come first.
    pub rank: i64,
    /// When it joined the queue: its submission, or its release where it may not start before.
    pub since: Seconds,
    /// Which it is.
    pub job: JobId,
    /// Nodes that it needs, at least one and at most the machine's.
    pub nodes: Nodes,
    /// How long it is planned for.
    pub estimate: Seconds,
    /// Memory that it needs, where the machine counts it; 0 else.
    pub memory: Megabytes,
}

impl From<&Job> for Waiting {
    fn from(job: &Job) -> Self {
        Self {
            rank: 0,
            since: job.submit,
            job: job.id,
            nodes: job.nodes,
            estimate: job.estimate,
            memory: job.memory,
        }
    }
}

impl Waiting {
    /// The rank of a score, of which lower ones come first.
    pub fn rank_of(score: f64) -> i64 {
        // Bits of floating-point numbers stand in their order once those of negative ones are
        // turned round.
        let bits = score.to_bits().cast_signed();
        bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
    }
}

/// The order in which waiting jobs are planned (A1 of docs/decisions.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueOrder {
    /// First come, first served.
    #[default]
    Fcfs,
    /// Shortest estimate first; first come, first served among equals.
    Sjf,
    /// Longest estimate first; first come, first served among equals.
    Ljf,
}

impl QueueOrder {
    /// The rank of a job of this estimate.
    pub fn rank(self, estimate: Seconds) -> i64 {
        match self {
            Self::Fcfs => 0,
            Self::Sjf => estimate.0,
            Self::Ljf => -estimate.0,
        }
    }
}

/// Which jobs may be planned before jobs in front of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backfilling {
    /// Any that delays no job in front of it: each job gets the earliest slot that is left.
    #[default]
    Conservative,
    /// Any that does not delay the first in the queue (EASY).
    Aggressive,
    /// None: no job starts before one in front of it.
    None,
}

/// The order in which the jobs behind the first are tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackfillOrder {
    /// As they stand in the queue.
    #[default]
    Queue,
    /// Shortest prediction first, ties by submission (SJBF).
    ShortestFirst,
    /// In the order of submission, whatever the order of the queue is.
    Submission,
    /// Not at all: nobody passes the first.
    None,
}
