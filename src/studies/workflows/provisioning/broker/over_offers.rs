//! A plan of starts that are searched together and booked together.

use super::Broker;
use super::application_state::ApplicationState;
use crate::provisioning::genetic::{by_start, search_offers};
use crate::provisioning::ledger::PlannedTasks;
use crate::provisioning::{
    Application, BrokerError, FrontMember, GreedyPlan, SiteQuestion, search_stream,
};

impl Broker<'_> {
    /// Searches the answers of the sites, and books the plan that fits the user's wish best, in the
    /// order of its starts; searches anew where a start is gone. Returns whether there is a plan.
    pub(super) async fn provide_over_offers(
        &mut self,
        state: &mut ApplicationState,
        planned: &Application,
        tasks: &[usize],
    ) -> Result<bool, BrokerError> {
        loop {
            let begin = self.environment.arrival();
            let name = search_stream(state.outcome.submission, state.plans);
            let mut stream = self.seed.stream(&name);
            let mut prices = self.inputs.keep_prices.then(Vec::new);
            let (settings, sites) = (&self.settings.genetic, &self.environment);
            let asked = search_offers(
                planned,
                sites,
                begin,
                settings,
                &mut stream,
                prices.as_mut(),
            );
            let asked = asked.await?;
            let is_first = state.plans == 0;
            state.plans += 1;
            let outcome = &mut state.outcome;
            outcome.queries += asked.queries;
            outcome.offers += asked.offers;
            outcome.note_prices(prices.unwrap_or_default(), tasks, asked.queries);
            outcome.evaluations += asked.found.evaluations;
            outcome.infeasible += asked.found.infeasible;
            let front = &asked.found.front;
            let chosen = state.wish(self.settings.wish, begin).choose(front);
            if is_first && self.settings.joint {
                let members = front.members().iter().enumerate().rev();
                state.outcome.front = members
                    .map(|(place, (value, _))| FrontMember {
                        value: state.since_submission(*value, begin),
                        chosen: chosen == Some(place),
                    })
                    .collect();
            }
            let Some((value, plan)) = chosen.and_then(|place| front.members().get(place)) else {
                return Ok(false);
            };
            state.note_first_plan(value.cost, &plan.placements, begin);
            self.environment.pass_to(begin).await?;
            let mut booked = Vec::with_capacity(tasks.len());
            let mut is_gone = false;
            for task in by_start(&plan.placements) {
                let (placed, id) = (plan.placements[task], self.environment.request());
                let question = SiteQuestion::Reserve {
                    id,
                    start: placed.start,
                    nodes: planned.tasks()[task].nodes,
                    duration: placed.end - placed.start,
                    price: plan.externalities[task],
                };
                if !self.environment.book(placed.site, question).await? {
                    is_gone = true;
                    break;
                }
                booked.push((task, id));
            }
            if is_gone {
                for (task, id) in booked {
                    let site = plan.placements[task].site;
                    self.environment.cancel(site, id).await?;
                }
                if !self.may_plan_anew(state) {
                    return Ok(false);
                }
                continue;
            }
            state.paid += value.cost;
            self.environment.links.take(planned, &plan.transfers);
            state.outcome.transfers.extend_from_slice(&plan.transfers);
            let real = self.inputs.real(state.outcome.submission as usize);
            let charges = &self.environment.charges;
            let plan = GreedyPlan {
                placements: plan.placements.clone(),
                externalities: plan.externalities.clone(),
                unit_price: charges.reserved_unit_price.unwrap_or(1.0),
                charges: plan.charges.clone(),
                value: *value,
                booked,
                ..GreedyPlan::nowhere(tasks.len(), begin)
            };
            state
                .ledger
                .enter_greedy(PlannedTasks { real, tasks }, &plan);
            return Ok(true);
        }
    }
}
