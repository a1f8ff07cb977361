//! Who waits, in order of tier, priority and submission.

use std::cmp::Ordering;

use super::limits::Scopes;
use super::priority::Priorities;
use crate::units::Seconds;

/// What a pass reads of every job that waits, however deep the queue is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    /// Its priority when the queue was last sorted.
    priority: f64,
    pub(super) request: Seconds,
    /// Its place in the order of submission.
    pub(super) job: usize,
    place: u32,
    tier: u32,
    pub(super) kind: u32,
    pub(super) partition: u32,
    /// Whether some window is open to its user, to whom other nodes are free than to others.
    pub(super) has_windows: bool,
}

/// What is read of a job only when it may start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Details {
    /// Its place in the order of submission.
    pub(super) job: usize,
    pub(super) kind: usize,
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
    /// Who is charged for it.
    pub(super) holder: usize,
    pub(super) scopes: Scopes,
    /// The part of its priority that time does not change.
    pub(super) fixed_priority: f64,
}

/// All who wait.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// In order once [`Queue::sort`] was called.
    pub(super) waiting: Vec<Waiting>,
    details: Vec<Details>,
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
        let waiting = Waiting {
            priority: details.fixed_priority,
            request: details.request,
            job: details.job,
            place,
            tier: details.tier,
            kind: details.kind as u32,
            partition: details.partition as u32,
            has_windows: details.has_windows,
        };
        // Where the order never changes, it is kept.
        let behind = if priorities.are_fixed() {
            self.waiting
                .partition_point(|other| other.order(&waiting).is_lt())
        } else {
            self.waiting.len()
        };
        self.waiting.insert(behind, waiting);
    }

    pub(super) fn details(&self, waiting: &Waiting) -> &Details {
        &self.details[waiting.place as usize]
    }

    /// Lets go of the details of a job that is taken out of `waiting`.
    pub(super) fn leave(&mut self, waiting: &Waiting) {
        self.vacant.push(waiting.place);
    }

    /// Puts those first who come first as priorities are now.
    pub(super) fn sort(&mut self, priorities: &mut Priorities, now: Seconds) {
        if priorities.are_fixed() {
            return;
        }
        priorities.refresh(now);
        for waiting in &mut self.waiting {
            let details = &self.details[waiting.place as usize];
            let waited = now - details.submit;
            waiting.priority = priorities.of(details.fixed_priority, waited, details.holder);
        }
        // Stable sorting is fast where little has changed.
        self.waiting.sort_by(Waiting::order);
    }
}

impl Waiting {
    fn order(&self, other: &Self) -> Ordering {
        let tiers = other.tier.cmp(&self.tier);
        tiers
            .then_with(|| other.priority.total_cmp(&self.priority))
            .then_with(|| self.job.cmp(&other.job))
    }
}
