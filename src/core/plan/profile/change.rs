//! Changes of a profile: nodes taken and given back, the past forgotten, a time taken out.

use super::{Block, FORGOTTEN, Found, Position, Profile};
use crate::units::Seconds;

impl Profile {
    /// Takes `nodes` nodes on `[from, to)`.
    pub fn reserve(&mut self, from: Seconds, to: Seconds, nodes: u32) {
        self.add(from, to, -(nodes as i32));
    }

    /// Gives `nodes` nodes back on `[from, to)`.
    pub fn release(&mut self, from: Seconds, to: Seconds, nodes: u32) {
        self.add(from, to, nodes as i32);
    }

    /// Moves a reservation of `nodes` nodes for `duration` from `old_start` to a start that was
    /// found before it.
    pub fn bring_forward(
        &mut self,
        found: Found,
        old_start: Seconds,
        duration: Seconds,
        nodes: u32,
    ) {
        let (end, old_end) = (found.start + duration, old_start + duration);
        // What it holds before and after stays as it is.
        self.add_at(
            found.segment,
            found.start,
            end.min(old_start),
            -(nodes as i32),
        );
        self.add(end.max(old_start), old_end, nodes as i32);
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

    /// Does the same as [`Profile::forget_before`], but only when there is enough of the past to be
    /// worth it: for frequent calls.
    pub fn forget_some_before(&mut self, now: Seconds) {
        let many = self.blocks[0].times.get(FORGOTTEN);
        let next = self.blocks.get(1).map(|block| &block.first);
        if many.or(next).is_some_and(|time| *time <= now) {
            self.forget_before(now);
        }
    }

    /// Takes the time `[from, to)` out of the plan: what was at `to` and later comes that much
    /// earlier.
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
                *time -= to - from;
            }
            block.refresh();
        }
        self.join(self.locate(from));
    }

    pub(super) fn add(&mut self, from: Seconds, to: Seconds, delta: i32) {
        // What was forgotten stays forgotten: a breakpoint before the first one would stand out of
        // order.
        let from = from.max(self.blocks[0].first);
        if from >= to || delta == 0 {
            return;
        }
        self.add_at(self.locate(from), from, to, delta);
    }

    /// Adds to the counts of `[from, to)`, which begins in that segment.
    fn add_at(
        &mut self,
        Position { block, index }: Position,
        from: Seconds,
        to: Seconds,
        delta: i32,
    ) {
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
            // A block that ends where the next one begins, before `to`, is covered from its first
            // segment on.
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
                    // A block that begins behind `to`: the breakpoint comes in front of it, with
                    // the count that the block before ends on.
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

    /// Makes blocks twice as long, so that there are never many more blocks than breakpoints in
    /// one.
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
