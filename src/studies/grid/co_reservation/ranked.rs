//! Best-first search (Meltzer 2005, §4.7): the children of a node come in the order of the best
//! complete candidate below them, and are built only where the search reaches them.

mod children;

use bookahead_core::units::Seconds;
use bookahead_core::workload::Preference;

use super::algorithm::{Repair, Valuation};
use super::listed::Move;
use super::open_candidates::{OpenCandidates, Prefix, Weight};
use super::table::{Criterion, Entry};
use children::{Child, Node, Scale, insert, settle, sort};

/// How much worse than the next-best candidate a repair may be that keeps the parts already
/// reserved (Meltzer 2005, §4.7.5).
#[derive(Clone, Copy, Debug)]
pub(super) struct Tolerance {
    pub start: Seconds,
    pub cost: f64,
}

/// Candidates by value, best-first repair, chronological repair, or none.
#[derive(Debug)]
pub(super) struct Ranked {
    repair: Repair,
    tolerance: Tolerance,
    scale: Scale,
    built: bool,
    /// Children of the root from the opened starts, the best one last.
    root: Vec<Child>,
    /// The other starts, the one with the best candidate last.
    unopened: Vec<Unopened>,
    /// Positions of the first part's candidates in the shuffled list.
    rank: Vec<u32>,
    path: Vec<Node>,
    trying: Option<Child>,
    repairing: Option<Repairing>,
    /// The tie-break of the next part that is put back, behind all its equals.
    next_tie: u32,
}

/// A start whose candidates have not been looked at yet.
#[derive(Clone, Copy, Debug)]
struct Unopened {
    start: u32,
    /// Value of its best complete candidate.
    value: f64,
    /// The first place in the shuffled list of one of its candidates of the first part.
    tie: u32,
}

/// The state of a repair, between a refusal and the next order.
#[derive(Clone, Copy, Debug)]
enum Repairing {
    /// To look for the next-best candidate.
    Due,
    /// Parts are given back until this many are left, to which the next candidate is attached.
    To {
        level: usize,
        start: Seconds,
        cost: f64,
    },
    /// No candidate is left: all parts are given back.
    Over,
}

impl Ranked {
    pub fn new(repair: Repair, valuation: Valuation, tolerance: Tolerance) -> Self {
        Self {
            repair,
            tolerance,
            scale: Scale {
                valuation,
                cost: (0.0, 0.0),
                start: (Seconds::ZERO, Seconds::ZERO),
            },
            built: false,
            root: Vec::new(),
            unopened: Vec::new(),
            rank: Vec::new(),
            path: Vec::new(),
            trying: None,
            repairing: None,
            next_tie: 0,
        }
    }

    pub fn next(&mut self, open_candidates: &mut OpenCandidates) -> Move {
        if !self.built {
            self.build(open_candidates);
        }
        loop {
            if self.path.iter().any(|node| node.gone) {
                self.repairing = Some(Repairing::Due);
                match self.path.pop() {
                    Some(node) if !node.gone => return Move::Cancel(node.entry),
                    _ => continue,
                }
            }
            match self.repairing {
                None => {
                    if self.path.len() == open_candidates.table.parts() {
                        return Move::Granted;
                    }
                    self.settle(self.path.len(), open_candidates);
                    if let Some(child) = self.children(self.path.len()).pop() {
                        let entry = child.entry;
                        self.trying = Some(child);
                        return Move::Reserve(entry);
                    }
                    if self.path.is_empty() {
                        return Move::Exhausted;
                    }
                    self.repairing = Some(Repairing::Due);
                }
                Some(Repairing::Due) => self.repairing = Some(self.next_best(open_candidates)),
                Some(Repairing::To { level, start, cost }) => {
                    let here = self.path.len();
                    if here == level || self.is_close(here, start, cost, open_candidates) {
                        self.repairing = None;
                    } else if let Some(node) = self.path.pop() {
                        let entry = node.entry;
                        self.put_back(node, open_candidates);
                        return Move::Cancel(entry);
                    }
                }
                Some(Repairing::Over) => {
                    return self
                        .path
                        .pop()
                        .map_or(Move::Exhausted, |node| Move::Cancel(node.entry));
                }
            }
        }
    }

