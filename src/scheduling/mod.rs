//! Policies on a plan.

mod outcome;
pub mod registry;
mod settings;

pub use outcome::{JobOutcome, Promise, SimulationMetrics, SuccessFactors, Verdict, WorkCounters};
pub use settings::{
    Acceptance, DownHorizon, EarlyStart, PROBABILITY_TOLERANCE, Placing, PolicySettings,
    Reliability, ReplanPasses, RestartRule, SurvivalForm,
};
