//! The planned jobs of conservative backfilling, in order of (start, submission), with searches for
//! the next one that might move.

use super::StreamRequest;
use super::failed::Excluded;
use crate::units::Seconds;

/// Jobs that are compared together, without a branch.
const TOGETHER: usize = 16;

/// At most this many jobs are searched before it is determined again what the next one can use.
const NEAR: usize = 64;

/// Started jobs that are kept before they are forgotten together.
const STARTED: usize = 64;

/// Planned jobs. A search looks at the nodes and estimates of all, so these stand in lists of their
/// own. Requests, which are rarely needed, keep their positions when the order changes.
#[derive(Debug, Default)]
pub(super) struct PlannedJobs {
    /// Places before this one have started.
    first: usize,
    starts: Vec<Seconds>,
    nodes: Vec<i32>,
    /// Saturated below [`i32::MAX`]: a job that a search finds is checked again with its whole
    /// estimate.
    estimates: Vec<i32>,
    plans: Vec<Plan>,
    requests: Vec<StreamRequest>,
    unused: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Plan {
    /// Its number in the order of planning.
    number: u64,
    /// The position of its request.
    slot: u32,
}

pub(super) fn saturated(value: i64) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

impl PlannedJobs {
    /// The first place; places end at [`PlannedJobs::past`].
    pub(super) fn first(&self) -> usize {
        self.first
    }

    /// The place behind the last one.
    pub(super) fn past(&self) -> usize {
        self.starts.len()
    }

    pub(super) fn start(&self, place: usize) -> Seconds {
        self.starts[place]
    }

    pub(super) fn request(&self, place: usize) -> &StreamRequest {
        &self.requests[self.plans[place].slot as usize]
    }

    /// When the next one starts.
    pub(super) fn next_start(&self) -> Option<Seconds> {
        self.starts.get(self.first).copied()
    }

    fn key(&self, place: usize) -> (Seconds, u64) {
        (self.starts[place], self.request(place).index)
    }

    /// The first place in `from..to` whose key is not smaller; keys rise in this range.
    fn place_of(&self, from: usize, to: usize, key: (Seconds, u64)) -> usize {
        let place = from + self.starts[from..to].partition_point(|start| *start < key.0);
        if place == to || self.starts[place] > key.0 {
            return place;
        }
        let same = self.starts[place..to].partition_point(|start| *start == key.0);
        let of_same = &self.plans[place..place + same];
        place + of_same.partition_point(|plan| self.requests[plan.slot as usize].index < key.1)
    }

    /// Enters a job.
    pub(super) fn insert(&mut self, start: Seconds, number: u64, request: StreamRequest) {
        let place = self.place_of(self.first, self.past(), (start, request.index));
        let slot = match self.unused.pop() {
            Some(slot) => {
                self.requests[slot as usize] = request;
                slot
            }
            None => {
                self.requests.push(request);
                (self.requests.len() - 1) as u32
            }
        };
        self.starts.insert(place, start);
        self.nodes
            .insert(place, saturated(i64::from(request.nodes.0)));
        self.estimates
            .insert(place, saturated(request.estimate.0).min(i32::MAX - 1));
        self.plans.insert(place, Plan { number, slot });
    }

    /// Takes out the first job if it starts by `now`, with the number of its plan.
    pub(super) fn take_due(&mut self, now: Seconds) -> Option<(u64, StreamRequest)> {
        if self.next_start().is_none_or(|start| start > now) {
            return None;
        }
        let Plan { number, slot } = self.plans[self.first];
        self.unused.push(slot);
        self.first += 1;
        let request = self.requests[slot as usize];
        if self.first == self.past() {
            self.forget_started();
        }
        Some((number, request))
    }

    /// Forgets started jobs when there are enough of them to be worth it.
    pub(super) fn forget_some_started(&mut self) {
        if self.first > STARTED && self.first * 2 > self.past() {
            self.forget_started();
        }
    }

    fn forget_started(&mut self) {
        let started = ..self.first;
        self.starts.drain(started);
        self.nodes.drain(started);
        self.estimates.drain(started);
        self.plans.drain(started);
        self.first = 0;
    }

