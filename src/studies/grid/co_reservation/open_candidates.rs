//! The candidates of a request that may still be tried. Given the parts that are placed, they tell
//! whether the others fit at all, and what they cost at best.

use std::ops::Range;

use super::assignment::Assignment;
use super::matching::Matching;
use super::table::{Column, Criterion, Entry, Table};

/// The placed first parts of a request.
#[derive(Clone, Debug, Default)]
pub(super) struct Prefix {
    /// Numbers of clusters, in order of part.
    pub clusters: Vec<u16>,
    /// What they are ordered by beside their start, in total.
    pub cost: f64,
    /// Their risk in total: −ln(1 − PoF).
    pub risk: f64,
}

/// The value of a candidate that is added up over the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// Its cost.
    Cost,
    /// Its cost, the highest total being the best.
    HighestCost,
    /// Its expected cost, with further criteria where these count ([`Table::weighed`]).
    Weighed,
    /// The same, the highest total being the best.
    HighestWeighed,
    /// A further criterion.
    Further(Criterion),
    /// That, the highest total being the best.
    HighestFurther(Criterion),
    /// Its risk.
    Risk,
}

impl Weight {
    /// Of a total that is searched for its highest value, −1.
    fn sign(self) -> f64 {
        match self {
            Self::HighestCost | Self::HighestWeighed | Self::HighestFurther(_) => -1.0,
            Self::Cost | Self::Weighed | Self::Further(_) | Self::Risk => 1.0,
        }
    }
}

/// The candidates of a request, without those that were removed.
#[derive(Debug)]
pub(super) struct OpenCandidates {
    pub table: Table,
    /// Removed candidates, a bit each; empty until the first removal.
    removed: Vec<u64>,
    /// How often candidates were removed.
    pub removals: u32,
    /// The highest risk that a complete candidate may have, and the risk of each candidate.
    limit: Option<(f64, Column)>,
    assignment: Assignment,
    matching: Matching,
}

/// Risk adds up where probabilities of survival multiply.
pub(super) fn risk(pof: f64) -> f64 {
    -libm::log1p(-pof)
}

impl OpenCandidates {
    pub fn new(table: Table, pof_limit: Option<f64>) -> Self {
        let limit = pof_limit.map(|limit| {
            let risks = match table.pof() {
                Column::Same(pof) => Column::Same(risk(*pof)),
                Column::Each(pofs) => Column::Each(pofs.iter().map(|&pof| risk(pof)).collect()),
            };
            (risk(limit), risks)
        });
        Self {
            table,
            removed: Vec::new(),
            removals: 0,
            limit,
            assignment: Assignment::default(),
            matching: Matching::default(),
        }
    }

    /// Whether a candidate was removed.
    pub fn is_removed(&self, index: u32) -> bool {
        self.removed
            .get(index as usize / 64)
            .is_some_and(|bits| bits >> (index % 64) & 1 == 1)
    }

    /// Removes a candidate: it is never tried again.
    pub fn remove(&mut self, index: u32) {
        if self.removed.is_empty() {
            self.removed = vec![0; self.table.len().div_ceil(64)];
        }
        self.removed[index as usize / 64] |= 1 << (index % 64);
        self.removals += 1;
    }

    /// Removes all candidates of a cluster.
    pub fn remove_cluster(&mut self, cluster: u16) {
        for index in 0..self.table.len() as u32 {
            if self.table.cluster(index) == cluster {
                self.remove(index);
            }
        }
    }

    /// Calls `look` with all candidates, including removed ones.
    pub fn as_built<T>(&mut self, look: impl FnOnce(&mut Self) -> T) -> T {
        let removed = std::mem::take(&mut self.removed);
        let found = look(self);
        self.removed = removed;
        found
    }

    /// The risk of a candidate; 0 where risk is not limited.
    pub fn risk(&self, index: u32) -> f64 {
        self.limit
            .as_ref()
            .map_or(0.0, |(_, risks)| risks.at(index))
    }

    /// The highest risk that a complete candidate may have; infinite where it is not limited.
    pub fn risk_limit(&self) -> f64 {
        self.limit
            .as_ref()
            .map_or(f64::INFINITY, |(limit, _)| *limit)
    }

    /// Whether risk is limited.
    pub fn limits_risk(&self) -> bool {
        self.limit.is_some()
    }

    /// A prefix with one more part.
    pub fn extended(&self, prefix: &Prefix, entry: Entry) -> Prefix {
        let mut longer = prefix.clone();
        longer.clusters.push(entry.cluster);
        longer.cost += self.table.weighed().at(entry.index);
        longer.risk += self.risk(entry.index);
        longer
    }

