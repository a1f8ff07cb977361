//! The rest of a job: the time to plan for it, and the probability that it ends within a window.

use super::Cluster;
use crate::estimates::{RATIO_BINS, RatioDistribution, RuntimeSteps};
use crate::scheduling::checkpoint::Checkpointing;
use crate::units::Seconds;
use crate::workload::{Job, JobId};

impl Cluster {
    /// The job as it has to be planned: in the place of its estimate stands how long it holds its
    /// nodes at most if it is not interrupted, so that of a job which saves its work the rest is
    /// planned, with its checkpoints; its deadline is [`Self::latest_end`].
    #[must_use]
    pub fn to_plan(&self, job: JobId) -> Job {
        let record = self.jobs.get(job);
        let mut asked = record.job.clone();
        if let Some(checkpointing) = self.checkpoints_of(job) {
            asked.estimate = record.progress.need(checkpointing, &record.job);
        }
        asked.deadline = self.latest_end(job);
        asked
    }

    /// The job as it was submitted, whatever is left of it; a job that is not on the cluster, of
    /// which only a quote is asked, is what it is.
    #[must_use]
    pub fn as_submitted<'j>(&'j self, job: &'j Job) -> &'j Job {
        self.jobs.find(job.id).map_or(job, |record| &record.job)
    }

    /// Until when the job may hold nodes: until its deadline, and once it was promised a slot for
    /// as long after it as it pays to end late.
    #[must_use]
    pub fn latest_end(&self, job: JobId) -> Seconds {
        let record = self.jobs.get(job);
        match record.promise {
            Some(_) => self.last_end(job),
            None => record.job.deadline,
        }
    }

    /// The same for a job of which it is not asked whether it was promised anything. Where stopped
    /// jobs wait again, nothing reads deadlines.
    pub(super) fn last_end(&self, job: JobId) -> Seconds {
        if self.requeues_stopped {
            return Seconds::FAR;
        }
        let job = self.job(job);
        match &self.penalty {
            Some(penalty) if !job.is_reservation() => job.deadline + penalty.longest(),
            _ => job.deadline,
        }
    }

    /// How the job saves its work; `None` where it does not. Fixed reservations do not: they have
    /// no other window to go on in.
    #[must_use]
    pub fn checkpoints_of(&self, job: JobId) -> Option<&Checkpointing> {
        let checkpointing = self.checkpointing.as_ref()?;
        (!self.is_reservation(job)).then_some(checkpointing)
    }

    /// The work that the job need not do again.
    #[must_use]
    pub fn saved(&self, job: JobId) -> Seconds {
        self.jobs.get(job).progress.saved
    }

    /// Whether the job that runs writes the checkpoint for the end of its window: that end is not
    /// moved any more.
    #[must_use]
    pub fn is_closing(&self, job: JobId) -> bool {
        self.jobs.get(job).progress.is_closing(self.now)
    }

    /// By when the job must have done its work if it starts at `start` and its window ends at
    /// `window_end`: then, or before the checkpoint that is written for the end of a window which
    /// is too short.
    #[must_use]
    pub fn done_by(&self, job: JobId, start: Seconds, window_end: Seconds) -> Seconds {
        match self.checkpoints_of(job) {
            Some(checkpointing) => {
                let record = self.jobs.get(job);
                let latest = self.last_end(job);
                record
                    .progress
                    .done_by(checkpointing, &record.job, start, window_end, latest)
            }
            None => window_end,
        }
    }

    /// Probability that the job has done its work in a window, where its run time is distributed as
    /// its class has it: given the work that it has saved, `(F(s + u) − F(s)) / (1 − F(s))` with s
    /// what is saved and u what is computed in the window.
    #[must_use]
    pub fn executable(
        &self,
        job: &Job,
        ratios: &RatioDistribution,
        start: Seconds,
        window_end: Seconds,
    ) -> f64 {
        let (estimate, job) = (self.as_submitted(job).estimate, job.id);
        let Some(checkpointing) = self.checkpoints_of(job) else {
            return ratios.cdf_at(window_end - start, estimate);
        };
        let record = self.jobs.get(job);
        let saved = record.progress.saved;
        let computes =
            self.done_by(job, start, window_end) - start - record.progress.reads(checkpointing);
        let done = saved + checkpointing.rhythm(record.job.nodes).work_in(computes);
        if done >= checkpointing.granted(&record.job) {
            return 1.0;
        }
        if saved == Seconds::ZERO {
            return ratios.cdf_at(done, estimate);
        }
        let before = ratios.cdf_at(saved, estimate);
        if before >= 1.0 {
            // It has outlived all that is known of its like: only the whole rest is certain.
            return 0.0;
        }
        (ratios.cdf_at(done, estimate) - before) / (1.0 - before)
    }

    /// Whether more work is done in a window of this length than going on in it costs: what is read
    /// at its start and written at its end.
    #[must_use]
    pub fn is_worth(&self, job: JobId, length: Seconds) -> bool {
        let Some(checkpointing) = self.checkpoints_of(job) else {
            return false;
        };
        let record = self.jobs.get(job);
        let until = self.done_by(job, self.now, self.now + length);
        let computes = until - self.now - record.progress.reads(checkpointing);
        let settings = checkpointing.settings();
        checkpointing.rhythm(record.job.nodes).work_in(computes)
            > settings.closing() + settings.reopening()
    }

    /// How long the rest of a job holds its nodes, on time steps, given the work that it has saved:
    /// bins of the class at or below that are left out, each other one with its checkpoints takes
    /// its place.
    #[must_use]
    pub fn runtime_steps(
        &self,
        job: &Job,
        ratios: &RatioDistribution,
        step: Seconds,
    ) -> RuntimeSteps {
        let (estimate, job) = (self.as_submitted(job).estimate, job.id);
        let Some(checkpointing) = self.checkpoints_of(job) else {
            return RuntimeSteps::new(ratios, estimate, step);
        };
        let record = self.jobs.get(job);
        let saved = record.progress.saved;
        let reads = record.progress.reads(checkpointing);
        let rhythm = checkpointing.rhythm(record.job.nodes);
        let granted = checkpointing.granted(&record.job);
        let mut weights: Vec<(u32, f64)> = Vec::with_capacity(RATIO_BINS);
        let steps = |held: Seconds| {
            u32::try_from((held.0 + step.0 - 1) / step.0.max(1)).unwrap_or(u32::MAX)
        };
        for bin in (0..RATIO_BINS).filter(|&bin| ratios.count(bin) > 0) {
            let work = (bin as i128 * i128::from(estimate.0) + 99) / 100;
            let work = Seconds(i64::try_from(work).unwrap_or(i64::MAX)).min(granted);
            if work <= saved && saved > Seconds::ZERO {
                continue;
            }
            let end = steps(reads + rhythm.held_for(work - saved));
            match weights.last_mut() {
                Some(last) if last.0 == end => last.1 += ratios.pdf(bin),
                _ => weights.push((end, ratios.pdf(bin))),
            }
        }
        let whole = || {
            let end = steps(reads + rhythm.held_for(granted - saved));
            RuntimeSteps::from_weights(&[(end, 1.0)], step)
        };
        RuntimeSteps::from_weights(&weights, step)
            .or_else(whole)
            .unwrap_or_else(|| RuntimeSteps::new(ratios, estimate, step))
    }
}
