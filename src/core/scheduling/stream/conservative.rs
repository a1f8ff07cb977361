//! Conservative backfilling of one trace at a speed that the policies on a cluster do not reach
//! (`benches/README.md`), with estimates that are not exact: every early end lets the plan move
//! forward.
//!
//! The rules are those of `heuristic-planning` without deadlines: a job gets the earliest place
//! that is left when it is submitted; after each early end every planned job, in order of (planned
//! start, submission), is put back at the earliest start that is free for it, never later than it
//! was. Afterwards no job could start earlier, as a job that moves gives way only to those planned
//! behind it. So in the pass after the next early end a job can only move to where something has
//! become free since: no later than the end of what the early one had booked and of what those who
//! moved had.
//!
//! A deep queue mostly moves as one: once some jobs have moved by the same time, and everybody else
//! who is in front of the rest has ended before it, the rest finds in front of it just what it
//! found that much later, so nobody behind can start earlier than that much earlier, unless in what
//! lies before. All are moved at once then (`shift_all`), and the pass goes on with what lies
//! before.
//!
//! Who moves gives back nodes behind the start of everybody looked at so far, mostly far behind:
//! until the pass comes to them ([`Released`]) they change nothing. So what was searched in vain
//! stays known to the end of the pass ([`Failed`]): a search begins where somebody who wanted at
//! most as much ended, and whoever would have nothing left to search is passed over. Neighbours of
//! the same start, nodes and estimate find one after the other what the first one found, as long as
//! it lasts, and move as one.

use super::failed::Failed;
use super::planned::PlannedJobs;
use super::released::Released;
use super::{Listener, StreamRequest, StreamScheduler};
use crate::kernel::Agenda;
use crate::plan::{Fit, Found, Profile};
use crate::units::{Nodes, Seconds};

/// The engine; see the module for its rules.
pub struct ConservativeStream {
    free: Profile,
    planned: PlannedJobs,
    running: Agenda<Tail>,
    /// Counts plans, because starts of one second come in the order in which they were planned.
    plans: u64,
    due: Vec<(u64, StreamRequest)>,
    failed: Failed,
    /// Times in which jobs that moved gave nodes back, behind the start of the job that is looked
    /// at.
    released: Released,
    moves: Vec<Move>,
    /// When the last running job will have used up its estimate, where that is known.
    latest_end: Option<Seconds>,
    /// How often the rest of a plan moved at once.
    #[cfg(test)]
    shifts: usize,
}

/// What a running job has booked.
#[derive(Clone, Copy, Debug)]
struct Tail {
    until: Seconds,
    nodes: u32,
}

/// Planned jobs one after the other that found the same earlier start in this pass.
#[derive(Clone, Copy, Debug)]
struct Move {
    place: usize,
    count: usize,
    by: Seconds,
}

/// So many jobs must have moved by the same time, and so many be left, before it is asked whether
/// all the others will.
const ALIKE: usize = 4;
const LEFT: usize = 8;

/// For so many jobs in front of the rest, all of which are asked, one more must have moved.
const ASKED: usize = 64;

/// Of so many first jobs it is not remembered where they moved to: the way to there is short.
const UNNOTED: usize = 32;

impl ConservativeStream {
    /// An empty machine.
    #[must_use]
    pub fn new(nodes: Nodes) -> Self {
        Self {
            free: Profile::new(nodes.0, Seconds::ZERO),
            planned: PlannedJobs::default(),
            running: Agenda::default(),
            plans: 0,
            due: Vec::new(),
            failed: Failed::default(),
            released: Released::default(),
            moves: Vec::new(),
            latest_end: None,
            #[cfg(test)]
            shifts: 0,
        }
    }

    /// Works off every end and start until `until`.
    fn advance(&mut self, until: Seconds, listener: &mut impl Listener) {
        loop {
            let end = self.running.next_time().unwrap_or(Seconds::FAR);
            let start = self.planned.next_start().unwrap_or(Seconds::FAR);
            let now = end.min(start);
            if now > until || now == Seconds::FAR {
                return;
            }
            while let Some((_, tail)) = self.running.pop_before(now + Seconds(1)) {
                if self.latest_end == Some(tail.until) {
                    self.latest_end = None;
                }
                if tail.until > now {
                    self.free.release(now, tail.until, tail.nodes);
                    if self.planned.next_start().is_some() {
                        self.pull_forward(now, tail.until);
                    }
                }
            }
            self.start_due(now, listener);
        }
    }

