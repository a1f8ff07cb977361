//! Some neighbouring breakpoints of a profile.

use crate::units::Seconds;

/// Changes after which a block's bounds are found anew.
const CHANGES: u32 = 16;

/// Up to this many segments are changed one by one.
const NEAR: usize = 8;

/// Breakpoints that a copy has room for beyond those of its original.
const ROOM: usize = 4;

/// Breakpoints with bounds of their counts and a pending shift.
#[derive(Debug)]
pub(super) struct Block {
    /// `times[0]`, stored here because a search that passes over a block needs no more of it.
    pub(super) first: Seconds,
    /// Start of each segment; a segment lasts until the next breakpoint.
    pub(super) times: Vec<Seconds>,
    /// Free nodes on each segment, without `shift`.
    pub(super) free: Vec<i32>,
    /// To be added to every count of the block.
    pub(super) shift: i32,
    /// No count is smaller, with `shift`. Not always reached: that would need a look at the whole
    /// block after every change.
    pub(super) min: i32,
    /// No count is larger, with `shift`.
    pub(super) max: i32,
    /// Changes since the bounds were the smallest and the largest count.
    pub(super) changes: u32,
}

impl Clone for Block {
    /// A plan is copied to try something on the copy, which is given room for it.
    fn clone(&self) -> Self {
        fn copy<T: Copy>(values: &[T]) -> Vec<T> {
            let mut copied = Vec::with_capacity(values.len() + ROOM);
            copied.extend_from_slice(values);
            copied
        }
        Self {
            times: copy(&self.times),
            free: copy(&self.free),
            ..*self
        }
    }
}

impl Block {
    pub(super) fn new(times: Vec<Seconds>, free: Vec<i32>) -> Self {
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

    pub(super) fn refresh(&mut self) {
        self.first = self.times[0];
        self.min = self.free.iter().copied().min().unwrap_or(0) + self.shift;
        self.max = self.free.iter().copied().max().unwrap_or(0) + self.shift;
        self.changes = 0;
    }

    /// Adds to the counts of `[from, to)`, which begins in segment `index` and ends within the
    /// block. What is before the block has another count, or `index` is not 0.
    pub(super) fn add(&mut self, index: usize, from: Seconds, to: Seconds, delta: i32) {
        let before = self.free[index];
        let is_new = self.times[index] != from;
        let first = index + usize::from(is_new);
        let past = self.shift_until(first, to, delta);
        // The count on the last segment, after the change.
        let last = if past > first {
            self.free[past - 1]
        } else {
            before + delta
        };
        let ends = self.times.get(past) == Some(&to);
        let leaves = ends && self.free[past] == last;
        if is_new {
            self.widen(before + delta);
        }
        if !ends {
            self.widen(last - delta);
        }
        match (is_new, leaves) {
            (true, true) => {
                // The new one comes in, the old one goes: only what lies between moves.
                self.times.copy_within(first..past, first + 1);
                self.free.copy_within(first..past, first + 1);
                self.times[first] = from;
                self.free[first] = before + delta;
                return;
            }
            (true, false) => {
                if !ends {
                    self.times.insert(past, to);
                    self.free.insert(past, last - delta);
                }
                self.times.insert(first, from);
                self.free.insert(first, before + delta);
                return;
            }
            (false, true) => {
                self.times.remove(past);
                self.free.remove(past);
            }
            (false, false) => {
                if !ends {
                    if index > 0 && self.free[index - 1] == self.free[index] {
                        self.times.copy_within(index + 1..past, index);
                        self.free.copy_within(index + 1..past, index);
                        self.times[past - 1] = to;
                        self.free[past - 1] = last - delta;
                        return;
                    }
                    self.times.insert(past, to);
                    self.free.insert(past, last - delta);
                }
            }
        }
        if index > 0 && self.free[index - 1] == self.free[index] {
            self.times.remove(index);
            self.free.remove(index);
        }
    }

    /// Lets the bounds hold a count that comes in.
    fn widen(&mut self, free: i32) {
        self.min = self.min.min(free + self.shift);
        self.max = self.max.max(free + self.shift);
    }

    /// Adds to the counts of the segments from `first` on that begin before `to`. Returns the place
    /// behind them.
    fn shift_until(&mut self, first: usize, to: Seconds, delta: i32) -> usize {
        let near = self.times.len().min(first + NEAR);
        let mut low = i32::MAX;
        let mut high = i32::MIN;
        let mut place = first;
        while place < near && self.times[place] < to {
            let free = self.free[place] + delta;
            self.free[place] = free;
            low = low.min(free);
            high = high.max(free);
            place += 1;
        }
        if place > first {
            self.min = self.min.min(low + self.shift);
            self.max = self.max.max(high + self.shift);
            self.changes += 1;
        }
        if place == near && near < self.times.len() {
            let past = place + self.times[place..].partition_point(|&time| time < to);
            self.shift_some(place, past, delta);
            place = past;
        }
        if self.changes > CHANGES {
            self.refresh();
        }
        place
    }

    /// Adds to the counts of some segments.
    pub(super) fn shift_some(&mut self, first: usize, past: usize, delta: i32) {
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
