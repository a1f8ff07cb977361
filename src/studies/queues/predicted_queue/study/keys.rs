//! Keys of the queue that plans with predictions.

use crate::predicted_queue::{
    CapacityUntil, ComparedReservation, Head, Passing, QueueRules, ReservedStart, ScoredFrom,
    ScoredOrder, ScoredWait,
};
use bookahead_core::predictions::{Corrector, Features, PREDICTORS, SampleWeight};
use bookahead_core::scheduling::queue::BackfillOrder;
use bookahead_lab::keys::declaration::{Given, named, one_of, real};
use bookahead_lab::{section, tables};

/// Which paper some keys are for.
const RLSCHEDULER: &str = "Zhang 2020";

/// The names of predictors.
fn predictors() -> Vec<&'static str> {
    PREDICTORS.iter().map(|predictor| predictor.name).collect()
}

tables! {
    queue: RawQueue = QUEUE,
    learning: RawLearning = LEARNING,
}

section! {
    /// The queue that plans with predicted run times.
    QUEUE = "queue", RawQueue {
        /// Who predicts how long a job will run.
        predictor: Given<String> = one_of(predictors).default_is("request"),
        /// What holds when a job outlives its prediction.
        corrector: Option<Corrector> = named::<Corrector>().decides("P-03, P-06"),
        /// Who is the first of the queue.
        order: Option<ScoredOrder> = named::<ScoredOrder>().decides("P-10"),
        /// In which order the jobs behind the first are tried.
        backfill: Option<BackfillOrder> = named::<BackfillOrder>(),
        /// Of the predictors by quantiles: the share of jobs that should end within their
        /// prediction.
        quantile: Given<f64> = real().above(0.0).below(1.0).default_is("0.9"),
        /// The publication whose rules for events of one second, expired predictions and overruns
        /// hold.
        rules: Option<QueueRules> = named::<QueueRules>().decides("P-01, P-04"),
        /// Which reservation of a job is compared with its start.
        reservation: Option<ComparedReservation> = named::<ComparedReservation>().decides("P-09"),
        /// Whether the first of the queue stays that until it starts.
        head: Option<Head> = named::<Head>().decides(RLSCHEDULER),
        /// How often the place of the first of the queue is looked for.
        reserved_start: Option<ReservedStart> = named::<ReservedStart>().decides(RLSCHEDULER),
        /// Who may start before the first of the queue.
        passing: Option<Passing> = named::<Passing>().decides(RLSCHEDULER),
        /// What scores take for the wait of a job that still waits.
        score_wait: Option<ScoredWait> = named::<ScoredWait>().decides(RLSCHEDULER),
        /// From when submissions count in scores.
        score_from: Option<ScoredFrom> = named::<ScoredFrom>().decides(RLSCHEDULER),
        /// Until when utilisation counts what the machine could have done.
        capacity_until: Option<CapacityUntil> = named::<CapacityUntil>().decides(RLSCHEDULER),
    }
}

section! {
    /// The predictor that learns.
    LEARNING = "learning", RawLearning {
        /// How the loss grows where the prediction is longer than the run time.
        over: Given<String> = one_of(|| CURVES.to_vec()).default_is("square"),
        /// Its factor there.
        over_factor: Given<f64> = real().above(0.0).default_is("1"),
        /// How the loss grows where the prediction is shorter than the run time.
        under: Given<String> = one_of(|| CURVES.to_vec()).default_is("linear"),
        /// Its factor there.
        under_factor: Given<f64> = real().above(0.0).default_is("1"),
        /// How much longer than the run time a prediction may be at no cost.
        threshold_seconds: Given<f64> = real().from(0.0).note(": θ").default_is("0"),
        /// How much a job counts.
        weight: Option<SampleWeight> = named::<SampleWeight>().decides("P-11"),
        /// The features.
        features: Option<Features> = named::<Features>().decides("P-07"),
        /// Weight of the squared coefficients.
        regularisation: Given<f64> = real().from(0.0).note(": λ").default_is("4000000000"),
    }
}

/// The curves of a side of the loss.
pub(super) const CURVES: [&str; 3] = ["linear", "square", "exponential"];
