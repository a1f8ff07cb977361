//! A workflow as a planner sees it: tasks in the order of planning, with what each costs at every site.

use crate::units::{NodeSeconds, Nodes, Seconds};

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
    /// How long its data takes between two sites; none passes within a site (§4.1).
    pub transfer: Seconds,
}

/// A workflow that is to be planned on one or several sites (spec `provisioning.md` §4.1).
#[derive(Clone, Debug, PartialEq)]
pub struct Application {
    tasks: Vec<ApplicationTask>,
    order: Vec<usize>,
}

impl Application {
    /// An application of these tasks, planned in this order, which must be a topological one (non-increasing ranks, eq. 7).
    ///
    /// # Panics
    ///
    /// Debug builds check that every parent comes before its children and that every task has a run time at every site.
    #[must_use]
    pub fn new(tasks: Vec<ApplicationTask>, order: Vec<usize>) -> Self {
        debug_assert_eq!(tasks.len(), order.len());
        debug_assert!(is_topological(&tasks, &order));
        Self { tasks, order }
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

    /// `AC_BE`, what best effort costs at one site: processor-seconds of all tasks (eq. 16). A lower bound of every plan at that
    /// site.
    #[must_use]
    pub fn work(&self, site: usize) -> NodeSeconds {
        self.tasks.iter().fold(NodeSeconds(0), |sum, task| {
            sum + task.nodes.for_span(task.runtimes[site])
        })
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
        self.tasks[task]
            .parents
            .iter()
            .map(|dependency| {
                let (parent_site, end) = finished(dependency.parent);
                if parent_site == site {
                    end
                } else {
                    end + dependency.transfer
                }
            })
            .max()
            .unwrap_or(submitted)
            .max(submitted)
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
