//! What was searched for in vain during one pass over the planned jobs.

use crate::units::{Nodes, Seconds};

/// Who found no earlier start since somebody last moved. Whoever wants at least as much for at least as long, and was planned later,
/// finds none there either.
#[derive(Debug, Default)]
pub(super) struct Failed {
    known: [FailedTry; 6],
    count: usize,
}

/// So many nodes for so long cannot be had before `until`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FailedTry {
    pub(super) nodes: Nodes,
    pub(super) estimate: Seconds,
    pub(super) until: Seconds,
}

impl FailedTry {
    /// Nobody wants so much.
    const NONE: Self = Self {
        nodes: Nodes(u32::MAX),
        estimate: Seconds::FAR,
        until: Seconds::ZERO,
    };
}

impl Failed {
    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    /// No start before this one has to be tried.
    pub(super) fn tried_until(&self, nodes: Nodes, estimate: Seconds) -> Seconds {
        let smaller = self.known[..self.count]
            .iter()
            .filter(|other| other.nodes <= nodes && other.estimate <= estimate);
        smaller.fold(Seconds::ZERO, |until, other| until.max(other.until))
    }

    /// The narrowest and the shortest of those that found nothing until `until`.
    pub(super) fn least(&self, until: Seconds) -> [FailedTry; 2] {
        let mut least = [FailedTry::NONE; 2];
        for tried in &self.known[..self.count] {
            if tried.until >= until {
                if tried.nodes < least[0].nodes {
                    least[0] = *tried;
                }
                if tried.estimate < least[1].estimate {
                    least[1] = *tried;
                }
            }
        }
        least
    }

    pub(super) fn note(&mut self, nodes: Nodes, estimate: Seconds, until: Seconds) {
        let new = FailedTry {
            nodes,
            estimate,
            until,
        };
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
