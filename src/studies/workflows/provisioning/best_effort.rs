//! The baseline: every task goes into a queue when its parents have ended (Singh 2008, §4.7).

use std::collections::BTreeMap;

use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::{Job, JobId};

use super::copies::{Copies, TaskCopy};
use super::network::Links;
use super::queue_choice::TasksInTransit;
use super::{Application, CancelledCopies, ProviderSite, QueueChoice, TaskPlacement, Transfer};

/// A fork of a site, and the jobs of others that have not arrived yet, in order of submission.
#[derive(Clone)]
pub struct BestEffortSite<'a> {
    /// The fork.
    pub site: ProviderSite,
    /// What is still to arrive. Ids must be below [`FIRST_TASK`].
    pub arrivals: &'a [Job],
}

/// Ids of jobs that are tasks begin here.
pub const FIRST_TASK: u32 = 1 << 31;

/// The outcome of the application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BestEffortRun {
    /// Where each task ran, by index.
    pub placements: Vec<TaskPlacement>,
    /// When each task was submitted to its queue, the first of several.
    pub submitted: Vec<Seconds>,
    /// From the first submission to the last end.
    pub makespan: Seconds,
    /// Copies of tasks that were cancelled.
    pub cancelled: CancelledCopies,
    /// The slots on the network that its data took.
    pub transfers: Vec<Transfer>,
}

/// Arrivals are handed over in windows of this length.
const WINDOW: Seconds = Seconds(24 * 3_600);

