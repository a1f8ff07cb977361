//! Parts that take the CPUs of others, which have not begun (Meltzer 2005, §7.3).

use std::cmp::Reverse;

use bookahead_core::plan::Profile;
use bookahead_core::scheduling::Policy;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::{FurtherCounts, JobId};

use super::{OrderKey, ReservationService};
use crate::co_reservation::local::filters::lacking;
use crate::co_reservation::local::{LostPart, PartOrder, PartOutcome, Precedence, Refusal};

/// What parts could have that displace others.
pub(super) struct Room {
    profile: Profile,
    /// Parts whose CPUs are free in it.
    without: Vec<OrderKey>,
}

impl<P: Policy + ?Sized> ReservationService<P> {
    /// The room without every part that yields and has not begun; `None` where nothing yields to
    /// these parts.
    pub(super) fn room_of_all(&mut self, precedence: Precedence) -> Option<Room> {
        if precedence != Precedence::Displaces || !self.is_up {
            return None;
        }
        let without = self.yielding(Seconds::ZERO, Seconds::FAR);
        if without.is_empty() {
            return None;
        }
        self.room(without)
    }

    /// Whether a part would have its CPUs and all else there, within the quota.
    pub(super) fn is_room_for(
        &self,
        room: &Room,
        (nodes, further): (Nodes, FurtherCounts),
        start: Seconds,
        duration: Seconds,
    ) -> bool {
        let stay = self.parts.iter();
        let stay = stay.filter(|(key, _)| !room.without.contains(key));
        let orders = stay.map(|(_, part)| &part.order);
        start >= self.now()
            && room.profile.min_free(start, start + duration) >= nodes.0 as i32
            && lacking(
                orders.clone(),
                self.settings.further,
                further,
                start,
                duration,
            )
            .is_none()
            && self.is_within_quota_beside(orders, nodes, start, duration)
    }

    /// Sees to it that a part can be had with this PoF at most. If it may, it takes from others
    /// what it needs: from those that start last, of equal starts of the last request, and
    /// of these only from those without which there is no room.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub(super) fn make_room(&mut self, order: &PartOrder, limit: f64) -> Result<(), Refusal> {
        let end = order.start + order.duration;
        let quote = self.machine.quote_window(order.nodes, order.start, end);
        let refusal = if !self.is_up || !quote.is_some_and(|quote| quote.is_within(limit)) {
            Refusal::Occupied
        } else if let Some(what) = self.lacking(order.further, order.start, order.duration) {
            Refusal::Lacking(what)
        } else if !self.is_within_quota(order.nodes, order.start, order.duration) {
            Refusal::Quota
        } else {
            return Ok(());
        };
        if order.precedence != Precedence::Displaces || !self.is_up {
            return Err(refusal);
        }
        let mut victims: Vec<OrderKey> = Vec::new();
        let mut others = self.yielding(order.start, end).into_iter();
        while !self.has_room(order, &victims) {
            let Some(next) = others.next() else {
                return Err(refusal);
            };
            victims.push(next);
        }
        let mut place = 0;
        while place < victims.len() {
            let mut fewer = victims.clone();
            fewer.remove(place);
            if self.has_room(order, &fewer) {
                victims = fewer;
            } else {
                place += 1;
            }
        }
        for victim in victims {
            self.displace(victim);
        }
        Ok(())
    }

    fn has_room(&mut self, order: &PartOrder, victims: &[OrderKey]) -> bool {
        self.room(victims.to_vec()).is_some_and(|room| {
            let wanted = (order.nodes, order.further);
            self.is_room_for(&room, wanted, order.start, order.duration)
        })
    }

    /// `None` where the policy does not say what it could do without some of what it promised.
    fn room(&mut self, without: Vec<OrderKey>) -> Option<Room> {
        let windows: Vec<JobId> = without.iter().map(|key| self.parts[key].id).collect();
        let (cluster, policy) = self.machine.parts();
        let profile = policy.window_seller()?.room_without(cluster, &windows)?;
        Some(Room { profile, without })
    }

    /// Parts that yield, have not begun and share some of `[start, end)`, the first to be taken
    /// first.
    fn yielding(&self, start: Seconds, end: Seconds) -> Vec<OrderKey> {
        let now = self.now();
        let mut found: Vec<(Reverse<Seconds>, Reverse<OrderKey>)> = self
            .parts
            .iter()
            .filter(|(key, part)| {
                let order = &part.order;
                order.precedence == Precedence::Yields
                    && order.start > now
                    && order.start < end
                    && start < order.start + order.duration
                    && !self.waiting.contains(key)
            })
            .map(|(&key, part)| (Reverse(part.order.start), Reverse(key)))
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(_, Reverse(key))| key).collect()
    }

    /// A part is lost to another one.
    fn displace(&mut self, key: OrderKey) {
        let Some(part) = self.parts.remove(&key) else {
            return;
        };
        let at = self.now();
        self.machine.withdraw_window(part.id);
        self.open.remove(&part.id);
        self.void.insert(key, Refusal::Occupied);
        self.lost.push(LostPart {
            at,
            request: key.0,
            order: key.1,
            running: false,
            displaced: true,
        });
        self.part_outcomes.push(PartOutcome {
            order: part.order,
            gone: Some(at),
            lost: true,
        });
    }
}
