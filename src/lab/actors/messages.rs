//! What the actors of one simulation say to each other. Every exchange inside simulated time is ask
//! and reply.

use kameo::Reply;

use crate::kernel::{Clock, Pending};
use crate::units::Seconds;

/// To the clock: play the simulation to its end. Replied to with [`Ended`], or who is [`Silent`].
#[derive(Clone, Copy, Debug)]
pub struct Play;

/// How a simulation ended.
#[derive(Clone, Debug)]
pub struct Ended<O> {
    /// What the machine handed out, a window each, where that is kept.
    pub outputs: Vec<O>,
    /// Whether everything is over.
    pub is_over: bool,
}

/// An actor that does not answer, because it has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silent {
    /// The machine.
    Machine,
    /// The source with this index.
    Source(usize),
    /// The service with this index.
    Service(usize),
}

/// To a source: add everything before `until` to this input.
#[derive(Clone, Debug)]
pub struct HandOver<I> {
    /// End of the granted window, exclusive.
    pub until: Seconds,
    /// What other sources have handed over for it.
    pub input: I,
}

/// To a source that listens: this became final. Replied to with the same, for whoever is told next.
#[derive(Clone, Debug)]
pub struct Told<O>(pub O);

/// To a source that reacts: hand over the first second of the next window
/// ([`Clock::first_second`]), knowing what became final in the last one.
#[derive(Clone, Debug)]
pub struct React<O> {
    /// What became final; `None` before the first window.
    pub told: Option<O>,
    /// The clock.
    pub clock: Clock,
    /// When the window begins as far as others have a say in it.
    pub others: Option<Seconds>,
}

/// Reply to [`React`].
#[derive(Clone, Debug, Reply)]
pub struct Reacted<I: Send + 'static, O: Send + 'static> {
    /// What it was told.
    pub told: Option<O>,
    /// What it hands over.
    pub input: I,
    /// When the window begins; `None` when nothing is left to happen.
    pub begin: Option<Seconds>,
    /// What it says of itself now.
    pub pending: Pending,
}

/// Reply of a source.
#[derive(Clone, Debug, Reply)]
pub struct Noted<T: Send + 'static> {
    /// What it was given, with its own part.
    pub given: T,
    /// What it says of itself now.
    pub pending: Pending,
}

/// To a machine: take this and work off everything before `until`. Replied to with [`Progress`],
/// or who is [`Silent`].
#[derive(Clone, Debug)]
pub struct Advance<I> {
    /// What happens from outside in the window.
    pub input: I,
    /// End of the window, exclusive.
    pub until: Seconds,
}

/// How far a machine came.
#[derive(Clone, Debug)]
pub struct Progress<O> {
    /// What became final in the window.
    pub output: O,
    /// Everything before this is worked off.
    pub reached: Seconds,
    /// The machine's own next event.
    pub next_event: Option<Seconds>,
    /// Whether everything handed over so far is over.
    pub is_idle: bool,
    /// Whether nothing more is wanted of it.
    pub is_done: bool,
}

/// To a service: what a machine asks of it. Replied to with its answer.
#[derive(Clone, Debug)]
pub struct AskService<Q>(pub Q);