    /// Whether the remaining parts can be placed at `start`, each on a cluster of its own, within
    /// the limit of risk.
    pub fn completes(&mut self, start: u32, prefix: &Prefix) -> bool {
        let first = prefix.clusters.len();
        if first == self.table.parts() {
            return prefix.risk <= self.risk_limit();
        }
        if !self.limits_risk() {
            return self.fits(start, prefix);
        }
        self.load(start, prefix, Weight::Risk);
        self.assignment.solve()
            && self.total(start, prefix, Weight::Risk, prefix.risk) <= self.risk_limit()
    }

    /// Whether the remaining parts can be placed on clusters of their own, at any risk.
    fn fits(&mut self, start: u32, prefix: &Prefix) -> bool {
        let mut matching = std::mem::take(&mut self.matching);
        let parts = prefix.clusters.len() as u16..self.table.parts() as u16;
        let clusters = self.table.clusters();
        let fits = matching.exists(clusters, &prefix.clusters, parts, |part| {
            let group = self.table.group(usize::from(part), start);
            let open = group.filter(|&index| !self.is_removed(index));
            open.map(|index| self.table.cluster(index))
        });
        self.matching = matching;
        fits
    }

    /// The least total of `weight` over all ways to complete `prefix` at `start` within the limit
    /// of risk; for the two weights of highest cost, the highest total.
    pub fn best(
        &mut self,
        start: u32,
        prefix: &Prefix,
        weight: Weight,
        so_far: f64,
    ) -> Option<f64> {
        if prefix.clusters.len() == self.table.parts() {
            return (prefix.risk <= self.risk_limit()).then_some(so_far);
        }
        self.load(start, prefix, weight);
        if !self.assignment.solve() {
            return None;
        }
        if !self.limits_risk()
            || self.total(start, prefix, Weight::Risk, prefix.risk) <= self.risk_limit()
        {
            return Some(self.total(start, prefix, weight, so_far));
        }
        if !self.completes(start, prefix) {
            return None;
        }
        self.best_within_limit(start, prefix, weight, so_far)
    }

    /// The least and the highest total of a weight over all complete candidates; empty where there
    /// is none.
    pub fn range(&mut self, least: Weight, most: Weight) -> Range<f64> {
        let nothing = Prefix::default();
        let mut range = f64::INFINITY..f64::NEG_INFINITY;
        for start in 0..self.table.starts() {
            if let Some(least) = self.best(start, &nothing, least, 0.0) {
                range.start = range.start.min(least);
            }
            if let Some(most) = self.best(start, &nothing, most, 0.0) {
                range.end = range.end.max(most);
            }
        }
        range
    }

    /// For every candidate of the next part that can be completed: the candidate and the least
    /// expected cost of a completion.
    pub fn children(&mut self, start: u32, prefix: &Prefix) -> Vec<(Entry, f64)> {
        let part = prefix.clusters.len();
        let mut found = Vec::new();
        let group = self.table.group(part, start);
        let entries = group.filter_map(|index| {
            let cluster = self.table.cluster(index);
            let open = !self.is_removed(index) && !prefix.clusters.contains(&cluster);
            open.then_some(Entry {
                index,
                part,
                start,
                cluster,
            })
        });
        let entries: Vec<Entry> = entries.collect();
        let last = part + 1 == self.table.parts();
        if last || self.limits_risk() {
            for entry in entries {
                let longer = self.extended(prefix, entry);
                let so_far = longer.cost;
                if let Some(cost) = self.best(start, &longer, Weight::Weighed, so_far) {
                    found.push((entry, cost));
                }
            }
            return found;
        }
        // One solution for the parts after this one serves every cluster that it does not use.
        self.load_from(part + 1, start, prefix, Weight::Weighed);
        if !self.assignment.solve() {
            return found;
        }
        for entry in entries {
            let so_far = prefix.cost + self.table.weighed().at(entry.index);
            let column = usize::from(entry.cluster);
            let add = |assignment: &Assignment| {
                (0..self.table.parts() - part - 1).fold(so_far, |total, row| {
                    total + assignment.weight(row, assignment.column(row))
                })
            };
            let cost = if self.assignment.row(column).is_none() {
                Some(add(&self.assignment))
            } else {
                let mut assignment = std::mem::take(&mut self.assignment);
                let cost = assignment.without(column, add);
                self.assignment = assignment;
                cost
            };
            found.extend(cost.map(|cost| (entry, cost)));
        }
        found
    }

