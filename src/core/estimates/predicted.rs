//! Predicted run times as a lower bound of what is booked: a predictor that learned from the
//! learning jobs, and goes on learning from jobs whose outcome is final.
//!
//! A job that was stopped before it had ended needed at least as much as it had. That is told to
//! the predictor as its run time where it is more than was predicted, and not at all where it says
//! nothing new. Predictors are told of starts and ends together, when the outcome is final; so none
//! of them sees a running job.

use std::collections::BTreeMap;
use std::fmt;

use super::statistics::RunEnd;
use super::{EstimateError, PredictionSettings};
use crate::kernel::Agenda;
use crate::predictions::{Build, Predictor, Submission, UserIndex, predictor};
use crate::units::Seconds;
use crate::workload::Job;

/// A predictor with what it has seen.
pub struct PredictedRuntimes {
    settings: PredictionSettings,
    source: Source,
    users: BTreeMap<Option<i64>, UserIndex>,
    next: u32,
    /// What is added to the times of jobs: each battery begins at 0, but for a predictor it begins
    /// when the jobs before it were submitted.
    offset: Seconds,
    latest: Seconds,
}

enum Source {
    /// The run time itself, which nobody can know: what the best of all predictions would be worth.
    Knows,
    Sees(Box<dyn Predictor>),
}

/// A prediction for a submitted job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictedRuntime {
    submission: Submission,
    /// At least one second, and at most the estimate.
    pub runtime: Seconds,
}

impl Clone for PredictedRuntimes {
    fn clone(&self) -> Self {
        let source = match &self.source {
            Source::Knows => Source::Knows,
            Source::Sees(predictor) => Source::Sees(predictor.boxed()),
        };
        Self {
            settings: self.settings.clone(),
            source,
            users: self.users.clone(),
            ..*self
        }
    }
}

/// Predictors cannot be looked into: two are equal that were made alike and saw the same users and
/// as many jobs until the same time.
impl PartialEq for PredictedRuntimes {
    fn eq(&self, other: &Self) -> bool {
        self.settings == other.settings
            && self.users == other.users
            && (self.next, self.offset, self.latest) == (other.next, other.offset, other.latest)
    }
}

impl fmt::Debug for PredictedRuntimes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PredictedRuntimes")
            .field("settings", &self.settings)
            .field("jobs", &self.next)
            .finish_non_exhaustive()
    }
}

impl PredictedRuntimes {
    /// A predictor that has seen the learning jobs as if each had started when it was submitted;
    /// those that had not ended when the last one was submitted, it does not know.
    ///
    /// # Errors
    ///
    /// Where there is no predictor of that name.
    pub fn learn(jobs: &[Job], settings: &PredictionSettings) -> Result<Self, EstimateError> {
        let Some(named) = predictor(&settings.predictor) else {
            return Err(EstimateError::NoPredictor {
                name: settings.predictor.clone(),
            });
        };
        let mut predicted = Self {
            settings: settings.clone(),
            source: match named.build {
                Build::KnowsRunTime => Source::Knows,
                Build::Sees(build) => Source::Sees(build(&settings.told)),
            },
            users: BTreeMap::new(),
            next: 0,
            offset: Seconds::ZERO,
            latest: Seconds::ZERO,
        };
        let mut ends: Agenda<usize> = Agenda::default();
        let mut predictions: Vec<PredictedRuntime> = Vec::with_capacity(jobs.len());
        for (index, job) in jobs.iter().enumerate() {
            while let Some((end, ended)) = ends.pop_before(job.submit + Seconds(1)) {
                let start = jobs[ended].submit;
                predicted.decided(&predictions[ended], start, end, RunEnd::Finished);
            }
            predictions.push(predicted.predict(job));
            ends.push(job.submit + job.runtime, 0, index);
        }
        predicted.begin_battery();
        Ok(predicted)
    }

    /// The jobs that come now have times that begin at 0 again.
    pub fn begin_battery(&mut self) {
        self.offset = self.latest;
    }

    /// The prediction for a job that is submitted now.
    pub fn predict(&mut self, job: &Job) -> PredictedRuntime {
        let users = self.users.len() as u32;
        let submit = job.submit + self.offset;
        self.latest = self.latest.max(submit);
        let submission = Submission {
            index: self.next,
            submit,
            request: job.estimate,
            nodes: job.nodes,
            user: *self.users.entry(job.user).or_insert(UserIndex(users)),
        };
        self.next += 1;
        let runtime = match &mut self.source {
            Source::Knows => job.runtime,
            Source::Sees(predictor) => predictor.predict(&submission),
        };
        PredictedRuntime {
            submission,
            runtime: runtime.max(Seconds(1)).min(job.estimate),
        }
    }

