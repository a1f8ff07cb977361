//! How well users estimate: percent-bin distributions, classes, joint and convolved distributions.
//!
//! From learning jobs to a probability: [`EstimateModel::learn`] groups the jobs into classes and
//! counts one [`RatioDistribution`] a class; [`RuntimeSteps`] stretches a class's distribution over
//! one job's estimate; [`joint_density`] says when the job's predecessors have all ended;
//! [`probability_executable`] whether it ends in its window; and [`Convolver::complete`] makes the
//! [`CompletionDistribution`] that its successors see. [`RatioCounts`] says how well an attribute
//! tells estimates apart. [`Calibrator`] learns how often that comes true, [`UserHistory`] what
//! users' last jobs took. [`ClassStatistics`] are classes that go on learning,
//! [`PredictedRuntimes`] what a predictor makes of the same jobs, [`PromiseBalance`] how much
//! riskier promises were than said. [`probability_of_room`] says whether jobs in front of a fixed
//! window have ended at its start. [`Habits`] knows single users and applications, for the
//! algorithm of 2008. How long jobs wait in a queue is another matter: [`WaitPredictor`] learns it
//! from the waits before.

mod balance;
mod binomial;
mod calibration;
mod classes;
mod completion;
mod convolution;
mod counts;
mod habits;
mod history;
mod joint;
mod merging;
mod model;
mod moments;
mod predicted;
mod ratio;
mod room;
mod runtime_steps;
mod settings;
mod statistics;
#[cfg(test)]
mod testutils;
mod wait_calibration;
mod waits;

pub use balance::PromiseBalance;
pub use calibration::{CalibrationMethod, CalibrationSettings, Calibrator};
pub use classes::{ARCHIVE_RUNTIME_BORDERS_SECONDS, ClassTable, RESOURCE_UPPER_BOUNDS, TOP_USERS};
pub use completion::CompletionDistribution;
pub use convolution::{Convolution, Convolver};
pub use counts::{InformationGain, RatioCounts};
pub use habits::{Habits, LARGEST_OVERRUN, UserHabit};
pub use history::UserHistory;
pub use joint::{
    NoEarlier, joint_cdf_at, joint_density, probability_executable, probability_executable_at_most,
    probability_executable_together,
};
pub use model::{ClassSummary, EstimateError, EstimateModel};
pub use moments::{Moments, wait_moments};
pub use predicted::{PredictedRuntime, PredictedRuntimes};
pub use ratio::{RATIO_BINS, RatioDistribution, RatioRange};
pub use room::{Tail, probability_of_room};
pub use runtime_steps::RuntimeSteps;
pub use settings::{
    Binning, ClassFamily, Combining, CombiningSettings, EstimateSettings, Learning, LearningJobs,
    LearningSettings, Overrun, PredictionSettings,
};
pub use statistics::{ClassStatistics, RunEnd};
pub use wait_calibration::{BoundCoverage, WaitCalibration};
pub use waits::{
    PredictionBasis, PredictionRule, WAIT_NODE_BORDERS, WAIT_WALLTIME_BORDERS, WaitPredictor,
    WaitPredictorError, WaitPredictorSettings,
};
