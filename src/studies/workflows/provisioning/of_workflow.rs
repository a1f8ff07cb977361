//! Turns a workflow into the application that planners of some sites see.

use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::workflows::heft::{HeftError, order_by_rank, ranks};
use bookahead_core::workload::workflows::{Network, Workflow};

use super::{Application, ApplicationTask, Dependency};

/// Sums of processor-seconds up to this are exact as floating-point numbers too.
const MOST_WORK: f64 = 9e15;

/// Why a workflow cannot be planned on some sites.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ApplicationError {
    /// There are no ranks.
    #[error(transparent)]
    Ranks(#[from] HeftError),
    /// A task fits nowhere (AMB-17b).
    #[error(
        "workflow `{workflow}`: task `{task}` needs {nodes}, and no site has more than {largest} for it, with the memory of each where that is counted; \
         choose a larger site, narrower tasks or tasks of less memory"
    )]
    TooWide {
        /// The workflow.
        workflow: String,
        /// The task.
        task: String,
        /// What it needs.
        nodes: Nodes,
        /// What there is.
        largest: Nodes,
    },
    /// More work than costs can be reckoned with.
    #[error(
        "workflow `{workflow}` has {work:.3e} processor-seconds of work; allowed is at most 9e15"
    )]
    TooMuchWork {
        /// The workflow.
        workflow: String,
        /// Processor-seconds.
        work: f64,
    },
}

impl Application {
    /// The application that a workflow is on sites of these sizes, in HEFT's order (Singh 2008, eq.
    /// 7): run times and transfers in whole seconds, rounded up. A task of 0 s is booked for 1 s,
    /// because every slot has a length.
    ///
    /// # Errors
    ///
    /// When a task is wider than every site, when run times are given for another number of sites,
    /// when the network cannot be.
    pub fn of(
        workflow: &Workflow,
        sites: &[Nodes],
        network: &Network,
    ) -> Result<Self, ApplicationError> {
        let ranks = ranks(workflow, sites.len(), network)?;
        let largest = sites.iter().copied().max().unwrap_or(Nodes(0));
        let name = || workflow.name().to_owned();
        let mut work = 0.0;
        let mut tasks = Vec::with_capacity(workflow.tasks().len());
        for (place, task) in (0_u32..).zip(workflow.tasks()) {
            if task.nodes > largest {
                return Err(ApplicationError::TooWide {
                    workflow: name(),
                    task: task.name.clone(),
                    nodes: task.nodes,
                    largest,
                });
            }
            let runtimes: Vec<Seconds> = (0..sites.len())
                .map(|site| task.whole_seconds_on(site).max(Seconds(1)))
                .collect();
            let longest = runtimes.iter().copied().max().unwrap_or(Seconds(1));
            work += f64::from(task.nodes.0) * longest.0 as f64;
            let parents = workflow.parents(bookahead_core::workload::workflows::TaskId(place));
            tasks.push(ApplicationTask {
                nodes: task.nodes,
                runtimes,
                parents: parents
                    .iter()
                    .map(|edge| Dependency {
                        parent: edge.parent.index(),
                        transfer: network.whole_seconds(edge.bytes),
                    })
                    .collect(),
            });
        }
        if work > MOST_WORK {
            return Err(ApplicationError::TooMuchWork {
                workflow: name(),
                work,
            });
        }
        let order = order_by_rank(workflow, &ranks);
        Ok(Self::new(
            tasks,
            order.into_iter().map(|task| task.index()).collect(),
        ))
    }

