//! The cluster as a machine of a simulation.

use std::collections::HashMap;

use super::ClusterMachine;
use crate::failures::NodeEvent;
use crate::kernel::{Machine, NoService, REACTION, Step};
use crate::scheduling::JobOutcome;
use crate::units::Seconds;
use crate::workload::{Job, JobId};

/// What comes to a cluster from outside.
#[derive(Clone, Debug, Default)]
pub struct ClusterInput {
    /// Jobs in order of submission.
    pub arrivals: Vec<Job>,
    /// Failures and repairs of nodes.
    pub node_events: Vec<NodeEvent>,
    /// Jobs that their users take back if they have not started, and when.
    pub cancellations: Vec<(Seconds, JobId)>,
    /// What its clients wait for, beside what they said before.
    pub awaited: Option<Awaited>,
}

/// What clients wait for, and how long after it they do something at the earliest: at least
/// [`REACTION`].
#[derive(Clone, Debug, Default)]
pub struct Awaited {
    /// Rejections for want of a slot.
    pub rejections: Option<Seconds>,
    /// Failures of accepted jobs.
    pub failures: Option<Seconds>,
    /// The end of these jobs, whatever it is.
    pub jobs: HashMap<JobId, Seconds>,
}

impl Awaited {
    fn add(&mut self, more: Self) {
        self.rejections = more.rejections.or(self.rejections);
        self.failures = more.failures.or(self.failures);
        self.jobs.extend(more.jobs);
    }

    /// When a client may do something because of this outcome, which is over for it at its end, or
    /// at the submission of a rejected job.
    fn reaction_to(&self, outcome: &JobOutcome) -> Option<Seconds> {
        let verdict = outcome.verdict;
        let delays = [
            self.rejections.filter(|_| verdict.is_dropped()),
            self.failures.filter(|_| verdict.is_failed()),
            self.jobs.get(&outcome.job.id).copied(),
        ];
        let at = outcome.end.unwrap_or(outcome.job.submit);
        delays.into_iter().flatten().min().map(|delay| at + delay)
    }
}

/// What became final on a cluster.
#[derive(Clone, Debug, Default)]
pub struct ClusterOutput {
    /// Outcomes in the order in which they became final.
    pub outcomes: Vec<JobOutcome>,
    /// Jobs that were taken back, and when.
    pub cancelled: Vec<(Seconds, JobId)>,
}

impl Machine for ClusterMachine {
    type Input = ClusterInput;
    type Output = ClusterOutput;
    type Service = NoService;

    fn take(&mut self, input: ClusterInput) {
        if let Some(more) = input.awaited {
            self.awaited.get_or_insert_default().add(more);
        }
        self.submit(input.arrivals);
        self.cancel(input.cancellations);
        self.inject(&input.node_events);
    }

    fn advance(&mut self, mut until: Seconds) -> Step<NoService> {
        let (mut outcomes, mut cancelled) = (0, 0);
        while let Some(time) = self.work_off_one(until) {
            let Some(awaited) = &self.awaited else {
                continue;
            };
            if self.is_idle() {
                // Whether there will be more is for the clients to say.
                until = until.min(time + REACTION);
            }
            for outcome in &self.cluster.outcomes[outcomes..] {
                if let Some(at) = awaited.reaction_to(outcome) {
                    until = until.min(at.max(time + REACTION));
                }
            }
            for &(at, job) in &self.cluster.cancelled[cancelled..] {
                if let Some(delay) = awaited.jobs.get(&job) {
                    until = until.min(at + *delay);
                }
            }
            (outcomes, cancelled) = (self.cluster.outcomes.len(), self.cluster.cancelled.len());
        }
        Step::Reached(until)
    }

    fn next_event(&self) -> Option<Seconds> {
        self.next_event()
    }

    fn is_idle(&self) -> bool {
        self.is_idle()
    }

    fn hand_out(&mut self) -> ClusterOutput {
        ClusterOutput {
            outcomes: self.take_outcomes(),
            cancelled: self.take_cancelled(),
        }
    }
}
