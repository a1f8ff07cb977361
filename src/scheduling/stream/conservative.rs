//! Conservative backfilling with estimates that are not exact: every early end lets the plan move forward.
//!
//! The rules are those of `heuristic-planning` without deadlines: a job gets the earliest place that is left when it is submitted;
//! after each early end every planned job, in order of (planned start, submission), is put back at the earliest start that is free
//! for it, never later than it was. Afterwards no job could start earlier, as a job that moves gives way only to those
//! planned behind it. So in the pass after the next early end a job can only move to where something has become free since: no later
//! than the end of what the early one had booked and of what those who moved had.

use super::ends::Ends;
use super::{Listener, StreamRequest, StreamScheduler};
use crate::plan::{Fit, Profile};
use crate::units::{Nodes, Seconds};

/// The engine; see the module for its rules.
pub struct ConservativeStream {
    free: Profile,
    /// In order of (start, index), from `first` on.
    planned: Vec<Planned>,
    first: usize,
    running: Ends<Tail>,
    /// Counts plans, because starts of one second come in the order in which they were planned.
    plans: u64,
    due: Vec<Planned>,
    failed: Failed,
}

#[derive(Clone, Copy, Debug)]
struct Planned {
    start: Seconds,
    plan: u64,
    request: StreamRequest,
}

impl Planned {
    fn key(&self) -> (Seconds, u64) {
        (self.start, self.request.index)
    }
}

/// What a running job has booked.
#[derive(Clone, Copy, Debug)]
struct Tail {
    until: Seconds,
    nodes: u32,
}

impl ConservativeStream {
    /// An empty machine.
    #[must_use]
    pub fn new(nodes: Nodes) -> Self {
        Self {
            free: Profile::new(nodes.0, Seconds::ZERO),
            planned: Vec::new(),
            first: 0,
            running: Ends::default(),
            plans: 0,
            due: Vec::new(),
            failed: Failed::default(),
        }
    }

    fn next_start(&self) -> Option<Seconds> {
        self.planned.get(self.first).map(|planned| planned.start)
    }

    /// Works off every end and start until `until`.
    fn advance(&mut self, until: Seconds, listener: &mut impl Listener) {
        loop {
            let end = self.running.next().unwrap_or(Seconds::FAR);
            let start = self.next_start().unwrap_or(Seconds::FAR);
            let now = end.min(start);
            if now > until || now == Seconds::FAR {
                return;
            }
            while let Some((_, tail)) = self.running.pop_until(now) {
                if tail.until > now {
                    self.free.release(now, tail.until, tail.nodes);
                    if self.first < self.planned.len() {
                        self.pull_forward(now, tail.until);
                    }
                }
            }
            self.start_due(now, listener);
        }
    }

    fn start_due(&mut self, now: Seconds, listener: &mut impl Listener) {
        while let Some(planned) = self.planned.get(self.first)
            && planned.start <= now
        {
            self.due.push(*planned);
            self.first += 1;
        }
        if self.first == self.planned.len() {
            self.planned.clear();
            self.first = 0;
        } else if self.first > 64 && self.first * 2 > self.planned.len() {
            self.planned.drain(..self.first);
            self.first = 0;
        }
        if self.due.len() > 1 {
            self.due.sort_unstable_by_key(|planned| planned.plan);
        }
        for planned in self.due.drain(..) {
            let request = planned.request;
            let tail = Tail {
                until: now + request.estimate,
                nodes: request.nodes.0,
            };
            self.running.push(now + request.runtime, tail);
            listener.started(&request, now);
        }
    }

