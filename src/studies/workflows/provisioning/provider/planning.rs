//! A site that plans its queue anew at every event.

use bookahead_core::plan::{Piece, Slot, SlotList};
use bookahead_core::scheduling::Phase;
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::{JobId, RequestId, ReservationRequest, WantedStart};
use bookahead_reservations::replanning::{Offer, ReplanningMachine, ReplanningSettings};

use crate::provisioning::{BookedStart, CopiesAtSite, Provider};

/// A site that plans its queue anew at every event. It answers queries with prices (Singh 2008,
/// chapter 7), or advertises the holes of its plan (Singh 2008, chapter 3, for estimates that are
/// not exact).
#[derive(Clone)]
pub struct PlanningSite {
    /// The machine.
    pub machine: ReplanningMachine,
    /// What it offers.
    pub provider: Provider,
}

impl PlanningSite {
    /// An idle site at time 0.
    #[must_use]
    pub fn new(nodes: Nodes, settings: ReplanningSettings, provider: Provider) -> Self {
        Self {
            machine: ReplanningMachine::replanning(nodes, settings),
            provider,
        }
    }

    /// Cancellations come before starts, which are the last thing of a second.
    pub(super) fn pass_with_copies(&mut self, time: Seconds, copies: CopiesAtSite) -> Vec<JobId> {
        let machine = &mut self.machine;
        machine.submit(copies.arrivals);
        machine.wait_until(time);
        machine.cancel(copies.cancelled.into_iter().map(|task| (time, task)));
        machine.advance(time + Seconds(1));
        machine.take_cancelled();
        let mut started = copies.watched;
        started
            .retain(|task| matches!(machine.cluster().phase(*task), Phase::Running | Phase::Done));
        started
    }

    pub(super) fn advertised(&mut self) -> Vec<Slot> {
        let Provider::Advertised { rules, .. } = self.provider else {
            return Vec::new();
        };
        let now = self.machine.cluster().now();
        let left = self.machine.plan().left_for_reservations();
        let slots = SlotList::from_profile(&left, now, rules);
        slots.advertised(now, slots.horizon_end(now))
    }

    pub(super) fn offers(
        &mut self,
        earliest: Seconds,
        nodes: Nodes,
        duration: Seconds,
    ) -> Option<Vec<Offer>> {
        (self.provider == Provider::Queried)
            .then(|| self.machine.plan().offers(earliest, nodes, duration))
    }

    /// A slot that delays no job is gone as soon as it would delay one.
    pub(super) fn buy(&mut self, id: RequestId, slot: &Slot, piece: Piece) -> bool {
        if slot.price_of(piece).is_err() {
            return false;
        }
        let duration = piece.end - piece.start;
        self.reserve(id, piece.start, piece.nodes, duration, NodeSeconds(0))
    }

    pub(super) fn reserve(
        &mut self,
        id: RequestId,
        start: Seconds,
        nodes: Nodes,
        duration: Seconds,
        price: NodeSeconds,
    ) -> bool {
        if nodes.0 == 0 || duration <= Seconds::ZERO {
            return false;
        }
        let asked = self.machine.plan().price(start, nodes, duration);
        if asked.is_none_or(|asked| asked > price) {
            return false;
        }
        self.enter(id, start, nodes, duration)
    }

    /// What these cost, each beside those before it, on a copy of the site; `None` where they
    /// collide.
    pub(super) fn price_together(
        &self,
        first: RequestId,
        wanted: &[BookedStart],
    ) -> Option<Vec<NodeSeconds>> {
        let mut copy = self.clone();
        let numbered = (first.0..).map(RequestId).zip(wanted);
        numbered
            .map(
                |(
                    id,
                    &BookedStart {
                        start,
                        nodes,
                        duration,
                    },
                )| {
                    let price = copy.machine.plan().price(start, nodes, duration)?;
                    copy.enter(id, start, nodes, duration).then_some(price)
                },
            )
            .collect()
    }

    /// Books a start whatever it costs; says whether it could be had.
    fn enter(&mut self, id: RequestId, start: Seconds, nodes: Nodes, duration: Seconds) -> bool {
        let now = self.machine.cluster().now();
        self.machine.request([ReservationRequest {
            id,
            trace_number: 0,
            user: None,
            submit: now,
            nodes,
            duration,
            runtime: duration,
            wanted: WantedStart::At(start),
        }]);
        self.machine.advance(now + Seconds(1));
        // A job that must not be pushed away any more is a reason to refuse that no price tells.
        let closed = self.machine.take_reservation_outcomes();
        !closed
            .iter()
            .any(|outcome| outcome.request.id == id && outcome.verdict.is_rejected())
    }

    pub(super) fn cancel(&mut self, id: RequestId) -> bool {
        let cancelled = self.machine.cancel_reservation(id);
        self.settle_after(cancelled)
    }

    pub(super) fn give_back_rest(&mut self, id: RequestId) -> bool {
        let ended = self.machine.end_reservation(id);
        self.settle_after(ended)
    }

    /// Who may start now because of a change does.
    fn settle_after(&mut self, changed: bool) -> bool {
        if changed {
            let now = self.machine.cluster().now();
            self.machine.advance(now + Seconds(1));
        }
        changed
    }
}
