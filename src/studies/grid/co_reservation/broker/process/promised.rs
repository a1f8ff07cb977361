//! After a grant: parts that clusters lose are sought elsewhere (Meltzer 2005, §7.3, §7.4).

use std::collections::BTreeSet;

use bookahead_core::units::Seconds;

use super::plan::{Plan, pof_of_all};
use super::{Effect, GrantedPart, Process, Rules, Stage, Waiting};
use crate::co_reservation::AttemptFate;
use crate::co_reservation::local::{ClusterId, LostPart};

impl Process {
    /// All parts of the request are reserved (step 12b).
    pub(super) fn promise(&mut self, rules: &Rules, held: &[GrantedPart]) {
        self.begin = held.first().map(|held| held.candidate.start);
        self.outcome.start = self.begin;
        self.outcome.pof = pof_of_all(held.iter().map(|held| held.candidate.pof));
        // Without probes the price is not known.
        if rules.search.algorithm.row().probes {
            self.outcome.cost = Some(held.iter().map(|held| held.candidate.cost).sum());
        }
        self.promised = held.iter().copied().map(Some).collect();
        self.tell_clusters();
    }

    /// Writes down where the parts are, in the order in which they were asked; a lost part stays
    /// where it was.
    pub(super) fn tell_clusters(&mut self) {
        let places = self.outcome.request.largest_first();
        self.outcome.clusters.resize(places.len(), ClusterId(0));
        for (place, part) in places.into_iter().enumerate() {
            if let Some(held) = &self.promised[place] {
                self.outcome.clusters[part] = held.candidate.cluster;
            }
        }
    }

    /// A cluster cannot keep what it has granted.
    pub(super) fn lost(
        &mut self,
        rules: &Rules,
        now: Seconds,
        from: ClusterId,
        part: LostPart,
        effects: &mut Vec<Effect>,
    ) {
        let fate = if part.displaced {
            AttemptFate::Displaced
        } else {
            AttemptFate::Lost
        };
        let is_it = |held: &GrantedPart| held.order == part.order && held.candidate.cluster == from;
        if let Stage::Searching(searching) = &mut self.stage {
            if let Some(place) = searching.held.iter().position(is_it) {
                searching.held.remove(place);
                searching.gone.push(from);
                self.give_up(now, part.order, fate);
                return;
            }
            if matches!(&searching.waiting, Some(Waiting::Reserve(pending)) if is_it(pending)) {
                self.lost_early.insert(part.order);
                self.give_up(now, part.order, fate);
                return;
            }
        }
        let promised = self.promised.iter();
        let place = promised
            .enumerate()
            .find(|(_, held)| held.as_ref().is_some_and(is_it))
            .map(|(place, _)| place);
        let Some(place) = place else {
            return;
        };
        self.promised[place] = None;
        self.give_up(now, part.order, fate);
        self.outcome.lost_parts += 1;
        if part.displaced {
            self.outcome.displacements += u32::from(!self.is_displaced);
            self.is_displaced = true;
            self.replace_next(rules, now, effects);
        } else if rules.renegotiate {
            self.to_replace.push_back((place, from));
            self.replace_next(rules, now, effects);
        } else {
            self.tell(false);
        }
    }

    /// Seeks the next lost part elsewhere, if nothing else is being sought.
    pub(super) fn replace_next(&mut self, rules: &Rules, now: Seconds, effects: &mut Vec<Effect>) {
        if !matches!(self.stage, Stage::Settled) {
            return;
        }
        if std::mem::take(&mut self.is_displaced) && self.promised.iter().any(Option::is_none) {
            self.make_way(rules, now, effects);
            return;
        }
        while let Some((place, lost_at)) = self.to_replace.pop_front() {
            let Some(start) = self.begin else { continue };
            let kept = self.promised.iter().flatten();
            let mut taken: BTreeSet<ClusterId> = kept.map(|held| held.candidate.cluster).collect();
            taken.insert(lost_at);
            let request = &self.outcome.request;
            if let Some(plan) = Plan::replace(rules, now, request, start, place, taken) {
                self.seek(rules, now, plan, effects);
                return;
            }
        }
        if self.promised.iter().any(Option::is_none) {
            self.tell(false);
        }
    }

    /// Others took a part: the others are given back, and the request is issued anew within its
    /// window. Where no other start is left, nothing is paid.
    fn make_way(&mut self, rules: &Rules, now: Seconds, effects: &mut Vec<Effect>) {
        if self.give_back(rules, now, effects) {
            return;
        }
        for part in std::mem::take(&mut self.promised).into_iter().flatten() {
            self.cancel(rules, now, part.order, part.candidate.cluster, effects);
        }
        self.pays_nothing();
        self.tell(false);
    }

    /// Others took what was promised, and there is nothing else.
    pub(super) fn pays_nothing(&mut self) {
        self.outcome.cost = None;
        self.begin = None;
    }

    /// Gives back the remaining parts of a request whose lost part was not found elsewhere, so that
    /// the whole request can be tried anew. If the request has begun, or its window is too narrow
    /// for another start, nothing is given back and the result is `false`.
    pub(super) fn give_back(
        &mut self,
        rules: &Rules,
        now: Seconds,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let has_begun = self.begin.is_none_or(|begin| begin <= now);
        if has_begun || self.plan_anew(rules, now).starts.is_empty() {
            return false;
        }
        self.to_replace.clear();
        let parts: Vec<GrantedPart> = self.promised.drain(..).flatten().collect();
        let outstanding: BTreeSet<u32> = parts.iter().map(|held| held.order).collect();
        for part in parts {
            self.cancel(rules, now, part.order, part.candidate.cluster, effects);
        }
        if outstanding.is_empty() {
            let plan = self.plan_anew(rules, now);
            self.seek(rules, now, plan, effects);
        } else {
            self.stage = Stage::GivingBack { outstanding };
        }
        true
    }
}
