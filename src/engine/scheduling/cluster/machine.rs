//! The cluster as a machine of a simulation.

use super::ClusterMachine;
use crate::failures::NodeEvent;
use crate::kernel::{Machine, NoService, Pause, Step};
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
        self.submit(input.arrivals);
        self.cancel(input.cancellations);
        self.inject(&input.node_events);
    }

    fn advance(&mut self, until: Seconds, pause: Pause) -> Step<NoService> {
        while let Some(time) = self.work_off_one(until) {
            let is_final = !self.cluster.outcomes.is_empty() || !self.cluster.cancelled.is_empty();
            if pause == Pause::AtOutput && is_final && self.cluster.events.next_time() != Some(time)
            {
                return Step::Reached(time + Seconds(1));
            }
        }
        Step::Reached(until)
    }

    fn answered(&mut self, answer: std::convert::Infallible) {
        match answer {}
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
