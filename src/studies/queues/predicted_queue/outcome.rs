//! The outcomes of the jobs, and the quantities by which queues are compared (docs/model.md, "A
//! queue that plans with predictions").

use bookahead_core::scheduling::bounded_slowdown;
use bookahead_core::units::Seconds;

use super::QueueJob;

/// The outcome of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictedOutcome {
    /// When it started.
    pub start: Seconds,
    /// When it ended.
    pub end: Seconds,
    /// How long it was predicted to run when it was submitted.
    pub prediction: Seconds,
    /// The mean of the predictions in force between its submission and its end, in seconds.
    pub mean_prediction_seconds: f64,
    /// How often its prediction expired.
    pub expiries: u32,
    /// The start that it was promised as the first of the queue (see
    /// [`ComparedReservation`](super::ComparedReservation)); `None` where it was promised none.
    pub reserved: Option<Seconds>,
    /// When it was promised that.
    pub reserved_at: Option<Seconds>,
}

/// Accuracy of a prediction: the shorter of prediction and run time over the longer one (Tsafrir et
/// al. 2007).
#[must_use]
pub fn accuracy(predicted_seconds: f64, runtime: Seconds) -> f64 {
    let runtime = runtime.0 as f64;
    if predicted_seconds == runtime {
        1.0
    } else {
        (predicted_seconds / runtime).min(runtime / predicted_seconds)
    }
}

/// Means over all jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueueTotals {
    /// Jobs.
    pub jobs: u64,
    /// AVEbsld: mean bounded slowdown.
    pub bounded_slowdown: f64,
    /// RMSbsld: root of the mean squared bounded slowdown.
    pub bounded_slowdown_rms: f64,
    /// The largest bounded slowdown.
    pub bounded_slowdown_max: f64,
    /// Mean of wait and run, in seconds.
    pub flow_seconds: f64,
    /// Mean wait in seconds.
    pub wait_seconds: f64,
    /// Mean of (wait + run) / run.
    pub stretch: f64,
    /// Mean accuracy of the predictions in force.
    pub accuracy: f64,
    /// Mean of |prediction at submission − run time| in seconds.
    pub error_seconds: f64,
    /// Share of the jobs that ended within their first prediction, of those behind the first tenth:
    /// predictors that learn need some jobs to begin with.
    pub coverage: f64,
    /// Expired predictions.
    pub expiries: u64,
}

impl QueueTotals {
    /// The means of those jobs for which `counts` says so, by their place.
    #[must_use]
    pub fn of(
        jobs: &[QueueJob],
        outcomes: &[PredictedOutcome],
        counts: impl Fn(usize) -> bool,
    ) -> Self {
        let mut totals = Self::default();
        let mut squares = 0.0;
        let (mut learned, mut within) = (0_u64, 0_u64);
        for (place, (job, outcome)) in jobs.iter().zip(outcomes).enumerate() {
            if !counts(place) {
                continue;
            }
            let wait = outcome.start - job.submission.submit;
            let slowdown = bounded_slowdown(wait, job.runtime);
            totals.jobs += 1;
            totals.bounded_slowdown += slowdown;
            squares += slowdown * slowdown;
            totals.bounded_slowdown_max = totals.bounded_slowdown_max.max(slowdown);
            totals.flow_seconds += (wait + job.runtime).0 as f64;
            totals.wait_seconds += wait.0 as f64;
            totals.stretch += (wait + job.runtime).0 as f64 / job.runtime.0 as f64;
            totals.accuracy += accuracy(outcome.mean_prediction_seconds, job.runtime);
            totals.error_seconds += (outcome.prediction - job.runtime).0.abs() as f64;
            totals.expiries += u64::from(outcome.expiries);
            if place >= jobs.len() / 10 {
                learned += 1;
                within += u64::from(job.runtime <= outcome.prediction);
            }
        }
        let jobs = totals.jobs.max(1) as f64;
        for sum in [
            &mut totals.bounded_slowdown,
            &mut totals.flow_seconds,
            &mut totals.wait_seconds,
            &mut totals.stretch,
            &mut totals.accuracy,
            &mut totals.error_seconds,
        ] {
            *sum /= jobs;
        }
        totals.coverage = within as f64 / learned.max(1) as f64;
        totals.bounded_slowdown_rms = (squares / jobs).sqrt();
        totals
    }
}

/// Which jobs count if the hundredth of them that ended first does not.
pub(super) fn without_warm_up(outcomes: &[PredictedOutcome]) -> Vec<bool> {
    let mut by_end: Vec<usize> = (0..outcomes.len()).collect();
    by_end.sort_by_key(|place| (outcomes[*place].end, *place));
    let mut counts = vec![true; outcomes.len()];
    for place in &by_end[..outcomes.len() / 100] {
        counts[*place] = false;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounded_slowdowns_are_those_of_the_vector() {
        for (wait, runtime, expected) in [
            (0, 3, 1.0),
            (5, 3, 1.0),
            (100, 1, 10.1),
            (100, 10, 11.0),
            (90, 30, 4.0),
            (3_600, 3_600, 2.0),
        ] {
            assert_eq!(bounded_slowdown(Seconds(wait), Seconds(runtime)), expected);
        }
    }

    #[test]
    fn accuracy_is_the_same_for_too_long_and_too_short() {
        assert_eq!(accuracy(5.0, Seconds(10)), 0.5);
        assert_eq!(accuracy(20.0, Seconds(10)), 0.5);
        assert_eq!(accuracy(0.0, Seconds(0)), 1.0);
    }
}
