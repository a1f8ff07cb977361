//! The counted profile: how many nodes are free at which time, without saying which.

mod block;
mod change;
#[cfg(test)]
mod tests;

use self::block::Block;
use crate::units::{Nodes, Seconds};

/// Free nodes as a step function of time.
///
/// Kept as breakpoints in blocks that know bounds of their counts and carry a pending shift, so an
/// operation skips whole blocks. Blocks grow with the plan: with `b` breakpoints, every operation
/// costs O(√b) in the worst case, a pass over the headers of the blocks between and a scan of the
/// one or two that it touches. Free counts may become negative while more nodes are down than the
/// plan leaves free.
#[derive(Clone, Debug)]
pub struct Profile {
    blocks: Vec<Block>,
    /// Breakpoints that one block may hold before it is split; grows with the number of blocks.
    capacity: usize,
}

/// A question to [`Profile::earliest_fit`]: the earliest start in `[from, latest]` at which `nodes`
/// nodes are free for `duration`.
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    /// Earliest permitted start.
    pub from: Seconds,
    /// Latest permitted start.
    pub latest: Seconds,
    /// Nodes needed.
    pub nodes: u32,
    /// How long they are needed.
    pub duration: Seconds,
    /// From this time on the asking job itself holds `nodes` nodes, for at least as long as it
    /// asks; only the time before must be free. Later than `latest`.
    pub own_start: Option<Seconds>,
}

/// Where a search found room; only good until the profile changes.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// The start.
    pub start: Seconds,
    /// The segment that it lies in.
    segment: Position,
}

/// Breakpoints that one block of a short plan may hold.
const CAPACITY: usize = 96;

/// Breakpoints of the past that are kept before they are forgotten together.
const FORGOTTEN: usize = 8;

/// A segment by block and index within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Position {
    block: usize,
    index: usize,
}

impl Profile {
    /// A machine of `nodes` nodes that is free from `origin` on; nothing before `origin` may be
    /// asked or reserved.
    #[must_use]
    pub fn new(nodes: u32, origin: Seconds) -> Self {
        Self {
            blocks: vec![Block::new(vec![origin], vec![nodes as i32])],
            capacity: CAPACITY,
        }
    }

    /// Number of breakpoints.
    #[must_use]
    pub fn len(&self) -> usize {
        self.blocks.iter().map(|block| block.times.len()).sum()
    }

