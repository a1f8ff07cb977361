//! Node failures: models and replayed traces.
//!
//! Two things that must not be mixed up: the planner's *picture* of reliability ([`SurvivalModel`], [`availability`]) and
//! the failures that *happen* ([`FailureTrace`], made by [`prepare`] from a model or from a recorded table).

mod error;
mod lanl;
mod prepare;
mod settings;
mod survival;
mod trace;

pub use error::FailureError;
pub use lanl::{LanlSystem, LanlTable, find_table};
pub use prepare::{FailureFolder, prepare, prepare_with_table, read_table};
pub use settings::{FailureSettings, FailureSource};
pub use survival::{
    NodeRates, SurvivalModel, availability, availability_of_each, survival_of_each,
};
pub use trace::{FailureTrace, NodeEvent, Outage};
