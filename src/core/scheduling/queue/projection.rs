//! A queue's forecast: its plan, and what it has in front of it.

use super::{Backfilling, Waiting, plan_beside, plan_queue};
use crate::plan::Profile;
use crate::scheduling::policy::QueueForecast;
use crate::units::{Nodes, Seconds};

/// The plan of a whole queue.
pub(super) struct Projection {
    now: Seconds,
    backfilling: Backfilling,
    fixed: Profile,
    queue: Vec<Waiting>,
    /// Of the waiting jobs, in their order.
    starts: Vec<Seconds>,
    /// When somebody ends, rising, each instant once.
    ends: Vec<Seconds>,
}

impl Projection {
    /// Plans `queue` from `now` on in what `fixed` leaves free. What is fixed ends at `ends`, in
    /// any order.
    pub(super) fn new(
        now: Seconds,
        fixed: &Profile,
        queue: &[Waiting],
        backfilling: Backfilling,
        ends: impl Iterator<Item = Seconds>,
    ) -> Self {
        let starts = plan_queue(&mut fixed.clone(), now, queue, backfilling);
        let planned = queue.iter().zip(&starts);
        let planned = planned.filter(|(_, start)| **start < Seconds::FAR);
        let mut ends: Vec<Seconds> = ends
            .chain(planned.map(|(waiting, start)| *start + waiting.estimate))
            .collect();
        ends.sort_unstable();
        ends.dedup();
        Self {
            now,
            backfilling,
            fixed: fixed.clone(),
            queue: queue.to_vec(),
            starts,
            ends,
        }
    }
}

impl QueueForecast for Projection {
    fn end(&self, number: u32) -> Seconds {
        let index = (number as usize).checked_sub(1);
        let end = index.and_then(|index| self.ends.get(index));
        end.copied().unwrap_or(Seconds::FAR)
    }

    fn last_end_of_waiting(&self) -> Option<Seconds> {
        let planned = self.queue.iter().zip(&self.starts);
        let planned = planned.filter(|(_, start)| **start < Seconds::FAR);
        planned
            .map(|(waiting, start)| *start + waiting.estimate)
            .max()
    }

    fn delays_nobody(&self, nodes: Nodes, start: Seconds, end: Seconds) -> bool {
        if start < self.now || self.fixed.min_free(start, end) < nodes.0 as i32 {
            return false;
        }
        let (span, queue) = ((start, end), &self.queue);
        let moved = plan_beside(&self.fixed, span, nodes, self.now, queue, self.backfilling);
        moved
            .iter()
            .zip(&self.starts)
            .all(|(then, now)| then <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Megabytes;
    use crate::workload::JobId;

    /// Ten nodes: four until 100, four until 200, and a job of `nodes` nodes that waits for 100 s.
    fn projection(nodes: u32) -> Projection {
        let mut fixed = Profile::new(10, Seconds::ZERO);
        fixed.reserve(Seconds::ZERO, Seconds(100), 4);
        fixed.reserve(Seconds::ZERO, Seconds(200), 4);
        let waiting = Waiting {
            rank: 0,
            since: Seconds::ZERO,
            job: JobId(3),
            nodes: Nodes(nodes),
            estimate: Seconds(100),
            memory: Megabytes(0),
        };
        let ends = [200, 100].map(Seconds).into_iter();
        Projection::new(
            Seconds::ZERO,
            &fixed,
            &[waiting],
            Backfilling::Aggressive,
            ends,
        )
    }

    #[test]
    fn ends_are_those_of_what_is_fixed_and_of_the_planned_jobs_behind_it() {
        let projected = projection(8);
        let ends = [1, 2, 3].map(|number| projected.end(number).0);
        assert_eq!(ends, [100, 200, 300]);
        assert_eq!(projected.end(4), Seconds::FAR);
        assert_eq!(projected.last_end_of_waiting(), Some(Seconds(300)));
        assert_eq!(projection(11).last_end_of_waiting(), None);
    }

    #[test]
    fn two_nodes_beside_a_job_of_eight_delay_nobody_and_beside_one_of_nine_they_do() {
        let delays = |nodes, end| !projection(nodes).delays_nobody(Nodes(2), Seconds::ZERO, end);
        assert!(!delays(8, Seconds(250)));
        assert!(delays(9, Seconds(250)));
        assert!(!delays(9, Seconds(200)));
    }

    #[test]
    fn nodes_that_are_not_free_are_not_taken() {
        let taken = |nodes| projection(8).delays_nobody(Nodes(nodes), Seconds(0), Seconds(50));
        assert!(taken(2));
        assert!(!taken(3));
    }
}
