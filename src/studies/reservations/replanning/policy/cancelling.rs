//! Reservations that are booked and cancelled again before they start (Singh 2008, §6.4).

use bookahead_core::scheduling::Cluster;
use bookahead_core::units::{NodeSeconds, Seconds};
use bookahead_core::workload::{JobId, RequestId};

use super::{OpenReservation, Replanning};

impl Replanning {
    /// Notes when the owner of a reservation that was just granted cancels it, if he is one who
    /// does and it does not start at once.
    pub(super) fn expect_cancellation(&mut self, cluster: &mut Cluster, id: RequestId) {
        let Some(share) = self.marks.cancels(id) else {
            return;
        };
        let Some(open) = self.reservations.get(&id) else {
            return;
        };
        let lead = open.start - self.now;
        let at = self.now + Seconds((share * lead.0 as f64).floor() as i64);
        if at < open.start {
            (self.cancellations).push_ranked(at, 0, u64::from(id.0), id);
            cluster.wake_at(at);
        }
    }

    /// Cancels what its owners cancel in this second, after everything else that happens in it. A
    /// share of the price is due ([`penalty_factor`](super::ReplanningSettings::penalty_factor)).
    pub(super) fn cancel_due(&mut self, cluster: &mut Cluster) {
        let soon = self.now + Seconds(1);
        while let Some((_, id)) = self.cancellations.pop_before(soon) {
            let factor = self.settings.penalty_factor;
            let Some(OpenReservation { outcome, .. }) = self.reservations.get_mut(&id) else {
                continue;
            };
            let due = |price: NodeSeconds| NodeSeconds((factor * price.0 as f64).round() as i64);
            outcome.price = outcome.price.map(due);
            self.take_back(cluster, JobId::of_request(id));
        }
    }
}
