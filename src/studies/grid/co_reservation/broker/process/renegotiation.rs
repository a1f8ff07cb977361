//! Renegotiation: requests that are issued anew after they were granted (Meltzer 2005, §7.3). As
//! long as the reservation has not started, a better one may be found.

use bookahead_core::units::Seconds;

use super::plan::{Plan, search_rules};
use super::{Effect, GrantedPart, Process, Rules, Stage};
use crate::co_reservation::broker::{Timer, Wait};
use crate::co_reservation::table::Criterion;
use crate::co_reservation::{Order, RequestClass, SortBy, Valuation};

impl Process {
    /// After the grant: a request of the renegotiable class is issued anew later.
    pub(super) fn think_again(&mut self, rules: &Rules, now: Seconds, effects: &mut Vec<Effect>) {
        let Some(settings) = rules.second_thoughts else {
            return;
        };
        if self.outcome.class == RequestClass::Renegotiable {
            self.outcome.first_start = self.begin;
            self.wake_for_renegotiation(now + settings.every, effects);
        }
    }

    /// The same after others took a part of it and it was granted anew.
    pub(super) fn go_on_thinking(
        &mut self,
        rules: &Rules,
        now: Seconds,
        effects: &mut Vec<Effect>,
    ) {
        if let Some(settings) = rules.second_thoughts
            && self.thinks_again.is_none()
        {
            self.wake_for_renegotiation(now + settings.every, effects);
        }
    }

    /// What the client pays for each unit of the tariff: more than one if its request is
    /// renegotiable and that costs extra.
    pub(super) fn price_factor(&self, rules: &Rules) -> f64 {
        let surcharge = rules.second_thoughts.map_or(0.0, |it| it.surcharge);
        if surcharge > 0.0 && self.outcome.class == RequestClass::Renegotiable {
            1.0 + surcharge
        } else {
            1.0
        }
    }

    fn wake_for_renegotiation(&mut self, at: Seconds, effects: &mut Vec<Effect>) {
        // What starts by then is not given up any more.
        self.thinks_again = self.begin.filter(|begin| at < *begin).map(|_| at);
        if self.thinks_again.is_some() {
            let request = self.outcome.request.id;
            let wait = Wait::Renegotiation;
            effects.push(Effect::Wake(at, Timer { request, wait }));
        }
    }

    /// The identical request once more, unless parts were lost or something is under way for it
    /// already.
    pub(super) fn renegotiate(&mut self, rules: &Rules, now: Seconds, effects: &mut Vec<Effect>) {
        let Some(settings) = rules.second_thoughts else {
            return;
        };
        self.wake_for_renegotiation(now + settings.every, effects);
        let is_waiting = self.begin.is_some_and(|begin| now < begin)
            && self.promised.iter().all(Option::is_some)
            && matches!(self.stage, Stage::Settled);
        if !is_waiting {
            return;
        }
        let plan = Plan::better(rules, now, &self.outcome.request);
        if !plan.starts.is_empty() {
            self.outcome.renegotiations += 1;
            self.seek(rules, now, plan, effects);
        }
    }

    /// Two reservations are held, the one that was promised and a new one: the worse is given back,
    /// of equals the new one. One that may have started before its cancellation arrives stays. A
    /// reservation that lost a part meanwhile is worse than any other.
    pub(super) fn keep_the_better(
        &mut self,
        rules: &Rules,
        now: Seconds,
        new: Vec<GrantedPart>,
        effects: &mut Vec<Effect>,
    ) {
        let begun = self.begin.is_none_or(|begin| begin <= now + rules.latency);
        let is_whole = self.promised.iter().all(Option::is_some);
        let old: Vec<GrantedPart> = self.promised.iter().copied().flatten().collect();
        let takes_new = !begun && (!is_whole || self.is_better(rules, &new, &old));
        let worse = if takes_new {
            self.outcome.improvements += 1;
            if !is_whole {
                self.to_replace.clear();
                self.outcome.replaced_parts = self.outcome.lost_parts;
            }
            self.promise(rules, &new);
            old
        } else {
            new
        };
        for part in worse {
            self.cancel(rules, now, part.order, part.candidate.cluster, effects);
        }
    }

    /// Whether one reservation is better than another: by the client's weights where the algorithm
    /// goes by them (Meltzer 2005, eq. 2, over the two), by its cost first where it sorts in
    /// stages, else by its start, and by its cost where both start together.
    fn is_better(&self, rules: &Rules, one: &[GrantedPart], other: &[GrantedPart]) -> bool {
        let value = |parts: &[GrantedPart]| {
            let start = parts.first().map_or(Seconds::FAR, |it| it.candidate.start);
            let cost = parts.iter().map(|it| match rules.search.sort_by {
                SortBy::Algorithm | SortBy::Staged => it.candidate.expected,
                SortBy::ReservationDegree => it.candidate.cost,
            });
            (start, cost.sum::<f64>())
        };
        let further = Criterion::ALL.map(|criterion| {
            let sum = |parts: &[GrantedPart]| {
                let each = parts.iter().map(|it| criterion.of(&it.candidate));
                each.sum::<f64>()
            };
            (criterion, sum(one), sum(other))
        });
        let (one, other) = (value(one), value(other));
        let found = search_rules(rules, &self.outcome.request);
        match found.valuation {
            // Of two, the dearer one is in the last band.
            Valuation::Staged => (one.1, one.0) < (other.1, other.0),
            Valuation::Weighted(weights)
                if rules.search.sort_by == SortBy::Algorithm && found.order == Order::Value =>
            {
                let worse = |is_worse: bool, weight: f64| f64::from(u8::from(is_worse)) * weight;
                let weighed = |it: (Seconds, f64), than: (Seconds, f64)| {
                    let start = worse(it.0 > than.0, weights.start_weight);
                    start + worse(it.1 > than.1, weights.cost_weight)
                };
                let mut is_worse = (weighed(one, other), weighed(other, one));
                for (criterion, one, other) in further {
                    let weight = criterion.weight(&weights);
                    is_worse.0 += worse(one > other, weight);
                    is_worse.1 += worse(other > one, weight);
                }
                is_worse.0 < is_worse.1
            }
            Valuation::Weighted(_) => one < other,
        }
    }
}
