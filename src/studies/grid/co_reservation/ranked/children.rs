//! The children of a node of the search, ordered by the best complete candidate below each.

use bookahead_core::units::Seconds;
use bookahead_core::workload::Preference;

use crate::co_reservation::algorithm::Valuation;
use crate::co_reservation::open_candidates::{OpenCandidates, Prefix, Weight};
use crate::co_reservation::table::Entry;

/// How many bands of cost there are where candidates are sorted in stages.
const BANDS: f64 = 10.0;

/// Turns cost and start into a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub(super) valuation: Valuation,
    pub(super) cost: (f64, f64),
    pub(super) start: (Seconds, Seconds),
}

/// A part that may be reserved next.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) entry: Entry,
    /// Value and expected cost of the best complete candidate below it.
    pub(super) value: f64,
    pub(super) cost: f64,
    /// Orders equal values.
    pub(super) tie: u32,
    /// The number of removals up to which `value` and `cost` are right.
    pub(super) seen: u32,
    /// The subtree below it, if it was reserved before.
    pub(super) node: Option<Box<Node>>,
}

/// A part that is reserved, or was.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) entry: Entry,
    /// With all parts before it.
    pub(super) prefix: Prefix,
    /// The untried children, the best one last.
    pub(super) children: Vec<Child>,
    /// Whether its cluster was given up.
    pub(super) gone: bool,
}

impl Scale {
    pub(super) fn value(&self, cost: f64, start: Seconds) -> f64 {
        let share = |offset: f64, span: f64| if span > 0.0 { offset / span } else { 0.0 };
        let cost = share(cost - self.cost.0, self.cost.1 - self.cost.0);
        let start = share(
            (start - self.start.0).0 as f64,
            (self.start.1 - self.start.0).0 as f64,
        );
        match self.valuation {
            Valuation::Weighted(Preference {
                cost_weight,
                start_weight,
                // Part of what is passed as cost.
                mix_weight: _,
                degree_weight: _,
            }) => cost_weight * cost + start_weight * start,
            // A start counts less than a band, and the highest cost belongs to the last one.
            Valuation::Staged => (cost * BANDS).floor().min(BANDS - 1.0) + start / 2.0,
        }
    }
}

/// The best one last; of equal values the one that came first in the shuffled list.
pub(super) fn sort(children: &mut [Child]) {
    children.sort_unstable_by(|a, b| b.value.total_cmp(&a.value).then(b.tie.cmp(&a.tie)));
}

pub(super) fn insert(children: &mut Vec<Child>, child: Child) {
    let place = children.partition_point(|other| {
        other
            .value
            .total_cmp(&child.value)
            .then(other.tie.cmp(&child.tie))
            .is_gt()
    });
    children.insert(place, child);
}

/// Brings the best child up to date with what was removed. Removing only makes children worse, so
/// what is on top and up to date is the best.
pub(super) fn settle(
    children: &mut Vec<Child>,
    prefix: &Prefix,
    scale: &Scale,
    open_candidates: &mut OpenCandidates,
) {
    while children
        .last()
        .is_some_and(|first| first.seen != open_candidates.removals)
    {
        let Some(mut child) = children.pop() else {
            return;
        };
        if open_candidates.is_removed(child.entry.index) {
            continue;
        }
        let cost = match &mut child.node {
            Some(node) => {
                settle(&mut node.children, &node.prefix, scale, open_candidates);
                node.children.last().map(|first| first.cost)
            }
            None => {
                let longer = open_candidates.extended(prefix, child.entry);
                open_candidates.best(child.entry.start, &longer, Weight::Weighed, longer.cost)
            }
        };
        if let Some(cost) = cost {
            child.cost = cost;
            child.value = scale.value(cost, open_candidates.table.start(child.entry.start));
            child.seen = open_candidates.removals;
            insert(children, child);
        }
    }
}
