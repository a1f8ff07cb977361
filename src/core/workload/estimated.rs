//! Usable jobs with the estimates that they ask for, and where a load counts them, with the
//! recorded ones.

use std::sync::Arc;

use super::early_ends::Chance;
use super::job::Job;
use super::settings::WorkloadSettings;
use crate::random::Stream;
use crate::units::Seconds;

/// The usable jobs of a trace as a simulation learns from them and evaluates them.
#[derive(Clone, Debug)]
pub struct EstimatedJobs {
    /// The jobs, with the estimates that they ask for and the deadlines that they have at their
    /// original times.
    pub jobs: Arc<[Job]>,
    /// The same jobs with the recorded estimates, where a load counts those and they are others.
    recorded: Option<Arc<[Job]>>,
}

impl EstimatedJobs {
    /// Tightens the estimates of recorded jobs as the settings say, gives the jobs deadlines, and
    /// ends some of them early: nobody who estimates foresees that. `chances` is the stream that
    /// says which.
    #[must_use]
    pub fn of(mut jobs: Vec<Job>, settings: &WorkloadSettings, mut chances: Stream) -> Self {
        let recorded = settings.counts_recorded_estimates().then(|| jobs.clone());
        for job in &mut jobs {
            let recorded = job.estimate;
            let mut of_deadline = recorded;
            if let Some(tightness) = settings.tightness {
                job.estimate = tightness.estimate(recorded, job.runtime);
                if !tightness.deadline.is_recorded() {
                    of_deadline = job.estimate;
                }
            }
            job.deadline = deadline(job.submit, of_deadline, settings.laxity);
            if let Some(early_ends) = settings.early_ends {
                job.runtime = early_ends.runtime(job.runtime, Chance::draw(&mut chances));
            }
        }
        Self {
            jobs: jobs.into(),
            recorded: recorded.map(Arc::from),
        }
    }

    /// These jobs, with estimates and deadlines that are as they should be.
    #[cfg(test)]
    pub fn as_they_are(jobs: impl Into<Arc<[Job]>>) -> Self {
        Self {
            jobs: jobs.into(),
            recorded: None,
        }
    }

    /// The jobs with the estimates that a wanted load counts.
    #[must_use]
    pub fn of_load(&self) -> &[Job] {
        self.recorded.as_deref().unwrap_or(&self.jobs)
    }
}

/// `o + ⌊laxity · x⌋`; the largest number of seconds where that is too much for one.
pub(super) fn deadline(submit: Seconds, estimate: Seconds, laxity: f64) -> Seconds {
    let window = (estimate.0 as f64 * laxity).floor() as i64;
    Seconds(submit.0.saturating_add(window))
}
