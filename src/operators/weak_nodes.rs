//! The weak points of an infrastructure: nodes that fail more often than the others of their system
//! (Birkenheuer 2012, §1.2.1, the consultant service).

use std::collections::BTreeMap;

use bookahead_core::failures::{FailureLog, FailureRecord};
use serde::Serialize;
use statrs::function::gamma::gamma_ur;

const HOUR: f64 = 3_600.0;
const YEAR_HOURS: f64 = 365.25 * 24.0;

/// When a node is weak.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WeakNodeRule {
    /// κ: how many times the rate of its system it must exceed (default 2).
    pub factor: f64,
    /// With which probability at least (default 0.95).
    pub probability: f64,
    /// How many failures the rate of the system weighs, as in
    /// [`learn_node_rates`](bookahead_core::failures::learn_node_rates) (default 1).
    pub prior_failures: f64,
}

impl Default for WeakNodeRule {
    fn default() -> Self {
        Self {
            factor: 2.0,
            probability: 0.95,
            prior_failures: 1.0,
        }
    }
}

/// What [`weak_nodes`] finds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WeakNodes {
    /// What was looked for.
    pub rule: WeakNodeRule,
    /// How many nodes were looked at.
    pub nodes: u64,
    /// How many of the listed ones are expected not to exceed the factor: the sum of their
    /// probabilities of that.
    pub expected_wrong: f64,
    /// By system, in each the weakest first.
    pub weak: Vec<WeakNode>,
}

/// A node that fails more often than the others of its system.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WeakNode {
    /// Its system.
    pub system: u32,
    /// Its number there, from 0.
    pub node: u32,
    /// Its failures.
    pub failures: u32,
    /// What it is believed to fail in a year of up-time.
    pub per_year: f64,
    /// What a node of its system fails in a year of up-time.
    pub system_per_year: f64,
    /// The probability that its rate exceeds the factor times that of its system.
    pub probability: f64,
}

/// The nodes whose rates exceed κ times the rate of their system with at least the probability that
/// is asked for.
///
/// A system is observed from its first failure to its last, and its rate λ₀ is the number of its
/// failures by the up-time of all its nodes in that time. The rate of a node has a Gamma prior of
/// mean λ₀ that weighs as k failures do; after n failures in an up-time of U it has shape k + n and
/// rate k / λ₀ + U. A failure whose end is unknown takes no time. Systems whose failures all begin
/// at one instant have no rate, and none of their nodes is looked at.
#[must_use]
pub fn weak_nodes(log: &FailureLog, rule: WeakNodeRule) -> WeakNodes {
    let mut found = WeakNodes {
        rule,
        nodes: 0,
        expected_wrong: 0.0,
        weak: Vec::new(),
    };
    for records in log
        .records
        .chunk_by(|one, other| one.system == other.system)
    {
        let (Some(first), Some(last)) = (records.first(), records.last()) else {
            continue;
        };
        let nodes = log.nodes.get(&first.system).copied().unwrap_or_default();
        if last.start == first.start || nodes == 0 {
            continue;
        }
        found.nodes += u64::from(nodes);
        let mut weak = weak_of(records, nodes, rule);
        weak.sort_by(|one, other| other.per_year.total_cmp(&one.per_year));
        found.weak.append(&mut weak);
    }
    found.expected_wrong = (found.weak.iter()).map(|node| 1.0 - node.probability).sum();
    found
}

/// The weak nodes of one system, whose records are in order of their starts.
fn weak_of(records: &[FailureRecord], nodes: u32, rule: WeakNodeRule) -> Vec<WeakNode> {
    let (begin, end) = (records[0].start, records[records.len() - 1].start);
    let observed = (end - begin) as f64 / HOUR;
    let mut of_node: BTreeMap<u32, Seen> = BTreeMap::new();
    for record in records {
        of_node.entry(record.node).or_default().add(record, end);
    }
    let down: f64 = of_node.values().map(|seen| seen.down as f64 / HOUR).sum();
    let up = f64::from(nodes) * observed - down;
    if up <= 0.0 {
        return Vec::new();
    }
    let common = records.len() as f64 / up;
    let weak = of_node.iter().filter_map(|(&node, seen)| {
        let up = observed - seen.down as f64 / HOUR;
        let shape = rule.prior_failures + f64::from(seen.failures);
        let hours = rule.prior_failures / common + up;
        let probability = gamma_ur(shape, rule.factor * common * hours);
        (probability >= rule.probability).then(|| WeakNode {
            system: records[0].system,
            node,
            failures: seen.failures,
            per_year: shape / hours * YEAR_HOURS,
            system_per_year: common * YEAR_HOURS,
            probability,
        })
    });
    weak.collect()
}

