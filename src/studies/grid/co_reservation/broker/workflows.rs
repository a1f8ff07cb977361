//! Workflows: a task is sought when those before it are granted, from the end of the last of them
//! on. When one is refused or lost, the others that have not begun are given back.

use std::collections::{BTreeMap, BTreeSet};

use bookahead_core::units::Seconds;
use bookahead_core::workload::{CoRequest, CoRequestId};

use super::Broker;
use super::process::{News, Process};

/// The tasks of workflows that the broker knows.
#[derive(Debug, Default)]
pub(super) struct Workflows {
    /// Tasks that wait for those before them.
    waiting: BTreeMap<CoRequestId, CoRequest>,
    /// The tasks of each workflow that are sought or were, in order.
    begun: BTreeMap<CoRequestId, Vec<CoRequestId>>,
    /// Workflows of which a task was refused or lost.
    failed: BTreeSet<CoRequestId>,
}

impl Workflows {
    /// Whether no task waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The tasks that wait for this one.
    fn successors(&self, id: CoRequestId) -> Vec<CoRequestId> {
        let waits_for = |request: &CoRequest| {
            let task = request.task.as_ref();
            task.is_some_and(|task| task.after.contains(&id))
        };
        let waiting = self.waiting.values().filter(|request| waits_for(request));
        waiting.map(|request| request.id).collect()
    }
}

impl Broker {
    /// A task of a workflow is submitted.
    pub(super) fn submit_task(&mut self, now: Seconds, request: CoRequest) {
        let id = request.id;
        let workflow = workflow_of(&request);
        self.workflows.waiting.insert(id, request);
        if self.workflows.failed.contains(&workflow) {
            self.give_up_task(now, id);
        } else {
            self.seek_task(now, id);
        }
    }

    /// Goes on with the workflow of a request, if it has one and something came of the request.
    pub(super) fn follow(&mut self, now: Seconds, id: CoRequestId) {
        let Some(news) = self.processes.get_mut(&id).and_then(Process::take_news) else {
            return;
        };
        match news {
            News::Granted => {
                for successor in self.workflows.successors(id) {
                    self.seek_task(now, successor);
                }
            }
            News::Failed(workflow) => self.give_up(now, workflow),
        }
    }

    /// Seeks a task that waits, unless one before it is not granted yet.
    fn seek_task(&mut self, now: Seconds, id: CoRequestId) {
        let Some(request) = self.workflows.waiting.get(&id) else {
            return;
        };
        let before = request.task.iter().flat_map(|task| &task.after);
        let end_of = |id: &CoRequestId| self.processes.get(id).and_then(Process::promised_end);
        let Some(ends) = before.map(end_of).collect::<Option<Vec<_>>>() else {
            return;
        };
        let Some(mut request) = self.workflows.waiting.remove(&id) else {
            return;
        };
        let soonest = ends.into_iter().max().unwrap_or(request.earliest);
        request.earliest = request.earliest.max(soonest);
        for before in request.task.iter().flat_map(|task| &task.after) {
            if let Some(process) = self.processes.get_mut(before) {
                process.be_followed();
            }
        }
        let tasks = self.workflows.begun.entry(workflow_of(&request));
        tasks.or_default().push(id);
        let process = Process::begin(&self.rules, now, request, &mut self.effects);
        self.processes.insert(id, process);
        self.follow(now, id);
    }

    /// A task was refused, or lost for good: what of the workflow has not begun is given back.
    fn give_up(&mut self, now: Seconds, workflow: CoRequestId) {
        if !self.workflows.failed.insert(workflow) {
            return;
        }
        for id in self.workflows.begun.get(&workflow).into_iter().flatten() {
            if let Some(process) = self.processes.get_mut(id) {
                process.abandon(&self.rules, now, &mut self.effects);
            }
        }
        let waiting = self.workflows.waiting.values();
        let of_it = waiting.filter(|request| workflow_of(request) == workflow);
        for id in of_it.map(|request| request.id).collect::<Vec<_>>() {
            self.give_up_task(now, id);
        }
    }

    /// A task that was not sought never will be.
    fn give_up_task(&mut self, now: Seconds, id: CoRequestId) {
        if let Some(request) = self.workflows.waiting.remove(&id) {
            let process = Process::abandoned(&self.rules, now, request);
            self.processes.insert(id, process);
        }
    }
}

fn workflow_of(request: &CoRequest) -> CoRequestId {
    let task = request.task.as_ref();
    task.map_or(request.id, |task| task.workflow)
}