    /// A place behind `from` such that no job from `from` up to it starts after `time`. It is never
    /// far behind, so that it is found fast. The job at `from` must not start after `time`.
    pub(super) fn past_of(&self, from: usize, time: Seconds) -> usize {
        let past = self.past().min(from + NEAR);
        let starts = &self.starts[from..past];
        if starts.last().is_none_or(|start| *start <= time) {
            return past;
        }
        from + starts.partition_point(|start| *start <= time)
    }

    /// How many consecutive jobs from this place on have the same start, nodes and estimate.
    pub(super) fn alike(&self, place: usize) -> usize {
        let StreamRequest {
            nodes, estimate, ..
        } = *self.request(place);
        let is_alike = |other: &usize| {
            let other = *other;
            self.starts[other] == self.starts[place]
                && self.nodes[other] == self.nodes[place]
                && self.request(other).nodes == nodes
                && self.request(other).estimate == estimate
        };
        1 + (place + 1..self.past()).take_while(is_alike).count()
    }

    /// Whether the job at a place wants at most `most` nodes and is not excluded.
    #[inline]
    pub(super) fn is_candidate(&self, place: usize, most: i32, excluded: &Excluded) -> bool {
        let nodes = self.nodes[place];
        nodes <= most && excluded.admits(nodes, self.estimates[place])
    }

    /// The first job in `from..past` that wants at most `most` nodes and is not excluded.
    pub(super) fn next_candidate(
        &self,
        mut from: usize,
        past: usize,
        most: i32,
        excluded: &Excluded,
    ) -> Option<usize> {
        let [(wide, long), (second_wide, second_long)] = excluded.first();
        while from < past {
            let nodes = self.nodes[from..].first_chunk::<TOGETHER>();
            let estimates = self.estimates[from..].first_chunk::<TOGETHER>();
            let (Some(nodes), Some(estimates)) = (nodes, estimates) else {
                return (from..past).find(|&place| self.is_candidate(place, most, excluded));
            };
            let mut left = [0; TOGETHER];
            for index in 0..TOGETHER {
                left[index] = -i32::from(nodes[index] <= most)
                    & (-i32::from(nodes[index] < wide) | -i32::from(estimates[index] < long))
                    & (-i32::from(nodes[index] < second_wide)
                        | -i32::from(estimates[index] < second_long));
            }
            if left.iter().fold(0, |any, left| any | left) != 0 {
                for (wide, long) in excluded.others() {
                    for index in 0..TOGETHER {
                        left[index] &=
                            -i32::from(nodes[index] < wide) | -i32::from(estimates[index] < long);
                    }
                }
                if let Some(index) = left.iter().position(|left| *left != 0) {
                    return Some(from + index).filter(|place| *place < past);
                }
            }
            from += TOGETHER;
        }
        None
    }

    /// Sets the start of a job without moving it to its place in the order. `number` is its new
    /// plan number, if it gets one.
    pub(super) fn set_start(&mut self, place: usize, start: Seconds, number: Option<u64>) {
        self.starts[place] = start;
        if let Some(number) = number {
            self.plans[place].number = number;
        }
    }

    /// Moves the starts of all jobs from a place on forward by the same time, and numbers their
    /// plans from `number` on.
    pub(super) fn shift_from(&mut self, place: usize, by: Seconds, number: u64) {
        for start in &mut self.starts[place..] {
            *start -= by;
        }
        for (plan, number) in self.plans[place..].iter_mut().zip(number..) {
            plan.number = number;
        }
    }

    /// Moves neighbouring jobs that got the same earlier start to their places in the order. All
    /// jobs before them are in order.
    pub(super) fn put_in_order(&mut self, place: usize, count: usize) {
        if place == self.first || self.key(place - 1) < self.key(place) {
            return;
        }
        let last = place + count - 1;
        let to = self.place_of(self.first, place, self.key(place));
        if count > 1 && self.key(to) < self.key(last) {
            for place in place..=last {
                self.put_in_order(place, 1);
            }
            return;
        }
        self.starts[to..=last].rotate_right(count);
        self.nodes[to..=last].rotate_right(count);
        self.estimates[to..=last].rotate_right(count);
        self.plans[to..=last].rotate_right(count);
    }
}
