//! Runs of jobs: their ends, and the use of their nodes.

use super::events::Event;
use super::{Allocation, Cluster, Phase};
use crate::scheduling::outcome::Verdict;
use crate::units::Seconds;
use crate::workload::JobId;

impl Cluster {
    pub(super) fn schedule_end(&mut self, job: JobId, window_end: Seconds) {
        let checkpointing = self.checkpoints_of(job).copied();
        if let (Some(checkpointing), Some(_)) = (&checkpointing, &self.bandwidth) {
            self.schedule_stretch(job, checkpointing, window_end);
            return;
        }
        let latest = self.last_end(job);
        let record = self.jobs.get_mut(job);
        let end = match checkpointing {
            Some(checkpointing) => {
                record
                    .progress
                    .end_in(&checkpointing, &record.job, window_end, latest)
            }
            None => {
                // Running jobs always have a start; the fallback keeps the state machine total.
                let start = record.start.unwrap_or(self.now);
                (start + record.job.runtime.min(record.longest_run())).min(window_end)
            }
        };
        record.version += 1;
        let version = record.version;
        self.schedule(end, Event::End(job, version));
    }

    pub(super) fn is_stale(&self, event: Event) -> bool {
        match event {
            Event::Start(job, version)
            | Event::End(job, version)
            | Event::Write(job, version)
            | Event::GiveUp(job, version) => self
                .jobs
                .find(job)
                .is_none_or(|record| record.version != version),
            Event::Written(version) => self
                .bandwidth
                .as_ref()
                .is_none_or(|bandwidth| bandwidth.version() != version),
            Event::Wish(job, start) => self.is_over(job, start),
            Event::Cancellation(_)
            | Event::Arrival(_)
            | Event::Failure(_)
            | Event::MayFail(_)
            | Event::Repair(_)
            | Event::Comes(_)
            | Event::Goes(_)
            | Event::WakeUp => false,
        }
    }

    /// Ends a run; says whether its job has ended with it. A job that saves its work and has time
    /// left goes on later, one that waits again after it was stopped begins anew, and one that has
    /// a copy may go on as that.
    pub(super) fn end(&mut self, job: JobId) -> bool {
        if let Some(checkpointing) = self.checkpoints_of(job).copied() {
            return self.end_run(job, &checkpointing);
        }
        if let Some(original) = job.original() {
            return self.end_copy(original, job);
        }
        let record = self.jobs.get(job);
        let ran = self.now - record.start.unwrap_or(self.now);
        let verdict = if ran >= record.job.runtime {
            Verdict::SuccessfulFinished
        } else if ran >= record.job.estimate {
            Verdict::SuccessfulFullGrant
        } else {
            Verdict::FailedOverbooked
        };
        self.vacate(job, false);
        let goes_on = self.requeues_stopped || self.has_copy(job);
        if goes_on && verdict == Verdict::FailedOverbooked {
            self.jobs.get_mut(job).phase = Phase::Disabled;
            return false;
        }
        self.finish(job, verdict, Some(self.now));
        true
    }

    /// Frees the nodes of a running job and counts what it used.
    pub(super) fn vacate(&mut self, job: JobId, lost: bool) {
        self.stop_writing(job);
        let now = self.now;
        let record = self.jobs.get(job);
        let ran = now - record.start.unwrap_or(now);
        let held = record.job.nodes.for_span(ran);
        let Some(nodes) = &record.nodes else {
            return;
        };
        if let Some(allocations) = &mut self.allocations {
            allocations.push(Allocation {
                job: job.original().unwrap_or(job),
                nodes: nodes.clone(),
                start: now - ran,
                end: now,
                lost,
            });
        }
        self.totals.busy += held;
        if let Ok(place) = self.running.binary_search(&job) {
            self.running.remove(place);
        }
        self.idle.union_with(nodes);
        self.idle.intersect_with(&self.up);
    }
}
