//! How well reservations were kept: the difference between the promised and the real start of the
//! first job of the queue (Tsafrir et al. 2007; docs/model.md, "Promised starts").

use serde::{Deserialize, Serialize};

use bookahead_core::scheduling::PromisedStart;
use bookahead_core::units::Seconds;

use super::{PredictedOutcome, QueueJob};

/// Which reservation of a job is compared with its start (P-09). None of them changes a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparedReservation {
    /// The first one that it gets as the first of a queue that does not fit.
    #[default]
    First,
    /// The last one before its start.
    Last,
    /// The first one, and of a job that has waited and starts as soon as it is the first of the
    /// queue that start: it was kept.
    EveryFirst,
}

impl ComparedReservation {
    /// Whether it is the default, which specifications leave out.
    #[must_use]
    pub fn is_first(&self) -> bool {
        *self == Self::First
    }

    /// What is kept of a new reservation and those before it.
    pub(super) fn of(self, before: Option<Seconds>, start: Seconds) -> Option<Seconds> {
        match self {
            Self::Last => Some(start),
            Self::First | Self::EveryFirst => before.or(Some(start)),
        }
    }
}

/// A distribution of spans in minutes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spans {
    /// How many there are, as a share of all jobs in percent.
    pub rate_percent: f64,
    /// Their mean; 0 where there are none.
    pub mean_minutes: f64,
    /// Their median.
    pub median_minutes: f64,
    /// Their standard deviation, of the population.
    pub deviation_minutes: f64,
}

impl Spans {
    fn of(mut seconds: Vec<i64>, jobs: usize) -> Self {
        if seconds.is_empty() {
            return Self::default();
        }
        seconds.sort_unstable();
        let count = seconds.len() as f64;
        let mean = seconds.iter().sum::<i64>() as f64 / count;
        let squares: f64 = seconds
            .iter()
            .map(|span| (*span as f64 - mean).powi(2))
            .sum();
        let middle = seconds.len() / 2;
        let median = match seconds.len() % 2 {
            0 => (seconds[middle - 1] + seconds[middle]) as f64 / 2.0,
            _ => seconds[middle] as f64,
        };
        Self {
            rate_percent: 100.0 * count / jobs as f64,
            mean_minutes: mean / 60.0,
            median_minutes: median / 60.0,
            deviation_minutes: (squares / count).sqrt() / 60.0,
        }
    }
}

/// Reservations against starts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KeptReservations {
    /// |start − reservation| of all jobs that waited with a reservation.
    pub difference: Spans,
    /// start − reservation of those that started later.
    pub delay: Spans,
}

impl KeptReservations {
    /// Those of the jobs for which `counts` says so, by their place.
    #[must_use]
    pub fn of(
        jobs: &[QueueJob],
        outcomes: &[PredictedOutcome],
        counts: impl Fn(usize) -> bool,
    ) -> Self {
        let counted = (0..jobs.len()).filter(|place| counts(*place)).count();
        let differences: Vec<i64> = outcomes
            .iter()
            .enumerate()
            .filter(|(place, _)| counts(*place))
            .filter_map(|(_, outcome)| Some((outcome.start - outcome.reserved?).0))
            .collect();
        let late = differences.iter().copied().filter(|span| *span > 0);
        Self {
            delay: Spans::of(late.collect(), counted),
            difference: Spans::of(differences.iter().map(|span| span.abs()).collect(), counted),
        }
    }
}

/// What the first of the queue was promised; `None` of a job that never waited as the first.
pub(super) fn promised_start(outcome: &PredictedOutcome) -> Option<PromisedStart> {
    Some(PromisedStart {
        given: outcome.reserved_at?,
        promised: outcome.reserved?,
        start: Some(outcome.start),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_counted_over_all_jobs_and_described_in_minutes() {
        let spans = Spans::of(vec![180, 60, 0, 0], 8);
        assert_eq!(spans.rate_percent, 50.0);
        assert_eq!(spans.mean_minutes, 1.0);
        assert_eq!(spans.median_minutes, 0.5);
        assert!((spans.deviation_minutes - 1.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(Spans::of(Vec::new(), 8), Spans::default());
    }
}
