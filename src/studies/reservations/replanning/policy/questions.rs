//! Questions to the plan: planned starts, candidate instants, prices, offers.

use std::borrow::Cow;

use bookahead_core::plan::Profile;
use bookahead_core::scheduling::queue::Backfilling;
use bookahead_core::units::{Megabytes, NodeSeconds, Nodes, Seconds};

use super::{Plan, Replanning};
use crate::replanning::delay_costs::JobCosts;
use crate::replanning::free::FreeResources;
use crate::replanning::pricing::{Offer, PriceSheet};

impl Replanning {
    /// The planned starts of the waiting jobs, in the order of planning, and what the whole plan
    /// leaves free.
    pub fn planned(&mut self) -> (&[Seconds], &FreeResources) {
        let plan = (self.plan).get_or_insert_with(|| Plan::beside(&self.fixed));
        let behind = &self.queue[plan.starts.len()..];
        let backfilling = self.settings.backfilling;
        let starts = plan.free.plan_queue(self.now, behind, backfilling);
        plan.starts.extend(starts);
        (&plan.starts, &plan.free)
    }

    /// The nodes that reservations can have without moving a planned job, with the memory that they
    /// take for each.
    pub fn left_for_reservations(&mut self) -> Cow<'_, Profile> {
        let each = (self.memory).map_or(Megabytes(0), |memory| memory.per_reserved_node);
        let left = self.planned().1;
        match left.nodes_with(each) {
            Some(both) => Cow::Owned(both),
            None => Cow::Borrowed(left.nodes()),
        }
    }

    /// Whether the whole plan leaves this many nodes free on `[start, end)`. The queue is planned
    /// only until it does not, where that is how the first jobs are planned in any case.
    pub(in crate::replanning) fn leaves_free(
        &mut self,
        start: Seconds,
        end: Seconds,
        nodes: Nodes,
    ) -> bool {
        let wanted = self.of_reservation(nodes);
        if self.keeps_plans() || self.settings.backfilling != Backfilling::Conservative {
            return self.planned().1.is_free(start, end, wanted);
        }
        let plan = (self.plan).get_or_insert_with(|| Plan::beside(&self.fixed));
        while plan.free.is_free(start, end, wanted) {
            let Some(waiting) = self.queue.get(plan.starts.len()) else {
                return true;
            };
            (plan.starts).push(plan.free.place(waiting, self.now));
        }
        false
    }

    /// The instants at which prices and admissibility may change: now, and every start and end in
    /// the plan that lies ahead (Singh 2008, §5.2; AMB-43). Ascending, each once.
    pub fn candidate_instants(&mut self) -> Vec<Seconds> {
        self.instants_from(self.now)
    }

    /// `earliest`, which is not in the past, and the candidate instants behind it.
    fn instants_from(&mut self, earliest: Seconds) -> Vec<Seconds> {
        let ahead = |instant: &Seconds| *instant > earliest && *instant < Seconds::FAR;
        let mut instants = vec![earliest];
        let ends = self.running.values().map(|run| run.start + run.estimate);
        instants.extend(ends.filter(ahead));
        for open in self.reservations.values().filter(|open| open.is_granted()) {
            let end = open.start + open.outcome.request.duration;
            instants.extend([open.start, end].into_iter().filter(ahead));
        }
        self.planned();
        if let Some(plan) = &self.plan {
            for (start, waiting) in plan.starts.iter().zip(&self.queue) {
                let end = *start + waiting.estimate;
                instants.extend([*start, end].into_iter().filter(ahead));
            }
        }
        instants.sort_unstable();
        instants.dedup();
        instants
    }

    /// The price of one slot, or `None` where it collides with what is fixed (query form (17)).
    pub fn price(
        &mut self,
        start: Seconds,
        nodes: Nodes,
        duration: Seconds,
    ) -> Option<NodeSeconds> {
        self.planned();
        let sheet = self.price_sheet()?;
        sheet.price(start, self.of_reservation(nodes), duration)
    }

    /// Every start that can be had from `earliest` on, with its price (query forms (18) and (19)):
    /// the candidate instants and `earliest` itself, those left out that collide with what is
    /// fixed.
    pub fn offers(&mut self, earliest: Seconds, nodes: Nodes, duration: Seconds) -> Vec<Offer> {
        let instants = self.instants_from(earliest.max(self.now));
        self.price_sheet()
            .map(|sheet| sheet.offers(&instants, self.of_reservation(nodes), duration))
            .unwrap_or_default()
    }

    fn price_sheet(&self) -> Option<PriceSheet<'_>> {
        let plan = self.plan.as_ref()?;
        Some(PriceSheet {
            fixed: &self.fixed,
            now: self.now,
            queue: &self.queue,
            starts: &plan.starts,
            left: &plan.free,
            backfilling: self.settings.backfilling,
            costs: self.marks.costs.as_deref().map_or(&[], JobCosts::priced),
        })
    }
}
