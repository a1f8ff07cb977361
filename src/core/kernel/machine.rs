//! Machines: what a simulation simulates.

use std::convert::Infallible;

use super::Stopwatch;
use crate::units::Seconds;

/// A state machine of a simulation. It never reads a clock: time passes when [`Machine::advance`]
/// is called.
pub trait Machine: Send + 'static {
    /// The input that sources give it for a window of time.
    type Input: Default + Send + 'static;
    /// The results that became final in a window.
    type Output: Send + 'static;
    /// The kind of service that it asks; [`NoService`] if it asks none.
    type Service: Service;

    /// Takes the input of the window that begins, in any order. Nothing of it lies in the past.
    fn take(&mut self, input: Self::Input);

    /// Processes every event before `until`, or stops when it needs an answer
    /// ([`Machine::answered`]), after which it is called again. It may stop earlier, when something
    /// became final that a source reacts to.
    fn advance(&mut self, until: Seconds) -> Step<Self::Service>;

    /// Takes the answers to the questions that [`Machine::advance`] returned, in their order. A
    /// machine that asks nothing has nothing to do here.
    fn answered(&mut self, _answers: Vec<<Self::Service as Service>::Answer>) {}

    /// The time of its next own event.
    fn next_event(&self) -> Option<Seconds>;

    /// Whether all of its input has been dealt with.
    fn is_idle(&self) -> bool;

    /// Whether no further result is needed from it, whatever else would happen.
    fn is_done(&self) -> bool {
        false
    }

    /// The results that became final since the last call.
    fn hand_out(&mut self) -> Self::Output;

    /// From now on measures with this stopwatch how long each of its decisions takes. By default it
    /// decides nothing.
    fn time_decisions(&mut self, _stopwatch: &Stopwatch) {}
}

/// The result of a call of [`Machine::advance`].
pub enum Step<S: Service> {
    /// The machine asks services by their indices, each at most once. No answer may depend on
    /// another one.
    Ask(Vec<(usize, S::Question)>),
    /// Every event before this time has been processed.
    Reached(Seconds),
}

/// Answers the questions of a machine: a cluster behind a broker, for instance.
pub trait Service: Send + 'static {
    /// A question or an order.
    type Question: Send + 'static;
    /// An answer.
    type Answer: Send + 'static;

    /// Answers a question. Time passes for the service only as far as the question says.
    fn answer(&mut self, question: Self::Question) -> Self::Answer;

    /// From now on measures with this stopwatch how long each of its decisions takes. By default it
    /// decides nothing.
    fn time_decisions(&mut self, _stopwatch: &Stopwatch) {}
}

/// The service of machines that ask none.
#[derive(Clone, Copy, Debug)]
pub enum NoService {}

impl Service for NoService {
    type Question = Infallible;
    type Answer = Infallible;

    fn answer(&mut self, question: Infallible) -> Infallible {
        question
    }
}
