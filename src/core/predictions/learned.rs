//! A linear model of the run time that learns from every job that ends (Gaussier 2015).

mod features;
mod loss;
mod regression;

pub use features::Features;
pub use loss::{Loss, SampleWeight, Side};
pub use regression::OnlineRegression;

use serde::{Deserialize, Serialize};

use self::features::{BASE_FEATURES, FEATURES, UserPast, base_features, expand};
use super::{Build, NamedPredictor, Predictor, Reads, Submission};
use crate::units::Seconds;

/// Online regression with an asymmetric loss.
pub(super) const LEARNED: NamedPredictor = NamedPredictor {
    name: "learned",
    summary: "online linear regression with an asymmetric, weighted loss",
    reads: Reads::Learned,
    is_never_short: false,
    build: Build::Sees(|settings| Box::new(Learned::new(settings.learned))),
};

/// What the regression minimises, and over which features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LearnedSettings {
    /// The loss.
    pub loss: Loss,
    /// How much a job counts.
    pub weight: SampleWeight,
    /// The features.
    pub features: Features,
}

/// The predictor.
#[derive(Clone)]
struct Learned {
    settings: LearnedSettings,
    regression: OnlineRegression,
    users: Vec<UserPast>,
    /// Base features of the jobs in the system, each in a place of its own.
    kept: Vec<[f64; BASE_FEATURES]>,
    /// Places in `kept` that are free.
    free: Vec<u32>,
    /// The place of each job.
    places: Vec<u32>,
    /// Room for all features of one job.
    expanded: [f64; FEATURES],
}

impl Learned {
    fn new(settings: LearnedSettings) -> Self {
        Self {
            settings,
            regression: OnlineRegression::new(FEATURES, settings.loss),
            users: Vec::new(),
            kept: Vec::new(),
            free: Vec::new(),
            places: Vec::new(),
            expanded: [0.0; FEATURES],
        }
    }

    fn past(&mut self, submission: &Submission) -> &mut UserPast {
        let user = submission.user.0 as usize;
        if self.users.len() <= user {
            self.users.resize_with(user + 1, UserPast::default);
        }
        &mut self.users[user]
    }
}

impl Predictor for Learned {
    fn predict(&mut self, submission: &Submission) -> Seconds {
        let which = self.settings.features;
        let base = base_features(submission, self.past(submission), which);
        expand(&base, &mut self.expanded);
        let place = self.free.pop().unwrap_or_else(|| {
            self.kept.push([0.0; BASE_FEATURES]);
            self.kept.len() as u32 - 1
        });
        self.kept[place as usize] = base;
        let index = submission.index as usize;
        if self.places.len() <= index {
            self.places.resize(index + 1, 0);
        }
        self.places[index] = place;
        let value = self.regression.value(&self.expanded);
        // The absolute value, as published (P-07); beyond what is counted `as` stops at the largest
        // number.
        let predicted = Seconds((value.abs() as i64).max(1));
        submission.request.min(predicted)
    }

    fn started(&mut self, submission: &Submission, start: Seconds) {
        self.past(submission).started(submission, start);
    }

    fn ended(&mut self, submission: &Submission, start: Seconds, end: Seconds) {
        self.past(submission).ended(submission, start, end);
        let place = self.places[submission.index as usize];
        self.free.push(place);
        expand(&self.kept[place as usize], &mut self.expanded);
        let runtime = (end - start).0 as f64;
        let nodes = f64::from(submission.nodes.0);
        let weight = self.settings.weight.of(runtime, nodes);
        self.regression.learn(&self.expanded, runtime, weight);
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
    fn the_first_prediction_is_a_second_since_nothing_was_learned() {
        let learned = Learned::new(LearnedSettings::default());
        let mut tester = PredictorTester::new(Box::new(learned));
        assert_eq!(tester.predict(1_000), 1);
    }
}
