//! Tasks that run longer than they are booked for. Slots are fixed, so such tasks are stopped, lose
//! their work, and are booked again.

use bookahead_core::units::Seconds;

use super::{ApplicationState, Broker, behind};
use crate::provisioning::{Application, BrokerError};

/// The factor by which a task that outlasted its slot is booked longer the next time.
const LONGER: i64 = 2;

/// A run that comes to the end of its slot: when, of which venture, and its number there.
type Outlasting = (Seconds, usize, usize);

impl Broker<'_> {
    /// The run that outlasts its slot next; of equal times that of the first application.
    pub(super) fn next_outlasting(&self) -> Option<Outlasting> {
        let states = self.states.iter().enumerate();
        let next = states.filter_map(|(place, state)| {
            let (time, run) = state.ledger.next_outlasting()?;
            Some((time, place, run))
        });
        next.min()
    }

    /// A task is stopped at the end of its slot.
    pub(super) async fn stop(&mut self, (time, place, run): Outlasting) -> Result<(), BrokerError> {
        let mut state = std::mem::take(&mut self.states[place]);
        let done = self.rebook(&mut state, run, time).await;
        self.states[place] = state;
        done
    }

    /// The task is booked for longer, alone; then, step by step, what would begin before its data
    /// is there. Everything else keeps its slots. Slots that are given up stay paid.
    async fn rebook(
        &mut self,
        state: &mut ApplicationState,
        run: usize,
        time: Seconds,
    ) -> Result<(), BrokerError> {
        let stopped = state.ledger.stop(run);
        state.outcome.realised.outlasted_tasks += 1;
        self.environment.pass_to(time).await?;
        let application = self.inputs.planned(state.outcome.submission as usize);
        let useless = behind(application, stopped);
        if state.given_up.is_some() {
            return self
                .give_back(state, |run| useless[run.task as usize])
                .await;
        }
        let booked = state.rebooked.as_ref().unwrap_or(application);
        state.rebooked = Some(booked.with_runtimes(|task, runtime| {
            if task == stopped {
                runtime * LONGER
            } else {
                runtime
            }
        }));
        let mut again = vec![false; application.tasks().len()];
        again[stopped] = true;
        while again.contains(&true) {
            self.give_back(state, |run| again[run.task as usize])
                .await?;
            let (part, tasks) = state.part(application, &again, self.environment.now());
            state.outcome.realised.rebooked_tasks += tasks.len() as u32;
            if !self.provide_again(state, &part, &tasks).await? {
                // What would have begun meanwhile, while reservations were under way.
                return self
                    .give_back(state, |run| useless[run.task as usize])
                    .await;
            }
            again = state.begin_too_early(application, self.environment.now());
        }
        Ok(())
    }
}

impl ApplicationState {
    /// Which tasks are booked before their data will be there, and do not wait for another such
    /// task.
    fn begin_too_early(&self, application: &Application, now: Seconds) -> Vec<bool> {
        let tasks = application.tasks();
        let placed = self.ledger.placements(tasks.len(), now);
        let mut first = vec![false; tasks.len()];
        let mut at_or_behind = vec![false; tasks.len()];
        for &task in application.order() {
            let mut parents = tasks[task].parents.iter();
            if parents.any(|dependency| at_or_behind[dependency.parent]) {
                at_or_behind[task] = true;
            } else if let Some(own) = placed[task] {
                let earliest = application.earliest(task, own.site, Seconds::ZERO, |parent| {
                    placed[parent].map_or((own.site, now), |parent| (parent.site, parent.end))
                });
                first[task] = own.start < earliest;
                at_or_behind[task] = first[task];
            }
        }
        first
    }
}
