//! What is free in a plan of nodes at one instant after the other.

use super::{NodePlan, Reservation};
use crate::plan::NodeSet;
use crate::units::{Nodes, Seconds};

/// What is free in a plan at instants that ascend. As reservations of the same time hold different
/// nodes, each is taken out and put back once, however many instants are looked at.
#[derive(Debug)]
pub struct PlanSweep<'a> {
    plan: &'a NodePlan,
    /// Nodes without a reservation at `time`.
    free: NodeSet,
    time: Option<Seconds>,
    /// The number of reservations that have begun by then, in order of start.
    started: usize,
    /// The number of reservations that have ended by then, in order of end.
    ended: usize,
}

impl<'a> PlanSweep<'a> {
    pub(super) fn of(plan: &'a NodePlan) -> Self {
        Self {
            plan,
            free: NodeSet::full(plan.nodes),
            time: None,
            started: 0,
            ended: 0,
        }
    }

    /// The nodes without a reservation at `time` that are not held for a later start either; of a
    /// start at `now` only the usable ones. Times must not fall from call to call. As
    /// [`NodePlan::free_throughout`] for one second.
    pub(super) fn free_at(
        &mut self,
        time: Seconds,
        usable_now: Option<(Seconds, &NodeSet)>,
    ) -> NodeSet {
        debug_assert!(self.time.is_none_or(|before| before <= time));
        let reservations = &self.plan.reservations;
        while let Some(&place) = self.plan.by_end.get(self.ended)
            && reservations[place].end <= time
        {
            if place < self.started {
                self.free.union_with(&reservations[place].nodes);
            }
            self.ended += 1;
        }
        while let Some(reservation) = reservations.get(self.started)
            && reservation.start <= time
        {
            if reservation.end > time {
                self.free.subtract(&reservation.nodes);
            }
            self.started += 1;
        }
        self.time = Some(time);
        let mut free = self.free.clone();
        if let Some((now, usable)) = usable_now
            && now == time
        {
            free.intersect_with(usable);
        }
        self.plan.give_up_held(&mut free, self.started);
        free
    }

    /// Of the nodes free at `start`, the `nodes` ones whose next reservation is farthest away
    /// (ties: lowest index), and the time of the first of their next reservations, or
    /// [`Seconds::FAR`].
    #[must_use]
    pub fn longest_free(
        &mut self,
        start: Seconds,
        nodes: Nodes,
        usable_now: Option<(Seconds, &NodeSet)>,
    ) -> Option<(NodeSet, Seconds)> {
        if self.plan.counted.free_at(start) < nodes.0 as i32 {
            // Most candidate starts of a full plan end here, without a look at concrete nodes.
            return None;
        }
        let mut remaining = self.free_at(start, usable_now);
        let mut left = remaining.count().0;
        if left < nodes.0 {
            return None;
        }
        let later = &self.plan.reservations[self.started..];
        for same_start in later.chunk_by(|one, other| one.start == other.start) {
            let shared = if same_start[0].is_empty() {
                let mut group = self.together(same_start);
                group.intersect_with(&remaining);
                group.count().0
            } else {
                // Their reservations overlap, so their nodes differ.
                let each = same_start.iter();
                each.map(|it| it.nodes.shared_count(&remaining).0).sum()
            };
            if shared == 0 {
                continue;
            }
            if left - shared >= nodes.0 {
                for reservation in same_start {
                    remaining.subtract(&reservation.nodes);
                }
                left -= shared;
                continue;
            }
            let mut group = self.together(same_start);
            group.intersect_with(&remaining);
            remaining.subtract(&group);
            let fill = group.lowest(Nodes(nodes.0 - (left - shared)))?;
            remaining.union_with(&fill);
            return Some((remaining, same_start[0].start));
        }
        Some((remaining.lowest(nodes)?, Seconds::FAR))
    }

    /// `nodes` nodes for a reservation of no length at `time`, which is not now: nobody holds them
    /// both before and after it, nobody has such a reservation there already, and they are not held
    /// for a start at `time` or later. Those that are free at `time` come first, then the
    /// lowest-numbered ones. Times must not fall from call to call.
    #[must_use]
    pub fn between(&mut self, time: Seconds, nodes: Nodes) -> Option<NodeSet> {
        let mut free = self.free_at(time, None);
        let reservations = &self.plan.reservations;
        let first = reservations[..self.started].partition_point(|it| it.start < time);
        let (empty, beginning): (Vec<_>, Vec<_>) =
            (reservations[first..self.started].iter()).partition(|it| it.is_empty());
        let mut others = self.together(beginning);
        for taken in empty {
            free.subtract(&taken.nodes);
            others.subtract(&taken.nodes);
        }
        self.plan.give_up_held(&mut others, first);
        self.plan.give_up_held(&mut free, first);
        let missing = nodes.0.saturating_sub(free.count().0);
        let mut chosen = free.lowest(Nodes(nodes.0 - missing))?;
        chosen.union_with(&others.lowest(Nodes(missing))?);
        Some(chosen)
    }

    /// The nodes of all of these.
    fn together<'r>(&self, reservations: impl IntoIterator<Item = &'r Reservation>) -> NodeSet {
        let mut nodes = NodeSet::empty(self.plan.nodes);
        for reservation in reservations {
            nodes.union_with(&reservation.nodes);
        }
        nodes
    }
}
