//! What is still to happen, in the order in which it will.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::units::Seconds;

/// Pending events in order of (time, class, sequence): of one instant those of the lowest class come first, and of one class those
/// that were entered first. Nothing is ever taken back; owners let stale events pass.
#[derive(Clone, Debug)]
pub struct Agenda<E> {
    heap: BinaryHeap<Reverse<Pending<E>>>,
    sequence: u64,
}

#[derive(Clone, Debug)]
struct Pending<E> {
    time: Seconds,
    class: u8,
    sequence: u64,
    event: E,
}

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
        (self.time, self.class, self.sequence).cmp(&(other.time, other.class, other.sequence))
    }
}

impl<E> Default for Agenda<E> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            sequence: 0,
        }
    }
}

impl<E> Agenda<E> {
    /// Enters an event of this class.
    pub fn push(&mut self, time: Seconds, class: u8, event: E) {
        self.sequence += 1;
        self.heap.push(Reverse(Pending {
            time,
            class,
            sequence: self.sequence,
            event,
        }));
    }

    /// The time of the next event.
    pub fn next_time(&self) -> Option<Seconds> {
        self.heap.peek().map(|pending| pending.0.time)
    }

    /// The next event.
    pub fn next(&self) -> Option<&E> {
        self.heap.peek().map(|pending| &pending.0.event)
    }

    /// Takes the next event.
    pub fn pop(&mut self) -> Option<(Seconds, E)> {
        let Reverse(Pending { time, event, .. }) = self.heap.pop()?;
        Some((time, event))
    }

    /// Takes the next event if it comes before `until`.
    pub fn pop_before(&mut self, until: Seconds) -> Option<(Seconds, E)> {
        if self.next_time()? >= until {
            return None;
        }
        self.pop()
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
}
