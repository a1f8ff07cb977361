//! The counted profile: how many nodes are free at which time, without saying which.

use crate::units::Seconds;

/// Free nodes as a step function of time.
///
/// Kept as breakpoints in blocks that know bounds of their counts and carry a pending shift, so an operation skips whole
/// blocks. Blocks grow with the plan: with `b` breakpoints, every operation costs O(√b) in the worst case, a pass over the
/// headers of the blocks between and a scan of the one or two that it touches. Free counts may become negative while more nodes are down than the plan leaves free.
#[derive(Clone, Debug)]
pub struct Profile {
    blocks: Vec<Block>,
    /// Breakpoints that one block may hold before it is split; grows with the number of blocks.
    capacity: usize,
}

/// A question to [`Profile::earliest_fit`]: the earliest start in `[from, latest]` at which `nodes` nodes are free for
/// `duration`.
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
    /// From this time on the asking job itself holds `nodes` nodes, for at least as long as it asks; only the time before
    /// must be free. Later than `latest`.
    pub own_start: Option<Seconds>,
}

/// Breakpoints that one block of a short plan may hold.
const CAPACITY: usize = 96;

/// Breakpoints of the past that are kept before they are forgotten together.
const FORGOTTEN: usize = 8;

/// So many first breakpoints are searched without a branch.
const EARLY: usize = 17;

/// Changes after which a block's bounds are found anew.
const CHANGES: u32 = 16;

#[derive(Clone, Debug)]
struct Block {
    /// `times[0]`, here because those who pass over a block need no more of it.
    first: Seconds,
    /// Start of each segment; a segment lasts until the next breakpoint.
    times: Vec<Seconds>,
    /// Free nodes on each segment, without `shift`.
    free: Vec<i32>,
    /// To be added to every count of the block.
    shift: i32,
    /// No count is smaller, with `shift`. Not always reached: that would need a look at the whole block after every change.
    min: i32,
    /// No count is larger, with `shift`.
    max: i32,
    /// Changes since the bounds were the smallest and the largest count.
    changes: u32,
}

impl Block {
    fn new(times: Vec<Seconds>, free: Vec<i32>) -> Self {
        let mut block = Self {
            first: times[0],
            times,
            free,
            shift: 0,
            min: 0,
            max: 0,
            changes: 0,
        };
        block.refresh();
        block
    }

    fn refresh(&mut self) {
        self.first = self.times[0];
        self.min = self.free.iter().copied().min().unwrap_or(0) + self.shift;
        self.max = self.free.iter().copied().max().unwrap_or(0) + self.shift;
        self.changes = 0;
    }

    /// Adds to the counts of `[from, to)`, which begins in segment `index` and ends within the block. What is before the block has
    /// another count, or `index` is not 0.
    fn add(&mut self, index: usize, from: Seconds, to: Seconds, delta: i32) {
        let past = index + 1 + self.times[index + 1..].partition_point(|&time| time < to);
        let last = self.free[past - 1];
        if self.times.get(past) != Some(&to) {
            self.times.insert(past, to);
            self.free.insert(past, last);
        } else if self.free[past] == last + delta {
            self.times.remove(past);
            self.free.remove(past);
        }
        if self.times[index] != from {
            let count = self.free[index];
            self.shift_some(index + 1, past, delta);
            self.times.insert(index + 1, from);
            self.free.insert(index + 1, count + delta);
            let count = count + delta + self.shift;
            self.min = self.min.min(count);
            self.max = self.max.max(count);
            return;
        }
        self.shift_some(index, past, delta);
        if index > 0 && self.free[index - 1] == self.free[index] {
            self.times.remove(index);
            self.free.remove(index);
        }
    }

    /// Adds to the counts of some segments.
    fn shift_some(&mut self, first: usize, past: usize, delta: i32) {
        let mut low = i32::MAX;
        let mut high = i32::MIN;
        for free in &mut self.free[first..past] {
            *free += delta;
            low = low.min(*free);
            high = high.max(*free);
        }
        if first < past {
            self.min = self.min.min(low + self.shift);
            self.max = self.max.max(high + self.shift);
            self.changes += 1;
            if self.changes > CHANGES {
                self.refresh();
            }
        }
    }
}

/// A segment by block and index within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Position {
    block: usize,
    index: usize,
}

impl Profile {
    /// A machine of `nodes` nodes that is free from `origin` on; nothing before `origin` may be asked or reserved.
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

