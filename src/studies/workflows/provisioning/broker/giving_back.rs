//! Slots that an application needs no longer, or not as long, go back to their sites (Singh 2008,
//! §8.1).

use bookahead_core::units::Seconds;

use super::{ApplicationState, Broker};
use crate::provisioning::{BrokerError, TaskRun};

/// A booking whose tasks are over before its end: when, and of which application.
type EarlyEnd = (Seconds, usize);

impl Broker<'_> {
    /// Gives up runs of tasks. Slots that have not begun are returned to the sites. So is, where it
    /// is paid back, the rest of those that have begun and are needed no longer.
    pub(super) async fn give_back(
        &mut self,
        state: &mut ApplicationState,
        gives_up: impl Fn(&TaskRun) -> bool,
    ) -> Result<(), BrokerError> {
        for (site, id) in state.ledger.abandon(self.environment.now(), gives_up) {
            self.environment.cancel(site, id).await?;
        }
        self.give_back_rests(state).await
    }

    /// The next booking whose rest can be given back; of equal times that of the first application.
    pub(super) fn next_early_end(&self) -> Option<EarlyEnd> {
        if self.settings.refund.is_none() {
            return None;
        }
        let states = self.states.iter().enumerate();
        let next =
            states.filter_map(|(place, state)| Some((state.ledger.next_early_end()?, place)));
        next.min()
    }

    /// Everything of an application that is needed no longer then is given back.
    pub(super) async fn end_early(&mut self, (time, place): EarlyEnd) -> Result<(), BrokerError> {
        self.environment.pass_to(time).await?;
        let mut state = std::mem::take(&mut self.states[place]);
        let done = self.give_back_rests(&mut state).await;
        self.states[place] = state;
        done
    }

    async fn give_back_rests(&mut self, state: &mut ApplicationState) -> Result<(), BrokerError> {
        for (site, id) in state.ledger.give_back_rests(self.environment.now()) {
            self.environment.give_back_rest(site, id).await?;
        }
        Ok(())
    }
}
