//! Preemption for reservations: which jobs are in the way, which are stopped, and who pays.

use bookahead_core::scheduling::queue::Waiting;
use bookahead_core::scheduling::victims::{Stoppable, least_lost};
use bookahead_core::scheduling::{Cluster, JobOutcome, bounded_slowdown};
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::JobId;

use super::{Replanning, Running};
use crate::replanning::free::{FreeResources, Resources};
use crate::replanning::outcome::RequestVerdict;
use crate::replanning::settings::StoppedFirst;

/// A preemptible job that runs.
struct Candidate {
    job: JobId,
    start: Seconds,
    /// Until when it holds its nodes in the plan.
    until: Seconds,
    holds: Resources,
    /// What is lost if it is stopped.
    lost: NodeSeconds,
}

/// Of these jobs, those with which the least work is lost if they end at the start of a window that
/// needs room; `None` where all of them would not make it.
fn stopped_by_loss(
    free: &FreeResources,
    candidates: &[Candidate],
    (start, end): (Seconds, Seconds),
    wanted: Resources,
) -> Option<Vec<JobId>> {
    let running = candidates.iter().map(|candidate| Stoppable {
        job: candidate.job,
        nodes: candidate.holds.nodes,
        since: candidate.start,
        lost: candidate.lost,
    });
    let stopped = least_lost(running.collect(), |stopped| {
        let mut free = free.clone();
        for candidate in candidates {
            if stopped.iter().any(|it| it.job == candidate.job) {
                free.release(start, candidate.until, candidate.holds);
            }
        }
        free.is_free(start, end, wanted)
    })?;
    Some(stopped.into_iter().map(|it| it.job).collect())
}

impl Replanning {
    fn is_preemptible(&self, job: JobId) -> bool {
        self.marks.preemptible.get(job.0 as usize) == Some(&true)
    }

    /// Whether a waiting job gives way to a reservation: a preemptible one that the guard does not
    /// protect.
    fn gives_way(&self, waiting: &Waiting) -> bool {
        let guard = self.settings.starvation_guard;
        let is_protected = guard.is_some_and(|guard| self.now - waiting.since >= guard);
        self.is_preemptible(waiting.job) && !is_protected
    }

    /// The running jobs that have to be stopped at `start` so that `nodes` nodes are free on
    /// `[start, end)`, beside all jobs that do not give way. Waiting preemptible jobs give way
    /// first. Of the running ones, the job that started last is stopped first (ties: the higher
    /// id), or they are chosen by least lost work ([`StoppedFirst`]). No job is stopped that holds
    /// no node in a second with too few.
    ///
    /// # Errors
    /// Why it cannot be granted even if all of them are stopped.
    pub(in crate::replanning) fn stopped_for(
        &mut self,
        start: Seconds,
        end: Seconds,
        nodes: Nodes,
    ) -> Result<Vec<JobId>, RequestVerdict> {
        let wanted = self.of_reservation(nodes);
        let mut candidates: Vec<Candidate> = self
            .running
            .iter()
            .filter(|(id, _)| self.is_preemptible(**id))
            .map(|(id, running)| Candidate {
                job: *id,
                start: running.start,
                until: running.planned_end(),
                holds: running.holds,
                lost: running.lost(start),
            })
            .filter(|candidate| candidate.until > start)
            .collect();
        candidates.sort_by_key(|candidate| (candidate.start, candidate.job));
        let mut bare = self.fixed.clone();
        for Candidate { until, holds, .. } in &candidates {
            bare.release(start, *until, *holds);
        }
        if !bare.is_free(start, end, wanted) {
            return Err(RequestVerdict::ConflictsWithFixed);
        }
        let mut free = self.free_without_preempted();
        if self.settings.stopped_first == StoppedFirst::LeastLost {
            return stopped_by_loss(&free, &candidates, (start, end), wanted)
                .ok_or(RequestVerdict::ConflictsWithPlanned);
        }
        let mut stopped = Vec::new();
        loop {
            let lacking = free.first_below(start, wanted);
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
            free.release(start, next.until, next.holds);
            stopped.push(next.job);
        }
    }

