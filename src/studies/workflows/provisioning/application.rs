//! A workflow as a planner sees it: tasks in the order of planning, with the run time of each at
//! every site, and what a processor-hour costs there.

use std::ops::Range;

use bookahead_core::units::{Megabytes, NodeSeconds, Nodes, Seconds};

use super::schedule_cost::Judged;
use super::{NetworkTerms, Transfer};

/// One task of an [`Application`].
#[derive(Clone, Debug, PartialEq)]
pub struct ApplicationTask {
    /// Processors, `v_ip`.
    pub nodes: Nodes,
    /// Run time at each site, `d_ir`.
    pub runtimes: Vec<Seconds>,
    /// What it waits for.
    pub parents: Vec<Dependency>,
}

/// An edge: a task waits for another, and for data where the two run at different sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// Index of the parent.
    pub parent: usize,
    /// How long its data takes between two sites; none passes within a site (Singh 2008, §4.1).
    pub transfer: Seconds,
}

impl Dependency {
    /// When the data is at `site`, of a parent that ended there and then.
    fn arrives(self, (parent_site, end): (usize, Seconds), site: usize) -> Seconds {
        if parent_site == site {
            end
        } else {
            end + self.transfer
        }
    }
}

/// A workflow that is to be planned on one or several sites (Singh 2008, §4.1).
#[derive(Clone, Debug, PartialEq)]
pub struct Application {
    tasks: Vec<ApplicationTask>,
    order: Vec<usize>,
    /// What a processor-hour of best effort costs at each site, in service units; empty where that
    /// is 1 everywhere.
    unit_prices: Vec<f64>,
    /// When the data of finished parents is there, by task and site; empty where no parent is
    /// finished.
    ready: Vec<Vec<Seconds>>,
    /// On which terms data moves between sites; `None` where transfers never meet and cost nothing.
    network: Option<NetworkTerms>,
    /// Memory that a task takes with each of its processors, where sites count it; 0 else.
    memory: Megabytes,
    /// Whether a task runs at a site, by task and site; empty where all run at all.
    runs_at: Vec<Vec<bool>>,
    /// Several applications in one, where a plan for them is judged by something else than its last
    /// end.
    judged: Option<Judged>,
}

impl Application {
    /// An application of these tasks, planned in this order, which must be a topological one
    /// (non-increasing ranks: Singh 2008, eq. 7).
    ///
    /// # Panics
    ///
    /// Debug builds check that every parent comes before its children and that every task has a run
    /// time at every site.
    #[must_use]
    pub fn new(tasks: Vec<ApplicationTask>, order: Vec<usize>) -> Self {
        debug_assert_eq!(tasks.len(), order.len());
        debug_assert!(is_topological(&tasks, &order));
        Self {
            tasks,
            order,
            unit_prices: Vec::new(),
            ready: Vec::new(),
            network: None,
            memory: Megabytes(0),
            runs_at: Vec::new(),
            judged: None,
        }
    }

    pub(super) fn with_judged(self, judged: Option<Judged>) -> Self {
        Self { judged, ..self }
    }

    pub(super) fn judged(&self) -> Option<&Judged> {
        self.judged.as_ref()
    }

    /// The same application whose tasks take so much memory with each of their processors.
    #[must_use]
    pub fn with_memory(self, memory: Megabytes) -> Self {
        Self { memory, ..self }
    }

    /// Memory that a task of so many processors takes.
    #[must_use]
    pub fn memory_of(&self, nodes: Nodes) -> Megabytes {
        self.memory.of_nodes(nodes)
    }

    /// The same application whose tasks run at some sites only, by task and site; none: at all.
    #[must_use]
    pub fn running_at(self, runs_at: Vec<Vec<bool>>) -> Self {
        debug_assert!(runs_at.is_empty() || runs_at.len() == self.tasks.len());
        Self { runs_at, ..self }
    }

    /// Whether a task runs at a site, by site; empty where it runs at all.
    #[must_use]
    pub fn sites_of(&self, task: usize) -> &[bool] {
        self.runs_at.get(task).map_or(&[], Vec::as_slice)
    }

    /// Whether a task runs at a site.
    #[must_use]
    pub fn may_run(&self, task: usize, site: usize) -> bool {
        self.sites_of(task).get(site).copied().unwrap_or(true)
    }

