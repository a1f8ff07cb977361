//! Plans anew after a change, and starts due jobs.

use bookahead_core::scheduling::queue::{Backfilling, QueueOrder, Waiting, remove_due};
use bookahead_core::scheduling::{Cluster, Policy};
use bookahead_core::units::{Nodes, Seconds};

use super::{Replanning, Running};
use crate::replanning::settings::DisplacedJobs;

impl Replanning {
    /// Moves only the jobs whose places the new reservation took, in order, each to the earliest
    /// place that is left (A2).
    pub(super) fn replan_displaced(&mut self, start: Seconds, end: Seconds, nodes: Nodes) {
        let Some(mut plan) = self.plan.take() else {
            return;
        };
        plan.free.reserve(start, end, self.of_reservation(nodes));
        let mut displaced = Vec::new();
        // Later jobs in the queue give way first.
        for index in (0..self.queue.len()).rev() {
            let waiting = &self.queue[index];
            let planned = plan.starts[index];
            let until = planned + waiting.estimate;
            let overlap = (planned.max(start), until.min(end));
            if overlap.0 < overlap.1 && !plan.free.is_enough(overlap.0, overlap.1) {
                plan.free.release(planned, until, waiting.into());
                displaced.push(index);
            }
        }
        for index in displaced.into_iter().rev() {
            plan.starts[index] = plan.free.place(&self.queue[index], self.now);
        }
        self.plan = Some(plan);
    }

    /// Whether a job that no reservation may delay would be planned later if this slot were
    /// granted.
    pub(in crate::replanning) fn delays_undelayed_job(
        &mut self,
        start: Seconds,
        end: Seconds,
        nodes: Nodes,
    ) -> bool {
        let is_undelayed =
            |waiting: &Waiting| self.marks.undelayed.get(waiting.job.0 as usize) == Some(&true);
        let watched: Vec<usize> = (0..self.queue.len())
            .filter(|&index| is_undelayed(&self.queue[index]))
            .collect();
        if watched.is_empty() {
            return false;
        }
        let before = self.planned().0.to_vec();
        // An aggressive plan is made anew in any case.
        let aggressive = self.settings.backfilling == Backfilling::Aggressive;
        let after = match self.settings.displaced {
            DisplacedJobs::OnlyOverlapping if !aggressive => {
                let kept = self.plan.clone();
                self.replan_displaced(start, end, nodes);
                std::mem::replace(&mut self.plan, kept).map_or_else(Vec::new, |plan| plan.starts)
            }
            DisplacedJobs::ReplanAll | DisplacedJobs::OnlyOverlapping => {
                let backfilling = self.settings.backfilling;
                let queue = &self.queue;
                let taken = self.of_reservation(nodes);
                (self.fixed).plan_beside((start, end), taken, self.now, queue, backfilling)
            }
        };
        watched
            .into_iter()
            .any(|index| after[index] > before[index])
    }

    /// Nodes have become free: the whole queue is planned anew, at once where plans are kept,
    /// otherwise when the plan is needed.
    pub(super) fn forget_plan(&mut self) {
        if self.keeps_plans() {
            let before = self.plan.take();
            if let Some(before) = before {
                let (after, _) = self.planned();
                let later = before
                    .starts
                    .iter()
                    .zip(after)
                    .filter(|(before, after)| after > before)
                    .count();
                self.totals.anomalies += later as u64;
            }
        } else {
            self.plan = None;
        }
    }

    /// Whether starts are read off a plan that is carried from event to event.
    pub(super) fn keeps_plans(&self) -> bool {
        self.settings.displaced == DisplacedJobs::OnlyOverlapping
    }

    /// Starts everything whose place in the plan is now.
    pub(super) fn settle(&mut self, cluster: &mut Cluster) {
        let Some(mut first) = self.unsettled.take().filter(|_| !self.queue.is_empty()) else {
            return;
        };
        if self.settings.backfilling == Backfilling::Aggressive {
            // An aggressive plan is a forecast: it is made anew at every event.
            self.plan = None;
        }
        if self.keeps_plans() {
            self.planned();
        }
        if self.protect_starving_jobs() || self.keeps_plans() {
            first = 0;
        }
        let (starts, free) = match &self.plan {
            Some(plan) => (&plan.starts[..], &plan.free),
            None => (&[][..], &self.fixed),
        };
        let planned = starts.len();
        let is_due = |&index: &usize| starts[index] <= self.now;
        let mut due: Vec<usize> = (first.min(planned)..planned).filter(is_due).collect();
        let due_and_planned = due.len();
        let behind = free.due_now(
            self.now,
            &self.queue[planned..],
            first.saturating_sub(planned),
            self.settings.backfilling,
        );
        due.extend(behind.into_iter().map(|index| planned + index));
        for &index in &due {
            let waiting = self.queue[index];
            self.start(cluster, &waiting);
        }
        if let Some(plan) = &mut self.plan {
            for &index in &due[due_and_planned..] {
                let waiting = &self.queue[index];
                let end = self.now + waiting.estimate;
                plan.free.reserve(self.now, end, waiting.into());
            }
            remove_due(&mut plan.starts, &due[..due_and_planned]);
        }
        remove_due(&mut self.queue, &due);
        if self.keeps_plans()
            && let Some(next) = self
                .plan
                .as_ref()
                .and_then(|plan| plan.starts.iter().min().copied())
        {
            cluster.wake_at(next);
        }
    }

    /// Jobs that have waited too long come first in an order that is not that of arrival. Returns
    /// whether the order has changed.
    pub(super) fn protect_starving_jobs(&mut self) -> bool {
        let Some(guard) = self.settings.starvation_guard else {
            return false;
        };
        if self.settings.order == QueueOrder::Fcfs {
            return false;
        }
        let now = self.now;
        let key = |waiting: &Waiting| {
            let starving = now - waiting.since >= guard;
            let rank = if starving { 0 } else { waiting.rank };
            (!starving, rank, waiting.since, waiting.job)
        };
        let is_sorted = self.queue.is_sorted_by_key(key);
        if !is_sorted {
            self.queue.sort_by_key(key);
            self.plan = None;
        }
        !is_sorted
    }

    fn start(&mut self, cluster: &mut Cluster, waiting: &Waiting) {
        let Some(nodes) = cluster.idle().lowest(waiting.nodes) else {
            debug_assert!(false, "a job finds nodes that are idle");
            return;
        };
        let end = self.now + waiting.estimate;
        if let Some(waits) = &mut self.waits {
            waits.observe(waiting.nodes, waiting.estimate, self.now - waiting.since);
        }
        cluster.start(waiting.job, nodes, end);
        self.usage.begins(self.now, waiting.nodes);
        self.fixed.reserve(self.now, end, waiting.into());
        let running = Running {
            start: self.now,
            holds: waiting.into(),
            estimate: waiting.estimate,
            reads: self
                .checkpointing()
                .map(|saving| saving.reads(cluster.saved(waiting.job))),
            cut: None,
        };
        self.running.insert(waiting.job, running);
    }
}
