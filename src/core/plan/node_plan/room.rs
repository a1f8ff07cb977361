//! How much of a plan is free for how long, by the start.

use super::NodePlan;
use crate::plan::NodeSet;
use crate::units::{Nodes, Seconds};

impl NodePlan {
    /// How many of the nodes in `among` are [free](NodePlan::free_throughout) on `[t, t + length)`,
    /// by `t` from now until `until`: each number holds until the next instant. `now` comes with
    /// the nodes that a start now may use.
    #[must_use]
    pub fn room(
        &self,
        now: (Seconds, &NodeSet),
        among: &NodeSet,
        length: Seconds,
        until: Seconds,
    ) -> Vec<(Seconds, Nodes)> {
        // A reservation leaves room from its end on, and takes it a second after the last start
        // that ends in front of it; what is usable now is not asked of later starts.
        let changes = (self.reservations.iter())
            .flat_map(|it| [it.end, it.start - length + Seconds(1)])
            .chain([now.0 + Seconds(1)]);
        let mut starts: Vec<Seconds> = changes
            .filter(|&start| start > now.0 && start <= until)
            .collect();
        if until >= now.0 {
            starts.push(now.0);
        }
        starts.sort_unstable();
        starts.dedup();
        let free = |start: Seconds| {
            let mut free = self.free_throughout(start, start + length, Some(now));
            free.intersect_with(among);
            (start, free.count())
        };
        starts.into_iter().map(free).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Reservation;
    use super::*;
    use crate::units::NodeIndex;
    use crate::workload::JobId;

    fn set(nodes: impl IntoIterator<Item = u32>) -> NodeSet {
        let mut set = NodeSet::empty(Nodes(6));
        nodes.into_iter().for_each(|it| set.insert(NodeIndex(it)));
        set
    }

    proptest! {
        #[test]
        fn the_room_of_every_second_is_that_of_the_last_instant_before_it(
            spans in prop::collection::vec((0_u32..6, 0_i64..40, 1_i64..20), 0..8),
            length in 1_i64..25,
            usable in prop::collection::btree_set(0_u32..6, 0..6),
            among in prop::collection::btree_set(0_u32..6, 0..6),
        ) {
            let mut plan = NodePlan::new(Nodes(6));
            for (number, (node, start, lasts)) in (0..).zip(spans) {
                let (start, end) = (Seconds(start), Seconds(start + lasts));
                let nodes = set([node]);
                if nodes.is_subset_of(&plan.free_throughout(start, end, None)) {
                    plan.insert(Reservation { job: JobId(number), nodes, start, end });
                }
            }
            let (usable, among) = (set(usable), set(among));
            let (now, until, length) = (Seconds(5), Seconds(70), Seconds(length));
            let room = plan.room((now, &usable), &among, length, until);
            prop_assert_eq!(room[0].0, now);
            for start in (now.0..=until.0).map(Seconds) {
                let mut free = plan.free_throughout(start, start + length, Some((now, &usable)));
                free.intersect_with(&among);
                let said = room.iter().rev().find(|it| it.0 <= start);
                prop_assert_eq!(said.map(|it| it.1), Some(free.count()));
            }
            prop_assert!(plan.room((now, &usable), &among, length, Seconds(4)).is_empty());
        }
    }
}
