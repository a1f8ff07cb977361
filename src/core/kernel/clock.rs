//! The clock: it decides which window of virtual time is processed next.

use super::BoxedSource;
use crate::units::Seconds;

/// The shortest time in which a source reacts: what it hands over in a second depends on earlier
/// seconds only.
pub const REACTION: Seconds = Seconds(1);

/// What a clock has to know of a source.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    /// [`Source::next_event`](super::Source::next_event).
    pub next_event: Option<Seconds>,
    /// [`Source::keeps_going`](super::Source::keeps_going).
    pub keeps_going: bool,
    /// [`Source::reacts`](super::Source::reacts).
    pub reacts: bool,
    /// [`Source::listens`](super::Source::listens).
    pub listens: bool,
}

impl Pending {
    /// The present state of a source.
    #[must_use]
    pub fn of<I: 'static, O: 'static>(source: &BoxedSource<I, O>) -> Self {
        Self {
            next_event: source.next_event(),
            keeps_going: source.keeps_going(),
            reacts: source.reacts(),
            listens: source.listens(),
        }
    }
}

/// Grants windows of virtual time, one after the other. A window begins with the earliest pending
/// event, so that empty stretches cost nothing. It is never longer than a fixed length, which
/// bounds what a source hands over at once. The length has no influence on results.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    now: Seconds,
    longest: Seconds,
}

impl Clock {
    /// A clock at time 0 whose windows are as long as this at most.
    #[must_use]
    pub fn new(longest: Seconds) -> Self {
        Self {
            now: Seconds::ZERO,
            longest,
        }
    }

    /// When the next window begins, leaving aside a source that reacts; `None` when nothing is left
    /// to happen.
    #[must_use]
    pub fn next(
        &self,
        sources: impl IntoIterator<Item = Pending>,
        machine: Option<Seconds>,
        is_idle: bool,
    ) -> Option<Seconds> {
        let mut begin = machine.filter(|_| !is_idle);
        let (mut beside, mut reacts) = (None, false);
        for source in sources {
            let earliest = if source.reacts {
                reacts = true;
                continue;
            } else if source.keeps_going {
                &mut begin
            } else {
                &mut beside
            };
            *earliest = (*earliest).into_iter().chain(source.next_event).min();
        }
        // A job may wait for a repair alone, and a client for a failure.
        let beside = beside.filter(|_| !is_idle && (reacts || begin.is_none()));
        let begin = begin.into_iter().chain(beside).min();
        begin.map(|begin| begin.max(self.now))
    }

    /// Lets a source that reacts hand over its input of the first second of the next window.
    /// Returns when the window begins, if it does. `others` is the result of [`Clock::next`].
    pub fn first_second<I: 'static, O: 'static>(
        &self,
        source: &mut BoxedSource<I, O>,
        others: Option<Seconds>,
        input: &mut I,
    ) -> Option<Seconds> {
        let own = source.next_event().map(|next| next.max(self.now));
        let begin = own.into_iter().chain(others).min()?;
        source.hand_over(begin + REACTION, input);
        Some(begin)
    }

    /// The exclusive end of the window that begins at `begin`: it lies before any further input of
    /// a source that reacts.
    #[must_use]
    pub fn end(&self, begin: Seconds, sources: impl IntoIterator<Item = Pending>) -> Seconds {
        let reacting = sources.into_iter().filter(|source| source.reacts);
        let events = reacting.filter_map(|source| source.next_event);
        let longest = begin + self.longest;
        events.fold(longest, |end, event| end.min(event.max(begin + REACTION)))
    }

    /// Notes that everything before `time` has been processed.
    pub fn reached(&mut self, time: Seconds) {
        self.now = time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(next_event: i64, keeps_going: bool, reacts: bool) -> Pending {
        Pending {
            next_event: Some(Seconds(next_event)),
            keeps_going,
            reacts,
            listens: reacts,
        }
    }

    #[test]
    fn a_window_begins_with_the_earliest_event_and_never_in_the_past() {
        let mut clock = Clock::new(Seconds(100));
        let clients = [source(30, true, false), source(20, true, false)];
        assert_eq!(
            clock.next(clients, Some(Seconds(25)), false),
            Some(Seconds(20))
        );
        assert_eq!(
            clock.next(clients, Some(Seconds(15)), true),
            Some(Seconds(20))
        );
        clock.reached(Seconds(120));
        assert_eq!(clock.next(clients, None, true), Some(Seconds(120)));
        assert_eq!(clock.end(Seconds(120), clients), Seconds(220));
    }

    #[test]
    fn failures_alone_do_not_keep_the_world_going() {
        let clock = Clock::new(Seconds(100));
        let failures = [source(30, false, false)];
        assert_eq!(clock.next(failures, Some(Seconds(5)), true), None);
        assert_eq!(clock.next(failures, None, false), Some(Seconds(30)));
        assert_eq!(
            clock.next(failures, Some(Seconds(50)), false),
            Some(Seconds(50))
        );
    }

    #[test]
    fn a_window_ends_where_a_source_that_reacts_has_something_to_hand_over() {
        let clock = Clock::new(Seconds(100));
        let client = source(30, true, true);
        assert_eq!(
            clock.next([client], Some(Seconds(10)), false),
            Some(Seconds(10))
        );
        assert_eq!(clock.end(Seconds(10), [client]), Seconds(30));
        assert_eq!(clock.end(Seconds(10), [source(5, true, true)]), Seconds(11));
        assert_eq!(
            clock.end(Seconds(10), [source(30, true, false)]),
            Seconds(110)
        );
    }
}
