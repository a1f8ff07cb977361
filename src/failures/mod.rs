//! Node failures: models and replayed traces.

mod settings;
mod survival;

pub use settings::{FailureSettings, FailureSource};
pub use survival::SurvivalModel;
