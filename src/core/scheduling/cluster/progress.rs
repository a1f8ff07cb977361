//! The progress of a job that saves its work: what its runs do until they end, are stopped or lose
//! a node.

use super::shared_writes::Stretch;
use super::{Cluster, Phase};
use crate::scheduling::checkpoint::{Checkpointing, Execution, GapEnd, Rhythm};
use crate::scheduling::outcome::Verdict;
use crate::units::{Nodes, Seconds};
use crate::workload::{Job, JobId};

/// The saved work of a job, and its run.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    /// Work that a next run need not do.
    pub(super) saved: Seconds,
    /// How much of it is written and outlives a failure: all, unless it was suspended since.
    written: Seconds,
    /// Since when it is suspended.
    suspended: Option<Seconds>,
    pub(super) execution: Execution,
    /// It was stopped at the end of a window last, and not by a node.
    pub(super) was_stopped: bool,
    pub(super) run: Run,
}

/// A run from its start to its next planned event.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    start: Seconds,
    /// When it has read its checkpoint.
    from: Seconds,
    /// When it begins to write the checkpoint for the end of its window; `None` where none is
    /// planned.
    pub(super) stop: Option<Seconds>,
    /// Whether it will have done its work by then.
    pub(super) finishes: bool,
    /// Where it stands between two checkpoints, where bandwidth is shared.
    pub(super) stretch: Stretch,
}

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunEnd {
    /// Its work is done.
    Done,
    /// Its window is over.
    Stopped,
    /// It lost a node.
    Crashed,
}

/// When a run that computes from `from` on stops for the end of its window, to write or to be
/// suspended, if it does: where its window is too short for all of the `rest`, something can be
/// saved, and there is time to go on before `latest`.
pub(super) fn stop_before(
    checkpointing: &Checkpointing,
    rhythm: Rhythm,
    from: Seconds,
    rest: Seconds,
    window_end: Seconds,
    latest: Seconds,
) -> Option<Seconds> {
    let settings = checkpointing.settings();
    let stop = window_end - settings.closing();
    let is_written = settings.gap_end != GapEnd::Kill
        && window_end < from + rhythm.held_for(rest)
        && stop > from
        && window_end + settings.reopening() < latest;
    is_written.then_some(stop)
}

impl Progress {
    /// How much of what it is granted the job has not yet saved.
    pub(super) fn rest(&self, checkpointing: &Checkpointing, job: &Job) -> Seconds {
        (checkpointing.granted(job) - self.saved).max(Seconds::ZERO)
    }

    /// How long the job reads before it goes on: not at all while its state is in memory.
    pub(super) fn reads(&self, checkpointing: &Checkpointing) -> Seconds {
        match self.suspended {
            Some(_) => Seconds::ZERO,
            None => checkpointing.reads(self.saved),
        }
    }

    /// The memory of a suspended job is free again.
    pub(super) fn wake(&mut self, now: Seconds) {
        if let Some(since) = self.suspended.take() {
            self.execution.suspended += now - since;
        }
    }

    /// How long the job holds its nodes at most, in one run.
    pub(super) fn need(&self, checkpointing: &Checkpointing, job: &Job) -> Seconds {
        let rest = self.rest(checkpointing, job);
        self.reads(checkpointing) + checkpointing.rhythm(job.nodes).held_for(rest)
    }

    /// By when a run in this window must have done its work: before the checkpoint for the end of
    /// the window.
    pub(super) fn done_by(
        &self,
        checkpointing: &Checkpointing,
        job: &Job,
        start: Seconds,
        window_end: Seconds,
        latest: Seconds,
    ) -> Seconds {
        let from = start + self.reads(checkpointing);
        let (rhythm, rest) = (
            checkpointing.rhythm(job.nodes),
            self.rest(checkpointing, job),
        );
        stop_before(checkpointing, rhythm, from, rest, window_end, latest).unwrap_or(window_end)
    }

    /// A run begins.
    pub(super) fn begin(&mut self, checkpointing: &Checkpointing, now: Seconds) {
        self.execution.resumed += u32::from(self.saved > Seconds::ZERO);
        let from = now + self.reads(checkpointing);
        self.run = Run {
            start: now,
            from,
            stretch: Stretch::new(from),
            ..Run::default()
        };
        self.wake(now);
    }

