//! Applications that buy their resources: which of the advertised slots a workflow should take (spec `provisioning.md` §4), or
//! which start of each task it should ask for (§8).
//!
//! An [`Application`] is a workflow as a planner sees it. [`evaluate`] says what a choice of slots costs and how long the
//! application takes on it; [`moga`] and [`nsga2`] look for choices that no other beats in both. [`greedy`] asks for the price of every start instead, task
//! after task. [`best_effort`] is what all of them are compared with.

mod application;
mod best_effort;
mod evaluate;
mod fitness;
pub mod genetic;
mod greedy;
mod pareto;

pub use application::{Application, ApplicationTask, Dependency};
pub use best_effort::{BestEffortRun, BestEffortSite, FIRST_TASK, best_effort};
pub use evaluate::{Advertised, Evaluator, PlanValue, TaskPlacement};
pub use fitness::{Fitness, assign_fitness};
pub use genetic::{Genetic, GeneticSettings, moga, nsga2};
pub use greedy::{GreedyPlan, TooWide, Wish, greedy};
pub use pareto::{ParetoFront, dominates, hypervolume};