    pub fn granted(&mut self, open_candidates: &mut OpenCandidates, entry: Entry) {
        let Some(child) = self.trying.take() else {
            return;
        };
        let node = child.node.unwrap_or_else(|| {
            let before = self
                .path
                .last()
                .map_or_else(Prefix::default, |node| node.prefix.clone());
            let prefix = open_candidates.extended(&before, entry);
            let mut children = Vec::new();
            if prefix.clusters.len() < open_candidates.table.parts() {
                let seen = open_candidates.removals;
                let found = open_candidates.children(entry.start, &prefix);
                let start = open_candidates.table.start(entry.start);
                children.extend(found.into_iter().map(|(entry, cost)| Child {
                    entry,
                    value: self.scale.value(cost, start),
                    cost,
                    tie: entry.index,
                    seen,
                    node: None,
                }));
                sort(&mut children);
            }
            Box::new(Node {
                entry,
                prefix,
                children,
                gone: false,
            })
        });
        self.path.push(*node);
    }

    pub fn refused(&mut self) {
        self.trying = None;
        self.repairing = Some(if self.repair == Repair::None {
            Repairing::Over
        } else {
            Repairing::Due
        });
    }

    /// Returns whether a part was reserved there, which is gone now.
    pub fn give_up(&mut self, cluster: u16) -> bool {
        if matches!(self.repairing, Some(Repairing::To { .. })) {
            self.repairing = Some(Repairing::Due);
        }
        let lost = self
            .path
            .iter_mut()
            .find(|node| node.entry.cluster == cluster && !node.gone);
        let Some(node) = lost else {
            return false;
        };
        node.gone = true;
        true
    }

    pub fn path(&self) -> impl Iterator<Item = Entry> {
        self.path.iter().map(|node| node.entry)
    }

    /// Extremes over all complete candidates, and the best one of each start.
    fn build(&mut self, open_candidates: &mut OpenCandidates) {
        self.built = true;
        self.next_tie = open_candidates.table.len() as u32;
        self.rank = vec![0; open_candidates.table.shuffled().len()];
        for (place, &index) in open_candidates.table.shuffled().iter().enumerate() {
            self.rank[index as usize] = place as u32;
        }
        let is_weighed = self.weigh_further(open_candidates);
        let same = open_candidates.table.weighed().same().is_some();
        let nothing = Prefix::default();
        let mut best = Vec::with_capacity(open_candidates.table.starts() as usize);
        let mut cost = (f64::INFINITY, f64::NEG_INFINITY);
        for start in 0..open_candidates.table.starts() {
            let Some(least) = open_candidates.best(start, &nothing, Weight::Weighed, 0.0) else {
                continue;
            };
            let most = if same {
                Some(least)
            } else {
                open_candidates.best(start, &nothing, Weight::HighestWeighed, 0.0)
            };
            cost = (cost.0.min(least), cost.1.max(most.unwrap_or(least)));
            best.push((least, start));
        }
        if let (Some(&(_, first)), Some(&(_, last))) = (best.first(), best.last()) {
            self.scale.cost = if is_weighed { (0.0, 1.0) } else { cost };
            self.scale.start = (
                open_candidates.table.start(first),
                open_candidates.table.start(last),
            );
        }
        for (cost, start) in best {
            let value = self.scale.value(cost, open_candidates.table.start(start));
            let group = open_candidates.table.group(0, start);
            let ranks = &self.rank[group.start as usize..group.end as usize];
            self.unopened.push(Unopened {
                start,
                value,
                tie: ranks.iter().copied().min().unwrap_or(0),
            });
        }
        self.unopened
            .sort_by(|a, b| b.value.total_cmp(&a.value).then(b.tie.cmp(&a.tie)));
    }

    /// Where further criteria count (Meltzer 2005, §4.7.2), makes one value of them and of the
    /// cost, each as a share of its range; returns whether it did.
    fn weigh_further(&mut self, open_candidates: &mut OpenCandidates) -> bool {
        let Valuation::Weighted(weights) = self.scale.valuation else {
            return false;
        };
        let weighed = Criterion::ALL.map(|criterion| (criterion, criterion.weight(&weights)));
        if weighed.iter().all(|(_, weight)| *weight <= 0.0) {
            return false;
        }
        let mut range = |least, most| open_candidates.range(least, most);
        let cost = range(Weight::Weighed, Weight::HighestWeighed);
        let further = weighed.into_iter().filter(|(_, weight)| *weight > 0.0);
        let further = further.map(|(criterion, weight)| {
            let (least, most) = (
                Weight::Further(criterion),
                Weight::HighestFurther(criterion),
            );
            (criterion, weight, range(least, most))
        });
        let further: Vec<_> = further.collect();
        let cost = (weights.cost_weight, cost);
        open_candidates.table.weigh(cost, &further);
        self.scale.valuation = Valuation::Weighted(Preference {
            cost_weight: 1.0,
            mix_weight: 0.0,
            degree_weight: 0.0,
            ..weights
        });
        true
    }

