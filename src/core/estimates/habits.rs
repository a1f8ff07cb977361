//! What is known of each user and of each application beside the ratio distributions of the
//! classes: whether a user's jobs outlast their estimates or use nearly all of them (Birkenheuer
//! 2012, §4.3), and how long an application usually runs (Birkenheuer 2008, §3.1.1).
//!
//! The ratio distributions count every ratio above 100 % as 100 %, so they cannot tell by how much
//! a user underestimates; here overruns are counted and measured. Every user and every application
//! of the learning jobs is known, not only those with the most jobs, if they have as many of them
//! as the smallest class must have.

use std::collections::BTreeMap;

use super::EstimateSettings;
use crate::units::Seconds;
use crate::workload::Job;

/// No single overrun counts more than this many times its estimate, so that one forgotten job does
/// not make a habit. With the laxity of 2 that the evaluations have, a plan of more than twice the
/// estimate would never fit before the deadline either.
pub const LARGEST_OVERRUN: f64 = 2.0;

/// A job that used at least this much of its estimate was estimated accurately, in percent.
const ACCURATE_PERCENT: i64 = 95;

/// Users and applications with their statistics, learned from the jobs that the ratio distributions
/// are learned from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Habits {
    users: BTreeMap<i64, UserHabit>,
    applications: BTreeMap<i64, UsualRuntime>,
    /// Who has fewer jobs is not known.
    minimum: u64,
}

/// How one user estimates, learned from at least one job.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UserHabit {
    samples: u64,
    /// Sum of the ratios in percent, each at most 100.
    percents: u64,
    /// Jobs that ran longer than estimated.
    overruns: u64,
    /// Sum of their ratios, each at most [`LARGEST_OVERRUN`].
    overrun_ratios: f64,
    /// Jobs that used nearly all of their estimates, or more.
    accurate: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct UsualRuntime {
    samples: u64,
    total: i128,
}

impl Habits {
    /// Learns from jobs with the bins of their ratios.
    pub(super) fn learn<'j>(
        jobs: impl IntoIterator<Item = (&'j Job, usize)>,
        settings: &EstimateSettings,
    ) -> Self {
        let mut habits = Self {
            minimum: u64::from(settings.minimum_class_size),
            ..Self::default()
        };
        for (job, percent) in jobs {
            if let Some(user) = job.user {
                habits.users.entry(user).or_default().count(job, percent);
            }
            if let Some(application) = job.application {
                let usual = habits.applications.entry(application).or_default();
                usual.samples += 1;
                usual.total += i128::from(job.runtime.0);
            }
        }
        habits
    }

    /// How the user of a job estimates; `None` for a user without enough learning jobs.
    #[must_use]
    pub fn user(&self, job: &Job) -> Option<&UserHabit> {
        let habit = self.users.get(&job.user?)?;
        (habit.samples >= self.minimum).then_some(habit)
    }

    /// The mean run time of the learning jobs of a job's application, in seconds; `None` for an
    /// application without enough of them.
    #[must_use]
    pub fn usual_runtime(&self, job: &Job) -> Option<f64> {
        let usual = self.applications.get(&job.application?)?;
        (usual.samples >= self.minimum).then(|| usual.total as f64 / usual.samples as f64)
    }
}

impl UserHabit {
    fn count(&mut self, job: &Job, percent: usize) {
        self.samples += 1;
        self.percents += percent as u64;
        if i128::from(job.runtime.0) * 100 >= i128::from(job.estimate.0 * ACCURATE_PERCENT) {
            self.accurate += 1;
        }
        if job.runtime > job.estimate && job.estimate > Seconds::ZERO {
            self.overruns += 1;
            let ratio = job.runtime.0 as f64 / job.estimate.0 as f64;
            self.overrun_ratios += ratio.min(LARGEST_OVERRUN);
        }
    }

    /// How many learning jobs the user has.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The share of jobs that used at least 95 % of their estimates.
    #[must_use]
    pub fn accurate_share(&self) -> f64 {
        self.accurate as f64 / self.samples as f64
    }

    /// Mean of the ratios of run time to estimate in whole percents, overruns counted as 100 %: in
    /// `[0, 1]`.
    #[must_use]
    pub fn mean_ratio(&self) -> f64 {
        self.percents as f64 / (100.0 * self.samples as f64)
    }

