//! The policies that plan a cluster: node by node, by the number of free nodes, and with shortened
//! durations; each with and without overbooking. And a queue whose jobs pass the first one at a
//! risk.

mod comprehensive;
mod disabled;
mod displaced;
mod heuristic;
mod overbooking_2008;
mod probabilistic_backfilling;
mod shortening;
#[cfg(test)]
mod template;
#[cfg(test)]
mod tests;

pub use comprehensive::{Comprehensive, ComprehensiveSettings};
pub use heuristic::{Heuristic, HeuristicSettings};
pub use overbooking_2008::{
    AnchorPoint, AnchorPredecessor, PlacementKind, ShortenedPlacement, ShorteningRequest,
    is_promising, place_shortened, shortened_duration,
};
pub use probabilistic_backfilling::ProbabilisticBackfilling;
pub use shortening::{Shortening, ShorteningSettings};
