//! Jobs without promises beside those that were promised their slots (Birkenheuer 2012, §2.1.1):
//! they run where nothing more important needs the nodes, and give way at once. So a machine is
//! overbooked without risk.
//!
//! Plans and probabilities of failure ignore them, so what becomes of the other jobs is the same
//! with and without them.

mod machine;
mod queue;
mod settings;

pub use machine::BestEffortMachine;
pub use queue::{BestEffortOutcome, BestEffortRun, Fate};
pub use settings::{BestEffortSettings, BestEffortStart, WhenStopped};

#[cfg(test)]
mod tests;
