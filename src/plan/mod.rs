//! Who holds which nodes when: the counted profile and the node-mapped plan.
//!
//! A plan answers where a request fits and remembers what was promised. It does not decide whether a promise is worth
//! giving (that is [`crate::scheduling`]), and it knows nothing of what really runs.

mod node_plan;
mod node_set;
mod profile;

pub use node_plan::{NodePlan, Reservation};
pub use node_set::NodeSet;
pub use profile::{Fit, Profile};
