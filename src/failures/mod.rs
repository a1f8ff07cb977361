//! Node failures: models and replayed traces.

mod settings;
mod survival;
mod trace;

pub use settings::{FailureSettings, FailureSource};
pub use survival::{SurvivalModel, availability};
pub use trace::{FailureTrace, NodeEvent};
