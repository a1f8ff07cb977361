//! Jobs of the queue that have not ended, and the outcomes of the others.

use std::collections::VecDeque;
use std::ops::{Index, IndexMut};

use bookahead_core::units::Seconds;

use super::QueueJob;
use super::outcome::PredictedOutcome;

/// A job, and how far it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenJob {
    pub(super) job: QueueJob,
    pub(super) start: Seconds,
    pub(super) first_prediction: Seconds,
    pub(super) prediction: Seconds,
    pub(super) expiries: u32,
    pub(super) steps: u32,
    /// Its prediction has expired and stays.
    pub(super) overdue: bool,
    pub(super) has_ended: bool,
    /// The start that it was promised as the first of the queue.
    pub(super) reserved: Option<Seconds>,
    /// When it was promised that.
    pub(super) reserved_at: Option<Seconds>,
    /// When the prediction was made, and the sum of those before times their spans: for the
    /// accuracy of predictions that change.
    pub(super) predicted_at: Seconds,
    pub(super) predicted_before: i128,
}

impl OpenJob {
    fn new(job: QueueJob) -> Self {
        Self {
            job,
            start: Seconds::ZERO,
            first_prediction: Seconds::ZERO,
            prediction: Seconds::ZERO,
            expiries: 0,
            steps: 0,
            overdue: false,
            has_ended: false,
            reserved: None,
            reserved_at: None,
            predicted_at: Seconds::ZERO,
            predicted_before: 0,
        }
    }

    fn outcome(&self) -> PredictedOutcome {
        let end = self.start + self.job.runtime;
        let last = i128::from(self.prediction.0) * i128::from((end - self.predicted_at).0);
        let span = (end - self.job.submission.submit).0;
        PredictedOutcome {
            start: self.start,
            end,
            prediction: self.first_prediction,
            mean_prediction_seconds: (self.predicted_before + last) as f64 / span as f64,
            expiries: self.expiries,
            reserved: self.reserved,
            reserved_at: self.reserved_at,
        }
    }
}

/// All jobs from the first one on that is not over, by their places in the order of submission.
/// That keeps what is looked at small enough for the caches of a processor.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenJobs {
    jobs: VecDeque<OpenJob>,
    /// Of the jobs before them, in order.
    outcomes: Vec<PredictedOutcome>,
}

impl OpenJobs {
    /// Prepares for this many jobs: no result depends on it.
    pub(super) fn expect(&mut self, jobs: usize) {
        self.outcomes.reserve(jobs);
    }

    /// The place of the next job.
    pub(super) fn next_place(&self) -> u32 {
        (self.outcomes.len() + self.jobs.len()) as u32
    }

    pub(super) fn push(&mut self, job: QueueJob) {
        self.jobs.push_back(OpenJob::new(job));
    }

    /// The job is over.
    pub(super) fn end(&mut self, job: u32) {
        self[job].has_ended = true;
        while let Some(first) = self.jobs.front()
            && first.has_ended
        {
            self.outcomes.push(first.outcome());
            self.jobs.pop_front();
        }
    }

    /// The outcomes of the jobs in order, up to the first that has not ended.
    pub(super) fn into_outcomes(self) -> Vec<PredictedOutcome> {
        self.outcomes
    }
}

impl Index<u32> for OpenJobs {
    type Output = OpenJob;

    fn index(&self, job: u32) -> &OpenJob {
        &self.jobs[job as usize - self.outcomes.len()]
    }
}

impl IndexMut<u32> for OpenJobs {
    fn index_mut(&mut self, job: u32) -> &mut OpenJob {
        &mut self.jobs[job as usize - self.outcomes.len()]
    }
}
