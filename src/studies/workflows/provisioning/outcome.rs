//! The outcome of an application: its plan, its purchases, the runs of its tasks, and its cost.

use std::collections::HashMap;

use strum::{IntoStaticStr, VariantArray};

use bookahead_core::plan::Slot;
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::{Job, JobId};
use bookahead_reservations::replanning::Offer;

use super::{Advertised, CancelledCopies, PlanValue, ProvisioningInputs, TaskPlacement, Transfer};

/// One submission of an application.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProvisioningOutcome {
    /// Its number in the simulation, from 0.
    pub submission: u32,
    /// When it was submitted.
    pub submitted: Seconds,
    /// The plan that the first answers of the sites led to; `None` for best effort, and where there
    /// was none.
    pub planned: Option<PlanValue>,
    /// What really happened.
    pub realised: Realised,
    /// Best effort from the same instant: makespan, and where each task ran, by index.
    pub best_effort: Option<BestEffortOutcome>,
    /// Every slot that was paid for, in the order of booking.
    pub slots: Vec<BoughtSlot>,
    /// Every run of a task, in the order of booking: a lost or stopped task has several.
    pub tasks: Vec<TaskRun>,
    /// What of the cost of slots falls on each of these runs, in service units: that of a slot by
    /// the processor-time that tasks used of it, by what they were to use where none did. Of best
    /// effort, its processor-hours.
    pub costs: Vec<f64>,
    /// The slots on the network that its data took; empty where transfers never meet and cost
    /// nothing.
    pub transfers: Vec<Transfer>,
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
    /// Each of these offers, in the order in which they came; empty unless they are kept.
    pub prices: Vec<PriceSample>,
    /// The slots of all sites that the first search could choose from.
    pub advertised: Vec<Advertised>,
}

impl ProvisioningOutcome {
    /// Adds the offers that a plan of these tasks was made of. The queries of the plan are counted
    /// already.
    pub(super) fn note_prices(&mut self, prices: Vec<PriceSample>, tasks: &[usize], queries: u64) {
        let before = (self.queries - queries) as u32;
        self.prices
            .extend(prices.into_iter().map(|sample| PriceSample {
                query: before + sample.query,
                task: tasks[sample.task as usize] as u32,
                ..sample
            }));
    }
}

/// A start that a site offered for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriceSample {
    /// The number of the query that it answers, from 0; each site is asked with a query of its own.
    pub query: u32,
    /// Index of the task.
    pub task: u32,
    /// Index of the site.
    pub site: usize,
    /// The start.
    pub start: Seconds,
    /// The task's processors.
    pub nodes: Nodes,
    /// How long it runs there.
    pub duration: Seconds,
    /// The externality price.
    pub price: NodeSeconds,
}

impl PriceSample {
    /// What a site offered for a task in its answer to query number `query`.
    pub(super) fn of_answer(
        query: u64,
        task: usize,
        site: usize,
        (nodes, duration): (Nodes, Seconds),
        offers: &[Offer],
    ) -> impl Iterator<Item = Self> {
        offers.iter().map(move |offer| Self {
            query: query as u32,
            task: task as u32,
            site,
            start: offer.start,
            nodes,
            duration,
            price: offer.price,
        })
    }
}

/// What was achieved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Realised {
    /// Whether every task ended.
    pub completed: bool,
    /// From submission to the end of the last task, or to giving up.
    pub makespan: Seconds,
    /// All that was paid and not paid back, in service units, for lost and unused slots too.
    pub cost: f64,
    /// Of that, for slots whose task was lost or never ran.
    pub wasted: f64,
    /// Reservations that were refused because the slot was gone.
    pub gone: u32,
    /// Plans made anew because of that.
    pub replans: u32,
    /// Of what was paid, for the rest of slots whose tasks ended early.
    pub after_ends: f64,
    /// Tasks that were stopped at the end of their slot.
    pub outlasted_tasks: u32,
    /// Tasks that were booked anew because of that: stopped ones, and those behind them whose slots
    /// began too early.
    pub rebooked_tasks: u32,
    /// Tasks lost to node failures.
    pub lost_tasks: u32,
    /// Plans made anew because of that.
    pub reprovisioned: u32,
    /// Of best effort, copies of tasks that were cancelled.
    pub cancelled: CancelledCopies,
}

/// Just-in-time submission of the same application at the same instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BestEffortOutcome {
    /// From the first submission to the last end.
    pub makespan: Seconds,
    /// Processor-hours of all tasks, and slots on the network.
    pub cost: f64,
    /// Where each task ran, by index.
    pub placements: Vec<TaskPlacement>,
    /// Copies of tasks that were cancelled.
    pub cancelled: CancelledCopies,
    /// The slots on the network that its data took.
    pub transfers: Vec<Transfer>,
}

