//! What one schedule amounts to, summed up as it is made.

use serde::Serialize;

use super::{Listener, StreamRequest};
use crate::units::{Nodes, Seconds};

/// Slowdowns of jobs shorter than this count as if they had run so long.
const BOUND: i64 = 10;

/// Sums over a schedule; a [`Listener`] that keeps nothing a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StreamTotals {
    /// Jobs that started.
    pub started: u64,
    /// Requests that got nothing.
    pub refused: u64,
    /// Sum of start − wanted start in seconds; the wanted start is the submission, of a reservation
    /// its own.
    pub wait: i128,
    /// Longest wait in seconds.
    pub longest_wait: i64,
    /// Sum of (wait + run time) / run time.
    pub slowdown: f64,
    /// Sum of max(1, (wait + run time) / max(run time, 10 s)).
    pub bounded_slowdown: f64,
    /// Node-seconds that jobs used.
    pub used: i128,
    /// Submission of the first job.
    pub first_submit: Option<Seconds>,
    /// When the last one ended.
    pub last_end: Seconds,
    /// How much later than its submission a start is wanted: 0 but for reservations.
    pub lead: Seconds,
}

impl StreamTotals {
    /// Mean wait in seconds, `None` where nothing started.
    #[must_use]
    pub fn mean_wait(&self) -> Option<f64> {
        self.mean(self.wait as f64)
    }

    /// Mean of (wait + run time) / run time.
    #[must_use]
    pub fn mean_slowdown(&self) -> Option<f64> {
        self.mean(self.slowdown)
    }

    /// Mean of max(1, (wait + run time) / max(run time, 10 s)).
    #[must_use]
    pub fn mean_bounded_slowdown(&self) -> Option<f64> {
        self.mean(self.bounded_slowdown)
    }

    /// From the first submission to the last end.
    #[must_use]
    pub fn makespan(&self) -> Seconds {
        let first = self.first_submit.unwrap_or(self.last_end);
        (self.last_end - first).max(Seconds::ZERO)
    }

    /// Share of the machine that was used, over the makespan.
    #[must_use]
    pub fn utilisation(&self, machine: Nodes) -> Option<f64> {
        let capacity = i128::from(machine.0) * i128::from(self.makespan().0);
        (capacity > 0).then(|| self.used as f64 / capacity as f64)
    }

    /// Jobs that waited, averaged over the makespan: the sum of waits over the makespan (Little's
    /// law).
    #[must_use]
    pub fn mean_queue(&self) -> Option<f64> {
        let span = self.makespan().0;
        (span > 0).then(|| self.wait as f64 / span as f64)
    }

    fn mean(&self, sum: f64) -> Option<f64> {
        (self.started > 0).then(|| sum / self.started as f64)
    }

    fn seen(&mut self, request: &StreamRequest) {
        let first = self.first_submit.get_or_insert(request.submit);
        *first = (*first).min(request.submit);
    }
}

impl Listener for StreamTotals {
    #[inline]
    fn started(&mut self, request: &StreamRequest, start: Seconds) {
        self.seen(request);
        let wait = (start - request.submit - self.lead).0;
        let run = request.runtime.0;
        self.started += 1;
        self.wait += i128::from(wait);
        self.longest_wait = self.longest_wait.max(wait);
        self.slowdown += (wait + run) as f64 / run as f64;
        self.bounded_slowdown += ((wait + run) as f64 / run.max(BOUND) as f64).max(1.0);
        self.used += i128::from(request.nodes.0) * i128::from(run);
        self.last_end = self.last_end.max(start + request.runtime);
    }

    fn refused(&mut self, request: &StreamRequest) {
        self.seen(request);
        self.refused += 1;
    }
}
