//! Quantiles of how much of their request jobs use: of the classes of similar jobs, and one that
//! keeps its coverage.

use std::collections::{HashMap, VecDeque};

use super::{Build, NamedPredictor, Predictor, PredictorSettings, Reads, Submission, UserIndex};
use crate::units::Seconds;

/// The quantile of the class's distribution: of the user's jobs, of all jobs while the user has too
/// few.
pub(super) const CLASS_QUANTILE: NamedPredictor = NamedPredictor {
    name: "class-quantile",
    summary: "quantile of the share of the request that the user's last jobs used",
    reads: Reads::Quantile,
    is_never_short: false,
    build: Build::Sees(|settings| Box::new(Quantiles::new(settings, false))),
};

/// The same with a level that follows what came true, so that as many jobs end within their
/// prediction as were asked for, whatever the jobs do (adaptive conformal inference, Gibbs and
/// Candès 2021).
pub(super) const CONFORMAL_QUANTILE: NamedPredictor = NamedPredictor {
    name: "conformal-quantile",
    summary: "the same with a level that keeps its coverage online",
    reads: Reads::Quantile,
    is_never_short: false,
    build: Build::Sees(|settings| Box::new(Quantiles::new(settings, true))),
};

/// Jobs of a class that are remembered.
const WINDOW: usize = 500;

/// A class with fewer jobs is predicted by all jobs.
const FEWEST_JOBS: usize = 20;

/// How far the level moves with each job that has ended: a hundredth of the step that the coverage
/// missed.
const STEP: f64 = 0.01;

/// The last shares of a class: in order of time, and in order of size.
#[derive(Clone, Default)]
struct Shares {
    recent: VecDeque<f64>,
    sorted: Vec<f64>,
}

impl Shares {
    fn add(&mut self, share: f64) {
        if self.recent.len() == WINDOW
            && let Some(oldest) = self.recent.pop_front()
        {
            let place = self.sorted.partition_point(|other| *other < oldest);
            self.sorted.remove(place);
        }
        self.recent.push_back(share);
        let place = self.sorted.partition_point(|other| *other < share);
        self.sorted.insert(place, share);
    }

    /// The smallest share that at least `level` of the jobs, and one more that is still to come, do
    /// not pass; 1 where that needs more jobs than there are.
    fn quantile(&self, level: f64) -> f64 {
        let rank = (level * (self.sorted.len() + 1) as f64).ceil() as usize;
        match rank {
            0 => self.sorted.first().copied().unwrap_or(1.0),
            _ => self.sorted.get(rank - 1).copied().unwrap_or(1.0),
        }
    }
}

#[derive(Clone)]
struct Quantiles {
    /// The share of jobs that shall end within their prediction.
    wanted: f64,
    /// The level of the quantile that is taken for it.
    level: f64,
    adapts: bool,
    all: Shares,
    users: HashMap<UserIndex, Shares>,
    /// Predictions of jobs that have not ended.
    predicted: HashMap<u32, Seconds>,
}

impl Quantiles {
    fn new(settings: &PredictorSettings, adapts: bool) -> Self {
        Self {
            wanted: settings.quantile,
            level: settings.quantile,
            adapts,
            all: Shares::default(),
            users: HashMap::new(),
            predicted: HashMap::new(),
        }
    }
}

impl Predictor for Quantiles {
    fn predict(&mut self, submission: &Submission) -> Seconds {
        let of_user = self.users.get(&submission.user);
        let class = of_user.filter(|shares| shares.recent.len() >= FEWEST_JOBS);
        let share = class.unwrap_or(&self.all).quantile(self.level);
        let predicted = Seconds((submission.request.0 as f64 * share).ceil() as i64);
        let predicted = predicted.max(Seconds(1)).min(submission.request);
        if self.adapts {
            self.predicted.insert(submission.index, predicted);
        }
        predicted
    }

    fn ended(&mut self, submission: &Submission, start: Seconds, end: Seconds) {
        let runtime = end - start;
        let share = runtime.0 as f64 / submission.request.0 as f64;
        self.all.add(share);
        self.users.entry(submission.user).or_default().add(share);
        if let Some(predicted) = self.predicted.remove(&submission.index) {
            let missed = f64::from(u8::from(runtime > predicted));
            let step = STEP * (missed - (1.0 - self.wanted));
            // Not bounded: a level beyond 1 predicts the request, and what it owes to earlier
            // misses is not forgotten.
            self.level += step;
        }
    }

