//! What a machine answers about its plan: planned starts, candidate instants, prices, offers.

use super::{Plan, ReservingMachine};
use crate::plan::Profile;
use crate::scheduling::reserving::pricing::{Offer, PriceSheet};
use crate::scheduling::reserving::queue_plan::plan_queue;
use crate::units::{NodeSeconds, Nodes, Seconds};

impl ReservingMachine {
    /// The planned starts of the waiting jobs, in the order of planning, and what the whole plan leaves free.
    pub fn planned(&mut self) -> (&[Seconds], &Profile) {
        let plan = self.plan.get_or_insert_with(|| {
            let mut profile = self.fixed.clone();
            let starts = plan_queue(
                &mut profile,
                self.now,
                &self.queue,
                self.settings.backfilling,
            );
            Plan { starts, profile }
        });
        (&plan.starts, &plan.profile)
    }

    /// The instants at which prices and admissibility may change: now, and every start and end in the plan that lies ahead
    /// (`provisioning.md` §6.4, AMB-43). Ascending, each once.
    pub fn candidate_instants(&mut self) -> Vec<Seconds> {
        let now = self.now;
        let mut instants = vec![now];
        for open in self.jobs.values() {
            if let Some(start) = open.start {
                instants.push(start + open.job.estimate);
            }
        }
        for open in self.reservations.values().filter(|open| open.is_granted()) {
            instants.extend([open.start, open.start + open.outcome.request.duration]);
        }
        instants.extend_from_slice(self.planned().0);
        if let Some(plan) = &self.plan {
            let planned = plan.starts.iter().zip(&self.queue);
            instants.extend(planned.map(|(start, waiting)| *start + waiting.estimate));
        }
        instants.retain(|instant| *instant >= now && *instant < Seconds::FAR);
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
        sheet.price(start, nodes, duration)
    }

    /// Every start that can be had from `earliest` on, with its price (query forms (18) and (19)): the candidate instants and
    /// `earliest` itself, those left out that collide with what is fixed.
    pub fn offers(&mut self, earliest: Seconds, nodes: Nodes, duration: Seconds) -> Vec<Offer> {
        let mut instants = self.candidate_instants();
        let earliest = earliest.max(self.now);
        instants.retain(|instant| *instant >= earliest);
        if instants.first() != Some(&earliest) {
            instants.insert(0, earliest);
        }
        self.planned();
        self.price_sheet()
            .map(|sheet| sheet.offers(&instants, nodes, duration))
            .unwrap_or_default()
    }

    fn price_sheet(&self) -> Option<PriceSheet<'_>> {
        let plan = self.plan.as_ref()?;
        Some(PriceSheet {
            fixed: &self.fixed,
            now: self.now,
            queue: &self.queue,
            starts: &plan.starts,
            backfilling: self.settings.backfilling,
        })
    }
}