/// Runs an application by just-in-time submission, on sites that stand at the same instant. A task
/// is ready when all its parents have ended; it goes to the site or sites that the rule chooses
/// (AMB-24d), and is submitted there when its data has arrived (AMB-24c). Tasks that are ready
/// together go in the order of planning, and each counts for those after it. Of copies that could
/// start in the same second, that at the site with the lower index does.
///
/// `None` when a task is wider than every site, and when a site cannot do what the rule asks of it:
/// one that keeps rectangles predicts no waits and cancels no copies.
#[must_use]
pub fn best_effort(
    application: &Application,
    mut sites: Vec<BestEffortSite<'_>>,
    choice: QueueChoice,
) -> Option<BestEffortRun> {
    let begin = sites.iter().map(|site| site.site.now()).max()?;
    let tasks = application.tasks();
    let nowhere = TaskPlacement {
        site: 0,
        start: begin,
        end: begin,
    };
    let mut run = BestEffortRun {
        placements: vec![nowhere; tasks.len()],
        submitted: vec![begin; tasks.len()],
        makespan: Seconds::ZERO,
        cancelled: CancelledCopies::default(),
        transfers: Vec::new(),
    };
    let mut waiting_for: Vec<usize> = tasks.iter().map(|task| task.parents.len()).collect();
    let mut children: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &task in application.order() {
        for dependency in &tasks[task].parents {
            children.entry(dependency.parent).or_default().push(task);
        }
    }
    let rank: Vec<usize> = {
        let mut rank = vec![0; tasks.len()];
        for (place, &task) in application.order().iter().enumerate() {
            rank[task] = place;
        }
        rank
    };
    let mut ready: Vec<usize> = application
        .order()
        .iter()
        .copied()
        .filter(|&task| waiting_for[task] == 0)
        .collect();
    let mut open = tasks.len();
    let mut now = begin;
    let mut handed_over = begin;
    let sizes: Vec<Nodes> = sites
        .iter()
        .map(|site| site.site.nodes_for_tasks())
        .collect();
    let mut in_transit = TasksInTransit::new(sites.len());
    let mut copies = Copies::new(sites.len());
    let mut links = Links::default();
    while open > 0 {
        let in_system = sites.iter().enumerate();
        let in_system =
            in_system.map(|(place, site)| site.site.tasks_in_system() + copies.on_the_way(place));
        let mut busy = in_transit.beside(in_system, now);
        for task in std::mem::take(&mut ready) {
            let needs = &application.tasks()[task];
            let nodes = needs.nodes;
            let placed = |parent: usize| (run.placements[parent].site, run.placements[parent].end);
            let arrivals = (0..sites.len())
                .map(|site| links.earliest(application, task, site, now, placed))
                .collect::<Vec<Seconds>>();
            let wait = |site: &BestEffortSite<'_>| match choice.quantile() {
                Some(quantile) => site.site.predicted_waits(&[nodes], quantile),
                None => Some(vec![Seconds::ZERO]),
            };
            let waits: Vec<Seconds> = sites.iter().map(wait).collect::<Option<Vec<_>>>()?.concat();
            let end = |site: usize| arrivals[site] + waits[site] + needs.runtimes[site];
            let fits = |site: usize| application.fits(task, site, sizes[site]);
            let chosen = busy.send(choice, fits, end);
            let submitted = chosen.iter().map(|&site| arrivals[site]).min()?;
            for site in chosen {
                let (arrival, sent) = links.send(application, task, site, now, placed);
                run.transfers.extend(sent);
                let job = task_job(application, task, site, arrival, FIRST_TASK);
                if choice.is_redundant() {
                    let transfers = application.transfers(task, site, |parent| placed(parent).0);
                    copies.send(TaskCopy::sent(job, site, transfers));
                } else {
                    in_transit.note(site, job.submit);
                    sites[site].site.submit([job]);
                }
            }
            run.submitted[task] = submitted;
        }
        let next = loop {
            let events = sites.iter().filter_map(|site| site.site.next_event());
            let next = events.chain(copies.next_arrival()).min();
            if let Some(next) = next.filter(|next| *next < handed_over) {
                break next;
            }
            if next.is_none() && sites.iter().all(|site| site.arrivals.is_empty()) {
                // Nothing will ever happen: a task was lost.
                return None;
            }
            handed_over += WINDOW;
            sites
                .iter_mut()
                .for_each(|site| site.hand_over(handed_over));
        };
        now = next;
        if !copies.is_empty() {
            copies.begin();
            while let Some((place, told)) = copies.next_visit(now) {
                let started = sites[place].site.pass_with_copies(now, told)?;
                for copy in copies.started(place, &started) {
                    run.cancelled.add(&copy);
                }
            }
        }
        for (place, site) in sites.iter_mut().enumerate() {
            site.site.advance(now + Seconds(1));
            for outcome in site.site.take_job_outcomes() {
                let Some(task) = outcome.job.id.0.checked_sub(FIRST_TASK) else {
                    continue;
                };
                let task = task as usize;
                let (Some(start), Some(end)) = (outcome.start, outcome.end) else {
                    return None;
                };
                run.placements[task] = TaskPlacement {
                    site: place,
                    start,
                    end,
                };
                open -= 1;
                for &child in children.get(&task).into_iter().flatten() {
                    waiting_for[child] -= 1;
                    if waiting_for[child] == 0 {
                        ready.push(child);
                    }
                }
            }
        }
        ready.sort_by_key(|&task| rank[task]);
    }
    let finish = run.placements.iter().map(|placed| placed.end).max();
    let first = run.submitted.iter().copied().min();
    run.makespan = finish.unwrap_or(begin) - first.unwrap_or(begin);
    Some(run)
}

impl BestEffortSite<'_> {
    fn hand_over(&mut self, until: Seconds) {
        let count = self.arrivals.partition_point(|job| job.submit < until);
        let (now, later) = self.arrivals.split_at(count);
        self.site.submit(now.iter().cloned());
        self.arrivals = later;
    }
}

/// A task as a job; ids go on from `first`.
pub(super) fn task_job(
    application: &Application,
    task: usize,
    site: usize,
    submit: Seconds,
    first: u32,
) -> Job {
    let needs = &application.tasks()[task];
    let id = JobId(first + task as u32);
    let job = Job::rigid(id, submit, needs.nodes, needs.runtimes[site]);
    job.with_memory(application.memory_of(needs.nodes))
}

#[cfg(test)]
mod tests;
