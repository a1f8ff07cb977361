//! EASY backfilling: first come, first served, and whoever does not delay the first of the queue may pass.
//!
//! The rules are those of `easy-backfilling`: all events of a second come first, then one pass. The head starts while it fits; then
//! its start is the earliest at which it fits if every running job takes its estimate ("shadow"), and jobs behind it
//! start, in order, if they end by then or leave it its nodes. Between two ends nothing gets better for those who were passed
//! over once, so only new jobs are looked at then.

use std::collections::VecDeque;

use super::waiting::{Room, WaitingJobs};
use super::{Listener, StreamRequest, StreamScheduler};
use crate::kernel::Agenda;
use crate::units::{Nodes, Seconds};

/// The engine; see the module for its rules.
pub struct EasyStream {
    now: Seconds,
    idle: u32,
    waiting: WaitingJobs,
    running: Agenda<Booked>,
    booked: BookedEnds,
    /// Start of the head and the nodes that it leaves, if it was found out since the last end.
    shadow: Option<(Seconds, u32)>,
    /// Jobs from this place on were not looked at yet.
    unseen: usize,
}

/// What a running job holds, and until when it may.
#[derive(Clone, Copy, Debug)]
struct Booked {
    until: Seconds,
    nodes: u32,
}

impl EasyStream {
    /// An empty machine.
    #[must_use]
    pub fn new(nodes: Nodes) -> Self {
        Self {
            now: Seconds::ZERO,
            idle: nodes.0,
            waiting: WaitingJobs::default(),
            running: Agenda::default(),
            booked: BookedEnds::default(),
            shadow: None,
            unseen: 0,
        }
    }

    /// Works off every second before `until`, and the ends of `until`.
    fn advance(&mut self, until: Seconds, listener: &mut impl Listener) {
        while let Some(next) = self.running.next_time().filter(|next| *next <= until) {
            self.now = next;
            while let Some((_, booked)) = self.running.pop_before(next + Seconds(1)) {
                self.idle += booked.nodes;
                self.booked.remove(booked.until, booked.nodes);
                self.shadow = None;
            }
            if next < until {
                self.pass(listener);
            }
        }
        self.now = until;
    }

    fn start(&mut self, place: usize, listener: &mut impl Listener) {
        let request = self.waiting.take(place);
        let booked = Booked {
            until: self.now + request.estimate,
            nodes: request.nodes.0,
        };
        self.idle -= booked.nodes;
        self.running.push(self.now + request.runtime, 0, booked);
        self.booked.insert(booked.until, booked.nodes);
        listener.started(&request, self.now);
    }

    fn pass(&mut self, listener: &mut impl Listener) {
        if self.shadow.is_none() {
            while let Some(head) = self.waiting.head()
                && self.waiting.request(head).nodes.0 <= self.idle
            {
                self.start(head, listener);
            }
            self.waiting.tidy();
            let Some(head) = self.waiting.head() else {
                self.unseen = 0;
                return;
            };
            let wanted = self.waiting.request(head).nodes.0;
            self.shadow = Some(self.booked.reservation_of(wanted, self.idle));
            self.unseen = head + 1;
        }
        let Some((shadow, mut extra)) = self.shadow else {
            return;
        };
        while self.idle > 0 {
            let room = Room {
                idle: self.idle,
                span: shadow - self.now,
                extra,
            };
            let Some(place) = self.waiting.first_within(self.unseen, room) else {
                break;
            };
            let request = self.waiting.request(place);
            if request.estimate > room.span {
                extra -= request.nodes.0;
            }
            self.start(place, listener);
            self.unseen = place + 1;
        }
        self.shadow = Some((shadow, extra));
        self.unseen = self.waiting.past();
    }
}

impl StreamScheduler for EasyStream {
    fn submit(&mut self, request: StreamRequest, listener: &mut impl Listener) {
        if request.submit > self.now {
            self.pass(listener);
            self.advance(request.submit, listener);
        }
        self.waiting.push(request);
    }

    fn finish(&mut self, listener: &mut impl Listener) {
        self.pass(listener);
        self.advance(Seconds::FAR, listener);
    }
}

/// The booked ends of running jobs in order of time, with their nodes: what a job that does not fit
/// yet waits for. Nothing happens at them.
#[derive(Debug, Default)]
struct BookedEnds {
    blocks: VecDeque<EndBlock>,
}

#[derive(Debug, Default)]
struct EndBlock {
    ends: Vec<(i64, u32)>,
    nodes: u64,
}

/// Ends that one block may hold before it is split.
const CAPACITY: usize = 128;

impl BookedEnds {
    fn block_of(&self, end: (i64, u32)) -> usize {
        let past = self
            .blocks
            .partition_point(|block| block.ends.first().is_some_and(|first| *first <= end));
        past.saturating_sub(1)
    }

    fn insert(&mut self, until: Seconds, nodes: u32) {
        let end = (until.0, nodes);
        if self.blocks.is_empty() {
            self.blocks.push_back(EndBlock::default());
        }
        let number = self.block_of(end);
        let block = &mut self.blocks[number];
        let place = block.ends.partition_point(|other| *other < end);
        block.ends.insert(place, end);
        block.nodes += u64::from(nodes);
        if block.ends.len() > CAPACITY {
            let ends = block.ends.split_off(CAPACITY / 2);
            let moved = ends.iter().map(|end| u64::from(end.1)).sum();
            block.nodes -= moved;
            self.blocks
                .insert(number + 1, EndBlock { ends, nodes: moved });
        }
    }

    /// Takes out one of those that end then and hold so many nodes: they are all alike.
    fn remove(&mut self, until: Seconds, nodes: u32) {
        let end = (until.0, nodes);
        let number = self.block_of(end);
        let block = &mut self.blocks[number];
        let place = block.ends.partition_point(|other| *other < end);
        debug_assert_eq!(block.ends.get(place), Some(&end), "it was entered");
        block.ends.remove(place);
        block.nodes -= u64::from(nodes);
        if block.ends.is_empty() {
            self.blocks.remove(number);
        }
    }

    /// When `wanted` nodes are free if nobody ends early, and how many more are free then.
    fn reservation_of(&self, wanted: u32, idle: u32) -> (Seconds, u32) {
        let mut missing = u64::from(wanted - idle);
        for (number, block) in self.blocks.iter().enumerate() {
            if block.nodes < missing {
                missing -= block.nodes;
                continue;
            }
            for (index, &(time, nodes)) in block.ends.iter().enumerate() {
                if u64::from(nodes) < missing {
                    missing -= u64::from(nodes);
                    continue;
                }
                // Whoever ends in the same second is free then, too.
                let mut extra = u64::from(nodes) - missing;
                let rest = block.ends[index + 1..].iter();
                let behind = self
                    .blocks
                    .range(number + 1..)
                    .flat_map(|block| &block.ends);
                for &(_, nodes) in rest.chain(behind).take_while(|end| end.0 == time) {
                    extra += u64::from(nodes);
                }
                return (Seconds(time), u32::try_from(extra).unwrap_or(u32::MAX));
            }
        }
        // Not reached by a job that is not wider than the machine.
        (Seconds::FAR, 0)
    }
}
