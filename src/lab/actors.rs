//! The actors of one simulation: clock, machine, services behind it and sources, and the messages
//! between them.
//!
//! One simulation is one actor system on one worker thread with a current-thread runtime of its
//! own; nothing mutable is shared between simulations. Actors hold state and speak the protocol of
//! [`messages`]; they compute nothing: each wraps a state machine of the domain. A broker is a
//! machine that asks clusters, which are services behind it.

mod clock;
mod conduct;
mod members;
pub mod messages;
#[cfg(test)]
mod tests;

use std::cell::Cell;

pub use clock::ClockActor;
pub use conduct::conduct;
pub use members::{MachineActor, ServiceActor, SourceActor};

use crate::brokering::co_reservation::local::RiskPolicyError;
use crate::brokering::market::MarketError;
use crate::brokering::provisioning::ProvisioningError;
use crate::kernel::{Machine, Played, Scene, drive};
use crate::scheduling::VirtualStudyError;
use crate::scheduling::predicted_queue::UnknownPredictor;

/// What plays simulations: actors, or plain calls where a simulation is only looked at once more.
#[derive(Debug, Default)]
pub struct Player {
    by_calls: bool,
    messages: Cell<u64>,
}

impl Player {
    /// Plays simulations by actors.
    #[must_use]
    pub fn by_actors() -> Self {
        Self::default()
    }

    /// Plays simulations by plain calls.
    #[must_use]
    pub fn by_calls() -> Self {
        Self {
            by_calls: true,
            ..Self::default()
        }
    }

    /// Plays a scene to its end. Keeps what the machine hands out where that is wanted.
    ///
    /// # Errors
    ///
    /// When an actor panics, or when not everything is over at the end: a policy, which `strategy`
    /// names, has lost something.
    pub fn play<M: Machine>(
        &self,
        scene: Scene<M>,
        keep: bool,
        strategy: &str,
    ) -> Result<Played<M>, SimulationError> {
        let played = if self.by_calls {
            drive(scene, keep)
        } else {
            let (played, messages) = conduct(scene, keep)?;
            self.messages.set(self.messages.get() + messages);
            played
        };
        if played.is_over {
            Ok(played)
        } else {
            Err(SimulationError::Unfinished(strategy.to_owned()))
        }
    }

    /// How many messages actors have handled so far.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.messages.get()
    }
}

/// Why a simulation could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// No policy of this name is registered.
    #[error(
        "no scheduling strategy is called `{0}`; registered are those of `scheduling::registry`"
    )]
    UnknownStrategy(String),
    /// The strategy overbooks and there is nothing to estimate with.
    #[error("the strategy `{0}` overbooks and needs runtime statistics, but none were learned")]
    NoEstimates(String),
    /// The policy of clusters that overbook cannot sell parts to a broker.
    #[error(transparent)]
    RiskPolicy(#[from] RiskPolicyError),
    /// The policy of the clusters of a market cannot compete.
    #[error(transparent)]
    Market(#[from] MarketError),
    /// A study of provisioning whose inputs do not fit together.
    #[error(transparent)]
    Provisioning(#[from] ProvisioningError),
    /// A queue with a predictor that does not exist.
    #[error(transparent)]
    UnknownPredictor(#[from] UnknownPredictor),
    /// The runtime of this thread could not be made.
    #[error("no runtime for the actors of a simulation: {0}")]
    Runtime(#[from] std::io::Error),
    /// A study of virtual reservations that its trace or its machine does not allow.
    #[error(transparent)]
    Virtual(#[from] VirtualStudyError),
    /// Jobs are left without an outcome although nothing is going to happen any more: a policy lost
    /// them.
    #[error("the strategy `{0}` left jobs without an outcome; this is a defect of the strategy")]
    Unfinished(String),
    /// An actor stopped: its state machine panicked.
    #[error("the {actor} stopped: {reason}")]
    Stopped {
        /// Which actor.
        actor: &'static str,
        /// What it panicked with.
        reason: String,
    },
}