    /// Takes `nodes` nodes on `[from, to)`.
    pub fn reserve(&mut self, from: Seconds, to: Seconds, nodes: u32) {
        self.add(from, to, -(nodes as i32));
    }

    /// Gives `nodes` nodes back on `[from, to)`.
    pub fn release(&mut self, from: Seconds, to: Seconds, nodes: u32) {
        self.add(from, to, nodes as i32);
    }

    /// The first time at or after `from` at which fewer than `nodes` nodes are free, or [`Seconds::FAR`].
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

    /// The first time after `after` at which the free count rises to at least `nodes` from a lower count or rises at all
    /// while being at least `nodes`; `None` when there is none before `before`.
    ///
    /// Together with the release time these are the candidate starts of an overbooked slot: starts of other
    /// reservations never open a slot.
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
                // The whole block is too low; its last count decides whether the next block begins with a rise.
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

    /// The earliest start that answers `fit`; else for how long at most the nodes are free from any permitted start on.
    ///
    /// # Errors
    /// That time, where there is no such start.
    pub fn earliest_fit_or_longest(&self, fit: Fit) -> Result<Seconds, Seconds> {
        let own_start = fit.own_start.unwrap_or(Seconds::FAR);
        let start = self.earliest_run(&fit, own_start)?;
        // Behind its own start the job only asks that there are not too few nodes for all, which can be where nodes are down;
        // a later start would not help.
        let end = start + fit.duration;
        let enough = own_start >= end
            || self.blocks.iter().all(|block| block.min >= 0)
            || self.min_free(own_start, end) >= 0;
        enough.then_some(start).ok_or(Seconds::FAR)
    }

