//! What was searched for in vain during one pass over the planned jobs.

use super::planned::cut;
use crate::units::{Nodes, Seconds};

/// Who found no earlier start since somebody last moved. Whoever wants at least as much for at least as long, and was planned later,
/// finds none there either.
#[derive(Debug)]
pub(super) struct Failed {
    known: [FailedTry; 6],
    count: usize,
    /// The narrowest and the shortest of those who tried everything: nodes and estimate, cut to 32 bits.
    least: [(i32, i32); 2],
}

/// Nobody wants so much.
const NOBODY: (i32, i32) = (i32::MAX, i32::MAX);

/// So many nodes for so long cannot be had before `until`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FailedTry {
    pub(super) nodes: Nodes,
    pub(super) estimate: Seconds,
    pub(super) until: Seconds,
}

impl Default for Failed {
    fn default() -> Self {
        Self {
            known: [FailedTry::default(); 6],
            count: 0,
            least: [NOBODY; 2],
        }
    }
}

impl Failed {
    pub(super) fn clear(&mut self) {
        self.count = 0;
        self.least = [NOBODY; 2];
    }

    /// Whether somebody who wants so much can still find something; estimates that were cut to 32 bits can.
    #[inline]
    pub(super) fn leaves_out(&self, nodes: i32, estimate: i32) -> i32 {
        let mut left = i32::from(estimate == i32::MAX);
        left |= self.least.iter().fold(1, |left, (wide, long)| {
            left & (i32::from(nodes < *wide) | i32::from(estimate < *long))
        });
        left
    }

    /// No start before this one has to be tried.
    pub(super) fn tried_until(&self, nodes: Nodes, estimate: Seconds) -> Seconds {
        let smaller = self.known[..self.count]
            .iter()
            .filter(|other| other.nodes <= nodes && other.estimate <= estimate);
        smaller.fold(Seconds::ZERO, |until, other| until.max(other.until))
    }

    /// Notes that nothing was found before `until`; `all` says that nobody else has to try later ones.
    pub(super) fn note(&mut self, nodes: Nodes, estimate: Seconds, until: Seconds, all: bool) {
        let new = FailedTry {
            nodes,
            estimate,
            until,
        };
        if all {
            let bar = (cut(i64::from(nodes.0)), cut(estimate.0));
            if bar.0 < self.least[0].0 {
                self.least[0] = bar;
            }
            if bar.1 < self.least[1].1 {
                self.least[1] = bar;
            }
        }
        // The new one takes the place of one that says less.
        let known = &mut self.known[..self.count];
        let less = known.iter().position(|other| {
            nodes <= other.nodes && estimate <= other.estimate && until >= other.until
        });
        match less {
            Some(place) => known[place] = new,
            None if self.count < self.known.len() => {
                self.known[self.count] = new;
                self.count += 1;
            }
            None => {}
        }
    }
}
