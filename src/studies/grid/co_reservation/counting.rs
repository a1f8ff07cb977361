//! Counts complete candidates without building one.

use super::open_candidates::{OpenCandidates, Prefix};

/// Up to this many parts that are not nested are counted by subsets.
const SUBSET_PARTS: usize = 20;

impl OpenCandidates {
    /// Complete candidates over all starts.
    pub fn count(&mut self) -> f64 {
        (0..self.table.starts())
            .map(|start| self.count_at(start))
            .sum()
    }

    /// Complete candidates at one start. Exact up to the precision of the sum, with two exceptions
    /// that no study of this program reaches: more than [`SUBSET_PARTS`] parts that are not nested
    /// are counted from above as if clusters could be shared. A limit of risk that divides the
    /// candidates of a start is counted one by one.
    fn count_at(&mut self, start: u32) -> f64 {
        let nothing = Prefix::default();
        if !self.completes(start, &nothing) {
            return 0.0;
        }
        if !self.limits_risk() || self.most_risk(start) <= self.risk_limit() {
            return self
                .product(start)
                .unwrap_or_else(|| self.by_subsets(start));
        }
        let mut used = Vec::new();
        self.one_by_one(start, &mut used, 0.0)
    }

    /// An upper bound of the risk of a complete candidate.
    fn most_risk(&self, start: u32) -> f64 {
        (0..self.table.parts())
            .map(|part| {
                let group = self.table.group(part, start);
                group.map(|index| self.risk(index)).fold(0.0, f64::max)
            })
            .sum()
    }

    /// Where every cluster that takes a part takes the smaller ones, too: each part has the
    /// clusters that are left.
    fn product(&self, start: u32) -> Option<f64> {
        let mut last_part = vec![0_usize; self.table.clusters()];
        let mut product = 1.0;
        for part in 0..self.table.parts() {
            let group = self.table.group(part, start);
            let held = group.len();
            let kept = if part == 0 {
                0
            } else {
                self.table.group(part - 1, start).len()
            };
            let mut stayed = 0;
            for index in group {
                let last = &mut last_part[usize::from(self.table.cluster(index))];
                if part > 0 && *last == part {
                    stayed += 1;
                }
                *last = part + 1;
            }
            if stayed < kept {
                return None;
            }
            product *= held.saturating_sub(part) as f64;
        }
        Some(product)
    }

    /// Cluster by cluster: in how many ways the clusters so far can hold each set of parts.
    fn by_subsets(&self, start: u32) -> f64 {
        let parts = self.table.parts();
        if parts > SUBSET_PARTS {
            return (0..parts)
                .map(|part| self.table.group(part, start).len() as f64)
                .product();
        }
        let mut takes = vec![0_usize; self.table.clusters()];
        for part in 0..parts {
            for index in self.table.group(part, start) {
                takes[usize::from(self.table.cluster(index))] |= 1 << part;
            }
        }
        let mut ways = vec![0.0; 1 << parts];
        ways[0] = 1.0;
        for taken in takes.into_iter().filter(|&taken| taken != 0) {
            for set in (1..ways.len()).rev() {
                let mut more = set & taken;
                while more != 0 {
                    let part = more & more.wrapping_neg();
                    ways[set] += ways[set ^ part];
                    more ^= part;
                }
            }
        }
        ways[ways.len() - 1]
    }

    fn one_by_one(&self, start: u32, used: &mut Vec<u16>, risk: f64) -> f64 {
        if risk > self.risk_limit() {
            return 0.0;
        }
        if used.len() == self.table.parts() {
            return 1.0;
        }
        let mut count = 0.0;
        for index in self.table.group(used.len(), start) {
            let cluster = self.table.cluster(index);
            if !used.contains(&cluster) {
                used.push(cluster);
                count += self.one_by_one(start, used, risk + self.risk(index));
                used.pop();
            }
        }
        count
    }
}