    /// The earliest start from which on the nodes are free for the duration, or until `own_start` if that is earlier.
    fn earliest_run(&self, fit: &Fit, own_start: Seconds) -> Result<Seconds, Seconds> {
        let &Fit {
            latest, duration, ..
        } = fit;
        let wanted = fit.nodes as i32;
        let mut start = fit.from;
        if start > latest || duration <= Seconds::ZERO {
            return (start <= latest).then_some(start).ok_or(Seconds::ZERO);
        }
        let Position { block, mut index } = self.locate(start);
        let mut end = (start + duration).min(own_start);
        let mut inside = true;
        let mut longest = Seconds::ZERO;
        for block in &self.blocks[block..] {
            if inside && index == 0 && block.first >= end {
                return Ok(start);
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
                // Where the run ends within the block is seen at the first breakpoint of the next one.
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
                            return Ok(start);
                        }
                        index += 1;
                    }
                    if index < times.len() {
                        if times[index] >= end {
                            return Ok(start);
                        }
                        longest = longest.max(times[index] - start);
                        inside = false;
                    }
                } else {
                    while index < times.len() && free[index] < bar {
                        index += 1;
                    }
                    if index < times.len() {
                        start = times[index];
                        if start > latest {
                            return Err(longest);
                        }
                        end = (start + duration).min(own_start);
                        inside = true;
                    }
                }
            }
            index = 0;
        }
        if inside { Ok(start) } else { Err(longest) }
    }

    /// Forgets everything before `now`, so that memory is bounded by the plan and not by the past.
    pub fn forget_before(&mut self, now: Seconds) {
        while self.blocks.len() > 1 && self.blocks[1].first <= now {
            self.blocks.remove(0);
        }
        let block = &mut self.blocks[0];
        let past = block.times.partition_point(|&time| time <= now);
        if past > 1 {
            block.times.drain(..past - 1);
            block.free.drain(..past - 1);
            block.refresh();
        }
    }

    /// Forgets what lies before `now` when there is enough of it to be worth it: what [`Profile::forget_before`] does, for those who ask
    /// all the time.
    pub fn forget_some_before(&mut self, now: Seconds) {
        let many = self.blocks[0].times.get(FORGOTTEN);
        let next = self.blocks.get(1).map(|block| &block.first);
        if many.or(next).is_some_and(|time| *time <= now) {
            self.forget_before(now);
        }
    }

    /// Takes the time `[from, to)` out of the plan: what was at `to` and later comes that much earlier.
    pub fn cut_out(&mut self, from: Seconds, to: Seconds) {
        let from = from.max(self.blocks[0].first);
        if from >= to {
            return;
        }
        self.split(from);
        let second = self.split(to);
        let first = self.locate(from);
        if first.block == second.block {
            let block = &mut self.blocks[first.block];
            block.times.drain(first.index..second.index);
            block.free.drain(first.index..second.index);
        } else {
            let block = &mut self.blocks[second.block];
            block.times.drain(..second.index);
            block.free.drain(..second.index);
            self.blocks[first.block].times.truncate(first.index);
            self.blocks[first.block].free.truncate(first.index);
            let kept = first.block + usize::from(first.index > 0);
            self.blocks.drain(kept..second.block);
        }
        for block in &mut self.blocks[first.block..] {
            let past = block.times.partition_point(|time| *time < from);
            for time in &mut block.times[past..] {
                *time = *time - (to - from);
            }
            block.refresh();
        }
        self.join(self.locate(from));
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
        let early = |block: &Block| block.times.get(EARLY).is_some_and(|next| time < *next);
        // Most questions are about now, which is never far behind the first breakpoint.
        if self.blocks[0].times.get(1).is_some_and(|next| time < *next) {
            return Position { block: 0, index: 0 };
        }
        if early(&self.blocks[0]) {
            let times = &self.blocks[0].times[1..EARLY];
            let index = times.iter().filter(|start| **start <= time).count();
            return Position { block: 0, index };
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

    fn add(&mut self, from: Seconds, to: Seconds, delta: i32) {
        // What was forgotten stays forgotten: a breakpoint before the first one would stand out of order.
        let from = from.max(self.blocks[0].first);
        if from >= to || delta == 0 {
            return;
        }
        let Position { block, index } = self.locate(from);
        let next = self.blocks.get(block + 1).map(|next| next.first);
        let found = &mut self.blocks[block];
        // Most changes stay within a block, and most plans are one block.
        if (index > 0 || block == 0)
            && next.is_none_or(|next| to < next)
            && found.times.len() + 2 <= self.capacity
        {
            found.add(index, from, to, delta);
            return;
        }
        let first = self.split(from);
        let blocks = self.blocks.len();
        let mut number = first.block;
        let mut index = first.index;
        let last = blocks - 1;
        loop {
            // A block that ends where the next one begins, before `to`, is covered from its first segment on.
            let covers = index == 0 && number < last && self.blocks[number + 1].first <= to;
            let block = &mut self.blocks[number];
            if covers {
                block.shift += delta;
                block.min += delta;
                block.max += delta;
                number += 1;
                continue;
            }
            let past = index + block.times[index..].partition_point(|&time| time < to);
            if past < block.times.len() || number == last {
                if past < block.times.len() && block.times[past] == to {
                    block.shift_some(index, past, delta);
                    self.join(Position {
                        block: number,
                        index: past,
                    });
                } else if past == 0 {
                    // A block that begins behind `to`: the breakpoint belongs at the end of the one before it.
                    let before = &mut self.blocks[number - 1];
                    let count = before.free[before.free.len() - 1] - delta + before.shift;
                    self.insert(number, 0, to, count);
                } else {
                    let count = block.free[past - 1] + block.shift;
                    block.shift_some(index, past, delta);
                    self.insert(number, past, to, count);
                }
                break;
            }
            block.shift_some(index, past, delta);
            number += 1;
            index = 0;
        }
        self.join(if self.blocks.len() == blocks {
            first
        } else {
            self.locate(from)
        });
        if self.blocks.len() > 2 * self.capacity {
            self.join_blocks();
        }
    }

    /// Makes blocks twice as long, so that there are never many more blocks than breakpoints in one.
    fn join_blocks(&mut self) {
        self.capacity *= 2;
        let mut joined: Vec<Block> = Vec::with_capacity(self.blocks.len() / 2 + 1);
        for block in self.blocks.drain(..) {
            match joined.last_mut() {
                Some(last) if last.times.len() + block.times.len() <= self.capacity => {
                    let shift = block.shift - last.shift;
                    last.times.extend(block.times);
                    last.free.extend(block.free.iter().map(|free| free + shift));
                    last.refresh();
                }
                _ => joined.push(block),
            }
        }
        self.blocks = joined;
    }

    /// Makes `time` a breakpoint and returns its segment.
    fn split(&mut self, time: Seconds) -> Position {
        let Position { block, index } = self.locate(time);
        let found = &self.blocks[block];
        if found.times[index] == time {
            return Position { block, index };
        }
        let count = found.free[index] + found.shift;
        self.insert(block, index + 1, time, count)
    }

    /// Puts a breakpoint with its count at a place of a block and returns where it is then.
    fn insert(&mut self, block: usize, index: usize, time: Seconds, count: i32) -> Position {
        let found = &mut self.blocks[block];
        found.times.insert(index, time);
        found.free.insert(index, count - found.shift);
        found.first = found.times[0];
        found.min = found.min.min(count);
        found.max = found.max.max(count);
        if found.times.len() <= self.capacity {
            return Position { block, index };
        }
        let half = self.capacity / 2;
        let times = found.times.split_off(half);
        let free: Vec<i32> = found
            .free
            .split_off(half)
            .into_iter()
            .map(|free| free + found.shift)
            .collect();
        found.refresh();
        self.blocks.insert(block + 1, Block::new(times, free));
        if index < half {
            Position { block, index }
        } else {
            Position {
                block: block + 1,
                index: index - half,
            }
        }
    }

    /// Removes a breakpoint if the count does not change there.
    fn join(&mut self, Position { block, index }: Position) {
        let previous = if index > 0 {
            self.blocks[block].free[index - 1] + self.blocks[block].shift
        } else if block > 0 {
            let before = &self.blocks[block - 1];
            before.free[before.free.len() - 1] + before.shift
        } else {
            return;
        };
        if previous != self.count(Position { block, index }) {
            return;
        }
        let found = &mut self.blocks[block];
        found.times.remove(index);
        found.free.remove(index);
        found.changes += 1;
        match found.times.first() {
            Some(&first) => found.first = first,
            None => {
                self.blocks.remove(block);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The obvious twin: free nodes for every second.
    struct Array(Vec<i32>);

    impl Array {
        fn add(&mut self, from: i64, to: i64, delta: i32) {
            for free in &mut self.0[from as usize..to as usize] {
                *free += delta;
            }
        }

        fn earliest_fit(&self, fit: &Fit) -> Option<i64> {
            let own = fit.own_start.map_or(i64::MAX, |start| start.0);
            (fit.from.0..=fit.latest.0).find(|&start| {
                (start..start + fit.duration.0).all(|time| {
                    let free = self.0.get(time as usize).copied().unwrap_or(0);
                    free >= fit.nodes as i32 || (time >= own && free >= 0)
                })
            })
        }
    }

    const SPAN: i64 = 400;

    proptest! {
        #[test]
        fn the_profile_agrees_with_an_array_of_seconds(
            changes in prop::collection::vec((0_i64..SPAN, 1_i64..60, -6_i32..=6), 0..400),
            from in 0_i64..SPAN,
            nodes in 0_u32..20,
            duration in 1_i64..50,
            own in prop::option::of(1_i64..30),
            forget in 0_i64..50,
        ) {
            let mut profile = Profile::new(10, Seconds::ZERO);
            let mut array = Array(vec![10; 2_000]);
            for (start, length, delta) in changes {
                let end = start + length;
                if delta < 0 {
                    profile.reserve(Seconds(start), Seconds(end), delta.unsigned_abs());
                } else {
                    profile.release(Seconds(start), Seconds(end), delta as u32);
                }
                array.add(start, end, delta);
            }
            let canonical: Vec<_> = profile.segments().collect();
            for pair in canonical.windows(2) {
                prop_assert!(pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1);
            }
            for (time, &expected) in array.0.iter().enumerate().take(SPAN as usize + 100) {
                prop_assert_eq!(profile.free_at(Seconds(time as i64)), expected);
            }
            let latest = own.map_or(SPAN + 100, |gap| from + gap - 1);
            let fit = Fit {
                from: Seconds(from),
                latest: Seconds(latest),
                nodes,
                duration: Seconds(duration),
                own_start: own.map(|gap| Seconds(from + gap)),
            };
            prop_assert_eq!(profile.earliest_fit(fit).map(|time| time.0), array.earliest_fit(&fit));
            let low = (from..from + duration).map(|time| array.0[time as usize]).min();
            prop_assert_eq!(Some(profile.min_free(Seconds(from), Seconds(from + duration))), low);
            for wanted in 0..12 {
                prop_assert_eq!(
                    profile.is_free(Seconds(from), Seconds(from + duration), wanted),
                    low >= Some(wanted as i32)
                );
            }
            let high = (from..from + duration).map(|time| array.0[time as usize]).max();
            prop_assert_eq!(Some(profile.max_free(Seconds(from), Seconds(from + duration))), high);
            let below = (from..2_000).find(|&time| array.0[time as usize] < nodes as i32);
            prop_assert_eq!(
                profile.first_below(Seconds(from), nodes),
                below.map_or(Seconds::FAR, Seconds)
            );
            let rise = (from + 1..SPAN + 50).find(|&time| {
                array.0[time as usize] > array.0[time as usize - 1]
                    && array.0[time as usize] >= nodes as i32
            });
            prop_assert_eq!(
                profile.next_rise(Seconds(from), Seconds(SPAN + 50), nodes).map(|time| time.0),
                rise
            );
            profile.forget_before(Seconds(forget));
            for (time, &expected) in array.0.iter().enumerate().skip(forget as usize) {
                prop_assert_eq!(profile.free_at(Seconds(time as i64)), expected);
            }
        }
    }

    proptest! {
        #[test]
        fn a_time_that_is_taken_out_brings_the_rest_forward(
            changes in prop::collection::vec((0_i64..SPAN, 1_i64..60, -6_i32..=6), 0..400),
            cuts in prop::collection::vec((0_i64..SPAN, 0_i64..80), 1..4),
        ) {
            let mut profile = Profile::new(10, Seconds::ZERO);
            let mut array = Array(vec![10; 2_000]);
            for (start, length, delta) in changes {
                profile.add(Seconds(start), Seconds(start + length), delta);
                array.add(start, start + length, delta);
            }
            for (from, length) in cuts {
                profile.cut_out(Seconds(from), Seconds(from + length));
                array.0.drain(from as usize..(from + length) as usize);
                array.0.resize(2_000, 10);
            }
            for (time, &expected) in array.0.iter().enumerate().take(SPAN as usize + 100) {
                prop_assert_eq!(profile.free_at(Seconds(time as i64)), expected);
            }
            let canonical: Vec<_> = profile.segments().collect();
            for pair in canonical.windows(2) {
                prop_assert!(pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1);
            }
            for wanted in 0..12 {
                let below = (0..2_000).find(|&time| array.0[time as usize] < wanted);
                let found = profile.first_below(Seconds::ZERO, wanted as u32);
                prop_assert_eq!(found, below.map_or(Seconds::FAR, Seconds));
            }
        }
    }

    #[test]
    fn a_search_in_vain_says_how_long_the_longest_run_was() {
        let mut profile = Profile::new(10, Seconds::ZERO);
        profile.reserve(Seconds(5), Seconds(20), 8);
        profile.reserve(Seconds(27), Seconds(900), 8);
        let fit = Fit {
            from: Seconds(1),
            latest: Seconds(899),
            nodes: 3,
            duration: Seconds(8),
            own_start: None,
        };
        assert_eq!(profile.earliest_fit_or_longest(fit), Err(Seconds(7)));
        let shorter = Fit {
            duration: Seconds(7),
            ..fit
        };
        assert_eq!(profile.earliest_fit_or_longest(shorter), Ok(Seconds(20)));
    }

    #[test]
    fn a_release_that_reaches_into_the_forgotten_past_leaves_the_breakpoints_in_order() {
        let mut profile = Profile::new(10, Seconds::ZERO);
        profile.reserve(Seconds(0), Seconds(100), 3);
        profile.reserve(Seconds(50), Seconds(200), 2);
        profile.forget_before(Seconds(60));
        profile.release(Seconds(0), Seconds(100), 3);
        let segments: Vec<_> = profile.segments().collect();
        assert_eq!(segments, [(Seconds(50), 8), (Seconds(200), 10)]);
    }

    #[test]
    fn a_plan_of_ten_thousand_reservations_keeps_its_counts() {
        let mut profile = Profile::new(100, Seconds::ZERO);
        for index in 0..10_000_i64 {
            profile.reserve(Seconds(index * 7), Seconds(index * 7 + 50), 3);
        }
        // Jobs 4,994 to 5,000 cover second 35,003.
        assert_eq!(profile.free_at(Seconds(35_003)), 100 - 3 * 7);
        for index in 0..10_000_i64 {
            profile.release(Seconds(index * 7), Seconds(index * 7 + 50), 3);
        }
        assert!(profile.is_empty());
        assert_eq!(profile.free_at(Seconds(1)), 100);
    }
}
