//! How long the cluster will take to work off what it has (§3.3, §4.3).

use super::{JobBacklog, LocalMachine};
use crate::scheduling::local::{AccuracySource, BacklogWork, NextEventSource};
use crate::units::Seconds;
use crate::workload::Job;

/// A backlog time that exceeds a whole second by less than this is that second: accuracies are not exact in binary.
const ROUNDING: f64 = 1e-6;

impl JobBacklog {
    pub(super) fn new(accuracy: f64) -> Self {
        Self {
            waiting: 0,
            running: 0,
            accuracy_sum: accuracy,
            accuracy_count: 1.0,
            accuracy,
        }
    }

    /// A job ended, and what its limit was worth is known.
    pub(super) fn learn(&mut self, job: &Job) {
        let run = job.runtime.min(job.estimate);
        self.accuracy_sum += if job.estimate > Seconds::ZERO {
            run.0 as f64 / job.estimate.0 as f64
        } else {
            1.0
        };
        self.accuracy_count += 1.0;
    }
}

/// The backlog at one instant as a function of a start: the sum of parts grows with it.
pub(super) struct Backlog {
    /// CPU-seconds of jobs.
    jobs: f64,
    /// Parts by rising start, with the CPU-seconds that they count for.
    parts: Vec<(Seconds, i64)>,
    /// How many of them start before the last start that was asked for, and their CPU-seconds.
    passed: (usize, i64),
    /// CPU-seconds of parts that have started.
    active: i64,
    nodes: f64,
    /// The next end of a running job or an active part, [`Seconds::FAR`] if nothing runs.
    pub(super) next_event: Seconds,
}

impl Backlog {
    /// Backlog time for a start: rounded up, as starts are whole seconds. Starts must be asked for in rising order.
    pub(super) fn before(&mut self, start: Seconds) -> Seconds {
        let (count, work) = &mut self.passed;
        while let Some((_, next)) = self.parts.get(*count).filter(|(begin, _)| *begin < start) {
            *work += next;
            *count += 1;
        }
        self.time(self.passed.1)
    }

    /// Backlog time of the jobs and the parts that have started (Q22, first reading).
    pub(super) fn now(&self) -> Seconds {
        self.time(self.active)
    }

    fn time(&self, parts: i64) -> Seconds {
        let exact = (self.jobs + parts as f64) / self.nodes;
        Seconds((exact - ROUNDING).ceil() as i64)
    }
}

impl LocalMachine {
    /// The accuracy of limits that the backlog is reckoned with.
    fn accuracy(&self) -> f64 {
        let known = match self.settings.accuracy {
            AccuracySource::History | AccuracySource::Work => self.backlog.accuracy,
            AccuracySource::Running => self.backlog.accuracy_sum / self.backlog.accuracy_count,
        };
        known * self.settings.accuracy_factor
    }

    pub(super) fn backlog(&self, exact_limits: bool) -> Backlog {
        let accuracy = if exact_limits { 1.0 } else { self.accuracy() };
        let full = self.settings.backlog_work == BacklogWork::Full;
        let mut running = self.backlog.running as f64 * accuracy;
        let mut next_event = Seconds::FAR;
        if !full {
            running = 0.0;
        }
        for job in self.running.values() {
            let limit = (job.limit - job.start).0 as f64;
            if !full {
                let left = accuracy * limit - (self.now - job.start).0 as f64;
                running += left.max(0.0) * f64::from(job.nodes.0);
            }
            next_event = next_event.min(match self.settings.next_event {
                NextEventSource::Estimate => job.limit,
                NextEventSource::Oracle => job.end,
            });
        }
        let mut active = 0;
        let mut parts = Vec::with_capacity(self.parts_by_start.len());
        for (&(start, key), &work) in &self.parts_by_start {
            let mut counted = work;
            if let Some(part) = self.parts.get(&key).filter(|part| part.held.is_some()) {
                next_event = next_event.min(part.end());
                if !full {
                    counted = part.order.nodes.for_span(part.end() - self.now).0;
                }
                active += counted;
            }
            parts.push((start, counted));
        }
        Backlog {
            jobs: self.backlog.waiting as f64 * accuracy + running,
            parts,
            passed: (0, 0),
            active,
            nodes: f64::from(self.nodes.0.max(1)),
            next_event,
        }
    }
}
