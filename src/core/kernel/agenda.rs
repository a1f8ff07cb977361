//! Pending events in the order in which they will happen.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use crate::units::Seconds;

/// Pending events in order of (time, class, sequence). Of one instant the lowest class comes first.
/// Within a class events come in the order in which they were entered, or by rank where they were
/// [entered with one](Agenda::push_ranked). No event is ever taken back: owners ignore stale
/// events.
#[derive(Clone, Debug)]
pub struct Agenda<E> {
    heap: BinaryHeap<Reverse<Pending<E>>>,
    /// Events that were entered in order of time: they need no heap.
    in_order: VecDeque<Pending<E>>,
    sequence: u64,
}

#[derive(Clone, Debug)]
struct Pending<E> {
    time: Seconds,
    /// The class in the highest byte, the sequence or rank in the others.
    order: u64,
    event: E,
}

impl<E> Pending<E> {
    fn new(time: Seconds, class: u8, rank: u64, event: E) -> Self {
        debug_assert!(rank >> SEQUENCE_BITS == 0, "it would change the class");
        Self {
            time,
            order: u64::from(class) << SEQUENCE_BITS | rank,
            event,
        }
    }

    /// One number is compared faster than two.
    fn key(&self) -> i128 {
        i128::from(self.time.0) << 64 | i128::from(self.order)
    }
}

const SEQUENCE_BITS: u32 = 56;

impl<E> PartialEq for Pending<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<E> Eq for Pending<E> {}

impl<E> PartialOrd for Pending<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Pending<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl<E> Default for Agenda<E> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            in_order: VecDeque::new(),
            sequence: 0,
        }
    }
}

impl<E> Agenda<E> {
    /// Enters an event of this class.
    #[inline]
    pub fn push(&mut self, time: Seconds, class: u8, event: E) {
        self.sequence += 1;
        self.push_ranked(time, class, self.sequence, event);
    }

    /// Enters an event of a class whose events do not come in the order of entering. Every event of
    /// this class needs a rank then.
    pub fn push_ranked(&mut self, time: Seconds, class: u8, rank: u64, event: E) {
        self.heap
            .push(Reverse(Pending::new(time, class, rank, event)));
    }

    /// The same as [`Agenda::push`], but faster if the event comes after all that were entered in
    /// this way: for the submissions of a list.
    #[inline]
    pub fn push_next(&mut self, time: Seconds, class: u8, event: E) {
        self.sequence += 1;
        let pending = Pending::new(time, class, self.sequence, event);
        if self.in_order.back().is_none_or(|last| *last < pending) {
            self.in_order.push_back(pending);
        } else {
            self.heap.push(Reverse(pending));
        }
    }

    /// The time of the next event.
    #[inline]
    pub fn next_time(&self) -> Option<Seconds> {
        self.first().map(|pending| pending.time)
    }

    /// The next event.
    pub fn next(&self) -> Option<&E> {
        self.first().map(|pending| &pending.event)
    }

    /// All events, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &E> {
        let heap = self.heap.iter().map(|pending| &pending.0);
        heap.chain(&self.in_order).map(|pending| &pending.event)
    }

    /// Takes the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Seconds, E)> {
        self.pop_from(self.is_in_order())
    }

    /// Takes the next event if it comes before `until`.
    #[inline]
    pub fn pop_before(&mut self, until: Seconds) -> Option<(Seconds, E)> {
        let is_in_order = self.is_in_order();
        if self.first_of(is_in_order)?.time >= until {
            return None;
        }
        self.pop_from(is_in_order)
    }

    fn pop_from(&mut self, is_in_order: bool) -> Option<(Seconds, E)> {
        let pending = if is_in_order {
            self.in_order.pop_front()?
        } else {
            self.heap.pop()?.0
        };
        Some((pending.time, pending.event))
    }

    fn first(&self) -> Option<&Pending<E>> {
        self.first_of(self.is_in_order())
    }

    fn first_of(&self, is_in_order: bool) -> Option<&Pending<E>> {
        if is_in_order {
            self.in_order.front()
        } else {
            self.heap.peek().map(|pending| &pending.0)
        }
    }

    /// Whether the next event is one of those that were entered in their order.
    fn is_in_order(&self) -> bool {
        match (self.in_order.front(), self.heap.peek()) {
            (Some(one), Some(Reverse(other))) => one < other,
            (one, _) => one.is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_then_by_class_and_then_in_the_order_in_which_they_were_entered() {
        let mut agenda = Agenda::default();
        for (time, class, event) in [
            (5, 1, 'd'),
            (5, 0, 'c'),
            (3, 2, 'a'),
            (5, 1, 'e'),
            (3, 2, 'b'),
        ] {
            agenda.push(Seconds(time), class, event);
        }
        assert_eq!(agenda.next_time(), Some(Seconds(3)));
        assert_eq!(agenda.next(), Some(&'a'));
        let before_5 = std::iter::from_fn(|| agenda.pop_before(Seconds(5)));
        assert_eq!(before_5.map(|(_, event)| event).collect::<String>(), "ab");
        let rest = std::iter::from_fn(|| agenda.pop());
        assert_eq!(
            rest.collect::<Vec<_>>(),
            [(Seconds(5), 'c'), (Seconds(5), 'd'), (Seconds(5), 'e')]
        );
        assert_eq!(agenda.next_time(), None);
    }

    #[test]
    fn events_with_a_rank_come_by_it_among_those_of_their_class() {
        let mut agenda = Agenda::default();
        for (class, rank, event) in [(1, 9, 'd'), (1, 2, 'c'), (0, 7, 'b'), (0, 1, 'a')] {
            agenda.push_ranked(Seconds(5), class, rank, event);
        }
        let events = std::iter::from_fn(|| agenda.pop());
        assert_eq!(events.map(|(_, event)| event).collect::<String>(), "abcd");
    }

    #[test]
    fn events_that_are_said_to_come_next_come_in_the_order_of_all_others() {
        let entered = [(5, 1), (7, 0), (7, 0), (6, 2), (7, 1), (7, 0), (9, 1)];
        let (mut plain, mut mixed) = (Agenda::default(), Agenda::default());
        for (number, (time, class)) in entered.into_iter().enumerate() {
            plain.push(Seconds(time), class, number);
            if number % 3 == 1 {
                mixed.push(Seconds(time), class, number);
            } else {
                mixed.push_next(Seconds(time), class, number);
            }
        }
        while let Some(event) = plain.pop() {
            assert_eq!(mixed.next(), Some(&event.1));
            assert_eq!(mixed.pop(), Some(event));
        }
        assert_eq!(mixed.next_time(), None);
    }
}
