//! Greedy provisioning with queries: task after task, the start that the user likes best (ALG-7:
//! Singh 2008, §7.1, Figure 51), and two relatives that keep a deadline or a budget.

mod single_slot;

pub(super) use single_slot::ask_for_one_slot;

use serde::{Deserialize, Serialize};

use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::RequestId;
use bookahead_reservations::replanning::Offer;
use bookahead_reservations::selection;

use super::environment::Environment;
use super::{
    Application, BrokerError, ParetoFront, PlanValue, PriceSample, SiteQuestion, TaskPlacement,
    Transfer,
};

/// What a user wants of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "wish")]
pub enum Wish {
    /// A weighted sum of cost and finish, both as shares of their range (step 5): α = 0 takes the
    /// earliest, 1 the cheapest.
    TradeOff {
        /// α, in `[0, 1]`.
        alpha: f64,
    },
    /// The cheapest start from which the longest path of what follows still ends by the deadline;
    /// the earliest where there is none.
    Deadline {
        /// After submission.
        after: Seconds,
    },
    /// The earliest start that is affordable: a task may spend its share, by its least cost, of
    /// what the budget leaves beyond the least cost of the tasks ahead (the spare budget of BHEFT,
    /// Zheng and Sakellariou 2013); the cheapest where none is.
    Budget {
        /// Service units: processor-hours and externalities.
        service_units: f64,
    },
}

impl Wish {
    /// The plan of a front that fits best: for α as Singh 2008, eq. 15, says; the cheapest that
    /// keeps the deadline, else the fastest; the fastest within the budget, else the cheapest.
    /// `None` for an empty front.
    #[must_use]
    pub fn choose<C>(self, front: &ParetoFront<C>) -> Option<usize> {
        let members = front.members();
        let last = members.len().checked_sub(1)?;
        match self {
            Self::TradeOff { alpha } => front.choose(alpha),
            // Members are by rising makespan and falling cost.
            Self::Deadline { after } => {
                let keeping = members.partition_point(|(value, _)| value.makespan <= after);
                Some(keeping.saturating_sub(1))
            }
            Self::Budget { service_units } => {
                let dearer = members.partition_point(|(value, _)| value.cost > service_units);
                Some(dearer.min(last))
            }
        }
    }

    /// The best of bookings with these costs, in processor-seconds, and ends: by α, or the cheapest
    /// that ends by `latest` of the deadline, else the earliest, or the earliest that costs no more
    /// than `affordable` of the budget, else the cheapest.
    fn best(
        self,
        values: &[(f64, f64)],
        latest: impl FnOnce(Seconds) -> Seconds,
        affordable: impl FnOnce(f64) -> f64,
    ) -> Option<usize> {
        match self {
            Self::TradeOff { alpha } => selection::choose(values.iter().copied(), alpha),
            Self::Deadline { after } => {
                let latest = latest(after).0 as f64;
                within(values, |(_, end)| *end <= latest, 1.0, 0.0)
            }
            Self::Budget { service_units } => {
                let affordable = affordable(service_units);
                within(values, |(cost, _)| *cost <= affordable, 0.0, 1.0)
            }
        }
    }
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

/// A plan with one slot a task, booked.
#[derive(Clone, Debug, PartialEq)]
pub struct GreedyPlan {
    /// Where each task runs, by index.
    pub placements: Vec<TaskPlacement>,
    /// The externality price of each task's slot, by index.
    pub externalities: Vec<NodeSeconds>,
    /// c of all slots, as a multiple of what best effort costs at their sites.
    pub unit_price: f64,
    /// c · n · d of each task's slot, by index, in processor-seconds of 1 SU an hour.
    pub charges: Vec<f64>,
    /// The slots on the network that bring the data of its tasks.
    pub transfers: Vec<Transfer>,
    /// Cost in service units, and makespan.
    pub value: PlanValue,
    /// Queries that were answered.
    pub queries: u64,
    /// Offers to choose from, over all queries.
    pub offers: u64,
    /// What is booked, in the order of booking: the task and its number at the site.
    pub booked: Vec<(usize, RequestId)>,
    /// Starts that were gone when they were to be booked; the task asked again.
    pub gone: u32,
    /// Why there is no plan for all tasks; `booked` is what there is.
    pub failure: Option<PlanFailure>,
}

/// Why an application could not be planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanFailure {
    /// A task that no site can hold.
    #[error("task number {task} needs {nodes}, more than any site has")]
    TooWide {
        /// Index of the task.
        task: usize,
        /// Its processors.
        nodes: Nodes,
    },
    /// What was offered was gone too often.
    #[error("what was offered for task number {task} was gone too many times")]
    GivenUp {
        /// Index of the task.
        task: usize,
    },
}

