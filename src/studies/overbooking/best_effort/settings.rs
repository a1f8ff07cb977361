//! Which jobs are promised nothing, when they run, and what becomes of them when they give way.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use bookahead_core::random::Stream;
use bookahead_core::units::Seconds;
use bookahead_core::workload::{Job, JobId};

/// Jobs that run where the others leave nodes (`[best_effort]`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestEffortSettings {
    /// How many of the jobs, in percent, ask for no promise: each is drawn on its own with this
    /// probability.
    pub share_percent: f64,
    /// When one of them starts.
    pub start: BestEffortStart,
    /// What becomes of one that gives way.
    pub when_stopped: WhenStopped,
    /// What a node-hour that was used costs, in VC; one that is booked costs others 1 VC.
    pub fee_per_node_hour: f64,
}

/// When a job without a promise starts; first come, first served in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BestEffortStart {
    /// As soon as enough nodes are idle, whatever is planned for them.
    #[default]
    Idle,
    /// As soon as they are idle and the plan would have them free for the whole estimate, together
    /// with those that jobs without promises hold already.
    Fits,
}

/// What becomes of a job without a promise that gives way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenStopped {
    /// It waits again, in its old place, and runs from scratch.
    #[default]
    Requeue,
    /// It waits again, in its old place, and goes on where it was stopped. A node failure costs
    /// what it did since it last started.
    Suspend,
    /// It is ended, and its work is lost.
    Kill,
}

impl Default for BestEffortSettings {
    fn default() -> Self {
        Self {
            share_percent: 0.0,
            start: BestEffortStart::default(),
            when_stopped: WhenStopped::default(),
            fee_per_node_hour: 0.5,
        }
    }
}

impl BestEffortSettings {
    /// The random stream that says which jobs they are.
    pub const STREAM: &str = "best-effort jobs";

    /// The jobs in order of submission, numbered anew: those that ask for promises from 0, behind
    /// them those that ask for none, which get no deadline. Returns how many ask for promises, too.
    ///
    /// One number is drawn a job, so that a larger share contains the smaller one. Reservations are
    /// promises.
    #[must_use]
    pub fn split(&self, jobs: &[Job], draws: &mut Stream) -> (Vec<Job>, u32) {
        let asks_for_nothing: Vec<bool> = jobs
            .iter()
            .map(|job| {
                let chance: f64 = draws.random_range(0.0..100.0);
                chance < self.share_percent && !job.is_reservation()
            })
            .collect();
        let promised = asks_for_nothing.iter().filter(|nothing| !**nothing).count() as u32;
        let (mut next_promised, mut next_other) = (0, promised);
        let numbered = jobs.iter().zip(asks_for_nothing).map(|(job, is_other)| {
            let next = if is_other {
                &mut next_other
            } else {
                &mut next_promised
            };
            let id = JobId(*next);
            *next += 1;
            let deadline = if is_other { Seconds::FAR } else { job.deadline };
            Job {
                id,
                deadline,
                ..job.clone()
            }
        });
        (numbered.collect(), promised)
    }
}