    /// What the plan leaves free if the waiting jobs that give way were not there.
    fn free_without_preempted(&mut self) -> FreeResources {
        self.planned();
        let Some(plan) = &self.plan else {
            return self.fixed.clone();
        };
        let mut free = plan.free.clone();
        for (planned, waiting) in plan.starts.iter().zip(&self.queue) {
            if self.gives_way(waiting) {
                free.release(*planned, *planned + waiting.estimate, waiting.into());
            }
        }
        free
    }

    /// A running job will be stopped at `at`, which is not in the past.
    pub(super) fn cut(&mut self, cluster: &mut Cluster, id: JobId, at: Seconds) {
        let Some(running) = self.running.get_mut(&id) else {
            return;
        };
        let until = running.planned_end();
        running.cut = Some(at);
        self.fixed.release(at, until, running.holds);
        self.plan = None;
        cluster.set_window_end(id, at);
    }

    /// A job was ended by a reservation before it had finished.
    pub(super) fn truncated(&mut self, outcome: &JobOutcome) {
        if let (Some(start), Some(end)) = (outcome.start, outcome.end) {
            self.totals.lost_to_preemption += outcome.job.nodes.for_span(end - start);
        }
        self.totals.truncated += 1;
        self.preempted.insert(outcome.job.id);
        self.forget_plan();
    }

    /// A job was stopped for a reservation before it had finished, and waits again.
    pub(super) fn preempt(&mut self, cluster: &mut Cluster, id: JobId) {
        if let Some(run) = self.take_off(id) {
            self.totals.lost_to_preemption += run.lost(self.now);
        }
        self.totals.requeued += 1;
        self.preempted.insert(id);
        self.queue_again(cluster, id);
    }

    /// Takes a job that was stopped out of the plan; returns its run.
    pub(super) fn take_off(&mut self, id: JobId) -> Option<Running> {
        let running = self.running.remove(&id)?;
        self.fixed
            .release(self.now, running.planned_end(), running.holds);
        self.usage.ends(self.now, running.holds.nodes);
        self.forget_plan();
        self.unsettled = Some(0);
        Some(running)
    }

    /// A job that was stopped waits again, for what is left of it or to run from scratch.
    pub(super) fn queue_again(&mut self, cluster: &mut Cluster, id: JobId) {
        cluster.wait(id);
        self.enqueue(Waiting::from(&cluster.to_plan(id)));
    }

    /// Counts a job that is over among the preemptible jobs or the others, and, if it was stopped
    /// for a reservation, among the stopped ones as well; and what its waiting cost.
    pub(super) fn count_who_paid(&mut self, outcome: &JobOutcome) {
        let id = outcome.job.id;
        let was_preempted = self.preempted.remove(&id);
        let (Some(start), Some(end)) = (outcome.start, outcome.end) else {
            return;
        };
        // Where work is kept, all its runs are one; what they did not keep counts as waiting.
        let execution = outcome.execution;
        let ran = execution.map_or(end - start, |execution| execution.useful);
        let wait = end - outcome.job.submit - ran;
        let slowdown = bounded_slowdown(wait, ran);
        let costs = self.marks.costs.as_deref();
        if let Some(cost) = costs.and_then(|costs| costs.of_job(id)) {
            let waiting = &mut self.totals.waiting;
            waiting.count_job(outcome.job.nodes, &cost, wait, slowdown);
        }
        if self.marks.preemptible.is_empty() {
            return;
        }
        if was_preempted {
            self.totals.stopped.add(wait, slowdown);
        }
        if self.is_preemptible(id) {
            self.totals.preemptible.add(wait, slowdown);
        } else {
            self.totals.others.add(wait, slowdown);
        }
    }
}
