//! Runs whose checkpoints share the bandwidth of the cluster. Such a run goes from one checkpoint
//! to the next, because the duration of a write is known only at its end.

use super::Cluster;
use super::events::Event;
use super::progress::{Progress, stop_before};
use crate::scheduling::bandwidth::SharedBandwidth;
use crate::scheduling::checkpoint::{Checkpointing, GapEnd};
use crate::units::Seconds;
use crate::workload::{Job, JobId};

/// A run since its last checkpoint.
#[derive(Clone, Debug, Default)]
pub(super) struct Stretch {
    /// Since when it computes, or will when it has read.
    from: Seconds,
    /// Work of the run that is written.
    written: Seconds,
    activity: Activity,
    window_end: Seconds,
}

#[derive(Clone, Copy, Debug, Default)]
enum Activity {
    #[default]
    Computes,
    /// It writes this much work.
    Writes(Seconds),
    /// It has written the checkpoint for the end of its window and stands still.
    Waits,
}

impl Stretch {
    /// The first one of a run that computes from then on.
    pub(super) fn new(from: Seconds) -> Self {
        Self {
            from,
            ..Self::default()
        }
    }

    /// The work of the run until then, in which it does not stop computing for the end of its
    /// window; and how much of it is written.
    pub(super) fn done(&self, until: Seconds) -> (Seconds, Seconds) {
        let unwritten = match self.activity {
            Activity::Computes => (until - self.from).max(Seconds::ZERO),
            Activity::Writes(work) => work,
            Activity::Waits => Seconds::ZERO,
        };
        (self.written + unwritten, self.written)
    }
}

impl Progress {
    /// When the run begins to write next, if it does in this window, and when it ends if it does
    /// not.
    fn next_in(
        &mut self,
        checkpointing: &Checkpointing,
        job: &Job,
        now: Seconds,
        window_end: Seconds,
        latest: Seconds,
    ) -> (Option<Seconds>, Seconds) {
        let settings = checkpointing.settings();
        let rhythm = checkpointing.rhythm(job.nodes);
        let granted = checkpointing.granted(job);
        let run = &mut self.run;
        run.stretch.window_end = window_end;
        run.finishes = false;
        let from = run.stretch.from;
        let before = self.saved + run.stretch.written;
        if !matches!(run.stretch.activity, Activity::Waits) {
            run.stop = match settings.gap_end {
                // Whether a window is too short shows at its end.
                GapEnd::Suspend => (window_end > from && window_end < latest).then_some(window_end),
                GapEnd::Checkpoint | GapEnd::Kill => {
                    let rest = granted - before;
                    stop_before(checkpointing, rhythm, from, rest, window_end, latest)
                        .filter(|&stop| stop > now)
                }
            };
        }
        if !matches!(run.stretch.activity, Activity::Computes) {
            return (None, window_end);
        }
        let work = (job.runtime.min(granted) - before).max(Seconds::ZERO);
        let limit = run.stop.unwrap_or(window_end);
        if work <= rhythm.interval && from + work <= limit {
            run.finishes = true;
            (None, from + work)
        } else if work > rhythm.interval && from + rhythm.interval < limit {
            (Some(from + rhythm.interval), window_end)
        } else if settings.gap_end == GapEnd::Checkpoint {
            (run.stop, window_end)
        } else {
            (None, window_end)
        }
    }

    fn begin_writing(&mut self, now: Seconds) {
        let stretch = &mut self.run.stretch;
        stretch.activity = Activity::Writes(now - stretch.from);
    }

    /// The write is through: the run computes on, unless it was the last one of its window.
    fn finish_writing(&mut self, now: Seconds) {
        let is_closed = self.is_closing(now);
        let stretch = &mut self.run.stretch;
        (stretch.written, _) = stretch.done(now);
        stretch.from = now;
        stretch.activity = if is_closed {
            Activity::Waits
        } else {
            Activity::Computes
        };
    }
}

impl Cluster {
    /// From now on jobs save their work so, or not at all.
    pub(super) fn save_work(&mut self, checkpointing: Option<Checkpointing>) {
        let settings = checkpointing.as_ref().map(Checkpointing::settings);
        let shared = settings.filter(|settings| settings.shares_bandwidth());
        self.bandwidth = shared
            .map(|settings| SharedBandwidth::new(settings.cost, settings.bandwidth.capacity()));
        self.totals.checkpoints.shared = shared.map(|_| Default::default());
        self.checkpointing = checkpointing;
    }

    /// Schedules what a run in this window does next: it writes, or it ends.
    pub(super) fn schedule_stretch(
        &mut self,
        job: JobId,
        checkpointing: &Checkpointing,
        window_end: Seconds,
    ) {
        let (now, latest) = (self.now, self.last_end(job));
        let record = self.jobs.get_mut(job);
        let (write, end) =
            record
                .progress
                .next_in(checkpointing, &record.job, now, window_end, latest);
        record.version += 1;
        let version = record.version;
        if let Some(write) = write {
            self.schedule(write, Event::Write(job, version));
        }
        self.schedule(end, Event::End(job, version));
    }

    pub(super) fn begin_writing(&mut self, job: JobId) {
        let now = self.now;
        if let (Some(bandwidth), Some(checkpointing)) = (&mut self.bandwidth, &self.checkpointing) {
            let record = self.jobs.get_mut(job);
            record.progress.begin_writing(now);
            let shares = checkpointing.settings().bandwidth.shares(record.job.nodes);
            bandwidth.join(now, job, shares);
            self.schedule_written();
        }
    }

    pub(super) fn finish_writing(&mut self) {
        let now = self.now;
        let through = match &mut self.bandwidth {
            Some(bandwidth) => bandwidth.take_through(now),
            None => Vec::new(),
        };
        self.schedule_written();
        for (job, waited) in through {
            let progress = &mut self.jobs.get_mut(job).progress;
            progress.execution.waited += waited;
            progress.finish_writing(now);
            let window_end = progress.run.stretch.window_end;
            if let Some(checkpointing) = self.checkpoints_of(job).copied() {
                self.schedule_stretch(job, &checkpointing, window_end);
            }
        }
    }

    /// The job leaves its nodes: if it was writing, the others have its share.
    pub(super) fn stop_writing(&mut self, job: JobId) {
        let now = self.now;
        let waited = match &mut self.bandwidth {
            Some(bandwidth) => bandwidth.leave(now, job),
            None => None,
        };
        if let Some(waited) = waited {
            self.jobs.get_mut(job).progress.execution.waited += waited;
            self.schedule_written();
        }
    }

    fn schedule_written(&mut self) {
        let next = self.bandwidth.as_ref().and_then(|bandwidth| {
            let end = bandwidth.next_end()?;
            Some((end, bandwidth.version()))
        });
        if let Some((end, version)) = next {
            self.schedule(end, Event::Written(version));
        }
    }
}

#[cfg(test)]
mod tests;
