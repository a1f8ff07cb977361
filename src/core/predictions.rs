//! How long a job will run: predictions that take the place of what its user asked for (Tsafrir et
//! al. 2007; Gaussier et al. 2015).
//!
//! A [`Predictor`] sees a job when it is submitted, when it starts and when it ends, and nothing of
//! it before that. A [`Corrector`] says what holds when a job outlives its prediction. The request
//! stays what kills a job: predictions only enter plans. Every predictor is one file and one line
//! in [`PREDICTORS`].

mod average_of_two;
mod category_mean;
mod correctors;
mod learned;
mod quantile;
mod requested;

pub use correctors::{CORRECTORS, Correction, Corrector};
pub use learned::{Features, LearnedSettings, Loss, OnlineRegression, SampleWeight, Side};

use serde::{Deserialize, Serialize};

use crate::units::{Nodes, Seconds};

/// A user, numbered from 0 in order of appearance; jobs without a user have one together.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct UserIndex(pub u32);

/// What is known of a job when it is submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submission {
    /// Place in the order of submission, from 0.
    pub index: u32,
    /// When it is submitted.
    pub submit: Seconds,
    /// What its user asked for: the job never gets more.
    pub request: Seconds,
    /// Its nodes.
    pub nodes: Nodes,
    /// Who submitted it.
    pub user: UserIndex,
}

/// Predicts how long jobs will run from what happened so far.
pub trait Predictor: Send + Sync {
    /// The prediction for a job that is submitted now, at least one second.
    fn predict(&mut self, submission: &Submission) -> Seconds;

    /// The job starts.
    fn started(&mut self, _submission: &Submission, _start: Seconds) {}

    /// The job has ended: only now it is known how long it ran.
    fn ended(&mut self, _submission: &Submission, _start: Seconds, _end: Seconds) {}

    /// Another one that knows the same.
    fn boxed(&self) -> Box<dyn Predictor>;
}

/// A registered predictor.
#[derive(Clone, Copy, Debug)]
pub struct NamedPredictor {
    /// The name in configurations, on the command line and in reports.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// What it reads of its settings.
    pub reads: Reads,
    /// Whether no job outlives its predictions, as long as jobs end at their request.
    pub is_never_short: bool,
    /// Makes it.
    pub build: Build,
}

/// What a predictor reads of [`PredictorSettings`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Nothing.
    Nothing,
    /// The quantile.
    Quantile,
    /// What the regression is told.
    Learned,
}

/// How a predictor comes about.
#[derive(Clone, Copy, Debug)]
pub enum Build {
    /// It knows the run time: nobody can, so the machine tells it.
    KnowsRunTime,
    /// It sees what has happened.
    Sees(fn(&PredictorSettings) -> Box<dyn Predictor>),
}

/// What predictors can be told; each reads what is its own.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictorSettings {
    /// Of the predictors by quantiles: the share of jobs that shall end within their prediction, in
    /// (0, 1).
    pub quantile: f64,
    /// Of the predictor that learns.
    pub learned: LearnedSettings,
}

impl Default for PredictorSettings {
    fn default() -> Self {
        Self {
            quantile: 0.9,
            learned: LearnedSettings::default(),
        }
    }
}

impl PredictorSettings {
    /// What is not read set to its default.
    #[must_use]
    pub fn read_by(self, reads: Reads) -> Self {
        let default = Self::default();
        match reads {
            Reads::Nothing => default,
            Reads::Quantile => Self {
                quantile: self.quantile,
                ..default
            },
            Reads::Learned => Self {
                learned: self.learned,
                ..default
            },
        }
    }
}

/// All predictors, in the order of tables.
pub const PREDICTORS: &[NamedPredictor] = &[
    requested::REQUESTED,
    requested::DOUBLE_REQUEST,
    NamedPredictor {
        name: "perfect",
        summary: "the run time itself",
        reads: Reads::Nothing,
        is_never_short: true,
        build: Build::KnowsRunTime,
    },
    average_of_two::BY_TERMINATION,
    average_of_two::BY_SUBMISSION,
    average_of_two::IMMEDIATE,
    average_of_two::EXTENDED,
    category_mean::CATEGORY_MEAN,
    quantile::CLASS_QUANTILE,
    quantile::CONFORMAL_QUANTILE,
    learned::LEARNED,
];

/// Finds a predictor by name.
#[must_use]
pub fn predictor(name: &str) -> Option<&'static NamedPredictor> {
    PREDICTORS.iter().find(|known| known.name == name)
}

/// Drives a predictor in tests.
#[cfg(test)]
struct PredictorTester {
    predictor: Box<dyn Predictor>,
    jobs: u32,
}

#[cfg(test)]
impl PredictorTester {
    fn new(predictor: Box<dyn Predictor>) -> Self {
        Self { predictor, jobs: 0 }
    }

    fn submission(index: u32, request: i64) -> Submission {
        Submission {
            index,
            submit: Seconds(0),
            request: Seconds(request),
            nodes: Nodes(1),
            user: UserIndex(0),
        }
    }

    fn predict(&mut self, request: i64) -> i64 {
        let submission = Self::submission(self.jobs, request);
        self.predictor.predict(&submission).0
    }

    /// A job of the user's is submitted, started and ended.
    fn end(&mut self, runtime: i64) {
        self.end_of(runtime.max(1_000), runtime);
    }

    fn end_of(&mut self, request: i64, runtime: i64) {
        let submission = Self::submission(self.jobs, request);
        self.jobs += 1;
        self.predictor.predict(&submission);
        self.predictor.started(&submission, Seconds(0));
        self.predictor
            .ended(&submission, Seconds(0), Seconds(runtime));
    }
}
