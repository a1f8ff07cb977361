//! Who waits, in order of tier, priority and submission.

use super::limits::Scopes;
use super::priority::Priorities;
use crate::units::Seconds;

/// A job that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    /// Its place in the order of submission.
    pub(super) job: usize,
    pub(super) kind: usize,
    pub(super) partition: usize,
    pub(super) tier: u32,
    pub(super) submit: Seconds,
    pub(super) request: Seconds,
    pub(super) user: i64,
    /// Whether some window is open to its user, to whom other nodes are free than to others.
    pub(super) has_windows: bool,
    /// Who is charged for it.
    pub(super) holder: usize,
    pub(super) scopes: Scopes,
    /// The part of its priority that time does not change.
    pub(super) fixed_priority: f64,
    /// Its priority when the queue was last sorted.
    pub(super) priority: f64,
}

/// All who wait.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pub(super) waiting: Vec<Waiting>,
    is_sorted: bool,
}

impl Queue {
    pub(super) fn push(&mut self, waiting: Waiting) {
        self.waiting.push(waiting);
        self.is_sorted = false;
    }

    /// Puts those first who come first as priorities are now.
    pub(super) fn sort(&mut self, priorities: &mut Priorities, now: Seconds) {
        if self.is_sorted && priorities.are_fixed() {
            return;
        }
        priorities.refresh(now);
        for waiting in &mut self.waiting {
            let waited = now - waiting.submit;
            waiting.priority = priorities.of(waiting.fixed_priority, waited, waiting.holder);
        }
        // Stable sorting is fast where little has changed.
        self.waiting.sort_by(|one, other| {
            let tiers = other.tier.cmp(&one.tier);
            let priorities = || other.priority.total_cmp(&one.priority);
            let submissions = || one.job.cmp(&other.job);
            tiers.then_with(priorities).then_with(submissions)
        });
        self.is_sorted = true;
    }
}