    /// What leaves with a job that goes on at another cluster: what was kept in memory is written
    /// by then. A run that has begun in this instant is as if it had not.
    pub(super) fn carried_away(&self, has_begun: bool, now: Seconds) -> Self {
        let mut carried = self.clone();
        carried.wake(now);
        carried.written = carried.saved;
        if has_begun && carried.saved > Seconds::ZERO {
            carried.execution.resumed -= 1;
        }
        carried
    }

    /// When the run ends in this window.
    pub(super) fn end_in(
        &mut self,
        checkpointing: &Checkpointing,
        job: &Job,
        window_end: Seconds,
        latest: Seconds,
    ) -> Seconds {
        let rhythm = checkpointing.rhythm(job.nodes);
        let granted = checkpointing.granted(job);
        let from = self.run.from;
        let rest = self.rest(checkpointing, job);
        let work = job.runtime.min(granted) - self.saved;
        self.run.stop = stop_before(checkpointing, rhythm, from, rest, window_end, latest);
        let done = from + rhythm.held_for(work);
        self.run.finishes = done <= self.run.stop.unwrap_or(window_end);
        if self.run.finishes { done } else { window_end }
    }

    /// Whether the run ends because its work is done.
    pub(super) fn finishes(&self) -> bool {
        self.run.finishes
    }

    /// Whether the checkpoint for the end of the window is being written: the window is not changed
    /// any more.
    pub(super) fn is_closing(&self, now: Seconds) -> bool {
        self.run.stop.is_some_and(|stop| now >= stop)
    }

    /// The run is over: what it did is counted, and what of it was written is kept.
    pub(super) fn leave(
        &mut self,
        checkpointing: &Checkpointing,
        nodes: Nodes,
        now: Seconds,
        end: RunEnd,
    ) {
        let suspends = checkpointing.settings().gap_end == GapEnd::Suspend;
        let run = &self.run;
        let read = run.from.min(now) - run.start;
        let until = run.stop.map_or(now, |stop| stop.min(now));
        let is_shared = checkpointing.settings().shares_bandwidth();
        let (work, written) = if is_shared {
            run.stretch.done(until)
        } else {
            let rhythm = checkpointing.rhythm(nodes);
            let computing = until - run.from;
            (rhythm.work_in(computing), rhythm.saved_in(computing))
        };
        let is_kept = match end {
            RunEnd::Done => true,
            // With shared bandwidth a checkpoint for the end of the window may have come too late.
            RunEnd::Stopped => run.stop.is_some() && (!is_shared || suspends),
            RunEnd::Crashed => false,
        };
        if written > Seconds::ZERO {
            self.written = self.saved + written;
        }
        let before = self.saved;
        self.saved = match end {
            RunEnd::Crashed => self.written,
            _ if is_kept => before + work,
            _ => before + written,
        };
        let total = &mut self.execution;
        total.useful += self.saved - before;
        total.lost += work - (self.saved - before);
        total.read += read;
        total.written += (now - run.start) - read - work;
        total.stops += u32::from(end == RunEnd::Stopped);
        self.was_stopped = end == RunEnd::Stopped;
        if is_kept && self.was_stopped && suspends {
            self.suspended = Some(now);
        } else if is_kept {
            self.written = self.saved;
        }
    }
}

impl Cluster {
    /// Ends the run of a job that saves its work; says whether the job has ended with it.
    pub(super) fn end_run(&mut self, job: JobId, checkpointing: &Checkpointing) -> bool {
        self.vacate(job, false);
        let now = self.now;
        let latest = self.last_end(job);
        let record = self.jobs.get_mut(job);
        let verdict = if record.progress.finishes() {
            record
                .progress
                .leave(checkpointing, record.job.nodes, now, RunEnd::Done);
            if record.job.runtime <= checkpointing.granted(&record.job) {
                Verdict::SuccessfulFinished
            } else {
                Verdict::SuccessfulFullGrant
            }
        } else {
            record
                .progress
                .leave(checkpointing, record.job.nodes, now, RunEnd::Stopped);
            record.nodes = None;
            if now + record.progress.reads(checkpointing) < latest {
                record.phase = Phase::Disabled;
                record.version += 1;
                self.interrupted_now(job);
                return false;
            }
            Verdict::FailedOverbooked
        };
        self.finish(job, verdict, Some(now));
        true
    }
}
