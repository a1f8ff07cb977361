//! Applications that buy their resources: which of the advertised slots a workflow should take
//! (Singh 2008, chapter 4), or which start it should ask for, task by task (Singh 2008, chapter 7).
//!
//! An [`Application`] is a workflow as a planner sees it. An [`Evaluator`] computes the cost of a
//! choice of slots and the makespan of the application on it; [`moga`] and [`nsga2`] search for
//! choices that no other beats in both. `greedy` instead asks for the price of every start, task
//! after task, and a genetic search over such answers has each plan priced as a whole. All of them
//! are compared with [`best_effort`].

mod alone;
mod application;
mod background;
mod best_effort;
mod broker;
mod copies;
mod environment;
mod evaluate;
mod fitness;
pub mod genetic;
mod greedy;
mod inputs;
mod layout;
mod ledger;
pub mod measures;
mod network;
mod of_workflow;
mod outcome;
mod pareto;
mod processor_failures;
mod provider;
mod questions;
mod queue_choice;
mod refund;
mod scene;
mod schedule_cost;
mod search;
mod settings;
mod site_load;
mod slot_lifetimes;
pub mod study;
mod tariff;
#[cfg(test)]
pub(crate) mod testutils;
mod users;

pub use alone::alone;
pub use application::{Application, ApplicationTask, Dependency};
pub use background::{Background, common_window, draw_instants};
pub use best_effort::{BestEffortRun, BestEffortSite, FIRST_TASK, best_effort};
pub use copies::{CancelledCopies, CopiesAtSite};
pub use evaluate::{Advertised, Evaluator, PlanValue, TaskPlacement};
pub use fitness::{Fitness, assign_fitness};
pub use genetic::{Genetic, GeneticSettings, WeightScale, Weighting, moga, nsga2, weighted_sum};
pub use greedy::{GreedyPlan, PlanFailure, Wish};
pub use inputs::{ProvisioningInputs, SiteLoad, SiteWorkload};
pub use network::{NetworkSlots, NetworkTerms, Transfer};
pub use of_workflow::ApplicationError;
pub use outcome::{
    BestEffortOutcome, BoughtSlot, EffectOnOthers, FrontMember, PriceSample, ProvisioningOutcome,
    ProvisioningRun, Realised, SiteJob, TaskFate, TaskRun,
};
pub use pareto::{ParetoFront, dominates, hypervolume};
pub use provider::{BookedStart, PlanningSite, ProviderSite, SiteAnswer, SiteQuestion, SiteReport};
pub use questions::BrokerError;
pub use queue_choice::QueueChoice;
pub use refund::Refund;
pub use scene::{ProvisioningBroker, ProvisioningError, provisioning_scene};
pub use schedule_cost::ScheduleCost;
pub use search::{search_advertised, search_stream};
pub use settings::{
    AfterFailure, Commitment, Provider, ProvisioningSettings, SearchMethod, SiteChoice,
};
pub use site_load::{LOAD_TOLERANCE, SiteLoadError, load_site, utilisation_percent};
pub use slot_lifetimes::{LOOKS, SlotsLeft};
pub use tariff::{EdgeSale, HoleSale, SlotTariff};
pub use users::{AskedSites, User, Users};
