//! The order of events.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::units::{NodeIndex, Seconds};
use crate::workload::JobId;

/// What can happen; the numbers are the versions that [`super::jobs::JobRecord::version`] makes stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    End(JobId, u32),
    Repair(NodeIndex),
    Failure(NodeIndex),
    Start(JobId, u32),
    GiveUp(JobId, u32),
    Arrival(JobId),
}

impl Event {
    /// The order of events at equal times (spec §3.14.1; A-34: an end comes before a failure).
    fn class(self) -> u8 {
        match self {
            Self::End(..) => 0,
            Self::Repair(_) => 1,
            Self::Failure(_) => 2,
            Self::Start(..) => 3,
            Self::GiveUp(..) => 4,
            Self::Arrival(_) => 5,
        }
    }
}

/// Pending events in order of (time, class, sequence number).
#[derive(Debug, Default)]
pub(super) struct EventQueue {
    heap: BinaryHeap<Reverse<Pending>>,
    sequence: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pending {
    time: Seconds,
    class: u8,
    sequence: u64,
    event: Event,
}

impl PartialOrd for Pending {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Pending {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.time, self.class, self.sequence).cmp(&(other.time, other.class, other.sequence))
    }
}

impl EventQueue {
    pub(super) fn push(&mut self, time: Seconds, event: Event) {
        self.sequence += 1;
        self.heap.push(Reverse(Pending {
            time,
            class: event.class(),
            sequence: self.sequence,
            event,
        }));
    }

    pub(super) fn next_time(&self) -> Option<Seconds> {
        self.heap.peek().map(|pending| pending.0.time)
    }

    pub(super) fn next(&self) -> Option<Event> {
        self.heap.peek().map(|pending| pending.0.event)
    }

    pub(super) fn pop_before(&mut self, until: Seconds) -> Option<(Seconds, Event)> {
        if self.next_time()? >= until {
            return None;
        }
        self.heap
            .pop()
            .map(|pending| (pending.0.time, pending.0.event))
    }
}
