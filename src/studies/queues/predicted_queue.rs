//! A queue with backfilling that plans with predictions (Tsafrir et al. 2007; Gaussier et al. 2015;
//! docs/model.md, "A queue that plans with predictions").
//!
//! EASY backfilling, which is the pass of [`queue`](bookahead_core::scheduling::queue) with one
//! reserved place, with three exchangeable parts. A
//! [`Predictor`](bookahead_core::predictions::Predictor) predicts the run time of a job, a
//! [`Corrector`] replaces a prediction that a job outlasts, and a [`ScoredOrder`] orders the queue.
//! The machine is not that of [`EasyStream`](bookahead_core::scheduling::stream::EasyStream):
//! events of one second are handled one by one, and a plan may be wrong. The two publications
//! differ in such rules (when a pass is held, which nodes count as free). The rules are a
//! parameter, [`QueueRules`], and both publications are reproduced to the second.

mod head;
mod machine;
mod open_jobs;
mod orders;
mod outcome;
pub mod posted;
mod promises;
mod running;
mod streamed;
pub mod study;
#[cfg(test)]
mod tests;

pub use head::{Head, HeadRules, Passing, ReservedStart};
pub use machine::{
    PredictedQueueMachine, UnknownPredictor, predicted_queue_scene, simulate_predicted_queue,
};
pub use orders::{ScoreTimes, ScoredFrom, ScoredOrder, ScoredWait};
pub use outcome::{PredictedOutcome, QueueTotals, accuracy};
pub use promises::{ComparedReservation, KeptReservations, Spans};
pub use streamed::PredictedStream;

use serde::{Deserialize, Serialize};

use std::collections::HashMap;
use std::sync::Arc;

use bookahead_core::predictions::{Corrector, PredictorSettings, Submission, UserIndex};
use bookahead_core::scheduling::measures::Measured;
use bookahead_core::scheduling::queue::BackfillOrder;
use bookahead_core::scheduling::{
    JobOutcome, Promise, PromisedStart, SimulationMetrics, Verdict, promise_measures,
};
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::Job;

/// How the queue works.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictedQueueSettings {
    /// The predictor's name in [`PREDICTORS`](bookahead_core::predictions::PREDICTORS).
    pub predictor: String,
    /// What holds when a job outlives its prediction.
    pub corrector: Corrector,
    /// The order of the queue.
    pub order: ScoredOrder,
    /// In which order the jobs behind the first are tried.
    pub backfill: BackfillOrder,
    /// Rules in which the publications differ.
    pub rules: QueueRules,
    /// Which reservation of a job is compared with its start.
    #[serde(default, skip_serializing_if = "ComparedReservation::is_first")]
    pub reservation: ComparedReservation,
    /// What holds for the first of the queue.
    #[serde(flatten)]
    pub head_rules: HeadRules,
    /// What the order takes for times.
    #[serde(flatten)]
    pub times: ScoreTimes,
    /// Until when the machine could have worked.
    #[serde(default, skip_serializing_if = "head::is_default")]
    pub capacity_until: CapacityUntil,
    /// What the predictor is told.
    #[serde(flatten)]
    pub told: PredictorSettings,
    /// Classes of priority, of which a job of an earlier one goes before all of later ones; `None`
    /// where there is one class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<posted::PostedSettings>,
}

impl Default for PredictedQueueSettings {
    fn default() -> Self {
        Self {
            predictor: "request".to_owned(),
            corrector: Corrector::default(),
            order: ScoredOrder::default(),
            backfill: BackfillOrder::default(),
            rules: QueueRules::default(),
            reservation: ComparedReservation::default(),
            head_rules: HeadRules::default(),
            times: ScoreTimes::default(),
            capacity_until: CapacityUntil::default(),
            told: PredictorSettings::default(),
            classes: None,
        }
    }
}

