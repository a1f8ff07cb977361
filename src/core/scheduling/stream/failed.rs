//! Searches that failed during one pass over the planned jobs.

use super::planned::saturated;
use crate::units::{Nodes, Seconds};

/// At least this many searches are remembered. Successful ones count too: they show that there is
/// no earlier start.
const KNOWN: usize = 32;

/// At most this many searches exclude jobs.
const EXCLUDED: usize = 8;

/// Times without a possible start. A job that is planned later and wants at least as many nodes for
/// at least as long has no start there either, to the end of the pass: jobs that move free nodes
/// only behind the starts of all jobs looked at before them.
#[derive(Debug, Default)]
pub(super) struct Failed {
    /// Ordered by how far they reached.
    known: Vec<Search>,
    now: Seconds,
    /// Those that reached as far as the next job would have to search.
    excluded: Excluded,
}

#[derive(Clone, Copy, Debug)]
struct Search {
    nodes: i32,
    estimate: i32,
    /// A job that wants at least as much need not try a start before this time, counted from `now`;
    /// less than [`i32::MAX`].
    reached: i32,
}

/// Pairs of nodes and estimate: a job that wants at least as much of both is skipped.
#[derive(Debug)]
pub(super) struct Excluded {
    /// The next job cannot start at this time or later, counted from `now`; [`i32::MAX`] stands for
    /// any later time as well.
    until: i32,
    count: usize,
    /// The first one is the narrowest, the second one the shortest of all; [`i32::MAX`] where there
    /// is none.
    nodes: [i32; EXCLUDED],
    estimates: [i32; EXCLUDED],
}

impl Default for Excluded {
    fn default() -> Self {
        Self {
            until: 0,
            count: 0,
            nodes: [i32::MAX; EXCLUDED],
            estimates: [i32::MAX; EXCLUDED],
        }
    }
}

impl Excluded {
    /// The narrowest and the shortest one.
    #[inline]
    pub(super) fn first(&self) -> [(i32, i32); 2] {
        [0, 1].map(|place| (self.nodes[place], self.estimates[place]))
    }

    /// The others.
    #[inline]
    pub(super) fn others(&self) -> impl Iterator<Item = (i32, i32)> {
        (2..self.count.min(EXCLUDED)).map(|place| (self.nodes[place], self.estimates[place]))
    }

    /// Whether a job that wants this many nodes, for less than [`i32::MAX`], still has to be looked
    /// at.
    #[inline]
    pub(super) fn admits(&self, nodes: i32, estimate: i32) -> bool {
        let is_left = |(wide, long): (i32, i32)| (nodes < wide) | (estimate < long);
        let [narrowest, shortest] = self.first();
        is_left(narrowest) & is_left(shortest) && self.others().all(is_left)
    }

    #[inline]
    fn clear(&mut self) {
        if self.count > 0 {
            self.count = 0;
            for place in 0..2 {
                self.nodes[place] = i32::MAX;
                self.estimates[place] = i32::MAX;
            }
        }
    }

    fn add(&mut self, nodes: i32, estimate: i32) {
        let mut place = 0;
        while place < self.count {
            let (wide, long) = (self.nodes[place], self.estimates[place]);
            if (wide <= nodes) & (long <= estimate) {
                return;
            }
            place += 1;
        }
        place = place.min(EXCLUDED - 1);
        self.count = place + 1;
        self.nodes[place] = nodes;
        self.estimates[place] = estimate;
        if nodes < self.nodes[0] {
            self.swap(0, place);
        }
        if place > 0 && self.estimates[place] < self.estimates[1] {
            self.swap(1, place);
        }
    }

    fn swap(&mut self, place: usize, other: usize) {
        self.nodes.swap(place, other);
        self.estimates.swap(place, other);
    }
}

impl Failed {
    /// Forgets all searches; no job will start before `now`.
    pub(super) fn clear(&mut self, now: Seconds) {
        self.known.clear();
        self.now = now;
        self.excluded.until = 0;
        self.excluded.clear();
    }

