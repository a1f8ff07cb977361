//! A second order of the same queue.

use super::Waiting;
use crate::units::Seconds;

/// The jobs of a queue by estimate, the shortest first, of equal ones whoever came first. Whoever
/// holds the queue keeps it where the jobs behind the first are tried in this order.
#[derive(Clone, Debug, Default)]
pub struct ShortestFirst {
    pub(super) jobs: Vec<Waiting>,
}

impl ShortestFirst {
    /// All jobs of a queue.
    pub fn of(queue: &[Waiting]) -> Self {
        let mut jobs = queue.to_vec();
        jobs.sort_unstable_by_key(|waiting| (waiting.estimate, waiting.since, waiting.job));
        Self { jobs }
    }

    /// Enters a job that came after all others.
    #[inline]
    pub fn push(&mut self, waiting: Waiting) {
        let place = self.count_up_to(waiting.estimate);
        self.jobs.insert(place, waiting);
    }

    #[inline]
    pub(super) fn remove(&mut self, waiting: &Waiting) {
        let from = self.count_up_to(waiting.estimate - Seconds(1));
        let mut others = self.jobs[from..].iter();
        if let Some(place) = others.position(|other| other.job == waiting.job) {
            self.jobs.remove(from + place);
        }
    }

    /// How many take no longer.
    #[inline]
    pub(super) fn count_up_to(&self, longest: Seconds) -> usize {
        if (self.jobs.last()).is_none_or(|last| last.estimate <= longest) {
            return self.jobs.len();
        }
        self.jobs.partition_point(|other| other.estimate <= longest)
    }
}
