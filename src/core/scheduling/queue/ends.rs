//! For plans in which only running jobs are fixed: more nodes are free after each of their ends,
//! and none are taken.

use std::collections::VecDeque;
use std::iter;

use crate::units::Seconds;

/// When running jobs are planned to end, in order of time, with their nodes: what a job that does
/// not fit yet waits for. Nothing happens at them.
#[derive(Clone, Debug, Default)]
pub struct PlannedEnds {
    /// Those that come first. Mostly few jobs run, and there are no others.
    next: Block,
    /// Those behind them in order, none empty. Ends of one time stand in one block.
    later: VecDeque<Block>,
}

#[derive(Clone, Debug, Default)]
struct Block {
    /// The earliest last, where it is taken out without moving the others. Plain numbers, which
    /// compare faster.
    ends: Vec<(i64, u32)>,
    /// Of all of them: no more than the machine has.
    nodes: u32,
}

/// Ends that one block may hold before it is split.
const CAPACITY: usize = 128;

impl Block {
    /// The place of the first of those that end at this time, or before.
    #[inline]
    fn place_of(&self, time: i64) -> usize {
        self.ends.partition_point(|other| other.0 > time)
    }

    /// Where the block is best cut in two; `None` where all end at one time.
    fn middle(&self) -> Option<usize> {
        let time = self.ends[self.ends.len() / 2].0;
        let past = || self.ends.partition_point(|other| other.0 >= time);
        let cut = Some(self.place_of(time)).filter(|place| *place > 0);
        cut.or_else(|| Some(past()).filter(|past| *past < self.ends.len()))
    }
}

impl PlannedEnds {
    /// The number of the block that the end belongs to: 0 is the next one.
    #[inline]
    fn block_of(&self, time: i64) -> usize {
        if self.later.is_empty() {
            return 0;
        }
        self.later
            .partition_point(|block| block.ends.last().is_some_and(|first| first.0 <= time))
    }

    #[inline]
    fn block(&mut self, number: usize) -> &mut Block {
        match number {
            0 => &mut self.next,
            later => &mut self.later[later - 1],
        }
    }

    /// Enters a job on so many nodes that is planned to end then.
    #[inline]
    pub fn insert(&mut self, until: Seconds, nodes: u32) {
        let number = self.block_of(until.0);
        let block = self.block(number);
        let place = block.place_of(until.0);
        block.ends.insert(place, (until.0, nodes));
        block.nodes += nodes;
        if block.ends.len() > CAPACITY {
            self.split(number);
        }
    }

    fn split(&mut self, number: usize) {
        let block = self.block(number);
        let Some(middle) = block.middle() else {
            return;
        };
        let earlier = block.ends.split_off(middle);
        let nodes = earlier.iter().map(|end| end.1).sum();
        let later = Block {
            ends: std::mem::replace(&mut block.ends, earlier),
            nodes: block.nodes - nodes,
        };
        block.nodes = nodes;
        self.later.insert(number, later);
    }

    /// Takes out one of those that end then and hold so many nodes: they are all alike.
    #[inline]
    pub fn remove(&mut self, until: Seconds, nodes: u32) {
        let number = self.block_of(until.0);
        let block = self.block(number);
        let mut place = block.place_of(until.0);
        while block.ends[place].1 != nodes {
            place += 1;
        }
        debug_assert_eq!(block.ends[place], (until.0, nodes), "it was entered");
        block.ends.remove(place);
        block.nodes -= nodes;
        if block.ends.is_empty() {
            self.drop_empty(number);
        }
    }

    fn drop_empty(&mut self, number: usize) {
        if number > 0 {
            self.later.remove(number - 1);
        } else if let Some(block) = self.later.pop_front() {
            self.next = block;
        }
    }

    /// Takes out all that end until `now`; returns their nodes.
    #[inline]
    pub fn remove_until(&mut self, now: Seconds) -> u32 {
        let mut nodes = 0;
        while let Some(end) = self.next.ends.pop_if(|end| end.0 <= now.0) {
            nodes += end.1;
            self.next.nodes -= end.1;
            if self.next.ends.is_empty() {
                self.drop_empty(0);
            }
        }
        nodes
    }

