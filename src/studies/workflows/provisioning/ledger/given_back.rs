//! Bookings that are given back, and what is paid back for them (Singh 2008, §8.1).

use bookahead_core::units::{NodeSeconds, Seconds};
use bookahead_core::workload::RequestId;

use super::{Booking, Ledger, PaidSlot};
use crate::provisioning::TaskFate;
use crate::provisioning::refund::GivenBack;

/// What a slot came to in the end; money in service units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Settlement {
    /// Paid back.
    pub(super) refunded: f64,
    /// The penalty.
    pub(super) forfeited: f64,
    /// The externality that stays paid.
    pub(super) externality: NodeSeconds,
}

impl Ledger {
    /// When the next booking that nobody has given back is needed no longer before its end.
    pub(in crate::provisioning) fn next_early_end(&self) -> Option<Seconds> {
        let open = self.bookings.iter().filter(|one| one.given_back.is_none());
        let early = open.filter_map(|booking| self.early_end(booking));
        early.min()
    }

    /// The bookings that have begun and are needed no longer at the end of the second `now`, with
    /// their sites, which can have the rest. Empty where nothing is paid back for it.
    pub(in crate::provisioning) fn give_back_rests(
        &mut self,
        now: Seconds,
    ) -> Vec<(usize, RequestId)> {
        let mut rests = Vec::new();
        if self.refund.of_rest().is_none() {
            return rests;
        }
        for index in 0..self.bookings.len() {
            let booking = &self.bookings[index];
            let is_over = self.early_end(booking).is_some_and(|end| end <= now);
            if booking.given_back.is_some() || !is_over {
                continue;
            }
            let time = now.min(booking.end);
            if time < booking.end {
                rests.push((booking.site, booking.id));
            }
            self.bookings[index].given_back = Some(GivenBack::At(time));
        }
        rests
    }

    /// What was paid back so far, in service units.
    pub(in crate::provisioning) fn refunded(&self) -> f64 {
        if self.refund.is_none() {
            return 0.0;
        }
        let settlements = self.settlements();
        settlements.iter().map(|settled| settled.refunded).sum()
    }

    /// By slot.
    pub(super) fn settlements(&self) -> Vec<Settlement> {
        let untouched = self.slots.iter().map(|paid| Settlement {
            refunded: 0.0,
            forfeited: 0.0,
            externality: paid.externality,
        });
        let mut settled: Vec<Settlement> = untouched.collect();
        let Some(penalty_factor) = self.refund.of_rest() else {
            return settled;
        };
        let mut is_unbegun = vec![true; self.slots.len()];
        for booking in &self.bookings {
            let unit_price = self.slots[booking.slot].slot.unit_price;
            let settled = &mut settled[booking.slot];
            match booking.given_back {
                Some(GivenBack::At(time)) => {
                    let rest = booking.nodes.for_span(booking.end - time).coins().0 * unit_price;
                    settled.refunded += (1.0 - penalty_factor) * rest;
                    settled.forfeited += penalty_factor * rest;
                    is_unbegun[booking.slot] = false;
                }
                Some(GivenBack::Unbegun) if self.refund.of_unbegun().is_some() => {
                    let whole = booking.nodes.for_span(booking.end - booking.start);
                    settled.refunded += whole.coins().0 * unit_price;
                }
                _ => is_unbegun[booking.slot] = false,
            }
        }
        // f is paid once a slot, so it is paid back when nothing of the slot was kept.
        for ((settled, paid), is_unbegun) in settled.iter_mut().zip(&self.slots).zip(is_unbegun) {
            if is_unbegun {
                *settled = paid.before_start(penalty_factor);
            }
        }
        settled
    }

    /// When the last of its runs is over, if that is before the end of a booking. What was given up
    /// needs nothing of it; what runs is known to end when it ends.
    fn early_end(&self, booking: &Booking) -> Option<Seconds> {
        let runs = booking.runs.iter().map(|&run| self.runs[run].run);
        let ends = runs.filter(|run| run.fate != TaskFate::Abandoned);
        let last = ends.map(|run| run.end).max().unwrap_or(booking.start);
        (last < booking.end).then_some(last.max(booking.start))
    }
}

impl PaidSlot {
    /// All of it is given back before it starts, for p · f. Of a queried slot f is its externality,
    /// and p of that is a whole number of node-seconds, as prices are.
    fn before_start(&self, penalty_factor: f64) -> Settlement {
        let kept = (penalty_factor * self.externality.0 as f64).round();
        let externality = NodeSeconds(kept as i64);
        let forfeited = if self.externality == NodeSeconds(0) {
            penalty_factor * self.slot.fixed_price
        } else {
            externality.coins().0
        };
        Settlement {
            refunded: self.cost - forfeited,
            forfeited,
            externality,
        }
    }
}
