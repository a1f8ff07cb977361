//! Policies on a plan.

mod outcome;
mod overbooking_2008;
pub mod registry;
mod settings;

pub use outcome::{JobOutcome, Promise, SimulationMetrics, SuccessFactors, Verdict, WorkCounters};
pub use overbooking_2008::{
    AnchorPoint, AnchorPredecessor, PlacementKind, ShortenedPlacement, ShorteningRequest,
    is_promising, overbookable_time, place_shortened, shortened_duration,
};
pub use settings::{
    Acceptance, DownHorizon, EarlyStart, PROBABILITY_TOLERANCE, Placing, PolicySettings,
    Reliability, ReplanPasses, RestartRule, SurvivalForm,
};
