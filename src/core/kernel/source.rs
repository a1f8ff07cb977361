//! What comes to a machine from outside.

use std::any::Any;
use std::marker::PhantomData;

use crate::units::Seconds;

/// Something that hands input to a machine: clients, an injector of failures. `I` is the input of
/// the machine, `O` its output.
pub trait Source<I, O>: Any + Send {
    /// When it hands over something next, as far as that is known.
    fn next_event(&self) -> Option<Seconds>;

    /// Adds everything before `until` to the input, in order of time. One that reacts may add more,
    /// as far as nothing can come in between.
    fn hand_over(&mut self, until: Seconds, input: &mut I);

    /// Whether the simulation goes on for its sake alone. Failures matter only while there is
    /// something to fail.
    fn keeps_going(&self) -> bool {
        true
    }

    /// Whether what it hands over may follow from what became of earlier things; if so, a second
    /// later at the earliest. A machine may have one such source; it says with its input what it
    /// waits for.
    fn reacts(&self) -> bool {
        false
    }

    /// Whether it wants to be told what became final.
    fn listens(&self) -> bool {
        self.reacts()
    }

    /// Takes note of what became final, where it listens.
    fn told(&mut self, _output: &O) {}
}

/// A source of whatever kind. What it knows at the end of a simulation is had by casting it back
/// (`dyn Any`).
pub type BoxedSource<I, O> = Box<dyn Source<I, O>>;

/// How items of a list are added to the input.
type Hand<I, T> = Box<dyn Fn(&mut I, &[T]) + Send>;

/// A list that is handed over as it stands, whatever becomes of it: an open loop of clients, a
/// trace of failures.
pub struct Listed<L, T, I> {
    list: L,
    next: usize,
    time: fn(&T) -> Seconds,
    hand: Hand<I, T>,
    keeps_going: bool,
    of: PhantomData<fn() -> T>,
}

impl<L: AsRef<[T]>, T, I> Listed<L, T, I> {
    /// A list in order of time; `hand` adds a part of it to the input.
    #[must_use]
    pub fn new(
        list: L,
        time: fn(&T) -> Seconds,
        hand: impl Fn(&mut I, &[T]) + Send + 'static,
    ) -> Self {
        Self {
            list,
            next: 0,
            time,
            hand: Box::new(hand),
            keeps_going: true,
            of: PhantomData,
        }
    }

    /// The same list, for whose sake alone no simulation goes on.
    #[must_use]
    pub fn beside(mut self) -> Self {
        self.keeps_going = false;
        self
    }
}

impl<L, T, I, O> Source<I, O> for Listed<L, T, I>
where
    L: AsRef<[T]> + Send + 'static,
    T: 'static,
    I: 'static,
{
    fn next_event(&self) -> Option<Seconds> {
        self.list.as_ref().get(self.next).map(self.time)
    }

    fn hand_over(&mut self, until: Seconds, input: &mut I) {
        let rest = &self.list.as_ref()[self.next..];
        let count = rest.partition_point(|item| (self.time)(item) < until);
        if count > 0 {
            (self.hand)(input, &rest[..count]);
            self.next += count;
        }
    }

    fn keeps_going(&self) -> bool {
        self.keeps_going
    }
}