    /// Whether a task runs at a site that holds tasks of up to `most` processors.
    #[must_use]
    pub fn fits(&self, task: usize, site: usize, most: Nodes) -> bool {
        self.tasks[task].nodes <= most && self.may_run(task, site)
    }

    /// The run time of a task at the fastest of the sites at which it runs.
    #[must_use]
    pub fn shortest(&self, task: usize) -> Seconds {
        let runtimes = self.tasks[task].runtimes.iter().enumerate();
        let here = runtimes.filter(|(site, _)| self.may_run(task, *site));
        here.map(|(_, runtime)| *runtime)
            .min()
            .unwrap_or(Seconds::ZERO)
    }

    /// The same application where a processor-hour of best effort costs so many service units at
    /// each site; none: 1 everywhere.
    #[must_use]
    pub fn priced(mut self, unit_prices: &[f64]) -> Self {
        self.unit_prices = unit_prices.to_vec();
        self
    }

    /// The same application whose data moves between sites on these terms, at the speed that its
    /// edges have.
    #[must_use]
    pub fn over(mut self, network: Option<NetworkTerms>) -> Self {
        self.network = network;
        self
    }

    /// On which terms data moves between sites; `None` where transfers never meet and cost nothing.
    #[must_use]
    pub fn network(&self) -> Option<&NetworkTerms> {
        self.network.as_ref()
    }

    /// What these slots on the network cost, in service units.
    #[must_use]
    pub fn network_cost(&self, slots: &[Transfer]) -> f64 {
        let held = slots.iter().map(|slot| (slot.end - slot.start).0);
        self.network_price(Seconds(held.sum()))
    }

    /// What the slots for a task's data cost at `site`, in service units.
    #[must_use]
    pub fn transfer_cost(&self, task: usize, site: usize, ran: impl Fn(usize) -> usize) -> f64 {
        let Some(terms) = &self.network else {
            return 0.0;
        };
        let parents = self.tasks[task].parents.iter();
        let elsewhere = parents.filter(|edge| ran(edge.parent) != site);
        let held = elsewhere.map(|edge| terms.held(edge.transfer).0);
        self.network_price(Seconds(held.sum()))
    }

    fn network_price(&self, held: Seconds) -> f64 {
        let terms = self.network.as_ref();
        terms.map_or(0.0, |terms| held.0 as f64 * terms.second_price)
    }

    /// What a processor-hour of best effort costs at a site, in service units.
    #[must_use]
    pub fn unit_price(&self, site: usize) -> f64 {
        self.unit_prices.get(site).copied().unwrap_or(1.0)
    }

    /// What processor-time costs at a site by best effort, in processor-seconds of 1 SU an hour.
    #[must_use]
    pub fn charge(&self, site: usize, work: NodeSeconds) -> f64 {
        work.0 as f64 * self.unit_price(site)
    }

    /// The least that a task costs by best effort, at its cheapest site, in processor-seconds of
    /// 1 SU an hour.
    #[must_use]
    pub fn least_cost_of(&self, task: usize) -> f64 {
        let needs = &self.tasks[task];
        let runtimes = needs.runtimes.iter().enumerate();
        runtimes
            .filter(|(site, _)| self.may_run(task, *site))
            .map(|(site, span)| self.charge(site, needs.nodes.for_span(*span)))
            .reduce(f64::min)
            .unwrap_or(0.0)
    }

    /// The least that all tasks cost by best effort, in processor-seconds of 1 SU an hour.
    #[must_use]
    pub fn least_cost(&self) -> f64 {
        let tasks = 0..self.tasks.len();
        tasks.map(|task| self.least_cost_of(task)).sum()
    }

    /// The tasks, by index.
    #[must_use]
    pub fn tasks(&self) -> &[ApplicationTask] {
        &self.tasks
    }

    /// Indices of the tasks in the order of planning.
    #[must_use]
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The same application with other run times: `runtime` makes them of the index of a task and
    /// its run time at a site.
    #[must_use]
    pub fn with_runtimes(&self, runtime: impl Fn(usize, Seconds) -> Seconds) -> Self {
        let mut other = self.clone();
        for (task, needs) in other.tasks.iter_mut().enumerate() {
            for own in &mut needs.runtimes {
                *own = runtime(task, *own);
            }
        }
        other
    }

