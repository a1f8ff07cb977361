//! The clock: which window of virtual time may be worked off next.

use super::BoxedSource;
use crate::units::Seconds;

/// How long a source that reacts takes to do so, at least: what it hands over in a second depends on earlier seconds only.
pub const REACTION: Seconds = Seconds(1);

/// What a source says of itself.
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
    /// What a source says now.
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

/// A window of virtual time that begins with the earliest pending event, so that empty stretches cost nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Until when sources that react hand over, exclusive: the end of the first second.
    pub first: Seconds,
    /// End of the window, exclusive, unless such a source has something before.
    pub until: Seconds,
}

/// Grants windows of virtual time, one after the other, none longer than a fixed length, so that a source never hands over more than
/// that. The length has no influence on results.
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

    /// The next window; `None` when nothing is left to happen.
    #[must_use]
    pub fn grant(
        &self,
        sources: impl IntoIterator<Item = Pending>,
        machine: Option<Seconds>,
        is_idle: bool,
    ) -> Option<Grant> {
        let mut begin = machine.filter(|_| !is_idle);
        let mut beside = None;
        for source in sources {
            let earliest = if source.keeps_going {
                &mut begin
            } else {
                &mut beside
            };
            *earliest = (*earliest).into_iter().chain(source.next_event).min();
        }
        // A job may wait for a repair alone.
        let begin = begin.or(beside.filter(|_| !is_idle))?.max(self.now);
        Some(Grant {
            first: begin + REACTION,
            until: begin + self.longest,
        })
    }

    /// Everything before this was worked off.
    pub fn reached(&mut self, time: Seconds) {
        self.now = time;
    }
}

impl Grant {
    /// Until when the machine may go on, once sources that react have handed over the first second.
    #[must_use]
    pub fn end(&self, sources: impl IntoIterator<Item = Pending>) -> Seconds {
        let reacting = sources.into_iter().filter(|source| source.reacts);
        let events = reacting.filter_map(|source| source.next_event);
        events
            .map(|event| event.max(self.first))
            .chain([self.until])
            .min()
            .unwrap_or(self.until)
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
        let grant = clock.grant(clients, Some(Seconds(25)), false);
        assert_eq!(grant.map(|grant| grant.until), Some(Seconds(120)));
        clock.reached(Seconds(120));
        let grant = clock.grant(clients, None, true);
        assert_eq!(grant.map(|grant| grant.until), Some(Seconds(220)));
    }

    #[test]
    fn failures_alone_do_not_keep_the_world_going() {
        let clock = Clock::new(Seconds(100));
        let failures = [source(30, false, false)];
        assert_eq!(clock.grant(failures, Some(Seconds(5)), true), None);
        let waiting = clock.grant(failures, None, false);
        assert_eq!(waiting.map(|grant| grant.until), Some(Seconds(130)));
    }

    #[test]
    fn a_window_ends_where_a_source_that_reacts_has_something_to_hand_over() {
        let clock = Clock::new(Seconds(100));
        let client = source(30, true, true);
        let grant = clock.grant([client], Some(Seconds(10)), false);
        let grant = grant.expect("something happens at 10");
        assert_eq!(grant.first, Seconds(11));
        assert_eq!(grant.end([client]), Seconds(30));
        assert_eq!(grant.end([source(5, true, true)]), Seconds(11));
        assert_eq!(grant.end([source(30, true, false)]), Seconds(110));
    }
}
