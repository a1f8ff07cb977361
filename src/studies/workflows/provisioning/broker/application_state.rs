//! The state of one application at the broker: its plans, its payments, and its outcome.

use super::just_in_time;
use crate::provisioning::ledger::Ledger;
use crate::provisioning::{
    Application, PlanValue, ProvisioningOutcome, ProvisioningSettings, Realised, TaskFate,
    TaskPlacement, TaskRun, Wish,
};
use bookahead_core::units::Seconds;

/// One application, from its submission to its end.
#[derive(Default)]
pub(super) struct ApplicationState {
    pub(super) outcome: ProvisioningOutcome,
    pub(super) ledger: Ledger,
    /// The cost of all plans that were booked, in service units.
    pub(super) paid: f64,
    /// Plans made so far.
    pub(super) plans: u32,
    /// When it was given up.
    pub(super) given_up: Option<Seconds>,
    /// The application with the longer run times that tasks are booked for after they outlasted a
    /// slot; `None` as long as no task did.
    pub(super) rebooked: Option<Application>,
    /// Progress of best effort at running sites, until all tasks have ended.
    pub(super) progress: Option<just_in_time::Progress>,
}

impl ApplicationState {
    pub(super) fn new(number: usize, submitted: Seconds, settings: &ProvisioningSettings) -> Self {
        Self {
            ledger: Ledger::under(settings.tariff, settings.refund),
            outcome: ProvisioningOutcome {
                submission: number as u32,
                submitted,
                ..ProvisioningOutcome::default()
            },
            ..Self::default()
        }
    }

    /// The remaining part of the wish, for a plan that begins now.
    pub(super) fn wish(&self, wish: Wish, begin: Seconds) -> Wish {
        match wish {
            Wish::TradeOff { .. } => wish,
            Wish::Deadline { after } => Wish::Deadline {
                after: after - (begin - self.outcome.submitted),
            },
            Wish::Budget { service_units } => Wish::Budget {
                service_units: service_units - (self.paid - self.ledger.refunded()),
            },
        }
    }

    /// The value of a plan that begins at `begin`, as the user sees it.
    pub(super) fn since_submission(&self, value: PlanValue, begin: Seconds) -> PlanValue {
        PlanValue {
            makespan: value.makespan + (begin - self.outcome.submitted),
            ..value
        }
    }

    /// Notes what the first plan costs and when its last task ends, whatever it was judged by.
    pub(super) fn note_first_plan(
        &mut self,
        cost: f64,
        placements: &[TaskPlacement],
        begin: Seconds,
    ) {
        let makespan = Application::makespan(placements, begin);
        let first = self.since_submission(PlanValue { cost, makespan }, begin);
        self.outcome.planned.get_or_insert(first);
    }

    /// The part of the application whose tasks are planned again at the end of the second `now`,
    /// and the indices of these tasks.
    pub(super) fn part(
        &self,
        application: &Application,
        again: &[bool],
        now: Seconds,
    ) -> (Application, Vec<usize>) {
        let application = self.rebooked.as_ref().unwrap_or(application);
        let placed = self.ledger.placements(application.tasks().len(), now);
        application.rest(
            |task| again[task],
            |task| placed[task].map_or((0, now), |placed| (placed.site, placed.end)),
        )
    }

    pub(super) fn last_end(&self) -> Option<Seconds> {
        let best_effort = self.outcome.tasks.iter().map(|run| run.end).max();
        self.ledger.last_end().max(best_effort)
    }

    pub(super) fn follow_best_effort(&mut self, application: &Application) {
        let Some(best_effort) = &self.outcome.best_effort else {
            self.given_up = Some(self.outcome.submitted);
            return;
        };
        self.paid = best_effort.cost;
        self.outcome.realised.cancelled = best_effort.cancelled;
        (self.outcome.transfers).clone_from(&best_effort.transfers);
        let placed = application.order().iter();
        self.outcome.tasks = placed
            .map(|&task| {
                let placed = best_effort.placements[task];
                TaskRun {
                    task: task as u32,
                    site: placed.site,
                    nodes: application.tasks()[task].nodes,
                    start: placed.start,
                    end: placed.end,
                    slot: None,
                    fate: TaskFate::Done,
                }
            })
            .collect();
    }

    pub(super) fn close(self, application: &Application) -> ProvisioningOutcome {
        let Self {
            mut outcome,
            ledger,
            paid,
            given_up,
            ..
        } = self;
        let cost = paid - ledger.refunded();
        let closed = ledger.close();
        outcome.slots = closed.slots;
        let by_queues = outcome.tasks.iter();
        let charges = by_queues.map(|run| {
            let work = run.nodes.for_span(run.end - run.start);
            application.charge(run.site, work) / 3_600.0
        });
        outcome.costs = charges.chain(closed.costs).collect();
        outcome.tasks.extend(closed.runs);
        let done = outcome.tasks.iter();
        let ends = done
            .filter(|run| run.fate == TaskFate::Done)
            .map(|run| run.end);
        let end = given_up.or(ends.max()).unwrap_or(outcome.submitted);
        outcome.realised = Realised {
            completed: given_up.is_none(),
            makespan: end - outcome.submitted,
            cost,
            wasted: closed.wasted,
            after_ends: closed.after_ends,
            ..outcome.realised
        };
        outcome
    }
}
