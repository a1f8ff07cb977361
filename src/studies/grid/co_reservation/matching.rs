//! Checks whether all parts can be placed on distinct clusters, at any cost: augmenting paths.

/// No part holds the cluster.
const FREE: u16 = u16::MAX;
/// It must not be used.
const CLOSED: u16 = u16::MAX - 1;

/// Which part has which cluster, with its memory kept between uses.
#[derive(Debug, Default)]
pub(super) struct Matching {
    holders: Vec<u16>,
    seen: Vec<bool>,
}

impl Matching {
    /// Whether every one of `parts` can have a cluster of its own among its `candidates`, numbers
    /// below `clusters`, none of them `closed`.
    pub fn exists<I: Iterator<Item = u16>>(
        &mut self,
        clusters: usize,
        closed: &[u16],
        mut parts: impl Iterator<Item = u16>,
        candidates: impl Fn(u16) -> I,
    ) -> bool {
        self.holders.clear();
        self.holders.resize(clusters, FREE);
        for &cluster in closed {
            self.holders[usize::from(cluster)] = CLOSED;
        }
        parts.all(|part| self.takes_free(part, &candidates) || self.displaces(part, &candidates))
    }

    /// Mostly a cluster is free.
    fn takes_free<I: Iterator<Item = u16>>(
        &mut self,
        part: u16,
        candidates: &impl Fn(u16) -> I,
    ) -> bool {
        let holders = &mut self.holders;
        let free = candidates(part).find(|&cluster| holders[usize::from(cluster)] == FREE);
        if let Some(cluster) = free {
            holders[usize::from(cluster)] = part;
        }
        free.is_some()
    }

    fn displaces<I: Iterator<Item = u16>>(
        &mut self,
        part: u16,
        candidates: &impl Fn(u16) -> I,
    ) -> bool {
        self.seen.clear();
        let closed = self.holders.iter().map(|&holder| holder == CLOSED);
        self.seen.extend(closed);
        self.finds_path(part, candidates)
    }

    fn finds_path<I: Iterator<Item = u16>>(
        &mut self,
        part: u16,
        candidates: &impl Fn(u16) -> I,
    ) -> bool {
        for cluster in candidates(part) {
            let cluster = usize::from(cluster);
            if std::mem::replace(&mut self.seen[cluster], true) {
                continue;
            }
            let holder = self.holders[cluster];
            if holder == FREE || self.finds_path(holder, candidates) {
                self.holders[cluster] = part;
                return true;
            }
        }
        false
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.holders.capacity() * size_of::<u16>() + self.seen.capacity()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn exists(sets: &[Vec<u16>], part: usize, used: &mut Vec<u16>) -> bool {
        part == sets.len()
            || sets[part].iter().any(|&cluster| {
                if used.contains(&cluster) {
                    return false;
                }
                used.push(cluster);
                let found = exists(sets, part + 1, used);
                used.pop();
                found
            })
    }

    proptest! {
        #[test]
        fn there_is_a_matching_where_trying_all_of_them_finds_one(
            sets in prop::collection::vec(prop::collection::vec(0_u16..6, 0..4), 0..6),
            closed in prop::collection::vec(0_u16..6, 0..3),
        ) {
            let mut matching = Matching::default();
            let parts = 0..sets.len() as u16;
            let found = matching.exists(6, &closed, parts, |part| {
                sets[usize::from(part)].iter().copied()
            });
            prop_assert_eq!(found, exists(&sets, 0, &mut closed.clone()));
        }
    }
}
