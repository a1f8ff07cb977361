//! Conservative backfilling of one trace, faster than the policies on a cluster
//! (`benches/README.md` has the figures). Estimates need not be exact: every early end lets the
//! plan move forward.
//!
//! The rules are those of `heuristic-planning` without deadlines. A job gets the earliest free
//! place at its submission. After each early end every planned job is put back at its earliest free
//! start, in order of (planned start, submission), and never later than before. After such a pass
//! no job could start earlier: a job that moves makes room only for jobs planned behind it. So in
//! the next pass a job can move only to a start at which something has become free since. Such a
//! start lies before the booked end of the job that ended early, or before the old end of a job
//! that moved.
//!
//! A deep queue mostly moves as a whole. Suppose that several jobs have moved by the same time `d`,
//! and that all other jobs in front of the remaining ones end before these start. Then the free
//! nodes in front of the remaining jobs are what they were, `d` earlier. So each of these can move
//! by `d`, and by more only into the time before that. `shift_all` moves all of them by `d` at
//! once; then the pass goes on and looks for still earlier starts in the time before.
//!
//! A job that moves frees nodes behind the starts of all jobs that the pass has looked at, mostly
//! far behind. They change nothing until the pass reaches them ([`Released`]). So a failed search
//! stays valid to the end of the pass ([`Failed`]). A later job that wants at least as many nodes
//! for at least as long begins its search where the failed one stopped, and is skipped if nothing
//! is left to search. Neighbouring jobs of the same start, nodes and estimate find the same place
//! one after the other, as long as there are nodes, and move together.

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
    /// Counts plans: jobs of one second start in the order in which they were planned.
    plans: u64,
    due: Vec<(u64, StreamRequest)>,
    failed: Failed,
    /// Times in which moved jobs freed nodes, behind the start of the current job.
    released: Released,
    moves: Vec<Move>,
    /// When the last running job will have used up its estimate; `None` if that is not known.
    latest_end: Option<Seconds>,
    /// How often the remaining jobs of a plan moved at once.
    #[cfg(test)]
    shifts: usize,
}

/// The booking of a running job.
#[derive(Clone, Copy, Debug)]
struct Tail {
    until: Seconds,
    nodes: u32,
}

/// Neighbouring planned jobs that found the same earlier start in this pass.
#[derive(Clone, Copy, Debug)]
struct Move {
    place: usize,
    count: usize,
    by: Seconds,
}

/// At least this many jobs must have moved by the same time before it is checked whether all
/// remaining ones will.
const ALIKE: usize = 4;

/// At least this many jobs must remain for that check.
const LEFT: usize = 8;

/// The check looks at all jobs in front of the remaining ones, so at least one in this many of them
/// must have moved.
const ASKED: usize = 64;

/// The starts found by this many first jobs are not noted: the way to them is short.
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

    /// Processes every end and start until `until`.
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

    /// Puts every planned job back at its earliest start after something became free from `now` to
    /// `freed`.
    fn pull_forward(&mut self, now: Seconds, freed: Seconds) {
        self.free.forget_before(now);
        self.failed.clear(now);
        self.released.clear();
        self.moves.clear();
        // Before this time something became free that the current job can use. Everything else that
        // became free begins behind its start.
        let mut open_to = freed;
        // A job that wants more nodes than this cannot move, because so many are never free there.
        // Not known until a search has failed, and again when more time opens.
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
                // Jobs of the same start can use the same open time. So can all jobs that start
                // after the open time has ended, until more opens.
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
                    // The time before `near` was not searched now. It has no place for anything
                    // that wants at least as much as the search that reached `near`.
                    let least = self.failed.tried_with(nodes, estimate);
                    let least = least.max(longest + Seconds(1)).min(estimate);
                    if least < estimate {
                        self.failed.note(nodes, least, until);
                    } else {
                        // Nothing became free after `until`, so there is no start there either.
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

    /// Moves a job to an earlier start, together with the equal jobs behind it for which there are
    /// enough nodes. Returns how many moved.
    fn move_alike(&mut self, place: usize, found: Found, chain: &Chain) -> usize {
        let old_start = self.planned.start(place);
        let StreamRequest {
            nodes, estimate, ..
        } = *self.planned.request(place);
        let start = found.start;
        let mut count = self.planned.alike(place);
        if count > 1 {
            // The nodes that the first one frees lie behind the start of the others. So these find
            // the same place, as long as it has nodes.
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

    /// The time from which the plan without the jobs from place `next` on equals the plan of
    /// `chain.by` later, as that was before the chain moved. If that time is after `first`, the
    /// result may be any earlier time after `first`.
    fn differs_until(&mut self, chain: &mut Chain, next: usize, first: Seconds) -> Seconds {
        let mut until = Seconds::ZERO;
        // Jobs that end after `first` are mostly among the last ones.
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

    /// Moves all jobs from place `next` on by as much as the jobs of the chain moved.
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
            // From `first` on the profile becomes what it was before the chain moved; the cut below
            // moves it as a whole.
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

/// Consecutive jobs that moved by the same time.
#[derive(Debug)]
struct Chain {
    by: Seconds,
    length: usize,
    /// Before this start it need not be checked whether all remaining jobs move alike.
    not_before: Seconds,
    /// Places from here on have their plan numbers of this pass already.
    numbered_from: usize,
    /// Moves before this one belong to the plan that the chain began with.
    moves_from: usize,
    /// The end of a job in front that moved by another time than the chain, and that time.
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
    /// Counts jobs that moved by `by`. Returns the length of the chain.
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
        // A job that is no wider than the machine fits once all others have ended.
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
