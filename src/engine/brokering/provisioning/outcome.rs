//! What becomes of an application: its plan, what it bought, where its tasks ran, and what it cost in the end.

use super::{PlanValue, TaskPlacement};
use crate::plan::Slot;
use crate::units::{NodeSeconds, Nodes, Seconds};

/// One submission of an application.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProvisioningOutcome {
    /// Its number in the simulation, from 0.
    pub submission: u32,
    /// When it was submitted.
    pub submitted: Seconds,
    /// The plan that the first answers of the sites led to; `None` for best effort, and where there was none.
    pub planned: Option<PlanValue>,
    /// What really happened.
    pub realised: Realised,
    /// Best effort from the same instant: makespan, and where each task ran, by index.
    pub best_effort: Option<BestEffortOutcome>,
    /// Every slot that was paid for, in the order of booking.
    pub slots: Vec<BoughtSlot>,
    /// Every run of a task, in the order of booking: a lost task has several.
    pub tasks: Vec<TaskRun>,
    /// The plans of a genetic search that nothing beats, in order of cost.
    pub front: Vec<FrontMember>,
    /// Slots of all sites that the search could choose from.
    pub slots_offered: u32,
    /// Plans that were evaluated (ALG-2).
    pub evaluations: u64,
    /// Of these, plans on which the application did not fit.
    pub infeasible: u64,
    /// Queries that sites answered.
    pub queries: u64,
    /// Offers in these answers.
    pub offers: u64,
}

/// What was achieved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Realised {
    /// Whether every task ended.
    pub completed: bool,
    /// From submission to the end of the last task, or to giving up.
    pub makespan: Seconds,
    /// All that was paid, in service units, for lost and unused slots too.
    pub cost: f64,
    /// Of that, for slots whose task was lost or never ran.
    pub wasted: f64,
    /// Reservations that were refused because the slot was gone.
    pub gone: u32,
    /// Plans made anew because of that.
    pub replans: u32,
    /// Tasks lost to node failures.
    pub lost_tasks: u32,
    /// Plans made anew because of that.
    pub reprovisioned: u32,
}

/// Just-in-time submission of the same application at the same instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BestEffortOutcome {
    /// From the first submission to the last end.
    pub makespan: Seconds,
    /// Processor-hours of all tasks.
    pub cost: f64,
    /// Where each task ran, by index.
    pub placements: Vec<TaskPlacement>,
}

/// A slot that was paid for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoughtSlot {
    /// Index of the site.
    pub site: usize,
    /// The slot as offered; of a queried one, what was asked for, with its price.
    pub slot: Slot,
    /// What was paid, in service units.
    pub cost: f64,
    /// Processor-time that tasks used of it.
    pub used: NodeSeconds,
    /// The externality in its price.
    pub externality: NodeSeconds,
}

/// One run of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskRun {
    /// Index of the task.
    pub task: u32,
    /// Index of the site.
    pub site: usize,
    /// Its processors.
    pub nodes: Nodes,
    /// Start.
    pub start: Seconds,
    /// End, or when it was lost.
    pub end: Seconds,
    /// The slot of [`ProvisioningOutcome::slots`] that it ran in, the first of a stack; `None` for best effort.
    pub slot: Option<u32>,
    /// What became of it.
    pub fate: TaskFate,
}

impl TaskRun {
    /// A task that runs to its end where it was placed, in no slot.
    pub(super) fn placed(task: usize, nodes: Nodes, placed: TaskPlacement) -> Self {
        Self {
            task: task as u32,
            site: placed.site,
            nodes,
            start: placed.start,
            end: placed.end,
            slot: None,
            fate: TaskFate::Done,
        }
    }
}

/// What became of a run of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TaskFate {
    /// It ran to its end.
    #[default]
    Done,
    /// A node failed under it.
    Lost,
    /// Its slot was given up before it began.
    Abandoned,
}

/// A plan of a Pareto front.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrontMember {
    /// Its cost and makespan.
    pub value: PlanValue,
    /// Whether it is the plan that the user's wish chose.
    pub chosen: bool,
}

/// What committed plans did to everybody else's jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EffectOnOthers {
    /// Jobs that were compared: submitted between the first submission of an application and the end of the last.
    pub jobs: u64,
    /// Of these, jobs that waited longer than without applications.
    pub delayed: u64,
    /// Sum of their waits.
    pub wait: Seconds,
    /// Sum of the waits of the same jobs without applications.
    pub undisturbed_wait: Seconds,
    /// Sum of bounded slowdowns (bound 10 s), with and without.
    pub slowdown: f64,
    /// Without.
    pub undisturbed_slowdown: f64,
}

/// What a simulation of provisioning produced.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProvisioningRun {
    /// One a submission, in order.
    pub outcomes: Vec<ProvisioningOutcome>,
    /// Of committed plans, by site.
    pub effects: Vec<EffectOnOthers>,
}