impl PredictedQueueSettings {
    /// Whether the queue is put in order only when its next first is chosen, and stably, as in the
    /// program of Zhang et al. 2020. Where scores stay and nobody passes the first, ties by
    /// submission come to the same.
    pub(crate) fn orders_when_choosing(&self) -> bool {
        match self.backfill {
            BackfillOrder::Submission => true,
            BackfillOrder::None => self.ties_stay_behind_committed(),
            _ => false,
        }
    }

    /// Whether nobody passes a committed first, and scores change while jobs wait.
    pub(crate) fn ties_stay_behind_committed(&self) -> bool {
        self.backfill == BackfillOrder::None
            && self.head_rules.head == Head::Committed
            && self.order.depends_on_waiting(self.times)
    }
}

/// Rules in which the two publications differ (P-01, P-04), the order of the events of one second
/// among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueRules {
    /// Gaussier et al. 2015: in one second expired predictions come first, then submissions, then
    /// ends. Nodes count as free when their job was *planned* to end, and as held until its end was
    /// handled. An expired prediction starts no job.
    #[default]
    Gaussier2015,
    /// Tsafrir et al. 2007: in one second ends come first, then expired predictions, then
    /// submissions. Idle nodes are free. Jobs that can start after an expired prediction do.
    Tsafrir2007,
    /// Zhang et al. 2020: in one second submissions come first, then ends, each with a pass. Idle
    /// nodes are free. Jobs outlive their requests, and an expired prediction starts no job.
    Zhang2020,
}

/// Until when utilisation counts what the machine could have done, from the first submission on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityUntil {
    /// The last end.
    #[default]
    LastEnd,
    /// The last start (Zhang et al. 2020, table VI). What is done behind it counts as done, so this
    /// may say more than 1.
    LastStart,
}

/// A job of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueJob {
    /// What is known at its submission.
    pub submission: Submission,
    /// What it uses, at least one second: known to the machine alone.
    pub runtime: Seconds,
    /// Its class of priority, from 0, which goes first.
    pub class: u8,
}

/// The jobs of the queue, users numbered in order of appearance. Jobs wider than the machine are
/// left out. Under the rules of Gaussier et al. jobs are killed at their request; under those of
/// the others they outlive it. A run time of 0 takes one second.
#[must_use]
pub fn queue_jobs(jobs: &[Job], machine: Nodes, rules: QueueRules) -> Arc<[QueueJob]> {
    let mut users = HashMap::new();
    let mut queue: Vec<QueueJob> = Vec::with_capacity(jobs.len());
    for job in jobs.iter().filter(|job| job.nodes <= machine) {
        let next = UserIndex(users.len() as u32);
        let runtime = match rules {
            QueueRules::Gaussier2015 => job.runtime.min(job.estimate),
            QueueRules::Tsafrir2007 | QueueRules::Zhang2020 => job.runtime,
        };
        queue.push(QueueJob {
            submission: Submission {
                index: queue.len() as u32,
                submit: job.submit,
                request: job.estimate,
                nodes: job.nodes,
                user: *users.entry(job.user).or_insert(next),
            },
            runtime: runtime.max(Seconds(1)),
            class: 0,
        });
    }
    queue.into()
}