    /// Puts every planned job back at its earliest start, after something became free from `now` to `freed_to`.
    fn pull_forward(&mut self, now: Seconds, mut freed_to: Seconds) {
        let mut moved = false;
        self.free.forget_before(now);
        self.failed.clear();
        // Who wants more than ever is free there finds nothing; not known before somebody found nothing, nor when somebody
        // has moved.
        let mut most = i32::MAX;
        for planned in &mut self.planned[self.first..] {
            let StreamRequest {
                nodes, estimate, ..
            } = planned.request;
            if planned.start <= now || nodes.0 as i32 > most {
                continue;
            }
            let latest = planned.start.min(freed_to) - Seconds(1);
            let from = self.failed.tried_until(nodes, estimate).max(now);
            if from > latest {
                continue;
            }
            let Some(start) = self.free.earliest_fit(Fit {
                from,
                latest,
                nodes: nodes.0,
                duration: estimate,
                own_start: Some(planned.start),
            }) else {
                self.failed.note(nodes, estimate, latest + Seconds(1));
                if most == i32::MAX {
                    most = self.free.max_free(now, freed_to);
                }
                continue;
            };
            let (end, old_end) = (start + estimate, planned.start + estimate);
            // What it holds before and after stays as it is.
            let given_from = end.max(planned.start);
            self.free.reserve(start, end.min(planned.start), nodes.0);
            self.free.release(given_from, old_end, nodes.0);
            freed_to = freed_to.max(old_end);
            self.failed.clear();
            most = i32::MAX;
            planned.start = start;
            self.plans += 1;
            planned.plan = self.plans;
            moved = true;
        }
        if moved {
            self.put_in_order();
        }
    }
}

/// Who found no earlier start since somebody last moved. Whoever wants at least as much for at least as long, and was planned later,
/// finds none there either.
#[derive(Debug, Default)]
struct Failed {
    known: [FailedTry; 6],
    count: usize,
}

/// So many nodes for so long cannot be had before `until`.
#[derive(Clone, Copy, Debug, Default)]
struct FailedTry {
    nodes: Nodes,
    estimate: Seconds,
    until: Seconds,
}

impl Failed {
    fn clear(&mut self) {
        self.count = 0;
    }

    /// No start before this one has to be tried.
    fn tried_until(&self, nodes: Nodes, estimate: Seconds) -> Seconds {
        let smaller = self.known[..self.count]
            .iter()
            .filter(|other| other.nodes <= nodes && other.estimate <= estimate);
        smaller.fold(Seconds::ZERO, |until, other| until.max(other.until))
    }

    fn note(&mut self, nodes: Nodes, estimate: Seconds, until: Seconds) {
        let new = FailedTry {
            nodes,
            estimate,
            until,
        };
        // The new one takes the place of one that says less.
        let known = &mut self.known[..self.count];
        let less = known.iter().position(|other| {
            nodes <= other.nodes && estimate <= other.estimate && until >= other.until
        });
        match less {
            Some(place) => known[place] = new,
            None if self.count < self.known.len() => {
                self.known[self.count] = new;
                self.count += 1;
            }
            None => {}
        }
    }
}

impl ConservativeStream {
    /// Sorts what is nearly sorted: who moved mostly kept the order.
    fn put_in_order(&mut self) {
        let planned = &mut self.planned[self.first..];
        for index in 1..planned.len() {
            if planned[index].key() < planned[index - 1].key() {
                let moved = planned[index].key();
                let place = planned[..index].partition_point(|other| other.key() < moved);
                planned[place..=index].rotate_right(1);
            }
        }
    }
}

impl StreamScheduler for ConservativeStream {
    fn submit(&mut self, request: StreamRequest, listener: &mut impl Listener) {
        let now = request.submit;
        self.advance(now, listener);
        self.free.forget_some_before(now);
        let start = self.free.earliest_fit(Fit {
            from: now,
            latest: Seconds::FAR,
            nodes: request.nodes.0,
            duration: request.estimate,
            own_start: None,
        });
        // A job that is not wider than the machine fits when everybody else has ended.
        let Some(start) = start else {
            listener.refused(&request);
            return;
        };
        self.free
            .reserve(start, start + request.estimate, request.nodes.0);
        if start == now {
            let tail = Tail {
                until: now + request.estimate,
                nodes: request.nodes.0,
            };
            self.running.push(now + request.runtime, tail);
            listener.started(&request, now);
            return;
        }
        self.plans += 1;
        let planned = Planned {
            start,
            plan: self.plans,
            request,
        };
        let waiting = &self.planned[self.first..];
        let place = self.first + waiting.partition_point(|other| other.key() < planned.key());
        self.planned.insert(place, planned);
    }

    fn finish(&mut self, listener: &mut impl Listener) {
        self.advance(Seconds::FAR, listener);
    }
}
