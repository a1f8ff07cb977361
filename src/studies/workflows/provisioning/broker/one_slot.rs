//! One slot for all tasks of an application, bought by queries.

use super::application_state::ApplicationState;
use super::{Broker, Evaluator, PlannedTasks, purchases};
use crate::provisioning::greedy::ask_for_one_slot;
use crate::provisioning::layout::lay_out;
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
        let submission = state.outcome.submission;
        let misplanned = || BrokerError::Misplanned { submission };
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
            let value = evaluator.evaluate(&[true]).ok_or_else(misplanned)?;
            let placements = evaluator.placements();
            let shares =
                lay_out(planned, &slots, &[true], begin, placements).ok_or_else(misplanned)?;
            let value_at_first = state.since_submission(value, begin);
            state.outcome.planned.get_or_insert(value_at_first);
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
                let mut wanted = purchases(&slots, &shares, || id);
                for purchase in &mut wanted {
                    purchase.externality = asked.externality;
                }
                state.paid += value.cost;
                let real = self.inputs.real(submission as usize);
                let of = PlannedTasks { real, tasks };
                let ledger = &mut state.ledger;
                ledger.enter_shares(planned, of, placements, &slots, &shares, &wanted);
                return Ok(true);
            }
            let realised = &mut state.outcome.realised;
            realised.gone += 1;
            if realised.replans == self.settings.replans {
                return Ok(false);
            }
            realised.replans += 1;
        }
    }
}