    /// The jobs that are skipped if none can start at `until` or later.
    #[inline]
    pub(super) fn excluded(&mut self, until: Seconds) -> &Excluded {
        let until = saturated((until - self.now).0);
        if until != self.excluded.until {
            self.excluded.until = until;
            self.excluded.clear();
            for search in self.known.iter().rev() {
                if search.reached < until {
                    break;
                }
                self.excluded.add(search.nodes, search.estimate);
            }
        }
        &self.excluded
    }

    /// No start before this time has to be tried.
    #[inline]
    pub(super) fn tried_until(&self, nodes: Nodes, estimate: Seconds) -> Seconds {
        let search = self.furthest(nodes, estimate);
        self.now + Seconds(search.map_or(0, |search| i64::from(search.reached)))
    }

    /// The estimate from which on, with this many nodes, the times that [`Failed::tried_until`]
    /// excludes need not be tried.
    pub(super) fn tried_with(&self, nodes: Nodes, estimate: Seconds) -> Seconds {
        let search = self.furthest(nodes, estimate);
        Seconds(search.map_or(0, |search| i64::from(search.estimate)))
    }

    /// Of the searches for at most this many nodes and this estimate, the one that reached
    /// furthest.
    #[inline]
    fn furthest(&self, nodes: Nodes, estimate: Seconds) -> Option<&Search> {
        let (nodes, estimate) = (saturated(i64::from(nodes.0)), saturated(estimate.0));
        let wanted_less =
            |search: &&Search| (search.nodes <= nodes) & (search.estimate <= estimate);
        self.known.iter().rev().find(wanted_less)
    }

    /// Notes that a job that wants at least as much need not try a start before `until`.
    pub(super) fn note(&mut self, nodes: Nodes, estimate: Seconds, until: Seconds) {
        let (nodes, estimate) = (saturated(i64::from(nodes.0)), saturated(estimate.0));
        let reached = saturated((until - self.now).0).min(i32::MAX - 1);
        if nodes == i32::MAX || estimate == i32::MAX {
            return;
        }
        if reached >= self.excluded.until {
            self.excluded.add(nodes, estimate);
        }
        if self.known.len() == 2 * KNOWN {
            self.known.drain(..KNOWN);
        }
        let later = self.known.iter().rev();
        let later = later.take_while(|search| search.reached > reached).count();
        let search = Search {
            nodes,
            estimate,
            reached,
        };
        self.known.insert(self.known.len() - later, search);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_excluded_job_or_one_that_begins_later_wants_as_much_as_an_earlier_search(
            notes in prop::collection::vec((1_u32..20, 1_i64..20, 0_i64..40), 0..80),
            asked in prop::collection::vec((1_u32..20, 1_i64..20), 1..20),
            step in 1_i64..8,
            scale in prop::sample::select(vec![1, 1 << 20, 1 << 28]),
        ) {
            let now = Seconds(7);
            let mut failed = Failed::default();
            failed.clear(now);
            let mut all = Vec::new();
            let mut until = now;
            for (number, (nodes, estimate, reached)) in notes.into_iter().enumerate() {
                let (estimate, reached) = (Seconds(estimate * scale), Seconds(reached * scale));
                failed.note(Nodes(nodes), estimate, now + reached);
                all.push((nodes, estimate, now + reached));
                if number % 3 == 0 {
                    until += Seconds(step * scale);
                }
                failed.excluded(until);
                for &(nodes, estimate) in &asked {
                    let estimate = Seconds(estimate * scale);
                    let wanted_less = all.iter().filter(|note| note.0 <= nodes && note.1 <= estimate);
                    let most = wanted_less.map(|note| note.2).max().unwrap_or(now);
                    let known = failed.tried_until(Nodes(nodes), estimate);
                    prop_assert!(known <= most);
                    if all.len() <= KNOWN && scale == 1 {
                        prop_assert_eq!(known, most);
                    }
                    let short = saturated(estimate.0).min(i32::MAX - 1);
                    let is_excluded = !failed.excluded(until).admits(nodes as i32, short);
                    prop_assert!(!is_excluded || most >= until);
                }
            }
        }
    }
}
