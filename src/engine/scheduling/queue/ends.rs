//! Where nothing is fixed but running jobs: more nodes are free after each of their ends, and none
//! is taken.

use std::collections::VecDeque;

use crate::units::Seconds;

/// When running jobs are planned to end, in order of time, with their nodes: what a job that does
/// not fit yet waits for. Nothing happens at them.
#[derive(Clone, Debug, Default)]
pub(in crate::scheduling) struct PlannedEnds {
    /// None is empty unless it is the only one.
    blocks: VecDeque<Block>,
}

#[derive(Clone, Debug, Default)]
struct Block {
    /// Plain numbers, which compare faster.
    ends: Vec<(i64, u32)>,
    nodes: u64,
}

/// Ends that one block may hold before it is split.
const CAPACITY: usize = 128;

impl PlannedEnds {
    fn block_of(&self, end: (i64, u32)) -> usize {
        // Mostly few jobs run.
        if self.blocks.len() == 1 {
            return 0;
        }
        let past = self
            .blocks
            .partition_point(|block| block.ends.first().is_some_and(|first| *first <= end));
        past.saturating_sub(1)
    }

    pub(in crate::scheduling) fn insert(&mut self, until: Seconds, nodes: u32) {
        let end = (until.0, nodes);
        if self.blocks.is_empty() {
            self.blocks.push_back(Block::default());
        }
        let number = self.block_of(end);
        let block = &mut self.blocks[number];
        let place = block.ends.partition_point(|other| *other < end);
        block.ends.insert(place, end);
        block.nodes += u64::from(nodes);
        if block.ends.len() > CAPACITY {
            let ends = block.ends.split_off(CAPACITY / 2);
            let moved = ends.iter().map(|end| u64::from(end.1)).sum();
            block.nodes -= moved;
            self.blocks.insert(number + 1, Block { ends, nodes: moved });
        }
    }

    /// Takes out one of those that end then and hold so many nodes: they are all alike.
    pub(in crate::scheduling) fn remove(&mut self, until: Seconds, nodes: u32) {
        let end = (until.0, nodes);
        let number = self.block_of(end);
        let block = &mut self.blocks[number];
        let place = block.ends.partition_point(|other| *other < end);
        debug_assert_eq!(block.ends.get(place), Some(&end), "it was entered");
        block.ends.remove(place);
        block.nodes -= u64::from(nodes);
        if block.ends.is_empty() && self.blocks.len() > 1 {
            self.blocks.remove(number);
        }
    }

    /// Takes out all that end until `now`; returns their nodes.
    pub(in crate::scheduling) fn remove_until(&mut self, now: Seconds) -> u32 {
        let mut nodes = 0;
        while let Some(block) = self.blocks.front_mut() {
            let ends = block.ends.iter().take_while(|end| end.0 <= now.0);
            let (past, ended) = ends.fold((0, 0), |(past, sum), end| (past + 1, sum + end.1));
            if past == 0 {
                break;
            }
            block.ends.drain(..past);
            block.nodes -= u64::from(ended);
            nodes += ended;
            if !block.ends.is_empty() || self.blocks.len() == 1 {
                break;
            }
            self.blocks.pop_front();
        }
        nodes
    }

    /// Nodes of jobs that are planned to have ended by `now`.
    pub(in crate::scheduling) fn due(&self, now: Seconds) -> u32 {
        let due = self.iter().take_while(|end| end.0 <= now);
        due.map(|end| end.1).sum()
    }

    /// Times and nodes in order of time.
    pub(in crate::scheduling) fn iter(&self) -> impl Iterator<Item = (Seconds, u32)> {
        let ends = self.blocks.iter().flat_map(|block| &block.ends);
        ends.map(|&(time, nodes)| (Seconds(time), nodes))
    }

    /// When `wanted` nodes, more than the `free` ones, are free if everybody ends as planned, and
    /// nobody before `now`; and how many more are free then. `None` where they never are.
    pub(in crate::scheduling) fn room_for(
        &self,
        wanted: u32,
        free: u32,
        now: Seconds,
    ) -> Option<(Seconds, u32)> {
        let mut missing = u64::from(wanted - free);
        for (number, block) in self.blocks.iter().enumerate() {
            if block.nodes < missing {
                missing -= block.nodes;
                continue;
            }
            for (index, &(time, nodes)) in block.ends.iter().enumerate() {
                if u64::from(nodes) < missing {
                    missing -= u64::from(nodes);
                    continue;
                }
                // Whoever ends in the same second is free then, too.
                let time = time.max(now.0);
                let mut extra = u64::from(nodes) - missing;
                let rest = block.ends[index + 1..].iter();
                let behind = self
                    .blocks
                    .range(number + 1..)
                    .flat_map(|block| &block.ends);
                for &(_, nodes) in rest.chain(behind).take_while(|end| end.0 <= time) {
                    extra += u64::from(nodes);
                }
                return Some((Seconds(time), u32::try_from(extra).unwrap_or(u32::MAX)));
            }
        }
        None
    }
}
