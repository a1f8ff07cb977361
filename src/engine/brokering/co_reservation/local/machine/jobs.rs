//! The queue: arrivals, who starts now, ends, and what the scheduler reserved for those who wait (§4.2).

use super::{Event, LocalMachine, OpenJob, RunningJob};
use crate::plan::Profile;
use crate::scheduling::queue::{Backfilling, Waiting, due_now, plan_queue, remove_due};
use crate::scheduling::{JobOutcome, Verdict};
use crate::units::Seconds;
use crate::workload::{Job, JobId};

impl LocalMachine {
    pub(super) fn job_arrives(&mut self, job: Job) {
        self.first_submission.get_or_insert(self.now);
        let wide = job.nodes > self.nodes;
        let waiting = waiting(&job);
        let open = OpenJob {
            job,
            restarts: 0,
            node_failures: 0,
        };
        if wide {
            self.finish(open, Verdict::DroppedTooWide, None, None);
            return;
        }
        self.jobs.insert(waiting.job, open);
        self.enqueue(waiting);
    }

    /// Puts a job at its place in the queue: by submission, equals by id.
    pub(super) fn enqueue(&mut self, waiting: Waiting) {
        let place = self.queue.partition_point(|other| *other <= waiting);
        self.queue.insert(place, waiting);
        self.backlog.waiting += work(&waiting);
        self.changed();
    }

    /// One scheduling iteration: starts everybody whose place in a plan made now is now.
    pub(super) fn start_due_jobs(&mut self) {
        if !self.up || self.queue.is_empty() {
            return;
        }
        let due = due_now(
            &self.fixed,
            self.now,
            &self.queue,
            self.settings.backfilling,
            &mut self.effort,
        );
        if due.is_empty() {
            return;
        }
        for &index in &due {
            let waiting = self.queue[index];
            self.start_job(&waiting);
        }
        remove_due(&mut self.queue, &due);
        self.visible = None;
    }

    fn start_job(&mut self, waiting: &Waiting) {
        let Some(open) = self.jobs.get(&waiting.job) else {
            return;
        };
        let limit = self.now + waiting.estimate;
        let end = self.now + open.job.runtime.min(open.job.estimate).max(Seconds::ZERO);
        let held = self.free.lowest(waiting.nodes);
        debug_assert!(held.is_some(), "a job finds its CPUs free");
        let Some(held) = held else {
            return;
        };
        self.free.subtract(&held);
        self.job_nodes += waiting.nodes.0;
        self.fixed.reserve(self.now, limit, waiting.nodes.0);
        self.backlog.waiting -= work(waiting);
        self.backlog.running += work(waiting);
        self.events.insert((end, Event::JobEnds(waiting.job)));
        let running = RunningJob {
            start: self.now,
            limit,
            end,
            nodes: waiting.nodes,
            held,
        };
        self.running.insert(waiting.job, running);
    }

    pub(super) fn end_job(&mut self, id: JobId) {
        let Some(running) = self.stop_job(id) else {
            return;
        };
        let Some(open) = self.jobs.remove(&id) else {
            return;
        };
        let verdict = if open.job.runtime <= open.job.estimate {
            Verdict::SuccessfulFinished
        } else {
            Verdict::SuccessfulFullGrant
        };
        self.backlog.accuracy.learn(&open.job);
        self.last_job_end = self.last_job_end.max(self.now);
        self.totals.drained = self.totals.drained.max(self.now);
        self.finish(open, verdict, Some(running.start), Some(self.now));
    }

    /// A running job lets go of its CPUs, and of its place until its limit.
    pub(super) fn stop_job(&mut self, id: JobId) -> Option<RunningJob> {
        let running = self.running.remove(&id)?;
        self.events.remove(&(running.end, Event::JobEnds(id)));
        self.fixed.release(self.now, running.limit, running.nodes.0);
        self.free.union_with(&running.held);
        self.job_nodes -= running.nodes.0;
        self.backlog.running -= i64::from(running.nodes.0) * (running.limit - running.start).0;
        self.metrics.busy += running.nodes.for_span(self.now - running.start);
        self.changed();
        Some(running)
    }

    fn finish(
        &mut self,
        open: OpenJob,
        verdict: Verdict,
        start: Option<Seconds>,
        end: Option<Seconds>,
    ) {
        let outcome = JobOutcome {
            job: open.job,
            verdict,
            class: None,
            promise: None,
            start,
            end,
            restarts: open.restarts,
            node_failures: open.node_failures,
            execution: None,
            late: None,
        };
        self.metrics.count(&outcome);
        self.job_outcomes.push(outcome);
    }

    /// What parts may take: what is fixed and, if they see it, what the scheduler reserved for waiting jobs (Q12). Without
    /// backfilling that is the first one's, as under EASY.
    pub(super) fn visible(&mut self) -> &Profile {
        if !self.settings.planned_visible || self.queue.is_empty() {
            return &self.fixed;
        }
        self.visible.get_or_insert_with(|| {
            let mut profile = self.fixed.clone();
            let reserved = match self.settings.backfilling {
                Backfilling::Conservative => &self.queue[..],
                Backfilling::Aggressive | Backfilling::None => &self.queue[..1],
            };
            plan_queue(&mut profile, self.now, reserved, Backfilling::Conservative);
            profile
        })
    }
}

/// A job as the planner sees it; whoever runs holds CPUs, so no limit is taken for shorter than a second.
pub(super) fn waiting(job: &Job) -> Waiting {
    Waiting {
        estimate: job.estimate.max(Seconds(1)),
        ..Waiting::from(job)
    }
}

fn work(waiting: &Waiting) -> i64 {
    waiting.nodes.for_span(waiting.estimate).0
}
