//! One slot for all tasks of an application, bought by queries.

use super::application_state::ApplicationState;
use super::laid_out::LaidOut;
use super::{Broker, Evaluator, purchases};
use crate::provisioning::greedy::ask_for_one_slot;
use crate::provisioning::{Application, BrokerError, SiteQuestion};

impl Broker<'_> {
    /// Buys the slot that is best by the user's wish, and places the tasks in it as ALG-2 does;
    /// asks anew where it is gone. Returns whether there is one.
    pub(super) async fn provide_in_one_slot(
        &mut self,
        state: &mut ApplicationState,
        planned: &Application,
        tasks: &[usize],
    ) -> Result<bool, BrokerError> {
        loop {
            let begin = self.environment.arrival();
            let wish = state.wish(self.settings.wish, begin);
            let mut prices = self.inputs.keep_prices.then(Vec::new);
            let asked =
                ask_for_one_slot(planned, &self.environment, begin, wish, prices.as_mut()).await?;
            state.plans += 1;
            state.outcome.queries += asked.queries;
            state.outcome.offers += asked.offers;
            let prices = prices.unwrap_or_default();
            state.outcome.note_prices(prices, tasks, asked.queries);
            let Some(advertised) = asked.best else {
                return Ok(false);
            };
            let slots = [advertised];
            let mut evaluator = Evaluator::new(planned, &slots, begin);
            let plan = LaidOut::of(state, &mut evaluator, &slots, &[true], begin)?;
            let slot = advertised.slot;
            let id = self.environment.request();
            let question = SiteQuestion::Reserve {
                id,
                start: slot.start,
                nodes: slot.nodes,
                duration: slot.duration(),
                price: asked.externality,
            };
            if self.environment.reserve(advertised.site, question).await? {
                let mut bought = purchases(&slots, &plan.shares, || id);
                for purchase in &mut bought {
                    purchase.externality = asked.externality;
                }
                self.enter(state, planned, tasks, &plan, &slots, &bought);
                return Ok(true);
            }
            if !self.may_plan_anew(state) {
                return Ok(false);
            }
        }
    }
}
