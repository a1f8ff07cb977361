//! What was searched for in vain during one pass over the planned jobs.

use super::planned::cut;
use crate::units::{Nodes, Seconds};

/// Searches that are remembered, with those that found something: what lies before that.
const KNOWN: usize = 8;

/// Who found no earlier start. Whoever wants at least as much for at least as long, and was planned later, finds none there either;
/// once somebody who moved gave nodes back, that is known only of starts that do not reach behind the first of them.
#[derive(Debug)]
pub(super) struct Failed {
    /// Nodes and estimates of those who tried, cut to 32 bits; [`NOBODY`] where there is none.
    nodes: [i32; KNOWN],
    estimates: [i32; KNOWN],
    /// Nobody who wants as much has to try what does not reach behind this time, counted from `now`.
    reached: [i32; KNOWN],
    /// Who was replaced last, in turn.
    oldest: usize,
    now: Seconds,
    /// The narrowest and the shortest of those who tried everything: nodes and estimate, cut to 32 bits.
    least: [(i32, i32); 2],
}

/// Nobody wants so much.
const NOBODY: (i32, i32) = (i32::MAX, i32::MAX);

impl Default for Failed {
    fn default() -> Self {
        Self {
            nodes: [NOBODY.0; KNOWN],
            estimates: [NOBODY.1; KNOWN],
            reached: [0; KNOWN],
            oldest: 0,
            now: Seconds::ZERO,
            least: [NOBODY; 2],
        }
    }
}

impl Failed {
    /// Forgets all; nobody will start before `now`.
    pub(super) fn clear(&mut self, now: Seconds) {
        *self = Self {
            now,
            ..Self::default()
        };
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

    /// No start has to be tried that does not reach behind this time.
    #[inline]
    pub(super) fn tried_until(&self, nodes: Nodes, estimate: Seconds) -> Seconds {
        let (nodes, estimate) = (cut(i64::from(nodes.0)), cut(estimate.0));
        let mut latest = 0;
        for place in 0..KNOWN {
            let wants_less = (self.nodes[place] <= nodes) & (self.estimates[place] <= estimate);
            let reached = if wants_less { self.reached[place] } else { 0 };
            latest = reached.max(latest);
        }
        self.now + Seconds(i64::from(latest))
    }

    /// From which estimate on nobody of so many nodes has to try what [`Failed::tried_until`] excludes.
    pub(super) fn tried_with(&self, nodes: Nodes, estimate: Seconds) -> Seconds {
        let until = self.tried_until(nodes, estimate);
        let (nodes, estimate) = (cut(i64::from(nodes.0)), cut(estimate.0));
        let place = (0..KNOWN).find(|&place| {
            self.nodes[place] <= nodes
                && self.estimates[place] <= estimate
                && self.now + Seconds(i64::from(self.reached[place])) == until
        });
        place.map_or(Seconds::ZERO, |place| {
            Seconds(i64::from(self.estimates[place]))
        })
    }

    /// Notes that those who are looked at from now on have what was given back from `from` on.
    pub(super) fn opened(&mut self, from: Seconds) {
        let from = cut((from - self.now).0);
        for reached in &mut self.reached {
            *reached = from.min(*reached);
        }
        self.least = [NOBODY; 2];
    }

    /// Notes that nothing was found before `until`; `all` says that nobody else has to try later ones.
    pub(super) fn note(&mut self, nodes: Nodes, estimate: Seconds, until: Seconds, all: bool) {
        let (nodes, estimate) = (cut(i64::from(nodes.0)), cut(estimate.0));
        let reached = cut((until - self.now).0);
        if nodes == NOBODY.0 || estimate == NOBODY.1 {
            return;
        }
        if all {
            if nodes < self.least[0].0 {
                self.least[0] = (nodes, estimate);
            }
            if estimate < self.least[1].1 {
                self.least[1] = (nodes, estimate);
            }
        }
        // The new one takes the place of one that says less, else that of each in turn.
        let says_less = |place: &usize| {
            (nodes <= self.nodes[*place])
                & (estimate <= self.estimates[*place])
                & (reached >= self.reached[*place])
        };
        let place = (0..KNOWN).find(says_less).unwrap_or_else(|| {
            self.oldest = (self.oldest + 1) % KNOWN;
            self.oldest
        });
        self.nodes[place] = nodes;
        self.estimates[place] = estimate;
        self.reached[place] = reached;
    }
}
