//! The cost of a slot for waiting jobs: the externality price (ALG-4: Singh 2008, §5.1, Figure 22),
//! and lists of offers (its eqs. 17 to 19).

use serde::{Deserialize, Serialize};

use bookahead_core::scheduling::queue::{Backfilling, Waiting};
use bookahead_core::units::{NodeSeconds, Seconds};

use super::free::{FreeResources, Resources};

/// A start that a request may have, and the externality price f of having it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// When the slot starts.
    pub start: Seconds,
    /// f: the sum over waiting jobs of delay × nodes × delay cost; divided by 3,600 it is in
    /// service units (AMB-34). The base price nodes × duration is not in it.
    pub price: NodeSeconds,
}

/// A snapshot of a plan that slots can be priced against. Pricing never changes it.
pub struct PriceSheet<'a> {
    /// Free beside running jobs (until their estimated ends) and reservations.
    pub fixed: &'a FreeResources,
    /// The instant of asking.
    pub now: Seconds,
    /// The waiting jobs in the order of planning.
    pub queue: &'a [Waiting],
    /// Their planned starts.
    pub starts: &'a [Seconds],
    /// What is left free when they are all planned.
    pub left: &'a FreeResources,
    /// How they are planned.
    pub backfilling: Backfilling,
    /// h, the delay cost of a node of each job, by id; 1 for jobs beyond the list.
    pub costs: &'a [f64],
}

impl PriceSheet<'_> {
    /// The price of one slot, or `None` when it would collide with a running job or a reservation
    /// (ALG-4, the whole queue planned anew).
    #[must_use]
    pub fn price(
        &self,
        start: Seconds,
        wanted: Resources,
        duration: Seconds,
    ) -> Option<NodeSeconds> {
        if !self.is_feasible(start, wanted, duration) {
            return None;
        }
        let span = (start, start + duration);
        let moved = (self.fixed).plan_beside(span, wanted, self.now, self.queue, self.backfilling);
        Some(self.delay(&moved))
    }

    /// f = Σ (v' − v)⁺ · n · h: a job that starts earlier because of a slot does not lower the
    /// price.
    fn delay(&self, moved: &[Seconds]) -> NodeSeconds {
        self.queue
            .iter()
            .zip(self.starts.iter().zip(moved))
            .filter(|(_, (before, after))| after > before)
            .fold(NodeSeconds(0), |sum, (waiting, (before, after))| {
                sum + self.delayed(waiting, *after - *before)
            })
    }

    /// What it costs that a job starts so much later, in whole node-seconds.
    fn delayed(&self, waiting: &Waiting, by: Seconds) -> NodeSeconds {
        let held = waiting.nodes.for_span(by);
        match self.costs.get(waiting.job.0 as usize) {
            None => held,
            Some(cost) => NodeSeconds((held.0 as f64 * cost).round() as i64),
        }
    }

    fn is_feasible(&self, start: Seconds, wanted: Resources, duration: Seconds) -> bool {
        start >= self.now && self.fixed.is_free(start, start + duration, wanted)
    }

    /// Offers at those of `instants` (ascending, none in the past) that are feasible, in order.
    ///
    /// The prices are those of [`PriceSheet::price`]. With conservative backfilling only the
    /// affected part is planned again. Jobs are planned in order, so the jobs in front of the first
    /// one that loses its place keep theirs, and one sweep over the queue finds that first job for
    /// all slots. A slot that fits beside the whole plan moves no job and is free.
    #[must_use]
    pub fn offers(&self, instants: &[Seconds], wanted: Resources, duration: Seconds) -> Vec<Offer> {
        let feasible = instants
            .iter()
            .copied()
            .filter(|start| self.is_feasible(*start, wanted, duration));
        if self.backfilling != Backfilling::Conservative {
            return feasible
                .filter_map(|start| {
                    let price = self.price(start, wanted, duration)?;
                    Some(Offer { start, price })
                })
                .collect();
        }
        let mut offers: Vec<Offer> = feasible
            .map(|start| Offer {
                start,
                price: NodeSeconds(0),
            })
            .collect();
        let mut open: Vec<bool> = offers
            .iter()
            .map(|offer| !(self.left).is_free(offer.start, offer.start + duration, wanted))
            .collect();
        let mut unpriced = open.iter().filter(|open| **open).count();
        if unpriced == 0 {
            return offers;
        }
        let mut free = self.fixed.clone();
        for (index, (waiting, &start)) in self.queue.iter().zip(self.starts).enumerate() {
            if unpriced == 0 {
                break;
            }
            let end = start + waiting.estimate;
            // Where the job leaves room for the slot during all its time, no slot takes its place.
            if !free.holds_both((start, end), waiting, wanted) {
                let first = offers.partition_point(|offer| offer.start + duration <= start);
                let past = offers.partition_point(|offer| offer.start < end);
                for (offer, open) in offers[first..past].iter_mut().zip(&mut open[first..past]) {
                    let overlap = (start.max(offer.start), end.min(offer.start + duration));
                    if *open && !free.holds_both(overlap, waiting, wanted) {
                        *open = false;
                        unpriced -= 1;
                        offer.price = self.price_from(index, &free, offer.start, wanted, duration);
                    }
                }
            }
            free.reserve(start, end, waiting.into());
        }
        offers
    }

    /// The price of a slot that takes the place of job `first` and of none in front of it;
    /// `free` is what the jobs in front
    /// leave.
    fn price_from(
        &self,
        first: usize,
        free: &FreeResources,
        slot: Seconds,
        wanted: Resources,
        duration: Seconds,
    ) -> NodeSeconds {
        let mut free = free.clone();
        free.reserve(slot, slot + duration, wanted);
        let mut price = NodeSeconds(0);
        // Everything that differs from the plan without the slot lies in here.
        let mut differs = slot..slot + duration;
        // Before here nothing is freer than in the plan without the slot.
        let mut vacated = Seconds::FAR;
        for (waiting, &start) in self.queue[first..].iter().zip(&self.starts[first..]) {
            let end = start + waiting.estimate;
            let untouched =
                end <= differs.start || (vacated == Seconds::FAR && start >= differs.end);
            if untouched {
                free.reserve(start, end, waiting.into());
                continue;
            }
            // An earlier start than before needs a part of what was vacated.
            let from = start.min(vacated - waiting.estimate + Seconds(1));
            let moved = free.place(waiting, from.max(self.now));
            if moved != start {
                vacated = vacated.min(start);
                differs.start = differs.start.min(start).min(moved);
                differs.end = differs.end.max(end).max(moved + waiting.estimate);
                if moved > start {
                    price += self.delayed(waiting, moved - start);
                }
            }
        }
        price
    }
}

#[cfg(test)]
mod tests;