    /// A job that was predicted ran from `start` to `end`.
    pub fn decided(
        &mut self,
        predicted: &PredictedRuntime,
        start: Seconds,
        end: Seconds,
        how: RunEnd,
    ) {
        let Source::Sees(predictor) = &mut self.source else {
            return;
        };
        if how == RunEnd::Cut && end - start <= predicted.runtime {
            return;
        }
        let (start, end) = (start + self.offset, end + self.offset);
        predictor.started(&predicted.submission, start);
        predictor.ended(&predicted.submission, start, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predictions::PredictorSettings;
    use crate::units::Nodes;
    use crate::workload::JobId;

    fn job(submit: i64, runtime: i64, estimate: i64) -> Job {
        Job::rigid(JobId(0), Seconds(submit), Nodes(1), Seconds(estimate))
            .running_for(Seconds(runtime))
            .due_by(Seconds(submit + 2 * estimate))
            .of_user(7)
    }

    fn settings(name: &str) -> PredictionSettings {
        PredictionSettings {
            predictor: name.to_owned(),
            told: PredictorSettings::default(),
        }
    }

    #[test]
    fn learning_jobs_that_have_not_ended_are_not_known() {
        // The average of the last two needs two ended jobs. The third is submitted at 250: the
        // first two ended at 100 and 240; at the end of learning the third, which runs until 1,250,
        // is not known.
        let jobs = [job(0, 100, 500), job(40, 200, 500), job(250, 1_000, 5_000)];
        let mut predicted = PredictedRuntimes::learn(&jobs, &settings("average-of-two")).unwrap();
        assert_eq!(predicted.predict(&job(0, 1, 1_000)).runtime, Seconds(150));
        assert_eq!(predicted.predict(&job(0, 1, 120)).runtime, Seconds(120));
    }

    #[test]
    fn a_cut_job_counts_where_it_had_more_than_was_predicted() {
        let jobs = [job(0, 100, 500), job(100, 100, 500), job(300, 1, 500)];
        let mut predicted = PredictedRuntimes::learn(&jobs, &settings("average-of-two")).unwrap();
        let first = predicted.predict(&job(0, 1, 1_000));
        assert_eq!(first.runtime, Seconds(100));
        predicted.decided(&first, Seconds(0), Seconds(90), RunEnd::Cut);
        assert_eq!(predicted.predict(&job(0, 1, 1_000)).runtime, Seconds(100));
        predicted.decided(&first, Seconds(0), Seconds(300), RunEnd::Cut);
        assert_eq!(predicted.predict(&job(0, 1, 1_000)).runtime, Seconds(200));
        predicted.decided(&first, Seconds(0), Seconds(10), RunEnd::Finished);
        assert_eq!(predicted.predict(&job(0, 1, 1_000)).runtime, Seconds(155));
    }

    #[test]
    fn a_copy_learns_by_itself() {
        let jobs = [job(0, 100, 500), job(100, 100, 500), job(300, 1, 500)];
        let learned = PredictedRuntimes::learn(&jobs, &settings("average-of-two")).unwrap();
        let mut copy = learned.clone();
        let first = copy.predict(&job(0, 1, 1_000));
        copy.decided(&first, Seconds(0), Seconds(300), RunEnd::Finished);
        assert_eq!(copy.predict(&job(0, 1, 1_000)).runtime, Seconds(200));
        assert_eq!(
            learned.clone().predict(&job(0, 1, 1_000)).runtime,
            Seconds(100)
        );
    }

    #[test]
    fn the_run_time_itself_is_a_prediction_and_an_unknown_name_is_an_error() {
        let mut perfect = PredictedRuntimes::learn(&[], &settings("perfect")).unwrap();
        assert_eq!(perfect.predict(&job(0, 321, 1_000)).runtime, Seconds(321));
        assert_eq!(
            perfect.predict(&job(0, 4_000, 1_000)).runtime,
            Seconds(1_000)
        );
        let error = PredictedRuntimes::learn(&[], &settings("oracle")).unwrap_err();
        assert!(error.to_string().contains("oracle"), "{error}");
    }
}