/// What was seen of a node.
#[derive(Default)]
struct Seen {
    failures: u32,
    /// Seconds in which it was down.
    down: i64,
    /// Until when its downs are counted, seconds of the calendar.
    counted: Option<i64>,
}

impl Seen {
    /// Adds a failure, not before those added already, of a system observed until `end`.
    fn add(&mut self, record: &FailureRecord, end: i64) {
        self.failures += 1;
        let from = self.counted.unwrap_or(record.start).max(record.start);
        let until = record.repaired.unwrap_or(record.start).min(end);
        if until > from {
            self.down += until - from;
            self.counted = Some(until);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOURS: i64 = 3_600;

    /// Failures (node, hour, hours down) of one system.
    fn log(nodes: u32, failures: &[(u32, i64, i64)]) -> FailureLog {
        let mut records: Vec<FailureRecord> = failures
            .iter()
            .map(|&(node, hour, down)| FailureRecord {
                system: 7,
                node,
                start: hour * HOURS,
                repaired: (down > 0).then_some((hour + down) * HOURS),
                cause: None,
            })
            .collect();
        records.sort_by_key(|record| (record.start, record.node));
        FailureLog {
            records,
            nodes: BTreeMap::from([(7, nodes)]),
            incomplete: 0,
        }
    }

    /// Ten nodes with 20 failures in 190 hours: two each, so that 2 λ₀ (1 / λ₀ + U) = 6. The rate
    /// of a node with n failures exceeds 2 λ₀ with the probability that a Poisson variable of mean
    /// 6 is at most n: 0.9574 for 10, 0.9161 for 9.
    #[test]
    fn ten_failures_where_two_are_usual_are_weak_and_nine_are_not() {
        let failing = |most: u32| -> Vec<(u32, i64, i64)> {
            (0..20)
                .map(|number| {
                    let node = if number < most { 0 } else { 1 + number % 9 };
                    (node, i64::from(number) * 10, 0)
                })
                .collect()
        };
        let found = weak_nodes(&log(10, &failing(10)), WeakNodeRule::default());
        assert_eq!(found.nodes, 10);
        let [node] = found.weak[..] else {
            panic!("{:?}", found.weak);
        };
        assert_eq!((node.system, node.node, node.failures), (7, 0, 10));
        assert!((node.probability - 0.957_379).abs() < 1e-6, "{node:?}");
        assert!((found.expected_wrong - 0.042_621).abs() < 1e-6);
        let common = 20.0 / 1_900.0 * YEAR_HOURS;
        assert!((node.system_per_year / common - 1.0).abs() < 1e-12);
        // 11 failures in 95 + 190 hours.
        let believed = 11.0 / 285.0 * YEAR_HOURS;
        assert!((node.per_year / believed - 1.0).abs() < 1e-12);

        let nine = log(10, &failing(9));
        assert_eq!(weak_nodes(&nine, WeakNodeRule::default()).weak, []);
        let less_sure = WeakNodeRule {
            probability: 0.9,
            ..WeakNodeRule::default()
        };
        let [node] = weak_nodes(&nine, less_sure).weak[..] else {
            panic!("one node");
        };
        assert!((node.probability - 0.916_076).abs() < 1e-6, "{node:?}");
    }

    #[test]
    fn nodes_that_fail_alike_are_not_weak() {
        let alike: Vec<_> = (0..400)
            .map(|number| (number % 8, i64::from(number), 0))
            .collect();
        assert_eq!(
            weak_nodes(&log(8, &alike), WeakNodeRule::default()).weak,
            []
        );
    }

    /// Two failures that overlap are one time down, and nothing counts after the last failure: of
    /// 100 hours observed node 0 is up for 60, and node 1 for 100.
    #[test]
    fn rates_are_by_time_up() {
        let failures = [(0, 0, 30), (0, 10, 30), (1, 100, 50)];
        let rule = WeakNodeRule {
            probability: 0.0,
            ..WeakNodeRule::default()
        };
        let found = weak_nodes(&log(2, &failures), rule);
        let common = 3.0 / 160.0;
        let believed = |failures: f64, up: f64| (1.0 + failures) / (1.0 / common + up);
        let expected = [(0, believed(2.0, 60.0)), (1, believed(1.0, 100.0))];
        assert_eq!(found.weak.len(), 2);
        for (node, (number, rate)) in found.weak.iter().zip(expected) {
            assert_eq!(node.node, number);
            assert!((node.per_year / YEAR_HOURS / rate - 1.0).abs() < 1e-12);
            assert!((node.system_per_year / YEAR_HOURS / common - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn a_system_that_failed_at_one_instant_has_no_rate() {
        let found = weak_nodes(
            &log(4, &[(0, 5, 1), (1, 5, 1)]),
            WeakNodeRule {
                probability: 0.0,
                ..WeakNodeRule::default()
            },
        );
        assert_eq!((found.nodes, found.weak.len()), (0, 0));
    }
}
