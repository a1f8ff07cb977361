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

use std::cell::Cell;
use std::error::Error;
use std::sync::OnceLock;
use std::time::Instant;

pub use clock::ClockActor;
pub use conduct::conduct;
pub use members::{MachineActor, ServiceActor, SourceActor};

use crate::kernel::{Decision, DecisionTimes, Machine, Played, Scene, Service, Stopwatch, drive};

/// What plays simulations: actors, or plain calls where a simulation is only looked at once more.
#[derive(Debug, Default)]
pub struct Player {
    by_calls: bool,
    messages: Cell<u64>,
    stopwatch: Option<Stopwatch>,
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

    /// The same, which measures how long decisions take.
    #[must_use]
    pub fn timing_decisions(self) -> Self {
        Self {
            stopwatch: Some(Stopwatch::started(nanoseconds)),
            ..self
        }
    }

    /// How long decisions took so far, by kind; none where that is not measured.
    #[must_use]
    pub fn decision_times(&self) -> Vec<(Decision, DecisionTimes)> {
        let stopwatch = self.stopwatch.as_ref();
        stopwatch.map(Stopwatch::times).unwrap_or_default()
    }

    /// Plays a scene to its end. Keeps what the machine hands out where that is wanted.
    ///
    /// # Errors
    ///
    /// When an actor panics, or when not everything is over at the end: a policy, which `strategy`
    /// names, has lost something.
    pub fn play<M: Machine>(
        &self,
        mut scene: Scene<M>,
        keep: bool,
        strategy: &str,
    ) -> Result<Played<M>, SimulationError> {
        if let Some(stopwatch) = &self.stopwatch {
            scene.machine.time_decisions(stopwatch);
            for service in &mut scene.services {
                service.time_decisions(stopwatch);
            }
        }
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

/// Nanoseconds of the real clock since it was first asked.
fn nanoseconds() -> u64 {
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    let begun = BEGUN.get_or_init(Instant::now);
    u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Why a simulation could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// No policy of this name is registered.
    #[error("no scheduling strategy is called `{0}`")]
    UnknownStrategy(String),
    /// The strategy overbooks and there is nothing to estimate with.
    #[error("the strategy `{0}` overbooks and needs runtime statistics, but none were learned")]
    NoEstimates(String),
    /// What the study itself cannot carry out: its inputs do not fit together, or name something
    /// that does not exist.
    #[error(transparent)]
    Study(Box<dyn Error + Send + Sync>),
    /// The runtime of this thread could not be made.
    #[error("no runtime for the actors of a simulation: {0}")]
    Runtime(#[from] std::io::Error),
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

impl SimulationError {
    /// An error of a study's own.
    pub fn of_study(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Study(Box::new(error))
    }
}