    fn boxed(&self) -> Box<dyn Predictor> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::PredictorTester;
    use super::*;

    fn settings(quantile: f64) -> PredictorSettings {
        PredictorSettings {
            quantile,
            ..PredictorSettings::default()
        }
    }

    #[test]
    fn a_quantile_is_a_share_that_so_many_jobs_did_not_pass() {
        let mut shares = Shares::default();
        for tenth in [3, 1, 2, 9, 5, 4, 8, 7, 6] {
            shares.add(f64::from(tenth) / 10.0);
        }
        assert_eq!(shares.quantile(0.5), 0.5);
        assert_eq!(shares.quantile(0.9), 0.9);
        assert_eq!(shares.quantile(0.95), 1.0);
        assert_eq!(shares.quantile(0.0), 0.1);
    }

    #[test]
    fn only_the_last_jobs_of_a_class_count() {
        let mut shares = Shares::default();
        for _ in 0..WINDOW {
            shares.add(0.9);
        }
        for _ in 0..WINDOW {
            shares.add(0.1);
        }
        assert_eq!(shares.quantile(0.99), 0.1);
    }

    /// The prediction at a level after jobs that ran for so many of the 1,000 s that they asked
    /// for, for a job that asks for `request`.
    fn predicted(level: f64, runtimes: &[i64], request: i64) -> i64 {
        let mut tester = PredictorTester::new(Box::new(Quantiles::new(&settings(level), false)));
        for &runtime in runtimes {
            tester.end_of(1_000, runtime);
        }
        tester.predict(request)
    }

    #[test]
    fn a_class_quantile_is_the_share_of_a_rank_that_counts_the_job_to_come() {
        // ⌈0.5 · (3 + 1)⌉ is the second of three, ⌈0.75 · (3 + 1)⌉ the third.
        let runtimes = [300, 100, 200];
        assert_eq!(predicted(0.5, &runtimes, 1_000), 200);
        assert_eq!(predicted(0.75, &runtimes, 1_000), 300);
    }

    #[test]
    fn a_class_quantile_is_the_whole_request_where_its_rank_is_beyond_the_jobs() {
        assert_eq!(predicted(0.76, &[300, 100, 200], 1_000), 1_000);
        assert_eq!(predicted(0.5, &[], 1_000), 1_000);
    }

    #[test]
    fn a_class_quantile_is_rounded_up_and_is_a_second_at_least() {
        // 0.2 of 101 s is 20.2 s, and nothing of them is a second.
        assert_eq!(predicted(0.5, &[300, 100, 200], 101), 21);
        assert_eq!(predicted(0.5, &[0], 101), 1);
    }

    #[test]
    fn a_user_with_fewer_than_twenty_jobs_is_predicted_by_those_of_all() {
        let user = |user, request| Submission {
            user: UserIndex(user),
            ..PredictorTester::submission(0, request)
        };
        let mut quantiles = Quantiles::new(&settings(0.5), false);
        let mut predictions = Vec::new();
        for (who, runtime, jobs) in [(0, 900, 40), (1, 100, 19), (1, 100, 1)] {
            for _ in 0..jobs {
                quantiles.ended(&user(who, 1_000), Seconds(0), Seconds(runtime));
            }
            predictions.push(quantiles.predict(&user(1, 1_000)));
        }
        assert_eq!(predictions, [900, 900, 100].map(Seconds));
    }

    /// Coverage of 2,000 jobs whose shares wander.
    fn coverage(adapts: bool) -> f64 {
        let predictor = Quantiles::new(&settings(0.9), adapts);
        let mut tester = PredictorTester::new(Box::new(predictor));
        let mut within = 0;
        for job in 0..2_000_i64 {
            // Shares that grow all the time: the last ones are never enough.
            let runtime = 100 + job * 4 + (job * 7_919) % 97;
            let predicted = tester.predict(10_000);
            tester.end_of(10_000, runtime);
            within += i64::from(runtime <= predicted);
        }
        within as f64 / 2_000.0
    }

    #[test]
    fn the_conformal_level_keeps_its_coverage_where_the_plain_one_loses_it() {
        let (plain, conformal) = (coverage(false), coverage(true));
        assert!(plain < 0.5, "{plain}");
        assert!((0.86..0.94).contains(&conformal), "{conformal}");
    }
}
