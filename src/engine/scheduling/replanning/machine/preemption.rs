//! Preemptible jobs that are stopped for reservations: who is in the way, who is stopped, and who pays.

use super::{Event, Holder, OpenJob, ReplanningMachine};
use crate::plan::Profile;
use crate::scheduling::outcome::Verdict;
use crate::scheduling::predicted_queue::bounded_slowdown;
use crate::scheduling::queue::Waiting;
use crate::scheduling::replanning::outcome::RequestVerdict;
use crate::scheduling::replanning::settings::Admission;
use crate::units::{NodeSeconds, Nodes, Seconds};
use crate::workload::JobId;

/// A preemptible job that runs.
struct Candidate {
    job: JobId,
    start: Seconds,
    /// Until when it holds its nodes in the plan.
    until: Seconds,
    nodes: Nodes,
}

impl ReplanningMachine {
    fn is_preemptible(&self, job: JobId) -> bool {
        self.preemptible.get(job.0 as usize) == Some(&true)
    }

    /// Whether a waiting job gives way to a reservation: a preemptible one that the guard does not protect.
    fn gives_way(&self, waiting: &Waiting) -> bool {
        let guard = self.settings.starvation_guard;
        let is_protected = guard.is_some_and(|guard| self.now - waiting.since >= guard);
        self.is_preemptible(waiting.job) && !is_protected
    }

    /// The running jobs that have to be stopped at `start` so that `nodes` nodes are free on `[start, end)` beside everybody who does not
    /// give way. Waiting preemptible jobs give way first. Of those who run, whoever started last is stopped first (ties: the higher
    /// id), and nobody who holds no node in a second that lacks some.
    ///
    /// # Errors
    /// Why it cannot be granted even if all of them are stopped.
    pub(in crate::scheduling::replanning) fn stopped_for(
        &mut self,
        start: Seconds,
        end: Seconds,
        nodes: Nodes,
    ) -> Result<Vec<JobId>, RequestVerdict> {
        let wanted = nodes.0 as i32;
        let mut candidates: Vec<Candidate> = self
            .jobs
            .iter()
            .filter(|(id, _)| self.is_preemptible(**id))
            .filter_map(|(id, open)| {
                let held = open.start?;
                Some(Candidate {
                    job: *id,
                    start: held,
                    until: open.planned_end(held),
                    nodes: open.job.nodes,
                })
            })
            .filter(|candidate| candidate.until > start)
            .collect();
        candidates.sort_by_key(|candidate| (candidate.start, candidate.job));
        let mut bare = self.fixed.clone();
        for Candidate { until, nodes, .. } in &candidates {
            bare.release(start, *until, nodes.0);
        }
        if bare.min_free(start, end) < wanted {
            return Err(RequestVerdict::ConflictsWithFixed);
        }
        let mut free = self.beside_those_who_stay();
        let mut stopped = Vec::new();
        loop {
            let lacking = free.first_below(start, nodes.0);
            if lacking >= end {
                return Ok(stopped);
            }
            let Some(place) = candidates
                .iter()
                .rposition(|candidate| candidate.until > lacking)
            else {
                return Err(RequestVerdict::ConflictsWithPlanned);
            };
            let next = candidates.remove(place);
            free.release(start, next.until, next.nodes.0);
            stopped.push(next.job);
        }
    }

    /// What the plan leaves free if the waiting jobs that give way were not there.
    fn beside_those_who_stay(&mut self) -> Profile {
        self.planned();
        let Some(plan) = &self.plan else {
            return self.fixed.clone();
        };
        let mut free = plan.profile.clone();
        for (planned, waiting) in plan.starts.iter().zip(&self.queue) {
            if self.gives_way(waiting) {
                free.release(*planned, *planned + waiting.estimate, waiting.nodes.0);
            }
        }
        free
    }

    /// A running job will be stopped at `at`, which is not in the past.
    pub(super) fn cut(&mut self, id: JobId, at: Seconds) {
        let Some(open) = self.jobs.get_mut(&id) else {
            return;
        };
        let Some(start) = open.start else {
            return;
        };
        let until = open.planned_end(start);
        open.cut = Some(at);
        open.version += 1;
        let end = (start + open.job.runtime.min(open.job.estimate)).min(at);
        let (version, nodes) = (open.version, open.job.nodes);
        self.fixed.release(at, until, nodes.0);
        self.plan = None;
        self.push(end, Event::JobEnds(id, version));
    }

    /// A job is stopped for a reservation before it has finished.
    pub(super) fn preempt(&mut self, id: JobId) {
        let lost = self.stop(id);
        let totals = &mut self.reservation_totals;
        totals.lost_to_preemption += lost;
        let Some(open) = self.jobs.get_mut(&id) else {
            return;
        };
        open.preempted = true;
        match self.settings.admission {
            Admission::Requeue => {
                totals.requeued += 1;
                self.queue_again(id);
            }
            _ => {
                totals.truncated += 1;
                self.finish(id, Verdict::FailedOverbooked);
            }
        }
    }

    /// Takes a running job off its nodes and out of the plan; returns what it has used, which is lost.
    pub(super) fn stop(&mut self, id: JobId) -> NodeSeconds {
        let Some(open) = self.jobs.get_mut(&id) else {
            return NodeSeconds(0);
        };
        let start = open.start.unwrap_or(self.now);
        let (nodes, until) = (open.job.nodes, open.planned_end(start));
        open.cut = None;
        open.version += 1;
        self.fixed.release(self.now, until, nodes.0);
        self.in_use -= nodes.0;
        self.give_back(Holder::Job(id));
        self.forget_plan();
        self.unsettled = true;
        let used = nodes.for_span(self.now - start);
        self.totals.busy += used;
        used
    }

    /// A job that was stopped waits again, and will run from scratch.
    pub(super) fn queue_again(&mut self, id: JobId) {
        if let Some(open) = self.jobs.get_mut(&id) {
            open.start = None;
            open.restarts += 1;
            let waiting = Waiting::from(&open.job);
            self.enqueue(waiting);
        }
    }

    /// Counts a job that is over among those who were stopped, those who might have been, and the others.
    pub(super) fn count_who_paid(&mut self, open: &OpenJob) {
        let Some(start) = open.start else {
            return;
        };
        if self.preemptible.is_empty() {
            return;
        }
        let wait = start - open.job.submit;
        let slowdown = bounded_slowdown(wait, self.now - start);
        let is_preemptible = self.is_preemptible(open.job.id);
        let totals = &mut self.reservation_totals;
        if open.preempted {
            totals.stopped.add(wait, slowdown);
        }
        if is_preemptible {
            totals.preemptible.add(wait, slowdown);
        } else {
            totals.others.add(wait, slowdown);
        }
    }
}