    fn value(&self, weight: Weight, index: u32) -> f64 {
        match weight {
            Weight::Cost => self.table.cost().at(index),
            Weight::HighestCost => -self.table.cost().at(index),
            Weight::Weighed => self.table.weighed().at(index),
            Weight::HighestWeighed => -self.table.weighed().at(index),
            Weight::Further(criterion) => self.table.further(criterion).at(index),
            Weight::HighestFurther(criterion) => -self.table.further(criterion).at(index),
            Weight::Risk => self.risk(index),
        }
    }

    fn load(&mut self, start: u32, prefix: &Prefix, weight: Weight) {
        self.load_from(prefix.clusters.len(), start, prefix, weight);
    }

    fn load_from(&mut self, first: usize, start: u32, prefix: &Prefix, weight: Weight) {
        let mut assignment = std::mem::take(&mut self.assignment);
        assignment.reset(self.table.parts() - first, self.table.clusters());
        for part in first..self.table.parts() {
            for index in self.table.group(part, start) {
                let cluster = self.table.cluster(index);
                if !self.is_removed(index) && !prefix.clusters.contains(&cluster) {
                    let weight = self.value(weight, index);
                    assignment.allow(part - first, usize::from(cluster), weight);
                }
            }
        }
        self.assignment = assignment;
    }

    /// The total of the assignment that was found, in order of part.
    fn total(&self, start: u32, prefix: &Prefix, weight: Weight, so_far: f64) -> f64 {
        let first = prefix.clusters.len();
        let sign = weight.sign();
        (first..self.table.parts()).fold(so_far, |total, part| {
            let cluster = self.assignment.column(part - first);
            let index = self
                .table
                .group(part, start)
                .find(|&index| usize::from(self.table.cluster(index)) == cluster);
            total + index.map_or(0.0, |index| sign * self.value(weight, index))
        })
    }

    /// Branch and bound: exact, and slow only where the limit of risk forbids the best choices and
    /// leaves many others.
    fn best_within_limit(
        &mut self,
        start: u32,
        prefix: &Prefix,
        weight: Weight,
        so_far: f64,
    ) -> Option<f64> {
        let parts = self.table.parts();
        let first = prefix.clusters.len();
        let mut least = vec![(0.0, 0.0); parts + 1];
        for part in (first..parts).rev() {
            let (mut value, mut risk) = (f64::INFINITY, f64::INFINITY);
            for index in self.table.group(part, start) {
                if !self.is_removed(index) {
                    value = self.value(weight, index).min(value);
                    risk = self.risk(index).min(risk);
                }
            }
            least[part] = (least[part + 1].0 + value, least[part + 1].1 + risk);
        }
        let sign = weight.sign();
        let mut used = prefix.clusters.clone();
        let mut best = f64::INFINITY;
        self.branch(
            start,
            &mut used,
            weight,
            (sign * so_far, prefix.risk),
            &least,
            &mut best,
        );
        best.is_finite().then_some(sign * best)
    }

    fn branch(
        &self,
        start: u32,
        used: &mut Vec<u16>,
        weight: Weight,
        (value, risk): (f64, f64),
        least: &[(f64, f64)],
        best: &mut f64,
    ) {
        let part = used.len();
        if part == self.table.parts() {
            if risk <= self.risk_limit() && value < *best {
                *best = value;
            }
            return;
        }
        for index in self.table.group(part, start) {
            let cluster = self.table.cluster(index);
            if self.is_removed(index) || used.contains(&cluster) {
                continue;
            }
            let value = value + self.value(weight, index);
            let risk = risk + self.risk(index);
            let (rest_value, rest_risk) = least[part + 1];
            // Bounds are sums in another order. A small margin for rounding keeps every allowed
            // candidate.
            let room = 1e-9 * (1.0 + risk.abs());
            if value + rest_value < *best && risk + rest_risk <= self.risk_limit() + room {
                used.push(cluster);
                self.branch(start, used, weight, (value, risk), least, best);
                used.pop();
            }
        }
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        let risks = match &self.limit {
            Some((_, Column::Each(risks))) => risks.capacity() * size_of::<f64>(),
            _ => 0,
        };
        self.table.heap_bytes()
            + self.removed.capacity() * size_of::<u64>()
            + risks
            + self.assignment.heap_bytes()
            + self.matching.heap_bytes()
    }
}
