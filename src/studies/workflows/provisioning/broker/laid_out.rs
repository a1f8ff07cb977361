//! A choice of slots, valued and divided among the tasks.

use bookahead_core::units::Seconds;

use super::application_state::ApplicationState;
use super::{Broker, PlannedTasks};
use crate::provisioning::layout::{Share, lay_out};
use crate::provisioning::ledger::Purchase;
use crate::provisioning::{
    Advertised, Application, BrokerError, Evaluator, PlanValue, TaskPlacement, Transfer,
};

/// Where the tasks run on some slots, and what they take of each.
pub(super) struct LaidOut {
    value: PlanValue,
    placements: Vec<TaskPlacement>,
    pub(super) shares: Vec<Share>,
    transfers: Vec<Transfer>,
}

impl LaidOut {
    /// The tasks on the chosen ones of `slots`, for a plan that is made at `begin`; the first plan
    /// of an application is noted.
    ///
    /// # Errors
    ///
    /// When they do not fit, though the search says so.
    pub(super) fn of(
        state: &mut ApplicationState,
        evaluator: &mut Evaluator<'_>,
        slots: &[Advertised],
        chosen: &[bool],
        begin: Seconds,
    ) -> Result<Self, BrokerError> {
        let submission = state.outcome.submission;
        let misplanned = || BrokerError::Misplanned { submission };
        let value = evaluator.evaluate(chosen).ok_or_else(misplanned)?;
        let placements = evaluator.placements().to_vec();
        let planned = evaluator.application();
        let shares = lay_out(planned, slots, chosen, begin, &placements).ok_or_else(misplanned)?;
        state.note_first_plan(value.cost, &placements, begin);
        Ok(Self {
            value,
            placements,
            shares,
            transfers: evaluator.transfers().to_vec(),
        })
    }
}

impl Broker<'_> {
    /// Enters a plan whose slots were all booked, those on the network with them.
    pub(super) fn enter(
        &mut self,
        state: &mut ApplicationState,
        planned: &Application,
        tasks: &[usize],
        plan: &LaidOut,
        slots: &[Advertised],
        bought: &[Purchase],
    ) {
        state.paid += plan.value.cost;
        self.environment.links.take(planned, &plan.transfers);
        state.outcome.transfers.extend_from_slice(&plan.transfers);
        let real = self.inputs.real(state.outcome.submission as usize);
        let of = PlannedTasks { real, tasks };
        let (placements, shares) = (&plan.placements, &plan.shares);
        (state.ledger).enter_shares(planned, of, placements, slots, shares, bought);
    }

    /// Counts a plan whose slots were gone, and says whether another one may be made.
    pub(super) fn may_plan_anew(&self, state: &mut ApplicationState) -> bool {
        let realised = &mut state.outcome.realised;
        realised.gone += 1;
        let may = realised.replans < self.settings.replans;
        realised.replans += u32::from(may);
        may
    }
}