/// A slot that was paid for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoughtSlot {
    /// Index of the site.
    pub site: usize,
    /// The slot as offered; of a queried one, what was asked for, with its price.
    pub slot: Slot,
    /// What was paid in the end, in service units.
    pub cost: f64,
    /// Processor-time that tasks used of it.
    pub used: NodeSeconds,
    /// The externality that was paid with it: that of its price, or its penalty where it was given
    /// back and paid back before it began.
    pub externality: NodeSeconds,
    /// What was paid back of its price when it was given back, in service units.
    pub refunded: f64,
    /// What was not, of the part that was given back: the penalty, in service units.
    pub forfeited: f64,
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
    /// End, or when it was lost or stopped.
    pub end: Seconds,
    /// The slot of [`ProvisioningOutcome::slots`] that it ran in, the first of a stack; `None` for
    /// best effort.
    pub slot: Option<u32>,
    /// Its fate.
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

/// The fate of a run of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum TaskFate {
    /// It ran to its end.
    #[default]
    Done,
    /// A node failed under it.
    Lost,
    /// Its slot was given up before it began to run.
    Abandoned,
    /// It outlasted its slot and was stopped at its end.
    Stopped,
}

impl TaskFate {
    /// Every fate, in the order of the codes in the store.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// The name in the store.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A plan of a Pareto front.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrontMember {
    /// Its cost and makespan.
    pub value: PlanValue,
    /// Whether it is the plan that the user's wish chose.
    pub chosen: bool,
}

/// The effect of committed plans on the jobs of others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EffectOnOthers {
    /// Jobs that were compared: submitted between the first submission of an application and the
    /// end of the last.
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
    /// When jobs of others started beside committed plans, by site, of those that had become final;
    /// in that order.
    pub started: Vec<Vec<(JobId, Option<Seconds>)>>,
    /// Of users of single jobs, how far each site was used from the instant at which they begin to
    /// the submission of the last, in percent; else empty.
    pub utilisations: Vec<f64>,
}

/// A job of others that was at a site while applications were about.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteJob {
    /// Index of the site.
    pub site: usize,
    /// The job.
    pub job: Job,
    /// Its start beside committed plans; `None` if plans are discarded, if it is wider than the
    /// site, or if it had not ended when the simulation stopped.
    pub start: Option<Seconds>,
    /// Its start without any application; `None` where it is wider than the site.
    pub undisturbed_start: Option<Seconds>,
}

impl ProvisioningRun {
    /// The jobs of others that waited or ran at a site at some second from the first submission of
    /// an application to the end of the last task, by site and number: what plans could meet. All
    /// others ran as without applications.
    #[must_use]
    pub fn site_jobs(&self, inputs: &ProvisioningInputs) -> Vec<SiteJob> {
        let submitted = self.outcomes.iter().map(|outcome| outcome.submitted);
        let Some(begin) = submitted.min() else {
            return Vec::new();
        };
        let ends = self.outcomes.iter().flat_map(|outcome| {
            let given_up = outcome.submitted + outcome.realised.makespan;
            let runs = outcome.tasks.iter().map(|run| run.end);
            runs.chain([given_up])
        });
        let end = ends.max().unwrap_or(begin);
        let mut met = Vec::new();
        for (site, workload) in inputs.sites.iter().enumerate() {
            let background = &inputs.background;
            let (Some(&longest), Some(starts)) = (
                background.longest_stays.get(site),
                background.starts.get(site),
            ) else {
                continue;
            };
            let started = self.started.get(site).map(Vec::as_slice);
            let started: HashMap<JobId, Option<Seconds>> =
                started.unwrap_or_default().iter().copied().collect();
            let jobs = &workload.jobs;
            let first = jobs.partition_point(|job| job.submit + longest < begin);
            let last = jobs.partition_point(|job| job.submit <= end);
            for place in first..last.max(first) {
                let job = &jobs[place];
                if inputs.users.reserves(site, job.id) {
                    continue;
                }
                let start = started.get(&job.id).copied().flatten();
                let undisturbed_start = starts[place];
                let latest = start.max(undisturbed_start);
                let runs = job.runtime.min(job.estimate);
                if latest.map_or(job.submit, |start| start + runs) >= begin {
                    met.push(SiteJob {
                        site,
                        job: job.clone(),
                        start,
                        undisturbed_start,
                    });
                }
            }
        }
        met
    }
}
