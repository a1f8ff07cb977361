//! Node failures: models and replayed traces.
//!
//! Two things that must not be mixed up: the planner's *picture* of reliability ([`SurvivalModel`],
//! [`availability`]) and the failures that *happen* ([`FailureTrace`], made by
//! [`prepare_with_table`] from a model or from a recorded table), or may happen
//! ([`FailuresByLoad`]).

mod analysis;
mod by_load;
mod error;
mod fits;
mod lanl;
mod node_rates;
mod pattern;
mod prepare;
mod rate;
mod settings;
mod survival;
mod trace;

pub use analysis::{CauseCount, FailureAnalysis, FollowUps, SystemFailures, Whose, analyse};
pub use by_load::{FailuresByLoad, LoadRule, NodeFailures, PossibleFailure};
pub use error::FailureError;
pub use fits::{Fit, fit};
pub use lanl::{Cause, FailureLog, FailureRecord, LanlSystem, LanlTable, find_table};
pub use node_rates::{by_reliability, learn_node_rates};
pub use pattern::{Bursts, FailurePattern};
pub use prepare::{FailureFolder, prepare_by_load, prepare_with_table, read_table};
pub use rate::{EarlyFailures, RateFactors};
pub use settings::{FailureSettings, FailureSource};
pub use survival::{NodeRates, SurvivalModel, availability, availability_of_each};
pub use trace::{FailureTrace, NodeEvent, Outage, SharedEvents};
