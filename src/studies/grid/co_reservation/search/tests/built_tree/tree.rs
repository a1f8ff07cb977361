//! The whole tree, built, sorted and searched.

use super::*;

/// The whole tree, built from Listings 1 and 2 of Meltzer 2005 and pruned.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    candidate: Option<Candidate>,
    children: Vec<Tree>,
    tie: usize,
    /// Value, cost and start of the best complete candidate below.
    best: (f64, f64, i64),
}

pub(super) fn build(
    node: Option<Candidate>,
    list: &[Candidate],
    parts: u16,
    placed: u16,
    so_far: &[Candidate],
    limit: f64,
) -> Option<Tree> {
    let mut children = Vec::new();
    if placed < parts {
        for (tie, child) in list
            .iter()
            .enumerate()
            .filter(|(_, child)| child.part == placed)
        {
            let rest: Vec<Candidate> = list
                .iter()
                .filter(|other| {
                    other.start == child.start
                        && other.part != child.part
                        && other.cluster != child.cluster
                })
                .copied()
                .collect();
            let mut path = so_far.to_vec();
            path.push(*child);
            if let Some(mut tree) = build(Some(*child), &rest, parts, placed + 1, &path, limit) {
                tree.tie = tie;
                children.push(tree);
            }
        }
        if children.is_empty() {
            return None;
        }
    } else {
        let survival: f64 = so_far.iter().map(|part| 1.0 - part.pof).product();
        if 1.0 - survival > limit {
            return None;
        }
    }
    Some(Tree {
        candidate: node,
        children,
        tie: 0,
        best: (0.0, 0.0, 0),
    })
}

pub(super) fn eager(
    order: Order,
    parts: u16,
    candidates: &[Candidate],
    seed: u64,
    limit: f64,
) -> Option<Tree> {
    let mut list = candidates.to_vec();
    list.shuffle(&mut stream(seed, "tree", 0, "search"));
    if order == Order::Start {
        list.sort_by_key(|candidate| candidate.start);
    }
    build(None, &list, parts, 0, &[], limit)
}

pub(super) fn leaves(tree: &Tree, cost: f64, found: &mut Vec<(f64, i64)>) {
    let cost = cost + tree.candidate.map_or(0.0, |candidate| candidate.expected);
    if tree.children.is_empty() {
        found.push((
            cost,
            tree.candidate.map_or(0, |candidate| candidate.start.0),
        ));
    }
    for child in &tree.children {
        leaves(child, cost, found);
    }
}

fn rank(tree: &mut Tree, cost: f64, value: &dyn Fn(f64, i64) -> f64) {
    let cost = cost + tree.candidate.map_or(0.0, |candidate| candidate.expected);
    if tree.children.is_empty() {
        let start = tree.candidate.map_or(0, |candidate| candidate.start.0);
        tree.best = (value(cost, start), cost, start);
        return;
    }
    for child in &mut tree.children {
        rank(child, cost, value);
    }
    tree.children.sort_by(|a, b| a.best.0.total_cmp(&b.best.0));
    // Of several candidates with the best value the cheapest is what tolerances look at.
    tree.best = tree
        .children
        .iter()
        .map(|child| child.best)
        .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)))
        .unwrap_or(tree.best);
}

fn span_share(value: f64, low: f64, high: f64) -> f64 {
    if high > low {
        (value - low) / (high - low)
    } else {
        0.0
    }
}

/// Ranks the tree by Meltzer 2005, eq. 2, or by tenths of the range of costs and then by start.
pub(super) fn ranked(tree: &mut Tree, valuation: Valuation) {
    let mut found = Vec::new();
    leaves(tree, 0.0, &mut found);
    let low = |values: Vec<f64>| values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = |values: Vec<f64>| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let costs: Vec<f64> = found.iter().map(|leaf| leaf.0).collect();
    let starts: Vec<f64> = found.iter().map(|leaf| leaf.1 as f64).collect();
    let (cost_low, cost_high) = (low(costs.clone()), high(costs));
    let (start_low, start_high) = (low(starts.clone()), high(starts));
    let value = move |cost: f64, start: i64| {
        let cost = span_share(cost, cost_low, cost_high);
        let start = span_share(start as f64, start_low, start_high);
        match valuation {
            Valuation::Weighted(weights) => {
                weights.cost_weight * cost + weights.start_weight * start
            }
            Valuation::Staged => {
                let band = (1..10).filter(|band| cost * 10.0 >= f64::from(*band));
                2.0 * band.count() as f64 + start
            }
        }
    };
    rank(tree, 0.0, &value);
}

pub(super) type Log = Vec<(char, Candidate)>;

pub(super) fn depth_first(
    tree: &Tree,
    log: &mut Log,
    grants: &mut dyn FnMut(&Candidate) -> bool,
) -> bool {
    if tree.children.is_empty() {
        return true;
    }
    for child in &tree.children {
        let candidate = child.candidate.unwrap();
        if !grants(&candidate) {
            log.push(('-', candidate));
            continue;
        }
        log.push(('+', candidate));
        if depth_first(child, log, grants) {
            return true;
        }
        log.push(('x', candidate));
    }
    false
}

/// Best-first repair (Meltzer 2005, §4.7.5), step by step.
pub(super) fn best_first(
    root: Tree,
    parts: usize,
    rules: &SearchRules,
    log: &mut Log,
    grants: &mut dyn FnMut(&Candidate) -> bool,
) -> bool {
    const NEVER: (f64, f64, i64) = (f64::INFINITY, f64::INFINITY, i64::MAX);
    let mut path = vec![root];
    let mut put_back = 1_000_000;
    loop {
        if path.len() == parts + 1 {
            return true;
        }
        let current = path.last_mut().unwrap();
        let child = current.children.remove(0);
        current.best = current.children.first().map_or(NEVER, |first| first.best);
        let candidate = child.candidate.unwrap();
        if grants(&candidate) {
            log.push(('+', candidate));
            path.push(child);
            continue;
        }
        log.push(('-', candidate));
        let mut next = path.len() - 1;
        for level in (0..path.len()).rev() {
            if path[level].best.0 < path[next].best.0 {
                next = level;
            }
        }
        let target = path[next].best;
        if target.0 == f64::INFINITY {
            while let Some(candidate) = path.pop().and_then(|node| node.candidate) {
                log.push(('x', candidate));
            }
            return false;
        }
        while path.len() - 1 != next {
            let last = path.last().unwrap();
            if last.best != NEVER
                && last.best.2 < target.2 + rules.start_tolerance.0
                && last.best.1 < target.1 + rules.cost_tolerance
            {
                break;
            }
            let mut last = path.pop().unwrap();
            log.push(('x', last.candidate.unwrap()));
            if !last.children.is_empty() {
                last.tie = put_back;
                put_back += 1;
                let above = path.last_mut().unwrap();
                let place = above
                    .children
                    .iter()
                    .position(|other| other.best.0 > last.best.0)
                    .unwrap_or(above.children.len());
                above.children.insert(place, last);
                above.best = above.children[0].best;
            }
        }
    }
}
