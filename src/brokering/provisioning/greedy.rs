//! Greedy provisioning with queries: task after task, the start that the user likes best (spec `provisioning.md` §8.2, ALG-7), and
//! two relatives that keep a deadline or a budget.

use serde::{Deserialize, Serialize};

use super::{Application, PlanValue, TaskPlacement};
use crate::scheduling::reserving::{Offer, ReservingMachine};
use crate::scheduling::selection;
use crate::units::{NodeSeconds, Nodes, Seconds};
use crate::workload::{RequestId, ReservationRequest, WantedStart};

/// What a user wants of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "wish")]
pub enum Wish {
    /// A weighted sum of cost and finish, both as shares of their range (step 5): α = 0 takes the earliest, 1 the cheapest.
    TradeOff {
        /// α, in `[0, 1]`.
        alpha: f64,
    },
    /// The cheapest start from which the longest path of what follows still ends by the deadline; the earliest where there is
    /// none.
    Deadline {
        /// After submission.
        after: Seconds,
    },
    /// The earliest start that is affordable: a task may spend its share, by work, of what the budget leaves beyond the work of
    /// the tasks ahead (the spare budget of BHEFT, Zheng and Sakellariou 2013); the cheapest where none is.
    Budget {
        /// Service units: processor-hours and externalities.
        service_units: f64,
    },
}

/// A plan with one slot a task.
#[derive(Clone, Debug, PartialEq)]
pub struct GreedyPlan {
    /// Where each task runs, by index.
    pub placements: Vec<TaskPlacement>,
    /// The externality price of each task's slot, by index.
    pub externalities: Vec<NodeSeconds>,
    /// Cost in service units, and makespan.
    pub value: PlanValue,
    /// Queries that were answered.
    pub queries: u64,
    /// Offers to choose from, over all queries.
    pub offers: u64,
}

/// A task that no site can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("task number {task} needs {nodes}, more than any site has")]
pub struct TooWide {
    /// Index of the task.
    pub task: usize,
    /// Its processors.
    pub nodes: Nodes,
}

/// Plans an application that is submitted now, on sites that stand at the same instant; what is chosen is booked there at once, so
/// that later queries see it (AMB-24). Plan on clones to leave the sites as they are. Sites must price what they admit.
///
/// Requests are numbered from `first_request` on.
///
/// # Errors
///
/// When a task fits nowhere; what was booked for the others stays booked.
pub fn greedy(
    application: &Application,
    sites: &mut [ReservingMachine],
    wish: Wish,
    first_request: u32,
) -> Result<GreedyPlan, TooWide> {
    let submitted = sites.iter().map(ReservingMachine::now).max();
    let submitted = submitted.unwrap_or(Seconds::ZERO);
    let tasks = application.tasks();
    let nowhere = TaskPlacement {
        site: 0,
        start: submitted,
        end: submitted,
    };
    let mut plan = GreedyPlan {
        placements: vec![nowhere; tasks.len()],
        externalities: vec![NodeSeconds(0); tasks.len()],
        value: PlanValue {
            cost: 0.0,
            makespan: Seconds::ZERO,
        },
        queries: 0,
        offers: 0,
    };
    let tails = tails(application);
    let mut spent = NodeSeconds(0);
    let mut work_ahead = least_work(application);
    for (request, &task) in (first_request..).zip(application.order()) {
        let needs = &tasks[task];
        let mut choices: Vec<(usize, Offer)> = Vec::new();
        for (site, machine) in sites.iter_mut().enumerate() {
            if needs.nodes > machine.nodes() {
                continue;
            }
            let earliest = application.earliest(task, site, submitted, |parent| {
                let placed = plan.placements[parent];
                (placed.site, placed.end)
            });
            let offers = machine.offers(earliest, needs.nodes, needs.runtimes[site]);
            plan.queries += 1;
            choices.extend(offers.into_iter().map(|offer| (site, offer)));
        }
        plan.offers += choices.len() as u64;
        let cost = |(site, offer): &(usize, Offer)| {
            needs.nodes.for_span(needs.runtimes[*site]) + offer.price
        };
        let end = |(site, offer): &(usize, Offer)| offer.start + needs.runtimes[*site];
        let values: Vec<(f64, f64)> = choices
            .iter()
            .map(|choice| (cost(choice).0 as f64, end(choice).0 as f64))
            .collect();
        let chosen = match wish {
            Wish::TradeOff { alpha } => selection::choose(values.iter().copied(), alpha),
            Wish::Deadline { after } => {
                let latest = (submitted + after - tails[task]).0 as f64;
                within(&values, |(_, end)| *end <= latest, 1.0, 0.0)
            }
            Wish::Budget { service_units } => {
                let own = least(needs.nodes, &needs.runtimes);
                let spare = service_units * 3_600.0 - (spent + work_ahead).0 as f64;
                let share = own.0 as f64 / work_ahead.0.max(1) as f64;
                let affordable = own.0 as f64 + spare.max(0.0) * share;
                within(&values, |(cost, _)| *cost <= affordable, 0.0, 1.0)
            }
        };
        let Some(chosen) = chosen else {
            return Err(TooWide {
                task,
                nodes: needs.nodes,
            });
        };
        let (site, offer) = choices[chosen];
        book(
            &mut sites[site],
            RequestId(request),
            offer.start,
            needs.nodes,
            needs.runtimes[site],
        );
        spent += cost(&choices[chosen]);
        work_ahead = NodeSeconds(work_ahead.0 - least(needs.nodes, &needs.runtimes).0);
        plan.externalities[task] = offer.price;
        plan.placements[task] = TaskPlacement {
            site,
            start: offer.start,
            end: end(&choices[chosen]),
        };
    }
    let finish = plan.placements.iter().map(|placed| placed.end).max();
    plan.value = PlanValue {
        cost: spent.0 as f64 / 3_600.0,
        makespan: finish.unwrap_or(submitted) - submitted,
    };
    Ok(plan)
}

