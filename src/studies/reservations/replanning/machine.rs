//! The cluster that replans: requests and bookings of a broker or a client.

use std::ops::{Deref, DerefMut};

use bookahead_core::scheduling::{ClusterMachine, Phase};
use bookahead_core::units::Nodes;
use bookahead_core::workload::{JobId, RequestId, ReservationRequest};

use super::free::MachineMemory;
use super::outcome::{ReservationOutcome, ReservationTotals};
use super::policy::Replanning;
use super::settings::ReplanningSettings;

/// A cluster that plans its waiting jobs anew at every event, and takes reservations: what is asked
/// of any [`ClusterMachine`] is asked of it, too.
#[derive(Clone)]
pub struct ReplanningMachine(ClusterMachine<Replanning>);

impl Deref for ReplanningMachine {
    type Target = ClusterMachine<Replanning>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for ReplanningMachine {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl ReplanningMachine {
    /// An idle cluster at time 0.
    #[must_use]
    pub fn replanning(nodes: Nodes, settings: ReplanningSettings) -> Self {
        Self::of(nodes, Replanning::new(nodes, settings))
    }

    /// An idle cluster at time 0 with this policy.
    #[must_use]
    pub fn of(nodes: Nodes, plan: Replanning) -> Self {
        Self(ClusterMachine::new(nodes, Box::new(plan)))
    }

    /// From now on counts memory, before anything is submitted: no job and no reservation starts
    /// before there is enough of it. Queues are planned by conservative backfilling then.
    pub fn count_memory(&mut self, memory: MachineMemory) {
        self.policy_mut().count_memory(memory);
    }

    /// Hands over requests; none may be submitted in the past. Each is answered when its time has
    /// come, with the start that it wants or, where it chooses, with the one that α picks from the
    /// offers.
    pub fn request(&mut self, requests: impl IntoIterator<Item = ReservationRequest>) {
        for request in requests {
            let order = self.policy().settings().same_instant;
            self.submit_request(&request, order);
            self.policy_mut().expect(request);
        }
    }

    /// The plan as of now, which answers what could be had.
    pub fn plan(&mut self) -> &mut Replanning {
        let now = self.cluster().now();
        let plan = self.policy_mut();
        plan.come_to(now);
        plan
    }

    /// Cancels a reservation that has not started: its nodes are free again. Returns whether there
    /// was one.
    pub fn cancel_reservation(&mut self, request: RequestId) -> bool {
        let window = JobId::of_request(request);
        let waits = self.cluster().phase(window) == Phase::Planned;
        if waits {
            self.withdraw_window(window);
        }
        waits
    }

    /// Ends a reservation that runs before its time: its nodes are free from now on. Returns
    /// whether there was one.
    pub fn end_reservation(&mut self, request: RequestId) -> bool {
        let window = JobId::of_request(request);
        let runs = self.cluster().phase(window) == Phase::Running;
        if runs {
            self.withdraw_window(window);
        }
        runs
    }

    /// The outcomes of requests since the last call, in the order in which they became final.
    pub fn take_reservation_outcomes(&mut self) -> Vec<ReservationOutcome> {
        self.policy_mut().take_outcomes()
    }

    /// Totals of the requests so far.
    #[must_use]
    pub fn reservation_totals(&self) -> ReservationTotals {
        self.policy().totals()
    }
}
