//! Workflows that buy what they run on.
//!
//! A workflow is an [`Application`](provisioning::Application) to its planner: tasks that wait for
//! each other, with a run time at each site. It takes advertised slots, chosen by a search for what
//! no other choice beats in cost and makespan; or it asks machines that take reservations for the
//! price of every start, task after task; or it submits a task when its parents have ended, which
//! is *best effort* and what the others are compared with.
//!
//! ```
//! use bookahead_core::units::{Nodes, Seconds};
//! use bookahead_workflows::provisioning::{
//!     Application, ApplicationTask, BestEffortSite, Dependency, ProviderSite,
//!     ProvisioningSettings, QueueChoice, best_effort,
//! };
//!
//! // Two tasks of a node each, one after the other, on a site that is idle.
//! let task = |runtime, parents: &[usize]| ApplicationTask {
//!     nodes: Nodes(1),
//!     runtimes: vec![Seconds(runtime)],
//!     parents: (parents.iter())
//!         .map(|&parent| Dependency { parent, transfer: Seconds(7) })
//!         .collect(),
//! };
//! let application = Application::new(vec![task(100, &[]), task(50, &[0])], vec![0, 1]);
//! let site = BestEffortSite {
//!     site: ProviderSite::new(Nodes(2), &ProvisioningSettings::default()),
//!     arrivals: &[],
//! };
//! let run = best_effort(&application, vec![site], QueueChoice::FewestTasks);
//! let run = run.expect("every task fits");
//! assert_eq!(run.makespan, Seconds(150));
//! ```

#[cfg(test)]
mod by_actors;

// Applications, the sites that they buy from, and the ways to choose.
pub mod provisioning;
