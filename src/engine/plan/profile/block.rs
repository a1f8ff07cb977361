//! Some neighbouring breakpoints of a profile.

use crate::units::Seconds;

/// Changes after which a block's bounds are found anew.
const CHANGES: u32 = 16;

/// Breakpoints with bounds of their counts and a pending shift.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// `times[0]`, here because those who pass over a block need no more of it.
    pub(super) first: Seconds,
    /// Start of each segment; a segment lasts until the next breakpoint.
    pub(super) times: Vec<Seconds>,
    /// Free nodes on each segment, without `shift`.
    pub(super) free: Vec<i32>,
    /// To be added to every count of the block.
    pub(super) shift: i32,
    /// No count is smaller, with `shift`. Not always reached: that would need a look at the whole block after every change.
    pub(super) min: i32,
    /// No count is larger, with `shift`.
    pub(super) max: i32,
    /// Changes since the bounds were the smallest and the largest count.
    pub(super) changes: u32,
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

    /// Adds to the counts of `[from, to)`, which begins in segment `index` and ends within the block. What is before the block has
    /// another count, or `index` is not 0.
    pub(super) fn add(&mut self, index: usize, from: Seconds, to: Seconds, delta: i32) {
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
