//! What wall-clock limits are worth: run time ÷ limit of the jobs that ended, of a whole cluster or
//! by category of user and limit (Meltzer 2005, §4.4.2, §4.4.3, §4.4.5).

use std::collections::{BTreeMap, VecDeque};

use bookahead_core::units::Seconds;
use bookahead_core::workload::Job;

use super::{AccuracySource, AccuracyWindow, LocalSettings};

/// A category with fewer jobs has no mean of its own.
const LEAST_JOBS: u32 = 5;

/// What wall-clock limits are worth: the mean of run time ÷ limit (Q10).
#[derive(Clone, Debug)]
pub(super) struct LimitAccuracy {
    /// The constant of the cluster.
    constant: f64,
    /// Σ run time ÷ limit over the jobs that ended, and the constant as one of them.
    sum: f64,
    /// How many that are.
    count: f64,
    /// How many of the jobs that ended are remembered one by one.
    window: usize,
    /// Those, the last one at the back.
    ended: VecDeque<Ended>,
}

/// A job that ended.
#[derive(Clone, Copy, Debug)]
struct Ended {
    user: Option<i64>,
    bin: u32,
    /// Run time ÷ limit.
    accuracy: f64,
}

/// What the backlog is reckoned with.
pub(super) enum Worth {
    /// The same for all jobs.
    OfAll(f64),
    /// By the category of a job.
    ByCategory(CategoryMeans),
}

impl LimitAccuracy {
    pub(super) fn new(constant: f64, settings: &LocalSettings) -> Self {
        let AccuracyWindow(jobs) = settings.accuracy_window;
        Self {
            constant,
            sum: constant,
            count: 1.0,
            window: match settings.accuracy {
                AccuracySource::Category => jobs as usize,
                _ => 0,
            },
            ended: VecDeque::new(),
        }
    }

    /// A job ended, and what its limit was worth is known.
    pub(super) fn learn(&mut self, job: &Job) {
        let run = job.runtime.min(job.estimate);
        let accuracy = if job.estimate > Seconds::ZERO {
            run.0 as f64 / job.estimate.0 as f64
        } else {
            1.0
        };
        self.sum += accuracy;
        self.count += 1.0;
        if self.window == 0 {
            return;
        }
        if self.ended.len() == self.window {
            self.ended.pop_front();
        }
        self.ended.push_back(Ended {
            user: job.user,
            bin: limit_bin(job.estimate),
            accuracy,
        });
    }

    /// What the backlog is reckoned with; 1 where limits are taken as they stand.
    pub(super) fn by(&self, settings: &LocalSettings, exact_limits: bool) -> Worth {
        if exact_limits {
            return Worth::OfAll(1.0);
        }
        let known = match settings.accuracy {
            AccuracySource::History | AccuracySource::Work => self.constant,
            AccuracySource::Running => self.sum / self.count,
            AccuracySource::Category => {
                let factor = settings.accuracy_factor;
                return Worth::ByCategory(CategoryMeans::of(&self.ended, self.constant, factor));
            }
        };
        Worth::OfAll(known * settings.accuracy_factor)
    }
}

/// The bin of a limit: b for 2ᵇ ≤ limit < 2ᵇ⁺¹ seconds.
fn limit_bin(limit: Seconds) -> u32 {
    limit.0.max(1).ilog2()
}

/// Mean accuracies of the categories that have enough jobs.
pub(super) struct CategoryMeans {
    by_user_and_bin: BTreeMap<(i64, u32), Mean>,
    by_user: BTreeMap<i64, Mean>,
    /// That of the cluster.
    of_all: f64,
    factor: f64,
}

#[derive(Clone, Copy, Default)]
struct Mean {
    sum: f64,
    jobs: u32,
}

impl Mean {
    fn add(&mut self, accuracy: f64) {
        self.sum += accuracy;
        self.jobs += 1;
    }

    /// `None` where there are too few.
    fn value(&self) -> Option<f64> {
        (self.jobs >= LEAST_JOBS).then(|| self.sum / f64::from(self.jobs))
    }
}

