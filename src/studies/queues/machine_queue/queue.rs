//! The waiting jobs in order of tier, priority and submission.

use std::cmp::Reverse;

use bookahead_core::scheduling::queue::{Waiting, remove_due};
use bookahead_core::units::{Megabytes, Nodes, Seconds};
use bookahead_core::workload::JobId;

use super::limits::Scopes;
use super::priority::Priorities;

/// What a pass reads of every job that waits, however deep the queue is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// By its priority when the queue was last sorted; its job is its place in the order of
    /// submission.
    pub(super) waiting: Waiting,
    place: u32,
    tier: u32,
    pub(super) kind: u32,
    pub(super) partition: u32,
    /// Whether a window is open to its user, so that other nodes are free to it than to others.
    pub(super) has_windows: bool,
}

/// What is read of a job only when it may start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Details {
    /// Its place in the order of submission.
    pub(super) job: usize,
    pub(super) kind: usize,
    /// Of the first class that would do.
    pub(super) nodes: Nodes,
    pub(super) partition: usize,
    pub(super) tier: u32,
    pub(super) submit: Seconds,
    pub(super) request: Seconds,
    /// How long it will run; passes do not know.
    pub(super) runtime: Seconds,
    /// What each of its core-seconds is charged as.
    pub(super) usage_factor: f64,
    pub(super) user: i64,
    pub(super) has_windows: bool,
    /// The holder that is charged for it.
    pub(super) holder: usize,
    pub(super) scopes: Scopes,
    /// The part of its priority that time does not change.
    pub(super) fixed_priority: f64,
}

/// All waiting jobs.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// In order once [`Queue::sort`] was called.
    pub(super) waiting: Vec<Candidate>,
    pub(super) details: Vec<Details>,
    /// Places in `details` of jobs that left.
    vacant: Vec<u32>,
}

impl Queue {
    pub(super) fn push(&mut self, details: Details, priorities: &Priorities) {
        let place = self.vacant.pop().unwrap_or_else(|| {
            self.details.push(details);
            self.details.len() as u32 - 1
        });
        self.details[place as usize] = details;
        let candidate = Candidate {
            waiting: Waiting {
                rank: rank_of(details.fixed_priority),
                since: details.submit,
                job: JobId(details.job as u32),
                nodes: details.nodes,
                estimate: details.request,
                memory: Megabytes(0),
            },
            place,
            tier: details.tier,
            kind: details.kind as u32,
            partition: details.partition as u32,
            has_windows: details.has_windows,
        };
        // Where the order never changes, it is kept.
        let behind = if priorities.are_fixed() {
            self.waiting
                .partition_point(|other| other.key() < candidate.key())
        } else {
            self.waiting.len()
        };
        self.waiting.insert(behind, candidate);
    }

    /// Removes the jobs that are `due`: places in `waiting`, in order.
    pub(super) fn remove(&mut self, due: &[usize]) {
        let places = due.iter().map(|&place| self.waiting[place].place);
        self.vacant.extend(places);
        remove_due(&mut self.waiting, due);
    }

    /// Sorts the waiting jobs by their present priorities.
    pub(super) fn sort(&mut self, priorities: &mut Priorities, now: Seconds) {
        if priorities.are_fixed() {
            return;
        }
        priorities.refresh(now);
        for candidate in &mut self.waiting {
            let details = &self.details[candidate.place as usize];
            let waited = now - details.submit;
            let priority = priorities.of(details.fixed_priority, waited, details.holder);
            candidate.waiting.rank = rank_of(priority);
        }
        // Stable sorting is fast where little has changed.
        self.waiting.sort_by_key(Candidate::key);
    }
}

impl Candidate {
    fn key(&self) -> (Reverse<u32>, Waiting) {
        (Reverse(self.tier), self.waiting)
    }

    /// What is read of it only when it may start; `details` are those of its queue.
    pub(super) fn details<'a>(&self, details: &'a [Details]) -> &'a Details {
        &details[self.place as usize]
    }
}

/// Higher priorities come first.
fn rank_of(priority: f64) -> i64 {
    Waiting::rank_of(-priority)
}