    fn start_due(&mut self, now: Seconds, listener: &mut impl Listener) {
        while let Some(due) = self.planned.take_due(now) {
            self.due.push(due);
        }
        self.planned.forget_some_started();
        if self.due.len() > 1 {
            self.due.sort_unstable_by_key(|(number, _)| *number);
        }
        for (_, request) in self.due.drain(..) {
            let tail = Tail {
                until: now + request.estimate,
                nodes: request.nodes.0,
            };
            self.latest_end = self.latest_end.map(|latest| latest.max(tail.until));
            self.running.push(now + request.runtime, 0, tail);
            listener.started(&request, now);
        }
    }

    /// Puts every planned job back at its earliest start, after something became free from `now` to
    /// `freed`.
    fn pull_forward(&mut self, now: Seconds, freed: Seconds) {
        self.free.forget_before(now);
        self.failed.clear(now);
        self.released.clear();
        self.moves.clear();
        // Until then something became free that the job that is looked at can use; what else did
        // begins behind its start.
        let mut open_to = freed;
        // Who wants more than ever is free there finds nothing; not known before somebody found
        // nothing, nor when more was opened.
        let mut most = i32::MAX;
        let mut chain = Chain::default();
        let mut next = self.planned.first();
        let noted_from = next + UNNOTED;
        while next < self.planned.past() {
            let first = self.planned.start(next);
            while let Some(to) = self.released.pop_before(first) {
                open_to = open_to.max(to);
                most = i32::MAX;
            }
            let excluded = self.failed.excluded(first.min(open_to));
            let place = if self.planned.is_candidate(next, most, excluded) {
                next
            } else {
                // Those of one start can use as much; so can all who start when everything that is
                // open is over, until more becomes open.
                let last = if first < open_to {
                    first
                } else {
                    self.released.next().unwrap_or(Seconds::FAR)
                };
                let past = self.planned.past_of(next, last);
                match self.planned.next_candidate(next + 1, past, most, excluded) {
                    Some(place) => place,
                    None => {
                        next = past;
                        continue;
                    }
                }
            };
            next = place + 1;
            let old_start = self.planned.start(place);
            let StreamRequest {
                nodes, estimate, ..
            } = *self.planned.request(place);
            let latest = old_start.min(open_to) - Seconds(1);
            let near = self.failed.tried_until(nodes, estimate);
            if near > latest {
                continue;
            }
            let fit = Fit {
                from: now,
                latest,
                nodes: nodes.0,
                duration: estimate,
                own_start: Some(old_start),
            };
            let found = match self.free.earliest_fit_around(near, fit) {
                Ok(found) => found,
                Err(longest) => {
                    let until = latest + Seconds(1);
                    // What was not searched now holds nobody who wants as much as whoever searched
                    // it.
                    let least = self.failed.tried_with(nodes, estimate);
                    let least = least.max(longest + Seconds(1)).min(estimate);
                    if least < estimate {
                        self.failed.note(nodes, least, until);
                    } else {
                        // Behind `until` nothing became free, so there is no start there either.
                        self.failed.note(nodes, estimate, old_start);
                    }
                    if most == i32::MAX {
                        most = self.free.max_free(now, open_to);
                    }
                    continue;
                }
            };
            let start = found.start;
            next = place + self.move_alike(place, found, &chain);
            if place >= noted_from {
                self.failed.note(nodes, estimate, start);
            }
            let by = old_start - start;
            let asked = (next - self.planned.first()) / ASKED;
            if chain.goes_on(by, next - place) >= ALIKE.max(asked)
                && self.planned.past() - next >= LEFT
            {
                let first = self.planned.start(next);
                if first >= chain.not_before {
                    chain.not_before = self.differs_until(&mut chain, next, first).max(freed);
                    if first >= chain.not_before {
                        self.shift_all(&mut chain, next);
                        self.failed.clear(now);
                        self.released.clear();
                        open_to = first - by;
                        most = i32::MAX;
                    }
                }
            }
        }
        for index in 0..self.moves.len() {
            let Move { place, count, .. } = self.moves[index];
            self.planned.put_in_order(place, count);
        }
    }

    /// Moves a job to an earlier start, with those behind that are like it as far as the nodes go.
    /// Returns how many moved.
    fn move_alike(&mut self, place: usize, found: Found, chain: &Chain) -> usize {
        let old_start = self.planned.start(place);
        let StreamRequest {
            nodes, estimate, ..
        } = *self.planned.request(place);
        let start = found.start;
        let mut count = self.planned.alike(place);
        if count > 1 {
            // What the first one gives back lies behind the start of the others: they find what it
            // found, as long as it lasts.
            let taken_to = old_start.min(start + estimate);
            let free = self.free.min_free(start, taken_to).unsigned_abs();
            count = count.min((free / nodes.0) as usize);
        }
        let taken = nodes.0 * count as u32;
        self.free.bring_forward(found, old_start, estimate, taken);
        let (end, old_end) = (start + estimate, old_start + estimate);
        self.released.add(end.max(old_start), old_end);
        let by = old_start - start;
        for place in place..place + count {
            let number = (place < chain.numbered_from).then(|| {
                self.plans += 1;
                self.plans
            });
            self.planned.set_start(place, start, number);
        }
        self.moves.push(Move { place, count, by });
        count
    }