    /// Nodes of jobs that are planned to have ended by `now`.
    pub fn due(&self, now: Seconds) -> u32 {
        let due = self.iter().take_while(|end| end.0 <= now);
        due.map(|end| end.1).sum()
    }

    /// Times and nodes in order of time.
    pub fn iter(&self) -> impl Iterator<Item = (Seconds, u32)> {
        let blocks = iter::once(&self.next).chain(&self.later);
        let ends = blocks.flat_map(|block| block.ends.iter().rev());
        ends.map(|&(time, nodes)| (Seconds(time), nodes))
    }

    /// When `wanted` nodes, more than the `free` ones, are free if everybody ends as planned, and
    /// nobody before `now`; and how many more are free then. `None` where they never are.
    #[inline]
    pub fn room_for(&self, wanted: u32, free: u32, now: Seconds) -> Option<(Seconds, u32)> {
        let mut missing = wanted - free;
        let mut block = &self.next;
        let mut behind = self.later.iter();
        while block.nodes < missing {
            missing -= block.nodes;
            block = behind.next()?;
        }
        let mut ends = block.ends.iter().rev();
        let (time, mut extra) = loop {
            let &(time, nodes) = ends.next()?;
            if nodes >= missing {
                break (time.max(now.0), nodes - missing);
            }
            missing -= nodes;
        };
        // Whoever ends in the same second is free then, too.
        loop {
            for &(end, nodes) in ends {
                if end > time {
                    return Some((Seconds(time), extra));
                }
                extra += nodes;
            }
            match behind.next() {
                Some(block) => ends = block.ends.iter().rev(),
                None => return Some((Seconds(time), extra)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What the structure answers, one end after the other.
    fn room_in_a_row(ends: &[(i64, u32)], missing: u32, now: i64) -> Option<(Seconds, u32)> {
        let ended = |time: i64| -> u32 {
            let past = ends.iter().filter(|end| end.0 <= time);
            past.map(|end| end.1).sum()
        };
        let times = ends.iter().map(|end| end.0.max(now));
        let first = times.filter(|time| ended(*time) >= missing).min()?;
        Some((Seconds(first), ended(first) - missing))
    }

    proptest! {
        /// Up to 600 ends at few different times, so that there are several blocks and equal times
        /// on both sides of their borders.
        #[test]
        fn ends_in_blocks_answer_like_one_row(
            entered in prop::collection::vec((0_i64..90, 1_u32..5, 0_u8..4), 0..600),
            passed in prop::collection::vec(0_i64..20, 1..6),
            missing in prop::collection::vec(1_u32..1_500, 6),
        ) {
            let mut ends = PlannedEnds::default();
            let mut row: Vec<(i64, u32)> = Vec::new();
            for (time, nodes, leaves) in entered {
                ends.insert(Seconds(time), nodes);
                row.push((time, nodes));
                if leaves == 0 {
                    let (time, nodes) = row.swap_remove(row.len() / 2);
                    ends.remove(Seconds(time), nodes);
                }
            }
            let mut now = 0;
            for (passed, missing) in passed.into_iter().zip(missing) {
                row.sort_unstable();
                let mut listed: Vec<_> = ends.iter().map(|end| (end.0.0, end.1)).collect();
                prop_assert!(listed.is_sorted_by_key(|end| end.0));
                listed.sort_unstable();
                prop_assert_eq!(&listed, &row);
                let found = ends.room_for(missing + 3, 3, Seconds(now));
                prop_assert_eq!(found, room_in_a_row(&row, missing, now));
                now += passed;
                let due: u32 = row.iter().filter(|end| end.0 <= now).map(|end| end.1).sum();
                prop_assert_eq!(ends.due(Seconds(now)), due);
                prop_assert_eq!(ends.remove_until(Seconds(now)), due);
                row.retain(|end| end.0 > now);
            }
        }
    }
}