/// The best by `alpha` of those that fit, else the best by `otherwise` of all.
fn within(
    values: &[(f64, f64)],
    fits: impl Fn(&(f64, f64)) -> bool,
    alpha: f64,
    otherwise: f64,
) -> Option<usize> {
    let fitting: Vec<usize> = (0..values.len())
        .filter(|&index| fits(&values[index]))
        .collect();
    if fitting.is_empty() {
        return selection::choose(values.iter().copied(), otherwise);
    }
    selection::choose(fitting.iter().map(|&index| values[index]), alpha).map(|place| fitting[place])
}

/// Blocks a slot that was offered. No time passes: the machine works off what is due at this instant.
fn book(
    machine: &mut ReservingMachine,
    id: RequestId,
    start: Seconds,
    nodes: Nodes,
    duration: Seconds,
) {
    let now = machine.now();
    machine.request([ReservationRequest {
        id,
        trace_number: 0,
        submit: now,
        nodes,
        duration,
        runtime: duration,
        wanted: WantedStart::At(start),
    }]);
    machine.advance(now + Seconds(1));
}

fn least(nodes: Nodes, runtimes: &[Seconds]) -> NodeSeconds {
    let shortest = runtimes.iter().copied().min().unwrap_or(Seconds::ZERO);
    nodes.for_span(shortest)
}

fn least_work(application: &Application) -> NodeSeconds {
    let tasks = application.tasks().iter();
    tasks.fold(NodeSeconds(0), |sum, task| {
        sum + least(task.nodes, &task.runtimes)
    })
}

/// For each task, the longest path of what follows it, at the fastest sites and without transfers.
fn tails(application: &Application) -> Vec<Seconds> {
    let mut tails = vec![Seconds::ZERO; application.tasks().len()];
    for &task in application.order().iter().rev() {
        let needs = &application.tasks()[task];
        let shortest = needs.runtimes.iter().copied().min();
        let from_here = tails[task] + shortest.unwrap_or(Seconds::ZERO);
        for dependency in &needs.parents {
            let tail = &mut tails[dependency.parent];
            *tail = (*tail).max(from_here);
        }
    }
    tails
}

#[cfg(test)]
mod tests;