    /// From when on the plan without the jobs from place `next` on is what it was `chain.by` later,
    /// before those of the chain moved. Where that is behind `first`, any earlier time that is
    /// behind it as well.
    fn differs_until(&mut self, chain: &mut Chain, next: usize, first: Seconds) -> Seconds {
        let mut until = Seconds::ZERO;
        // Those who end behind it are mostly the last ones.
        let mut moves = self.moves[chain.moves_from..].iter().rev().peekable();
        for place in (self.planned.first()..next).rev() {
            while moves.next_if(|moved| moved.place > place).is_some() {}
            let moved = moves
                .peek()
                .filter(|moved| place < moved.place + moved.count);
            let by = moved.map_or(Seconds::ZERO, |moved| moved.by);
            if by != chain.by {
                let end = self.planned.start(place) + self.planned.request(place).estimate;
                if end + by.max(chain.by) > until {
                    until = end + by.max(chain.by);
                    chain.last_other = (end, by);
                    if until > first {
                        return until;
                    }
                }
            }
        }
        until.max(self.latest_end() + chain.by)
    }

    /// When the last running job will have used up its estimate.
    fn latest_end(&mut self) -> Seconds {
        let ends = || self.running.iter().map(|tail| tail.until);
        *self
            .latest_end
            .get_or_insert_with(|| ends().fold(Seconds::ZERO, Seconds::max))
    }

    /// Moves all jobs from place `next` on by as much as those of the chain moved.
    fn shift_all(&mut self, chain: &mut Chain, next: usize) {
        #[cfg(test)]
        {
            self.shifts += 1;
        }
        let first = self.planned.start(next);
        for moved in &self.moves[chain.moves_from..] {
            let StreamRequest {
                nodes, estimate, ..
            } = *self.planned.request(moved.place);
            let end = self.planned.start(moved.place) + estimate;
            // What they gave back there comes with the others.
            if end + moved.by > first {
                let released = nodes.0 * moved.count as u32;
                self.free.reserve(end.max(first), end + moved.by, released);
            }
        }
        self.free.cut_out(first - chain.by, first);
        self.planned.shift_from(next, chain.by, self.plans + 1);
        self.plans += (self.planned.past() - next) as u64;
        *chain = Chain {
            numbered_from: chain.numbered_from.min(next),
            moves_from: self.moves.len(),
            ..Chain::default()
        };
    }
}

/// Jobs that moved by the same time, one after the other.
#[derive(Debug)]
struct Chain {
    by: Seconds,
    length: usize,
    /// Before this start nobody has to be asked whether all the others move alike.
    not_before: Seconds,
    /// Places from here on have got the numbers of this pass.
    numbered_from: usize,
    /// Moves before this one belong to the plan that the chain began with.
    moves_from: usize,
    /// Of a job in front that did not move like others of a chain: its end, and by how much it
    /// moved.
    last_other: (Seconds, Seconds),
}

impl Default for Chain {
    fn default() -> Self {
        Self {
            by: Seconds::ZERO,
            length: 0,
            not_before: Seconds::ZERO,
            numbered_from: usize::MAX,
            moves_from: 0,
            last_other: (Seconds::ZERO, Seconds::ZERO),
        }
    }
}

impl Chain {
    /// Counts jobs that moved; how long the chain is.
    fn goes_on(&mut self, by: Seconds, jobs: usize) -> usize {
        if self.by == by {
            self.length += jobs;
        } else {
            (self.by, self.length, self.not_before) = (by, jobs, Seconds::ZERO);
            let (end, other_by) = self.last_other;
            if other_by != by {
                self.not_before = end + by.max(other_by);
            }
        }
        self.length
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
            self.latest_end = self.latest_end.map(|latest| latest.max(tail.until));
            self.running.push(now + request.runtime, 0, tail);
            listener.started(&request, now);
            return;
        }
        self.plans += 1;
        self.planned.insert(start, self.plans, request);
    }

    fn finish(&mut self, listener: &mut impl Listener) {
        self.advance(Seconds::FAR, listener);
    }
}

#[cfg(test)]
mod tests;
