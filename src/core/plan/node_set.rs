//! A set of concrete nodes as a bit vector.

use smallvec::{SmallVec, smallvec};

use crate::units::{NodeIndex, Nodes};

/// The words of up to 512 nodes lie in the set itself.
type Words = SmallVec<[u64; 8]>;

/// A set of nodes of one cluster, one bit a node. All operations cost one pass over `nodes / 64`
/// words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodeSet {
    words: Words,
}

impl NodeSet {
    /// No node of a cluster of `nodes` nodes.
    #[must_use]
    pub fn empty(nodes: Nodes) -> Self {
        Self {
            words: smallvec![0; (nodes.0 as usize).div_ceil(64)],
        }
    }

    /// Every node of a cluster of `nodes` nodes.
    #[must_use]
    pub fn full(nodes: Nodes) -> Self {
        let mut set = Self::empty(nodes);
        let mut left = nodes.0;
        for word in &mut set.words {
            *word = if left >= 64 {
                u64::MAX
            } else {
                (1 << left) - 1
            };
            left = left.saturating_sub(64);
        }
        set
    }

    /// How many nodes are in the set.
    #[must_use]
    pub fn count(&self) -> Nodes {
        Nodes(self.words.iter().map(|word| word.count_ones()).sum())
    }

    /// Whether the set holds no node.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Whether this node is in the set.
    #[must_use]
    pub fn contains(&self, node: NodeIndex) -> bool {
        self.words[node.0 as usize / 64] >> (node.0 % 64) & 1 == 1
    }

    /// Puts a node in.
    pub fn insert(&mut self, node: NodeIndex) {
        self.words[node.0 as usize / 64] |= 1 << (node.0 % 64);
    }

    /// Takes a node out.
    pub fn remove(&mut self, node: NodeIndex) {
        self.words[node.0 as usize / 64] &= !(1 << (node.0 % 64));
    }

    /// Puts in every node of `other`.
    pub fn union_with(&mut self, other: &Self) {
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            *mine |= theirs;
        }
    }

    /// Takes out every node of `other`.
    pub fn subtract(&mut self, other: &Self) {
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            *mine &= !theirs;
        }
    }

    /// Keeps only the nodes that are also in `other`.
    pub fn intersect_with(&mut self, other: &Self) {
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            *mine &= theirs;
        }
    }

    /// Whether the two sets share a node.
    #[must_use]
    pub fn intersects(&self, other: &Self) -> bool {
        self.words
            .iter()
            .zip(&other.words)
            .any(|(mine, theirs)| mine & theirs != 0)
    }

    /// How many nodes the two sets share.
    #[must_use]
    pub fn shared_count(&self, other: &Self) -> Nodes {
        Nodes(
            self.words
                .iter()
                .zip(&other.words)
                .map(|(mine, theirs)| (mine & theirs).count_ones())
                .sum(),
        )
    }

    /// Whether every node of this set is also in `other`.
    #[must_use]
    pub fn is_subset_of(&self, other: &Self) -> bool {
        self.words
            .iter()
            .zip(&other.words)
            .all(|(mine, theirs)| mine & !theirs == 0)
    }

    /// The `nodes` nodes with the lowest indices, or `None` when there are fewer.
    #[must_use]
    pub fn lowest(&self, nodes: Nodes) -> Option<Self> {
        let mut left = nodes.0;
        let mut words: Words = smallvec![0; self.words.len()];
        for (chosen, &word) in words.iter_mut().zip(&self.words) {
            if left == 0 {
                break;
            }
            if word.count_ones() <= left {
                *chosen = word;
                left -= word.count_ones();
            } else {
                let mut rest = word;
                for _ in 0..left {
                    rest &= rest - 1;
                }
                *chosen = word & !rest;
                left = 0;
            }
        }
        (left == 0).then_some(Self { words })
    }

    /// The nodes in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = NodeIndex> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                Some(NodeIndex(index as u32 * 64 + bit))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn of(members: &BTreeSet<u32>) -> NodeSet {
        let mut set = NodeSet::empty(Nodes(200));
        for &member in members {
            set.insert(NodeIndex(member));
        }
        set
    }

    proptest! {
        #[test]
        fn a_node_set_behaves_as_a_set_of_indices(
            left in prop::collection::btree_set(0_u32..200, 0..200),
            right in prop::collection::btree_set(0_u32..200, 0..200),
            wanted in 0_u32..220,
        ) {
            let (a, b) = (of(&left), of(&right));
            prop_assert_eq!(a.count().0 as usize, left.len());
            prop_assert_eq!(a.iter().map(|node| node.0).collect::<BTreeSet<_>>(), left.clone());
            prop_assert_eq!(a.intersects(&b), !left.is_disjoint(&right));
            prop_assert_eq!(a.is_subset_of(&b), left.is_subset(&right));
            prop_assert_eq!(a.shared_count(&b).0 as usize, left.intersection(&right).count());
            let mut union = a.clone();
            union.union_with(&b);
            prop_assert_eq!(union, of(&left.union(&right).copied().collect()));
            let mut difference = a.clone();
            difference.subtract(&b);
            prop_assert_eq!(difference, of(&left.difference(&right).copied().collect()));
            let lowest = a.lowest(Nodes(wanted));
            if wanted as usize <= left.len() {
                prop_assert_eq!(lowest, Some(of(&left.iter().copied().take(wanted as usize).collect())));
            } else {
                prop_assert_eq!(lowest, None);
            }
        }
    }

    #[test]
    fn the_full_set_holds_exactly_the_nodes_of_the_cluster() {
        for nodes in [1, 63, 64, 65, 128, 430] {
            assert_eq!(NodeSet::full(Nodes(nodes)).count(), Nodes(nodes));
        }
    }
}
