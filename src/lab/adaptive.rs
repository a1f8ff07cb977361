//! Sweeps that stop by a rule: how many replications are enough, and which values of an axis need
//! no more of them.
//!
//! Everything here is a function of complete *rungs*: batches of replications that all
//! combinations still in question have. So what is decided depends on results alone, and not on
//! when, where and in which order they were computed.

mod interval;
mod refinement;
mod selection;
mod settings;

pub use interval::{IntervalRule, RepeatedInterval};
pub use refinement::{Refinement, Vertex};
pub use selection::{Screened, Selection};
pub use settings::{Margin, Population, Rule, SelectRule, StopRule};
