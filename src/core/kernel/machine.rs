//! What virtual time passes over.

use std::convert::Infallible;

use crate::units::Seconds;

/// A state machine of a simulation. It never reads a clock: time passes when it is told to advance.
pub trait Machine: Send + 'static {
    /// What sources hand it for a window of time.
    type Input: Default + Send + 'static;
    /// What became final in a window.
    type Output: Send + 'static;
    /// Whom it asks; [`NoService`] where it needs nobody.
    type Service: Service;

    /// Takes what happens from outside in the window that begins, in any order; nothing of it lies
    /// in the past.
    fn take(&mut self, input: Self::Input);

    /// Works off every event before `until`, or until it needs an answer ([`Machine::answered`]),
    /// after which it is called again. It may stop before, where something became final that a
    /// source reacts to.
    fn advance(&mut self, until: Seconds) -> Step<Self::Service>;

    /// Takes the answers to the questions that [`Machine::advance`] returned, in their order. A
    /// machine that asks nothing has nothing to do here.
    fn answered(&mut self, _answers: Vec<<Self::Service as Service>::Answer>) {}

    /// When something happens by itself next.
    fn next_event(&self) -> Option<Seconds>;

    /// Whether everything that was handed over is over.
    fn is_idle(&self) -> bool;

    /// Whether nothing more is wanted of it, whatever else would happen.
    fn is_done(&self) -> bool {
        false
    }

    /// What became final since the last call.
    fn hand_out(&mut self) -> Self::Output;
}

/// What a call of [`Machine::advance`] came to.
pub enum Step<S: Service> {
    /// The machine asks services by their indices, each once at most. None of the answers may
    /// depend on another one.
    Ask(Vec<(usize, S::Question)>),
    /// Every event before this time is worked off.
    Reached(Seconds),
}

/// What answers the questions of a machine: a cluster behind a broker.
pub trait Service: Send + 'static {
    /// What may be asked of it or ordered.
    type Question: Send + 'static;
    /// What it says.
    type Answer: Send + 'static;

    /// Does what is asked. Time passes for it only as far as a question says.
    fn answer(&mut self, question: Self::Question) -> Self::Answer;
}

/// The service of machines that ask nobody.
#[derive(Clone, Copy, Debug)]
pub enum NoService {}

impl Service for NoService {
    type Question = Infallible;
    type Answer = Infallible;

    fn answer(&mut self, question: Infallible) -> Infallible {
        question
    }
}
