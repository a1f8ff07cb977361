//! The actors of a study of slots: a client and a machine that advertises what it has free. Called directly the machine is
//! [`simulate_slot_study`](crate::scheduling::simulate_slot_study).

use std::sync::Arc;

use kameo::Actor;
use kameo::message::{Context, Message};

use super::messages::{
    AdvanceWatched, AskGrant, HandOver, ReportSlots, SlotsSeen, WatchedProgress, WhenNext,
};
use super::{Client, Clock, Member, SimulationError, WINDOW, ask};
use crate::scheduling::{SlotMachine, SlotStudyRun, SlotStudySettings};
use crate::units::{Nodes, Seconds};
use crate::workload::Job;

/// The actor around one [`SlotMachine`].
#[derive(Actor)]
pub struct SlotMachineActor {
    machine: Option<SlotMachine>,
}

impl SlotMachineActor {
    /// The actor of an idle machine.
    #[must_use]
    pub fn new(machine: SlotMachine) -> Self {
        Self {
            machine: Some(machine),
        }
    }
}

impl Message<AdvanceWatched> for SlotMachineActor {
    type Reply = WatchedProgress;

    async fn handle(
        &mut self,
        advance: AdvanceWatched,
        _: &mut Context<Self, WatchedProgress>,
    ) -> WatchedProgress {
        if let Some(machine) = &mut self.machine {
            machine.submit(advance.arrivals);
            machine.advance(advance.until);
        }
        WatchedProgress {
            next_event: self.machine.as_ref().and_then(SlotMachine::next_event),
            done: false,
        }
    }
}

impl Message<ReportSlots> for SlotMachineActor {
    type Reply = SlotsSeen;

    async fn handle(&mut self, _: ReportSlots, _: &mut Context<Self, SlotsSeen>) -> SlotsSeen {
        let machine = self.machine.take();
        SlotsSeen(machine.map_or_else(SlotStudyRun::default, SlotMachine::finish))
    }
}

/// Brings the actors up and passes grants around until nothing is left to happen.
pub(super) async fn conduct(
    jobs: &Arc<[Job]>,
    nodes: Nodes,
    settings: &SlotStudySettings,
    keep_outcomes: bool,
) -> Result<SlotStudyRun, SimulationError> {
    let mut clock = Member::spawn("clock", Clock::new(WINDOW));
    let mut client = Member::spawn("client", Client::new(Arc::clone(jobs)));
    let submitted = |job: Option<&Job>| job.map_or(Seconds::ZERO, |job| job.submit);
    let submissions = (submitted(jobs.first()), submitted(jobs.last()));
    let machine = SlotMachine::new(nodes, settings, submissions, keep_outcomes);
    let mut machine = Member::spawn("machine", SlotMachineActor::new(machine));
    let mut machine_next = None;
    loop {
        let next_events = vec![ask!(client, WhenNext).0, machine_next];
        let Some(until) = ask!(clock, AskGrant { next_events }).until else {
            break;
        };
        let arrivals = ask!(client, HandOver { until });
        machine_next = ask!(machine, AdvanceWatched { arrivals, until }).next_event;
    }
    Ok(ask!(machine, ReportSlots).0)
}
