//! The queue of EASY backfilling, in order of submission, searched for the next job that may start.

use super::StreamRequest;
use super::summaries::{CompactSpace, GONE, Summaries};
use crate::units::Seconds;

/// Jobs of one block share a summary that lets a search pass over all of them.
const BLOCK: usize = 64;

/// Jobs that are compared together, without a branch.
const TOGETHER: usize = 16;

/// Waiting jobs in order of submission. Jobs leave from anywhere and the others keep their places,
/// so places stay valid until [`WaitingJobs::tidy`].
#[derive(Debug)]
pub(super) struct WaitingJobs {
    /// Nodes of each job, [`GONE`] of one that left.
    nodes: Vec<i32>,
    /// Estimates, saturated to 32 bits: a search checks what it finds with the whole estimate.
    estimates: Vec<i32>,
    requests: Vec<StreamRequest>,
    summaries: Summaries,
    /// The first place with a waiting job, or the number of places.
    head: usize,
    waiting: usize,
}

impl Default for WaitingJobs {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            estimates: Vec::new(),
            requests: Vec::new(),
            summaries: Summaries::new(BLOCK),
            head: 0,
            waiting: 0,
        }
    }
}

/// The space for backfilling that the first job of the queue leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct BackfillSpace {
    /// Nodes that are idle; at least one.
    pub(super) idle: u32,
    /// A job that takes longer than this must leave the head its nodes.
    pub(super) span: Seconds,
    /// Nodes that the head leaves idle.
    pub(super) extra: u32,
}

impl BackfillSpace {
    fn holds(&self, request: &StreamRequest) -> bool {
        let nodes = request.nodes.0;
        nodes <= self.idle && (request.estimate <= self.span || nodes <= self.extra)
    }
}

impl From<BackfillSpace> for CompactSpace {
    fn from(space: BackfillSpace) -> Self {
        let idle = saturated(i64::from(space.idle)).min(GONE - 1);
        let beside = saturated(i64::from(space.extra)).min(idle);
        Self::new(idle, saturated(space.span.0), beside)
    }
}

fn saturated(value: i64) -> i32 {
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
        let nodes = saturated(i64::from(request.nodes.0)).min(GONE - 1);
        let estimate = saturated(request.estimate.0);
        self.summaries.add(self.nodes.len(), nodes, estimate);
        self.nodes.push(nodes);
        self.estimates.push(estimate);
        self.requests.push(request);
        self.waiting += 1;
    }

    /// Takes out the job at a place.
    pub(super) fn take(&mut self, place: usize) -> StreamRequest {
        self.nodes[place] = GONE;
        self.summaries.left(place);
        self.waiting -= 1;
        if place == self.head {
            while self.head < self.nodes.len() && self.nodes[self.head] == GONE {
                self.head += 1;
            }
        }
        self.requests[place]
    }

    /// The first job at `from` or behind that `space` holds.
    pub(super) fn first_within(&mut self, from: usize, space: BackfillSpace) -> Option<usize> {
        let saturated = CompactSpace::from(space);
        let Self {
            nodes,
            estimates,
            requests,
            summaries,
            ..
        } = self;
        let look = |from: usize, past: usize| {
            let chunks = nodes[from..past].chunks(TOGETHER);
            for (number, (some, lengths)) in chunks
                .zip(estimates[from..past].chunks(TOGETHER))
                .enumerate()
            {
                let mut any = 0;
                for (&nodes, &estimate) in some.iter().zip(lengths) {
                    let short =
                        i32::from(nodes <= saturated.idle) & i32::from(estimate <= saturated.span);
                    any |= short | i32::from(nodes <= saturated.beside);
                }
                if any == 0 {
                    continue;
                }
                let begin = from + number * TOGETHER;
                for place in begin..begin + some.len() {
                    if nodes[place] != GONE && space.holds(&requests[place]) {
                        return Some(place);
                    }
                }
            }
            None
        };
        let from = from.max(self.head);
        if nodes.len() <= BLOCK {
            return look(from, nodes.len());
        }
        summaries.find(from, &saturated, nodes, estimates, &look)
    }

    /// Forgets places of jobs that left. All places change.
    pub(super) fn tidy(&mut self) {
        if self.waiting == 0 {
            self.nodes.clear();
            self.estimates.clear();
            self.requests.clear();
            self.summaries.renew(&[], &[]);
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
            self.summaries.renew(&self.nodes, &self.estimates);
            self.head = 0;
        }
    }
}
