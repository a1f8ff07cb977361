//! Sources: the input of a machine.

use std::any::Any;
use std::marker::PhantomData;

use crate::units::Seconds;

/// Gives a machine its input: clients, an injector of failures. `I` is the input of the machine,
/// `O` its output.
pub trait Source<I, O>: Any + Send {
    /// When it has its next input, as far as that is known.
    fn next_event(&self) -> Option<Seconds>;

    /// Adds everything before `until` to the input, in order of time. A source that reacts may add
    /// more, up to the first time at which an outcome could change it.
    fn hand_over(&mut self, until: Seconds, input: &mut I);

    /// Whether the simulation has to go on as long as this source has input. It does not for
    /// failures: they matter only while jobs can fail.
    fn keeps_going(&self) -> bool {
        true
    }

    /// Whether its input may depend on earlier outcomes; if so, at least a second later. A machine
    /// may have one such source, whose input says which outcomes it waits for.
    fn reacts(&self) -> bool {
        false
    }

    /// Whether it is to be told the output of the machine.
    fn listens(&self) -> bool {
        self.reacts()
    }

    /// Takes note of the output, if it listens.
    fn told(&mut self, _output: &O) {}
}

/// Any source. At the end of a simulation it can be cast back to its type through `dyn Any`.
pub type BoxedSource<I, O> = Box<dyn Source<I, O>>;

/// Adds items of a list to the input.
type Hand<I, T> = Box<dyn Fn(&mut I, &[T]) + Send>;

/// A list that is handed over as it is, whatever the outcomes: an open loop of clients, or a trace
/// of failures.
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

    /// The same list, but it alone does not keep a simulation going.
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
