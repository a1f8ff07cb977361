//! The queue of EASY backfilling, in order of submission, searched for the next job that may start.

use super::StreamRequest;

/// Jobs of one block share a summary that lets a search pass over all of them.
const BLOCK: usize = 64;

/// Jobs that wait, in order of submission. Jobs leave from anywhere; those behind keep their places, so places stay valid until
/// [`WaitingJobs::tidy`].
#[derive(Debug, Default)]
pub(super) struct WaitingJobs {
    /// Nodes of each job, [`GONE`] of one that left.
    nodes: Vec<u32>,
    estimates: Vec<i64>,
    requests: Vec<StreamRequest>,
    /// Of each block of places: the fewest nodes and the shortest estimate of those who wait.
    fewest: Vec<u32>,
    shortest: Vec<i64>,
    /// The first place that waits, or the number of places.
    head: usize,
    waiting: usize,
}

const GONE: u32 = u32::MAX;

/// What is left beside the first job of the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Nodes that are idle.
    pub(super) idle: u32,
    /// Whoever ends after this much time must leave the head its nodes.
    pub(super) span: i64,
    /// Nodes that the head leaves idle.
    pub(super) extra: u32,
}

impl Room {
    #[inline]
    pub(super) fn holds(&self, nodes: u32, estimate: i64) -> bool {
        nodes <= self.idle && (estimate <= self.span || nodes <= self.extra)
    }
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
        if self.nodes.len().is_multiple_of(BLOCK) {
            self.fewest.push(GONE);
            self.shortest.push(i64::MAX);
        }
        let block = self.fewest.len() - 1;
        self.fewest[block] = self.fewest[block].min(request.nodes.0);
        self.shortest[block] = self.shortest[block].min(request.estimate.0);
        self.nodes.push(request.nodes.0);
        self.estimates.push(request.estimate.0);
        self.requests.push(request);
        self.waiting += 1;
    }

    /// Takes out the job at a place.
    pub(super) fn take(&mut self, place: usize) -> StreamRequest {
        self.nodes[place] = GONE;
        self.estimates[place] = i64::MAX;
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
        let mut place = from.max(self.head);
        while place < self.nodes.len() {
            let block = place / BLOCK;
            let past = ((block + 1) * BLOCK).min(self.nodes.len());
            if self.may_hold(block, room) {
                let found = self.nodes[place..past]
                    .iter()
                    .zip(&self.estimates[place..past])
                    .position(|(&nodes, &estimate)| room.holds(nodes, estimate));
                if let Some(found) = found {
                    return Some(place + found);
                }
                self.summarise(block);
            }
            place = past;
        }
        None
    }

    fn may_hold(&self, block: usize, room: Room) -> bool {
        let fewest = self.fewest[block];
        fewest <= room.idle && (self.shortest[block] <= room.span || fewest <= room.extra)
    }

    /// Summaries go stale when jobs leave; they are mended when one turned out too good.
    fn summarise(&mut self, block: usize) {
        let past = ((block + 1) * BLOCK).min(self.nodes.len());
        let places = block * BLOCK..past;
        self.fewest[block] = self.nodes[places.clone()]
            .iter()
            .fold(GONE, |least, &nodes| least.min(nodes));
        self.shortest[block] = self.estimates[places]
            .iter()
            .fold(i64::MAX, |least, &estimate| least.min(estimate));
    }

    /// Forgets places of jobs that left. All places change.
    pub(super) fn tidy(&mut self) {
        if self.waiting == 0 {
            self.nodes.clear();
            self.estimates.clear();
            self.requests.clear();
            self.fewest.clear();
            self.shortest.clear();
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
            self.fewest.truncate(blocks);
            self.shortest.truncate(blocks);
            self.head = 0;
            (0..blocks).for_each(|block| self.summarise(block));
        }
    }
}