impl CategoryMeans {
    fn of(ended: &VecDeque<Ended>, constant: f64, factor: f64) -> Self {
        let mut all = Mean::default();
        let mut means = Self {
            by_user_and_bin: BTreeMap::new(),
            by_user: BTreeMap::new(),
            of_all: constant,
            factor,
        };
        for job in ended {
            all.add(job.accuracy);
            if let Some(user) = job.user {
                let of_user = means.by_user.entry(user).or_default();
                of_user.add(job.accuracy);
                let key = (user, job.bin);
                let of_category = means.by_user_and_bin.entry(key).or_default();
                of_category.add(job.accuracy);
            }
        }
        means.of_all = all.value().unwrap_or(constant);
        means
    }

    /// The accuracy of a job: that of its user with limits of its bin, else that of its user, else
    /// that of the cluster.
    pub(super) fn of_job(&self, job: &Job) -> f64 {
        let bin = limit_bin(job.estimate);
        let of_user = job.user.and_then(|user| {
            let narrow = self.by_user_and_bin.get(&(user, bin));
            let of_category = narrow.and_then(Mean::value);
            of_category.or_else(|| self.by_user.get(&user)?.value())
        });
        of_user.unwrap_or(self.of_all) * self.factor
    }
}

#[cfg(test)]
mod tests {
    use bookahead_core::units::Nodes;
    use bookahead_core::workload::JobId;

    use super::*;

    fn job(user: Option<i64>, limit: i64, runtime: i64) -> Job {
        Job {
            user,
            ..Job::rigid(JobId(0), Seconds::ZERO, Nodes(1), Seconds(limit))
                .running_for(Seconds(runtime))
        }
    }

    fn settings(window: u32) -> LocalSettings {
        LocalSettings {
            accuracy: AccuracySource::Category,
            accuracy_window: AccuracyWindow(window),
            ..LocalSettings::default()
        }
    }

    fn of_job(known: &LimitAccuracy, settings: &LocalSettings, job: &Job) -> f64 {
        match known.by(settings, false) {
            Worth::ByCategory(means) => means.of_job(job),
            Worth::OfAll(accuracy) => panic!("{accuracy} for all"),
        }
    }

    #[test]
    fn a_category_of_five_jobs_has_a_mean_else_its_user_has_else_the_cluster() {
        let settings = settings(500);
        let mut known = LimitAccuracy::new(0.5, &settings);
        let long = job(Some(1), 7_200, 0);
        for _ in 0..4 {
            known.learn(&job(Some(1), 7_000, 7_000));
        }
        // Four jobs are too few of a cluster, too.
        assert_eq!(of_job(&known, &settings, &long), 0.5);
        // A short limit of the same user makes five of the user; 4,096 to 8,191 s are one bin.
        known.learn(&job(Some(1), 100, 50));
        assert_eq!(of_job(&known, &settings, &long), 0.9);
        assert_eq!(of_job(&known, &settings, &job(Some(2), 100, 0)), 0.9);
        known.learn(&job(Some(1), 5_000, 5_000));
        assert_eq!(of_job(&known, &settings, &long), 1.0);
        assert_eq!(
            of_job(&known, &settings, &job(Some(1), 8_192, 0)),
            5.5 / 6.0
        );
        // Nobody's jobs count for the cluster alone.
        known.learn(&job(None, 7_200, 0));
        assert_eq!(of_job(&known, &settings, &job(None, 7_200, 0)), 5.5 / 7.0);
        assert_eq!(of_job(&known, &settings, &long), 1.0);
    }

    #[test]
    fn a_user_who_changes_is_followed_once_older_jobs_have_left_the_window() {
        let [short, long] = [settings(5), settings(500)];
        let mut known = [
            LimitAccuracy::new(0.5, &short),
            LimitAccuracy::new(0.5, &long),
        ];
        for _ in 0..5 {
            known
                .iter_mut()
                .for_each(|it| it.learn(&job(Some(1), 100, 100)));
        }
        for _ in 0..5 {
            known
                .iter_mut()
                .for_each(|it| it.learn(&job(Some(1), 100, 0)));
        }
        let next = job(Some(1), 100, 0);
        assert_eq!(of_job(&known[0], &short, &next), 0.0);
        assert_eq!(of_job(&known[1], &long, &next), 0.5);
    }
}