    /// Whether the count never changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() <= 1
    }

    /// Free nodes at `time`.
    #[must_use]
    pub fn free_at(&self, time: Seconds) -> i32 {
        self.count(self.locate(time))
    }

    /// The smallest free count on `[from, to)`; `i32::MAX` when the interval is empty.
    #[must_use]
    pub fn min_free(&self, from: Seconds, to: Seconds) -> i32 {
        if from >= to {
            return i32::MAX;
        }
        let mut smallest = i32::MAX;
        let Position { block, mut index } = self.locate(from);
        for block in &self.blocks[block..] {
            if block.first >= to {
                break;
            }
            if block.min < smallest {
                let past = block.times.partition_point(|&time| time < to);
                let low = block.free[index..past.max(index + 1)].iter().min();
                smallest = low.map_or(smallest, |low| smallest.min(low + block.shift));
            }
            index = 0;
        }
        smallest
    }

    /// The part of a machine of `machine` nodes that is taken on `[from, to)` on the average, where
    /// `more` nodes are taken besides: from 0 to 1. Of an empty interval it is that at `from`.
    #[must_use]
    pub fn load(&self, from: Seconds, to: Seconds, machine: Nodes, more: Nodes) -> f64 {
        let (mut now, mut free) = (from, 0.0);
        while now < to {
            let next = self.next_change(now).map_or(to, |next| next.min(to));
            free += f64::from(self.free_at(now)) * (next - now).0 as f64;
            now = next;
        }
        let mean = if from < to {
            free / (to - from).0 as f64
        } else {
            f64::from(self.free_at(from))
        };
        let taken = f64::from(machine.0) - mean + f64::from(more.0);
        (taken / f64::from(machine.0.max(1))).clamp(0.0, 1.0)
    }

    /// Whether `nodes` nodes are free on the whole of `[from, to)`.
    #[must_use]
    pub fn is_free(&self, from: Seconds, to: Seconds, nodes: u32) -> bool {
        let wanted = nodes as i32;
        let Position { block, mut index } = self.locate(from);
        for block in &self.blocks[block..] {
            if block.first >= to {
                break;
            }
            if block.min < wanted {
                let bar = wanted - block.shift;
                let below = block.free[index..].iter().position(|&free| free < bar);
                // The first one may begin before `from`, but it reaches into the interval.
                if below.is_some_and(|below| block.times[index + below] < to) {
                    return from >= to;
                }
            }
            index = 0;
        }
        true
    }

    /// The largest free count on `[from, to)`; `i32::MIN` when the interval is empty.
    #[must_use]
    pub fn max_free(&self, from: Seconds, to: Seconds) -> i32 {
        let mut largest = i32::MIN;
        if from >= to {
            return largest;
        }
        let Position { block, mut index } = self.locate(from);
        for block in &self.blocks[block..] {
            if block.first >= to {
                break;
            }
            if block.max > largest {
                let past = block.times.partition_point(|&time| time < to);
                let high = block.free[index..past.max(index + 1)].iter().max();
                largest = high.map_or(largest, |high| largest.max(high + block.shift));
            }
            index = 0;
        }
        largest
    }

    /// The first time at or after `from` at which fewer than `nodes` nodes are free, or
    /// [`Seconds::FAR`].
    #[must_use]
    pub fn first_below(&self, from: Seconds, nodes: u32) -> Seconds {
        let wanted = nodes as i32;
        let mut position = self.locate(from);
        if self.count(position) < wanted {
            return from;
        }
        loop {
            let block = &self.blocks[position.block];
            if block.min < wanted {
                let bar = wanted - block.shift;
                if let Some(found) = block.free[position.index..]
                    .iter()
                    .position(|&free| free < bar)
                {
                    return block.times[position.index + found];
                }
            }
            if position.block + 1 == self.blocks.len() {
                return Seconds::FAR;
            }
            position = Position {
                block: position.block + 1,
                index: 0,
            };
        }
    }

    /// The first time after `after` at which the free count rises to at least `nodes` from a lower
    /// count or rises at all while being at least `nodes`; `None` when there is none before
    /// `before`.
    ///
    /// Together with the release time these are the candidate starts of an overbooked slot:
    /// starts of other reservations never open a slot.
    #[must_use]
    pub fn next_rise(&self, after: Seconds, before: Seconds, nodes: u32) -> Option<Seconds> {
        let wanted = nodes as i32;
        let mut position = self.locate(after);
        let mut previous = self.count(position);
        while let Some(next) = self.next(position) {
            if next.index == 0 && self.blocks[next.block].max < wanted {
                if self.start(next) >= before {
                    return None;
                }
                // The whole block is too low; its last count decides whether the next block begins
                // with a rise.
                let block = &self.blocks[next.block];
                let index = block.times.len() - 1;
                position = Position {
                    block: next.block,
                    index,
                };
                previous = self.count(position);
                continue;
            }
            let start = self.start(next);
            if start >= before {
                return None;
            }
            let count = self.count(next);
            if count >= wanted && count > previous {
                return Some(start);
            }
            previous = count;
            position = next;
        }
        None
    }

    /// The first time after `after` at which the free count changes, or `None`.
    #[must_use]
    pub fn next_change(&self, after: Seconds) -> Option<Seconds> {
        let position = self.locate(after);
        if self.start(position) > after {
            return Some(self.start(position));
        }
        self.next(position).map(|next| self.start(next))
    }

    /// The earliest start that answers `fit`, or `None`.
    #[must_use]
    #[inline]
    pub fn earliest_fit(&self, fit: Fit) -> Option<Seconds> {
        self.earliest_fit_or_longest(fit).ok()
    }

    /// The earliest start that answers `fit`; else for how long at most the nodes are free from any
    /// permitted start on.
    ///
    /// # Errors
    /// That time, where there is no such start.
    pub fn earliest_fit_or_longest(&self, fit: Fit) -> Result<Seconds, Seconds> {
        let own_start = fit.own_start.unwrap_or(Seconds::FAR);
        let start = self.earliest_run(&fit, own_start)?;
        // Behind its own start the job only asks that there are not too few nodes for all, which
        // can be where nodes are down; a later start would not help.
        let end = start + fit.duration;
        let enough = own_start >= end
            || self.blocks.iter().all(|block| block.min >= 0)
            || self.min_free(own_start, end) >= 0;
        enough.then_some(start).ok_or(Seconds::FAR)
    }

    /// The earliest start from which on the nodes are free for the duration, or until `own_start`
    /// if that is earlier.
    fn earliest_run(&self, fit: &Fit, own_start: Seconds) -> Result<Seconds, Seconds> {
        let start = fit.from;
        if start > fit.latest || fit.duration <= Seconds::ZERO {
            return (start <= fit.latest).then_some(start).ok_or(Seconds::ZERO);
        }
        self.earliest_run_from(self.locate(start), start, fit, own_start)
            .map(|found| found.start)
    }

    /// The same from a start and the segment that it lies in on.
    #[inline]
    fn earliest_run_from(
        &self,
        mut segment: Position,
        mut start: Seconds,
        fit: &Fit,
        own_start: Seconds,
    ) -> Result<Found, Seconds> {
        let &Fit {
            latest, duration, ..
        } = fit;
        let wanted = fit.nodes as i32;
        let mut index = segment.index;
        let mut end = (start + duration).min(own_start);
        let mut inside = true;
        let mut longest = Seconds::ZERO;
        for (number, block) in self.blocks.iter().enumerate().skip(segment.block) {
            if inside && index == 0 && block.first >= end {
                return Ok(Found { start, segment });
            }
            if !inside && block.first > latest {
                return Err(longest);
            }
            let skipped = if inside {
                block.min >= wanted
            } else {
                block.max < wanted
            };
            if skipped {
                // Where the run ends within the block is seen at the first breakpoint of the next
                // one.
                index = 0;
                continue;
            }
            let times = &block.times[..];
            let free = &block.free[..times.len()];
            let bar = wanted - block.shift;
            while index < times.len() {
                if inside {
                    while index < times.len() && free[index] >= bar {
                        if times[index] >= end {
                            return Ok(Found { start, segment });
                        }
                        index += 1;
                    }
                    if index < times.len() {
                        if times[index] >= end {
                            return Ok(Found { start, segment });
                        }
                        longest = longest.max(times[index] - start);
                        inside = false;
                    }
                } else {
                    while index < times.len() && free[index] < bar && times[index] <= latest {
                        index += 1;
                    }
                    if index < times.len() {
                        start = times[index];
                        if start > latest {
                            return Err(longest);
                        }
                        segment = Position {
                            block: number,
                            index,
                        };
                        end = (start + duration).min(own_start);
                        inside = true;
                    }
                }
            }
            index = 0;
        }
        if inside {
            Ok(Found { start, segment })
        } else {
            Err(longest)
        }
    }

    /// The same as [`Profile::earliest_fit`] for a job with a start of its own, if it is known that
    /// no start fits from which the job would end, or reach its own start, at `near` or before.
    /// Only the plan around `near` and behind it is searched. `near` is not behind `fit.latest`,
    /// and no nodes are down.
    ///
    /// # Errors
    /// Where there is no such start, for how long at most the nodes are free around `near` and
    /// behind it.
    pub fn earliest_fit_around(&self, near: Seconds, fit: Fit) -> Result<Found, Seconds> {
        let wanted = fit.nodes as i32;
        let mut segment = self.locate(near.max(fit.from));
        let mut start = near.max(fit.from);
        if self.count(segment) >= wanted {
            segment = self.run_start(segment, wanted);
            start = self.start(segment);
            if start < fit.from {
                (segment, start) = (self.locate(fit.from), fit.from);
            }
        }
        let own_start = fit.own_start.unwrap_or(Seconds::FAR);
        self.earliest_run_from(segment, start, &fit, own_start)
    }

    /// The beginning of the stretch with at least this many free nodes that contains this segment.
    fn run_start(&self, position: Position, wanted: i32) -> Position {
        let Position {
            mut block,
            mut index,
        } = position;
        loop {
            let found = &self.blocks[block];
            let bar = wanted - found.shift;
            while index > 0 && found.free[index - 1] >= bar {
                index -= 1;
            }
            if index > 0 || block == 0 {
                return Position { block, index };
            }
            let before = &self.blocks[block - 1];
            if before.free[before.free.len() - 1] + before.shift < wanted {
                return Position { block, index };
            }
            block -= 1;
            index = before.free.len() - 1;
        }
    }

    /// Breakpoints and counts, for tests and drawings.
    pub fn segments(&self) -> impl Iterator<Item = (Seconds, i32)> + '_ {
        self.blocks.iter().flat_map(|block| {
            block
                .times
                .iter()
                .copied()
                .zip(block.free.iter().map(|free| free + block.shift))
        })
    }

    #[inline]
    fn locate(&self, time: Seconds) -> Position {
        // Most questions are about now, which is never far behind the first breakpoint.
        if self.blocks[0].times.get(1).is_some_and(|next| time < *next) {
            return Position { block: 0, index: 0 };
        }
        let block = self
            .blocks
            .partition_point(|block| block.first <= time)
            .saturating_sub(1);
        let index = self.blocks[block]
            .times
            .partition_point(|&start| start <= time)
            .saturating_sub(1);
        Position { block, index }
    }

    fn next(&self, position: Position) -> Option<Position> {
        if position.index + 1 < self.blocks[position.block].times.len() {
            Some(Position {
                block: position.block,
                index: position.index + 1,
            })
        } else if position.block + 1 < self.blocks.len() {
            Some(Position {
                block: position.block + 1,
                index: 0,
            })
        } else {
            None
        }
    }

    fn start(&self, position: Position) -> Seconds {
        self.blocks[position.block].times[position.index]
    }

    fn count(&self, position: Position) -> i32 {
        let block = &self.blocks[position.block];
        block.free[position.index] + block.shift
    }
}