    /// `AC_BE`, what best effort costs at one site: processor-seconds of all tasks (Singh 2008, eq.
    /// 16). A lower bound of every plan at that site.
    #[cfg(test)]
    pub(crate) fn work(&self, site: usize) -> NodeSeconds {
        self.tasks.iter().fold(NodeSeconds(0), |sum, task| {
            sum + task.nodes.for_span(task.runtimes[site])
        })
    }

    /// The part of the application that `keeps` names; the parents of its tasks that are no part of
    /// it ran or will run as `placed` says, and their data arrives without a slot on the network.
    /// With it, the index that each of its tasks has here.
    #[must_use]
    pub fn rest(
        &self,
        keeps: impl Fn(usize) -> bool,
        placed: impl Fn(usize) -> (usize, Seconds),
    ) -> (Self, Vec<usize>) {
        let kept: Vec<usize> = (0..self.tasks.len()).filter(|task| keeps(*task)).collect();
        let mut place = vec![usize::MAX; self.tasks.len()];
        for (new, &old) in kept.iter().enumerate() {
            place[old] = new;
        }
        let mut ready = Vec::with_capacity(kept.len());
        let tasks = kept.iter().map(|&old| {
            let task = &self.tasks[old];
            let sites = 0..task.runtimes.len();
            let known = |site: usize| self.ready.get(old).and_then(|ready| ready.get(site));
            let mut data: Vec<Seconds> = sites
                .map(|site| known(site).copied().unwrap_or(Seconds::ZERO))
                .collect();
            let mut parents = Vec::new();
            for dependency in &task.parents {
                if keeps(dependency.parent) {
                    parents.push(Dependency {
                        parent: place[dependency.parent],
                        ..*dependency
                    });
                    continue;
                }
                let finished = placed(dependency.parent);
                for (site, ready) in data.iter_mut().enumerate() {
                    *ready = (*ready).max(dependency.arrives(finished, site));
                }
            }
            ready.push(data);
            ApplicationTask {
                parents,
                ..task.clone()
            }
        });
        let tasks: Vec<ApplicationTask> = tasks.collect();
        let order = self.order.iter().filter(|task| keeps(**task));
        let order = order.map(|&task| place[task]).collect();
        let rest = Self {
            ready,
            unit_prices: self.unit_prices.clone(),
            network: self.network,
            memory: self.memory,
            runs_at: (kept.iter())
                .filter_map(|&old| self.runs_at.get(old).cloned())
                .collect(),
            judged: self.judged.as_ref().map(|judged| judged.of_tasks(&kept)),
            ..Self::new(tasks, order)
        };
        (rest, kept)
    }

    /// The tasks of one of several applications that wait for none of the others, as an application
    /// of its own, and the index that each of them has here.
    #[must_use]
    pub fn part(&self, tasks: &Range<usize>) -> (Self, Vec<usize>) {
        self.rest(|task| tasks.contains(&task), |_| (0, Seconds::ZERO))
    }

    /// How long the data of a task takes to `site`, of all parents that ran elsewhere together.
    #[must_use]
    pub fn transfers(&self, task: usize, site: usize, ran: impl Fn(usize) -> usize) -> Seconds {
        let parents = self.tasks[task].parents.iter();
        parents
            .filter(|dependency| ran(dependency.parent) != site)
            .fold(Seconds::ZERO, |sum, dependency| sum + dependency.transfer)
    }

    /// When a task may start at `site` at the earliest, given where and when its parents end.
    #[must_use]
    pub fn earliest(
        &self,
        task: usize,
        site: usize,
        submitted: Seconds,
        finished: impl Fn(usize) -> (usize, Seconds),
    ) -> Seconds {
        let ready = self.ready.get(task).and_then(|ready| ready.get(site));
        let begin = ready.map_or(submitted, |ready| submitted.max(*ready));
        let parents = self.tasks[task].parents.iter();
        parents
            .map(|dependency| dependency.arrives(finished(dependency.parent), site))
            .max()
            .unwrap_or(begin)
            .max(begin)
    }
}

fn is_topological(tasks: &[ApplicationTask], order: &[usize]) -> bool {
    let mut planned = vec![false; tasks.len()];
    order.iter().all(|&task| {
        planned[task] = true;
        let parents = &tasks[task].parents;
        parents.iter().all(|dependency| planned[dependency.parent])
    }) && planned.into_iter().all(|planned| planned)
}
