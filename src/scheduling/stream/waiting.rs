//! The queue of EASY backfilling, in order of submission, searched for the next job that may start.

use super::StreamRequest;
use crate::units::Seconds;

/// Jobs of one block share a summary that lets a search pass over all of them.
const BLOCK: usize = 64;

/// Jobs that are compared together, without a branch.
const TOGETHER: usize = 16;

/// Shortest estimates are known for jobs of at most 1, 2, 4, … nodes; of the last class is everybody.
const CLASSES: usize = 16;

/// Nodes of a job that left.
const GONE: i32 = i32::MAX;

/// Jobs that wait, in order of submission. Jobs leave from anywhere; those behind keep their places, so places stay valid until
/// [`WaitingJobs::tidy`].
#[derive(Debug, Default)]
pub(super) struct WaitingJobs {
    /// Nodes of each job, [`GONE`] of one that left.
    nodes: Vec<i32>,
    /// Estimates, cut to 32 bits: a search looks twice at what it finds.
    estimates: Vec<i32>,
    requests: Vec<StreamRequest>,
    blocks: Vec<Summary>,
    /// The first place that waits, or the number of places.
    head: usize,
    waiting: usize,
}

/// What is known of a block: no job has fewer nodes, none of a class a shorter estimate.
#[derive(Clone, Copy, Debug)]
struct Summary {
    fewest: i32,
    shortest: [i32; CLASSES],
    /// Jobs left since.
    is_stale: bool,
}

impl Summary {
    const EMPTY: Self = Self {
        fewest: GONE,
        shortest: [i32::MAX; CLASSES],
        is_stale: false,
    };

    fn add(&mut self, nodes: i32, estimate: i32) {
        self.fewest = self.fewest.min(nodes);
        for shortest in &mut self.shortest[class_of(nodes)..] {
            *shortest = estimate.min(*shortest);
        }
    }

    fn may_hold(&self, room: &Cut) -> bool {
        self.fewest <= room.beside || self.shortest[room.class] <= room.span
    }
}

/// The smallest class that all jobs of so many nodes belong to.
fn class_of(nodes: i32) -> usize {
    let bits = (nodes.max(1) - 1)
        .checked_ilog2()
        .map_or(0, |bits| bits + 1);
    (bits as usize).min(CLASSES - 1)
}

/// What is left beside the first job of the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Nodes that are idle; at least one.
    pub(super) idle: u32,
    /// Whoever ends after this much time must leave the head its nodes.
    pub(super) span: Seconds,
    /// Nodes that the head leaves idle.
    pub(super) extra: u32,
}

impl Room {
    fn holds(&self, request: &StreamRequest) -> bool {
        let nodes = request.nodes.0;
        nodes <= self.idle && (request.estimate <= self.span || nodes <= self.extra)
    }
}

/// A [`Room`] in 32 bits, never smaller than it is.
struct Cut {
    idle: i32,
    span: i32,
    /// Nodes that may be taken for any time.
    beside: i32,
    class: usize,
}

impl From<Room> for Cut {
    fn from(room: Room) -> Self {
        let idle = cut(i64::from(room.idle)).min(GONE - 1);
        Self {
            idle,
            span: cut(room.span.0),
            beside: cut(i64::from(room.extra)).min(idle),
            class: class_of(idle),
        }
    }
}

fn cut(value: i64) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

impl WaitingJobs {
    /// The place behind the last one.
    pub(super) fn past(&self) -> usize {
        self.nodes.len()
    }

    /// The place of the first job.
    pub(super) fn head(&self) -> Option<usize> {
        (self.waiting > 0).then_some(self.head)
    }

    pub(super) fn request(&self, place: usize) -> &StreamRequest {
        &self.requests[place]
    }

    /// Adds a job behind the last one.
    pub(super) fn push(&mut self, request: StreamRequest) {
        let nodes = cut(i64::from(request.nodes.0)).min(GONE - 1);
        let estimate = cut(request.estimate.0);
        if self.nodes.len().is_multiple_of(BLOCK) {
            self.blocks.push(Summary::EMPTY);
        }
        if let Some(block) = self.blocks.last_mut() {
            block.add(nodes, estimate);
        }
        self.nodes.push(nodes);
        self.estimates.push(estimate);
        self.requests.push(request);
        self.waiting += 1;
    }

    /// Takes out the job at a place.
    pub(super) fn take(&mut self, place: usize) -> StreamRequest {
        self.nodes[place] = GONE;
        self.blocks[place / BLOCK].is_stale = true;
        self.waiting -= 1;
        if place == self.head {
            while self.head < self.nodes.len() && self.nodes[self.head] == GONE {
                self.head += 1;
            }
        }
        self.requests[place]
    }

    /// The first job at `from` or behind that `room` holds.
    pub(super) fn first_within(&mut self, from: usize, room: Room) -> Option<usize> {
        let cut = Cut::from(room);
        let mut place = from.max(self.head);
        while place < self.nodes.len() {
            let block = place / BLOCK;
            let past = ((block + 1) * BLOCK).min(self.nodes.len());
            if self.blocks[block].may_hold(&cut) {
                if let Some(found) = self.first_of_block(place, past, &cut, &room) {
                    return Some(found);
                }
                if self.blocks[block].is_stale {
                    self.summarise(block);
                }
            }
            place = past;
        }
        None
    }

    fn first_of_block(&self, from: usize, past: usize, cut: &Cut, room: &Room) -> Option<usize> {
        let chunks = self.nodes[from..past].chunks(TOGETHER);
        for (number, (nodes, estimates)) in chunks
            .zip(self.estimates[from..past].chunks(TOGETHER))
            .enumerate()
        {
            let mut any = 0;
            for (&nodes, &estimate) in nodes.iter().zip(estimates) {
                let short = i32::from(nodes <= cut.idle) & i32::from(estimate <= cut.span);
                any |= short | i32::from(nodes <= cut.beside);
            }
            if any == 0 {
                continue;
            }
            let begin = from + number * TOGETHER;
            for place in begin..begin + nodes.len() {
                if self.nodes[place] != GONE && room.holds(&self.requests[place]) {
                    return Some(place);
                }
            }
        }
        None
    }

    fn summarise(&mut self, block: usize) {
        let past = ((block + 1) * BLOCK).min(self.nodes.len());
        let mut summary = Summary::EMPTY;
        for place in block * BLOCK..past {
            if self.nodes[place] != GONE {
                summary.add(self.nodes[place], self.estimates[place]);
            }
        }
        self.blocks[block] = summary;
    }

    /// Forgets places of jobs that left. All places change.
    pub(super) fn tidy(&mut self) {
        if self.waiting == 0 {
            self.nodes.clear();
            self.estimates.clear();
            self.requests.clear();
            self.blocks.clear();
            self.head = 0;
        } else if self.nodes.len() > 2 * BLOCK && self.waiting * 2 < self.nodes.len() {
            let mut kept = 0;
            for place in self.head..self.nodes.len() {
                if self.nodes[place] != GONE {
                    self.nodes[kept] = self.nodes[place];
                    self.estimates[kept] = self.estimates[place];
                    self.requests[kept] = self.requests[place];
                    kept += 1;
                }
            }
            self.nodes.truncate(kept);
            self.estimates.truncate(kept);
            self.requests.truncate(kept);
            let blocks = kept.div_ceil(BLOCK);
            self.blocks.truncate(blocks);
            self.head = 0;
            (0..blocks).for_each(|block| self.summarise(block));
        }
    }
}