    /// By which factor the jobs of an underestimator outlast their estimates: the mean over the
    /// jobs that did, above 1 and at most [`LARGEST_OVERRUN`]. `None` for a user of whose jobs not
    /// more than half did, who is no underestimator.
    #[must_use]
    pub fn overrun_factor(&self) -> Option<f64> {
        (2 * self.overruns > self.samples).then(|| self.overrun_ratios / self.overruns as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Binning, ClassFamily, EstimateModel, LearningJobs, Overrun};
    use super::*;
    use crate::estimates::testutils::job;

    fn learn(jobs: &[Job], minimum_class_size: u32, overrun: Overrun) -> EstimateModel {
        let settings = EstimateSettings {
            family: ClassFamily::All,
            binning: Binning::Round,
            learn_from: LearningJobs::Before,
            overrun,
            minimum_class_size,
            ..EstimateSettings::default()
        };
        EstimateModel::learn(jobs, &settings).unwrap()
    }

    #[test]
    fn a_user_most_of_whose_jobs_outlast_their_estimates_is_an_underestimator() {
        // Ratios 1.2, 1.5 and 0.5 of user 1: two of three above 1, mean (1.2 + 1.5) / 2. User 2:
        // one of two is not most.
        let jobs = [
            job(100, 120, 1, 1).of_application(1),
            job(100, 150, 1, 1).of_application(1),
            job(100, 50, 1, 1).of_application(1),
            job(100, 120, 1, 2).of_application(1),
            job(100, 100, 1, 2).of_application(1),
        ];
        let model = learn(&jobs, 1, Overrun::Clamp);
        let of_user = |user| model.habits().user(&job(1, 1, 1, user).of_application(9));
        let habit = |user| *of_user(user).unwrap();
        assert!((habit(1).overrun_factor().unwrap() - 1.35).abs() < 1e-12);
        assert_eq!(habit(2).overrun_factor(), None);
        // Overruns count as 100 %: (1 + 1 + 0.5) / 3.
        assert!((habit(1).mean_ratio() - 2.5 / 3.0).abs() < 1e-12);
        assert_eq!(of_user(3), None);
    }

    #[test]
    fn jobs_that_used_95_percent_of_their_estimates_were_estimated_accurately() {
        let of = |runtimes: [i64; 4]| {
            let jobs = runtimes.map(|runtime| job(100, runtime, 1, 1));
            let model = learn(&jobs, 1, Overrun::Clamp);
            model.habits().user(&jobs[0]).unwrap().accurate_share()
        };
        assert_eq!(of([100, 100, 98, 40]), 0.75);
        assert_eq!(of([100, 60, 50, 40]), 0.25);
        // An overrun used all of its estimate, too.
        assert_eq!(of([300, 95, 94, 40]), 0.5);
    }

    #[test]
    fn one_forgotten_job_does_not_make_a_factor() {
        // 40 and 1.5 count as 2 and 1.5.
        let jobs = [
            job(100, 4_000, 1, 1).of_application(1),
            job(100, 150, 1, 1).of_application(1),
        ];
        let model = learn(&jobs, 1, Overrun::Clamp);
        let factor = model.habits().user(&jobs[0]).unwrap().overrun_factor();
        assert!((factor.unwrap() - 1.75).abs() < 1e-12);
    }

    #[test]
    fn an_application_usually_runs_for_the_mean_of_its_run_times() {
        let jobs = [
            job(1_000, 100, 1, 1).of_application(7),
            job(5_000, 300, 1, 2).of_application(7),
            job(100, 50, 1, 2).of_application(8),
        ];
        let model = learn(&jobs, 1, Overrun::Clamp);
        let of_application = |number| {
            let job = job(1, 1, 1, 3).of_application(number);
            model.habits().usual_runtime(&job)
        };
        assert_eq!(of_application(7), Some(200.0));
        assert_eq!(of_application(9), None);
        let nobody = Job {
            user: None,
            application: None,
            ..job(1, 1, 1, 1).of_application(7)
        };
        assert_eq!(model.habits().usual_runtime(&nobody), None);
        assert_eq!(model.habits().user(&nobody), None);
    }

    #[test]
    fn fewer_jobs_than_the_smallest_class_make_no_habit_and_dropped_overruns_no_underestimator() {
        let jobs = [
            job(100, 120, 1, 1).of_application(7),
            job(100, 120, 1, 1).of_application(7),
            job(100, 50, 1, 2).of_application(8),
        ];
        let model = learn(&jobs, 2, Overrun::Clamp);
        assert!(model.habits().user(&jobs[0]).is_some());
        assert_eq!(model.habits().user(&jobs[2]), None);
        assert_eq!(model.habits().usual_runtime(&jobs[2]), None);
        assert_eq!(learn(&jobs, 1, Overrun::Drop).habits().user(&jobs[0]), None);
    }
}