    /// The longest path through the application, each task at its fastest site and without
    /// transfers: no plan is shorter.
    #[must_use]
    pub fn longest_path(&self) -> Seconds {
        let mut ends = vec![Seconds::ZERO; self.tasks().len()];
        for &task in self.order() {
            let needs = &self.tasks()[task];
            let parents = needs.parents.iter().map(|edge| ends[edge.parent]);
            ends[task] = parents.max().unwrap_or(Seconds::ZERO) + self.shortest(task);
        }
        ends.into_iter().max().unwrap_or(Seconds::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use bookahead_core::random::stream;
    use bookahead_core::units::NodeSeconds;
    use bookahead_core::workload::workflows::{
        CyberShakeSettings, Edge, SyntheticSettings, Task, TaskId, cyber_shake, synthetic,
    };

    use super::*;

    fn task(name: &str, nodes: u32, seconds: f64) -> Task {
        Task {
            name: name.to_owned(),
            module: "m".to_owned(),
            nodes: Nodes(nodes),
            seconds,
            seconds_by_resource: Vec::new(),
        }
    }

    fn chain(tasks: Vec<Task>, bytes: u64) -> Workflow {
        let edges = (1..tasks.len() as u32)
            .map(|child| Edge {
                parent: TaskId(child - 1),
                child: TaskId(child),
                bytes,
            })
            .collect();
        Workflow::new("chain", tasks, edges).unwrap()
    }

    #[test]
    fn run_times_and_transfers_are_rounded_up_to_whole_seconds_and_nothing_takes_none() {
        let tasks = vec![task("a", 2, 0.0), task("b", 3, 1.25), task("c", 1, 7.0)];
        let workflow = chain(tasks, 125_000_000_001);
        let sites = [Nodes(3), Nodes(2)];
        let application = Application::of(&workflow, &sites, &Network::default()).unwrap();
        let runtimes: Vec<_> = application
            .tasks()
            .iter()
            .map(|task| task.runtimes.clone())
            .collect();
        let both = |seconds| vec![Seconds(seconds); 2];
        assert_eq!(runtimes, [both(1), both(2), both(7)]);
        let transfer = application.tasks()[1].parents[0].transfer;
        assert_eq!(transfer, Seconds(251));
        assert_eq!(application.order(), [0, 1, 2]);
        assert_eq!(application.longest_path(), Seconds(10));
        assert_eq!(application.least_cost(), 15.0);
    }

    #[test]
    fn the_seismic_hazard_workflow_has_the_work_and_the_longest_path_of_the_specification() {
        let settings = CyberShakeSettings::default();
        let workflow = cyber_shake(&settings, &mut stream(1, "c", 0, "w")).unwrap();
        let application = Application::of(&workflow, &[Nodes(430)], &Network::default()).unwrap();
        assert_eq!(application.least_cost(), 52_460_341.0);
        assert_eq!(application.work(0), NodeSeconds(52_460_341));
        assert_eq!(application.longest_path(), Seconds(89_021));
        let narrow = Application::of(&workflow, &[Nodes(128)], &Network::default());
        let error = narrow.unwrap_err().to_string();
        assert!(
            error.contains("`fd_grid_cvm` needs 288") && error.contains("128"),
            "{error}"
        );
    }

    #[test]
    fn run_times_for_other_sites_and_more_work_than_can_be_counted_are_refused() {
        let mut heterogeneous = task("a", 1, 4.0);
        heterogeneous.seconds_by_resource = vec![3.0, 5.0];
        let workflow = chain(vec![heterogeneous], 0);
        let one = Application::of(&workflow, &[Nodes(1)], &Network::default());
        assert!(matches!(one, Err(ApplicationError::Ranks(_))));
        let two = Application::of(&workflow, &[Nodes(1); 2], &Network::default()).unwrap();
        assert_eq!(two.tasks()[0].runtimes, [Seconds(3), Seconds(5)]);
        assert_eq!(two.least_cost(), 3.0);
        let endless = chain(vec![task("a", 10_000, 1e12)], 0);
        let error = Application::of(&endless, &[Nodes(10_000)], &Network::default());
        assert!(matches!(error, Err(ApplicationError::TooMuchWork { .. })));
    }

    #[test]
    fn the_order_is_a_topological_one_on_one_and_on_several_sites() {
        for sites in [1, 3] {
            let settings = SyntheticSettings {
                mean_bytes: 125_000_000_000,
                ..SyntheticSettings::default()
            };
            let workflow = synthetic(&settings, &mut stream(2, "s", 0, "w")).unwrap();
            let sizes = vec![Nodes(430); sites];
            let application = Application::of(&workflow, &sizes, &Network::default()).unwrap();
            let mut seen = vec![false; application.tasks().len()];
            for &task in application.order() {
                let parents = &application.tasks()[task].parents;
                assert!(parents.iter().all(|edge| seen[edge.parent]));
                seen[task] = true;
            }
            assert!(seen.into_iter().all(|seen| seen));
        }
    }
}
