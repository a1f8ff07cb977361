//! The mean run time of similar jobs: those of the same user with the same request, then those of
//! the user (the "similar jobs" of Tsafrir et al. 2007, section on predictability, with the window
//! of all).

use std::collections::HashMap;

use super::{Build, NamedPredictor, Predictor, Reads, Submission, UserIndex};
use crate::units::Seconds;

/// The predictor.
pub(super) const CATEGORY_MEAN: NamedPredictor = NamedPredictor {
    name: "category-mean",
    summary: "mean of the user's ended jobs with the same request, else of all of the user's",
    reads: Reads::Nothing,
    is_never_short: false,
    build: Build::Sees(|_| Box::<CategoryMean>::default()),
};

/// Sum and number of run times.
#[derive(Clone, Copy, Default)]
struct Mean {
    seconds: i64,
    jobs: i64,
}

impl Mean {
    fn value(self) -> Option<Seconds> {
        (self.jobs > 0).then(|| Seconds((self.seconds / self.jobs).max(1)))
    }

    fn add(&mut self, runtime: Seconds) {
        self.seconds += runtime.0;
        self.jobs += 1;
    }
}

#[derive(Clone, Default)]
struct CategoryMean {
    similar: HashMap<(UserIndex, Seconds), Mean>,
    users: HashMap<UserIndex, Mean>,
}

impl Predictor for CategoryMean {
    fn predict(&mut self, submission: &Submission) -> Seconds {
        let similar = self.similar.get(&(submission.user, submission.request));
        let of_user = || self.users.get(&submission.user)?.value();
        let mean = similar.and_then(|mean| mean.value()).or_else(of_user);
        mean.map_or(submission.request, |mean| mean.min(submission.request))
    }

    fn ended(&mut self, submission: &Submission, start: Seconds, end: Seconds) {
        let category = (submission.user, submission.request);
        self.similar.entry(category).or_default().add(end - start);
        self.users
            .entry(submission.user)
            .or_default()
            .add(end - start);
    }

    fn boxed(&self) -> Box<dyn Predictor> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::PredictorTester;
    use super::*;

    #[test]
    fn similar_jobs_come_before_other_jobs_of_the_user() {
        let mut tester = PredictorTester::new(Box::<CategoryMean>::default());
        assert_eq!(tester.predict(1_000), 1_000);
        tester.end(100);
        tester.end(301);
        assert_eq!(tester.predict(1_000), 200);
        assert_eq!(tester.predict(500), 200);
        assert_eq!(tester.predict(90), 90);
        tester.end(5_000);
        assert_eq!(tester.predict(1_000), 200);
        assert_eq!(tester.predict(50_000), 1_800);
    }

    #[test]
    fn a_mean_is_rounded_down_and_is_a_second_at_least() {
        let mut tester = PredictorTester::new(Box::<CategoryMean>::default());
        assert_eq!(tester.predict(1_000), 1_000);
        tester.end(0);
        assert_eq!(tester.predict(1_000), 1);
        tester.end(5);
        assert_eq!(tester.predict(1_000), 2);
    }
}