/// Plans an application that is submitted at `submitted`, on sites that stand at that instant; what
/// is chosen is booked there at once, so that later queries see it (AMB-24). A start that is gone
/// by then is asked for anew, up to `retries` times. Sites must price what they admit.
///
/// Bookings are numbered from `next_request` on, which is advanced. Every offer is added to
/// `prices`, if there is such a list; queries and tasks are numbered there as in this plan.
///
/// # Errors
///
/// When a site answers something else than it is asked.
pub(super) async fn greedy(
    application: &Application,
    sites: &mut Environment<'_>,
    submitted: Seconds,
    wish: Wish,
    retries: u32,
    next_request: &mut u32,
    mut prices: Option<&mut Vec<PriceSample>>,
) -> Result<GreedyPlan, BrokerError> {
    let tasks = application.tasks();
    let mut plan = GreedyPlan {
        unit_price: sites.charges.reserved_unit_price.unwrap_or(1.0),
        ..GreedyPlan::nowhere(tasks.len(), submitted)
    };
    let tails = tails(application);
    let mut spent = 0.0;
    let mut cost_ahead = application.least_cost();
    let mut order = application.order().iter().copied();
    let mut next = order.next();
    while let Some(task) = next {
        let needs = &tasks[task];
        let mut choices: Vec<(usize, Offer)> = Vec::new();
        let fitting = sites.nodes_for_tasks().enumerate();
        let fitting = fitting.filter(|(site, most)| application.fits(task, *site, *most));
        let placements = &plan.placements;
        let finished = |parent: usize| (placements[parent].site, placements[parent].end);
        let links = &mut sites.links;
        let places = fitting.map(|(site, _)| {
            let earliest = links.earliest(application, task, site, submitted, finished);
            (site, earliest, needs.runtimes[site])
        });
        let places: Vec<(usize, Seconds, Seconds)> = places.collect();
        for (site, offers) in sites.query(needs.nodes, places.into_iter()).await? {
            if let Some(prices) = &mut prices {
                let of_task = (needs.nodes, needs.runtimes[site]);
                let samples = PriceSample::of_answer(plan.queries, task, site, of_task, &offers);
                prices.extend(samples);
            }
            plan.queries += 1;
            choices.extend(offers.into_iter().map(|offer| (site, offer)));
        }
        plan.offers += choices.len() as u64;
        let charge = |site, work| {
            let reserved = sites.charges.reserved_charge(work);
            application.charge(site, reserved)
        };
        let network = |site| {
            let ran = |parent: usize| placements[parent].site;
            3_600.0 * application.transfer_cost(task, site, ran)
        };
        let cost = |(site, offer): &(usize, Offer)| {
            let work = needs.nodes.for_span(needs.runtimes[*site]);
            charge(*site, work) + offer.price.0 as f64 + network(*site)
        };
        let end = |(site, offer): &(usize, Offer)| offer.start + needs.runtimes[*site];
        let values: Vec<(f64, f64)> = choices
            .iter()
            .map(|choice| (cost(choice), end(choice).0 as f64))
            .collect();
        let latest = |after| submitted + after - tails[task];
        let affordable = |service_units: f64| {
            let reserved = |least: f64| {
                let least = NodeSeconds(least.round() as i64);
                sites.charges.reserved_charge(least).0 as f64
            };
            let own = application.least_cost_of(task);
            let spare = service_units * 3_600.0 - (spent + reserved(cost_ahead));
            let share = own / cost_ahead.max(1.0);
            reserved(own) + spare.max(0.0) * share
        };
        let chosen = wish.best(&values, latest, affordable);
        let Some(chosen) = chosen else {
            plan.failure = Some(PlanFailure::TooWide {
                task,
                nodes: needs.nodes,
            });
            break;
        };
        let (site, offer) = choices[chosen];
        let (cost, end) = (cost(&choices[chosen]), end(&choices[chosen]));
        let network = network(site);
        let links = &mut sites.links;
        let (_, sent) = links.send(application, task, site, submitted, finished);
        let id = RequestId(*next_request);
        *next_request += 1;
        let question = SiteQuestion::Reserve {
            id,
            start: offer.start,
            nodes: needs.nodes,
            duration: needs.runtimes[site],
            price: offer.price,
        };
        if !sites.reserve(site, question).await? {
            sites.links.free(application, &sent);
            plan.gone += 1;
            if plan.gone > retries {
                plan.failure = Some(PlanFailure::GivenUp { task });
                break;
            }
            continue;
        }
        spent += cost;
        cost_ahead -= application.least_cost_of(task);
        plan.booked.push((task, id));
        plan.externalities[task] = offer.price;
        plan.charges[task] = cost - offer.price.0 as f64 - network;
        plan.transfers.extend(sent);
        plan.placements[task] = TaskPlacement {
            site,
            start: offer.start,
            end,
        };
        next = order.next();
    }
    let finish = plan.placements.iter().map(|placed| placed.end).max();
    plan.value = PlanValue {
        cost: spent / 3_600.0,
        makespan: finish.unwrap_or(submitted) - submitted,
    };
    Ok(plan)
}

impl GreedyPlan {
    /// A plan with none of so many tasks booked.
    pub(super) fn nowhere(tasks: usize, submitted: Seconds) -> Self {
        let nowhere = TaskPlacement {
            site: 0,
            start: submitted,
            end: submitted,
        };
        Self {
            placements: vec![nowhere; tasks],
            externalities: vec![NodeSeconds(0); tasks],
            unit_price: 1.0,
            charges: vec![0.0; tasks],
            transfers: Vec::new(),
            value: PlanValue {
                cost: 0.0,
                makespan: Seconds::ZERO,
            },
            queries: 0,
            offers: 0,
            booked: Vec::with_capacity(tasks),
            gone: 0,
            failure: None,
        }
    }
}

/// For each task, the longest path of what follows it, at the fastest sites and without transfers.
fn tails(application: &Application) -> Vec<Seconds> {
    let mut tails = vec![Seconds::ZERO; application.tasks().len()];
    for &task in application.order().iter().rev() {
        let needs = &application.tasks()[task];
        let shortest = application.shortest(task);
        let from_here = tails[task] + shortest;
        for dependency in &needs.parents {
            let tail = &mut tails[dependency.parent];
            *tail = (*tail).max(from_here);
        }
    }
    tails
}

#[cfg(test)]
mod tests;
