//! Keys of the queue that plans with predictions.

use crate::predicted_queue::posted::ClassChoice;
use crate::predicted_queue::{
    CapacityUntil, ComparedReservation, Head, Passing, QueueRules, ReservedStart, ScoredFrom,
    ScoredOrder, ScoredWait,
};
use bookahead_core::predictions::{Corrector, Features, PREDICTORS, SampleWeight};
use bookahead_core::scheduling::queue::BackfillOrder;
use bookahead_core::workload::DelayCosts;
use bookahead_lab::keys::declaration::{Given, integer_within, named, one_of, real};
use bookahead_lab::keys::delay_costs;
use bookahead_lab::{section, tables};

/// Which paper some keys are for.
const RLSCHEDULER: &str = "Zhang 2020";

/// Which section classes of priority are from.
const POSTED: &str = "Singh 2008 §2.1.3";

/// The names of predictors.
fn predictors() -> Vec<&'static str> {
    PREDICTORS.iter().map(|predictor| predictor.name).collect()
}

tables! {
    queue: RawQueue = QUEUE,
    learning: RawLearning = LEARNING,
    ;
    planning: RawPlanning = PLANNING,
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
        /// How many classes of priority there are.
        classes: Given<u32> = integer_within(1, 3)
            .note(r#", for order = "fcfs": a job of an earlier class goes before all of later ones"#)
            .default_is("1")
            .decides(POSTED),
        /// Who decides on the class of a job.
        class_choice: Option<ClassChoice> = named::<ClassChoice>()
            .words(r#""posted" (default): its owner, by the price and the wait that are posted, "assigned": somebody who knows its delay cost, so that waiting costs all least, or "free": its owner, who pays nothing and takes the first"#)
            .decides(POSTED),
        /// The load that waits and prices of classes are posted for.
        posted_load: Given<f64> = real().above(0.0).below(1.0)
            .default_in_words("that of the jobs themselves")
            .decides(POSTED),
    }
}

section! {
    /// Delay costs of jobs, where there are classes of priority.
    PLANNING = "planning", RawPlanning {
        /// What waiting costs the owners of jobs.
        delay_costs: Option<DelayCosts> = delay_costs::DELAY_COSTS,
        /// How many jobs are of each class of delay costs.
        delay_cost_shares_percent: Given<Vec<f64>> = delay_costs::SHARES_PERCENT,
        /// What waiting costs in each class.
        delay_cost_weights: Given<Vec<f64>> = delay_costs::WEIGHTS,
        /// How far log-normal delay costs spread.
        delay_cost_variation: Given<f64> = delay_costs::VARIATION,
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
