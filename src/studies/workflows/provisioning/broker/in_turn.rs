//! Several applications of one submission, each planned for itself.

use bookahead_core::units::Seconds;

use super::application_state::ApplicationState;
use super::{Broker, Offers};
use crate::provisioning::{BrokerError, PlanValue};

impl Broker<'_> {
    /// Plans and books the applications of a submission one after the other, each on what those
    /// before have left; where there are `offers`, which all their brokers saw, the first plan of
    /// each is made from them. Returns whether all have a plan; if not, what had not begun is given
    /// back.
    pub(super) async fn provide_in_turn(
        &mut self,
        state: &mut ApplicationState,
        offers: Option<Offers>,
    ) -> Result<bool, BrokerError> {
        let inputs = self.inputs;
        let mut all = PlanValue {
            cost: 0.0,
            makespan: Seconds::ZERO,
        };
        for part in &inputs.parts {
            let (application, tasks) = inputs.application.part(part);
            let provided = (self.provide(state, &application, &tasks, offers.clone())).await?;
            let planned = state.outcome.planned.take().filter(|_| provided);
            let Some(planned) = planned else {
                let now = self.environment.now();
                self.give_back(state, |run| run.start > now).await?;
                let links = &mut self.environment.links;
                let sent = &mut state.outcome.transfers;
                let before = inputs.application.network_cost(sent);
                links.free_after(now, &inputs.application, sent);
                state.paid -= before - inputs.application.network_cost(sent);
                return Ok(false);
            };
            all.cost += planned.cost;
            all.makespan = all.makespan.max(planned.makespan);
        }
        state.outcome.planned = Some(all);
        Ok(true)
    }
}