    /// The children of the part at which `level` parts are reserved, the best one last.
    fn children(&mut self, level: usize) -> &mut Vec<Child> {
        match level.checked_sub(1) {
            None => &mut self.root,
            Some(above) => &mut self.path[above].children,
        }
    }

    /// Makes sure that the best child at `level` is the best.
    fn settle(&mut self, level: usize, open_candidates: &mut OpenCandidates) {
        if let Some(above) = level.checked_sub(1) {
            let node = &mut self.path[above];
            settle(
                &mut node.children,
                &node.prefix,
                &self.scale,
                open_candidates,
            );
            return;
        }
        loop {
            settle(
                &mut self.root,
                &Prefix::default(),
                &self.scale,
                open_candidates,
            );
            let Some(&nearest) = self.unopened.last() else {
                return;
            };
            // Nothing at an unopened start is better than its bound, nor earlier in the shuffled
            // list than its first candidate. A bound may be off by a rounding error: unless it is a
            // tie, a start is opened rather too early than too late.
            let settled = self.root.last().is_some_and(|first| {
                let room = 1e-12 * (1.0 + first.value.abs());
                nearest.value > first.value + room
                    || (nearest.value >= first.value && nearest.tie > first.tie)
            });
            if settled {
                return;
            }
            self.unopened.pop();
            let seen = open_candidates.removals;
            let at = open_candidates.table.start(nearest.start);
            for (entry, cost) in open_candidates.children(nearest.start, &Prefix::default()) {
                let child = Child {
                    entry,
                    value: self.scale.value(cost, at),
                    cost,
                    tie: self.rank[entry.index as usize],
                    seen,
                    node: None,
                };
                insert(&mut self.root, child);
            }
        }
    }

    /// Where the next candidate hangs: with best-first repair the best of all that are left, the
    /// deepest among equals; else the deepest.
    fn next_best(&mut self, open_candidates: &mut OpenCandidates) -> Repairing {
        if self.repair == Repair::None {
            return Repairing::Over;
        }
        let mut found: Option<(usize, f64, f64, u32)> = None;
        for level in (0..=self.path.len()).rev() {
            self.settle(level, open_candidates);
            let Some(first) = self.children(level).last() else {
                continue;
            };
            if found.is_none_or(|(_, value, _, _)| first.value < value) {
                found = Some((level, first.value, first.cost, first.entry.start));
            }
            if self.repair == Repair::Chronological {
                break;
            }
        }
        match found {
            Some((level, _, cost, start)) => Repairing::To {
                level,
                start: open_candidates.table.start(start),
                cost,
            },
            None => Repairing::Over,
        }
    }

    /// Whether the best candidate below the last reserved part is within the tolerances of the
    /// next-best candidate.
    fn is_close(
        &mut self,
        level: usize,
        start: Seconds,
        cost: f64,
        open_candidates: &mut OpenCandidates,
    ) -> bool {
        if self.repair != Repair::BestFirst {
            return false;
        }
        let tolerance = self.tolerance;
        self.settle(level, open_candidates);
        self.children(level).last().is_some_and(|first| {
            open_candidates.table.start(first.entry.start) < start + tolerance.start
                && first.cost < cost + tolerance.cost
        })
    }

    /// A cancelled part goes back among its siblings while anything below it was not tried, behind
    /// its equals.
    fn put_back(&mut self, node: Node, open_candidates: &OpenCandidates) {
        let Some(first) = node.children.last() else {
            return;
        };
        let child = Child {
            entry: node.entry,
            value: first.value,
            cost: first.cost,
            tie: self.next_tie,
            seen: open_candidates.removals,
            node: None,
        };
        self.next_tie += 1;
        let level = self.path.len();
        insert(
            self.children(level),
            Child {
                node: Some(Box::new(node)),
                ..child
            },
        );
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        fn below(children: &[Child]) -> usize {
            children
                .iter()
                .filter_map(|child| child.node.as_deref())
                .map(node_bytes)
                .sum()
        }
        fn node_bytes(node: &Node) -> usize {
            size_of::<Node>()
                + node.prefix.clusters.capacity() * size_of::<u16>()
                + node.children.capacity() * size_of::<Child>()
                + below(&node.children)
        }
        let path: usize = self.path.iter().map(node_bytes).sum();
        let trying = self.trying.as_ref().and_then(|child| child.node.as_deref());
        self.root.capacity() * size_of::<Child>()
            + below(&self.root)
            + self.unopened.capacity() * size_of::<Unopened>()
            + self.rank.capacity() * size_of::<u32>()
            + self.path.capacity() * size_of::<Node>()
            + path
            + trying.map_or(0, node_bytes)
    }
}