/// What the study measures of a run. Under the rules of Tsafrir et al. the first hundredth of the
/// jobs that ended is left out of the means.
#[must_use]
pub fn queue_measures(
    jobs: &[QueueJob],
    outcomes: &[PredictedOutcome],
    rules: QueueRules,
) -> Measured {
    let counted = match rules {
        QueueRules::Gaussier2015 | QueueRules::Zhang2020 => vec![true; jobs.len()],
        QueueRules::Tsafrir2007 => outcome::without_warm_up(outcomes),
    };
    let totals = QueueTotals::of(jobs, outcomes, |place| counted[place]);
    let kept = KeptReservations::of(jobs, outcomes, |place| counted[place]);
    let mut measured = Measured::default();
    if totals.jobs == 0 {
        return measured;
    }
    measured.add("bounded_slowdown", totals.bounded_slowdown);
    measured.add("bounded_slowdown_rms", totals.bounded_slowdown_rms);
    measured.add("bounded_slowdown_max", totals.bounded_slowdown_max);
    measured.add("queue_wait_minutes", totals.wait_seconds / 60.0);
    measured.add("flow_seconds", totals.flow_seconds);
    measured.add("stretch", totals.stretch);
    measured.add("prediction_accuracy_percent", 100.0 * totals.accuracy);
    measured.add("prediction_error_minutes", totals.error_seconds / 60.0);
    measured.add("coverage_percent", 100.0 * totals.coverage);
    measured.add_ratio(
        "expiries_per_job",
        totals.expiries as f64,
        totals.jobs as f64,
    );
    measured.add("reserved_percent", kept.difference.rate_percent);
    measured.add("delayed_percent", kept.delay.rate_percent);
    if kept.difference.rate_percent > 0.0 {
        let Spans {
            mean_minutes,
            median_minutes,
            deviation_minutes,
            ..
        } = kept.difference;
        measured.add("reservation_error_minutes", mean_minutes);
        measured.add("reservation_error_median_minutes", median_minutes);
        measured.add("reservation_error_deviation_minutes", deviation_minutes);
    }
    if kept.delay.rate_percent > 0.0 {
        measured.add("delay_minutes", kept.delay.mean_minutes);
        measured.add("delay_median_minutes", kept.delay.median_minutes);
        measured.add("delay_deviation_minutes", kept.delay.deviation_minutes);
    }
    let promised: Vec<PromisedStart> = outcomes
        .iter()
        .zip(&counted)
        .filter_map(|(outcome, counts)| counts.then(|| promises::promised_start(outcome))?)
        .collect();
    measured.extend(&promise_measures(totals.jobs as usize, &promised));
    measured
}

/// The outcomes of all jobs as every study has them, none where they are not to be kept, and their
/// totals. The promise of a job is the reservation that it got as the first of the queue; jobs
/// wider than the machine are dropped.
#[must_use]
pub fn job_outcomes(
    jobs: &[Job],
    outcomes: &[PredictedOutcome],
    machine: Nodes,
    until: CapacityUntil,
    keep: bool,
) -> (Vec<JobOutcome>, SimulationMetrics) {
    let mut metrics = SimulationMetrics::default();
    let mut ran = outcomes.iter();
    let mut all = Vec::with_capacity(if keep { jobs.len() } else { 0 });
    for job in jobs {
        let outcome = (job.nodes <= machine).then(|| ran.next()).flatten();
        let verdict = match outcome {
            None => Verdict::DroppedTooWide,
            Some(outcome) if (outcome.end - outcome.start) < job.runtime => {
                Verdict::SuccessfulFullGrant
            }
            Some(_) => Verdict::SuccessfulFinished,
        };
        let outcome = JobOutcome {
            job: job.clone(),
            verdict,
            class: None,
            promise: outcome.and_then(|outcome| {
                let start = outcome.reserved?;
                Some(Promise::certain(start, start + job.estimate))
            }),
            start: outcome.map(|outcome| outcome.start),
            end: outcome.map(|outcome| outcome.end),
            restarts: 0,
            node_failures: 0,
            execution: None,
            late: None,
        };
        metrics.count(&outcome);
        if let (Some(start), Some(end)) = (outcome.start, outcome.end) {
            metrics.busy += job.nodes.for_span(end - start);
        }
        if keep {
            all.push(outcome);
        }
    }
    let first = jobs.first().map_or(Seconds::ZERO, |job| job.submit);
    let last = outcomes.iter().map(|outcome| outcome.end).max();
    metrics.makespan = last.map_or(Seconds::ZERO, |last| last - first);
    let last = match until {
        CapacityUntil::LastEnd => last,
        CapacityUntil::LastStart => outcomes.iter().map(|outcome| outcome.start).max(),
    };
    metrics.capacity = machine.for_span(last.map_or(Seconds::ZERO, |last| last - first));
    (all, metrics)
}
