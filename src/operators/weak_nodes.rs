//! The weak points of an infrastructure: nodes that fail more often than the others of their system
//! (Birkenheuer 2012, §1.2.1, the consultant service).

use bookahead_core::failures::{
    FailureError, FailureLog, FailureRecord, FailureTrace, NodeRates, Outage, learn_node_rates,
};
use bookahead_core::units::{NodeIndex, Nodes, Seconds};
use serde::Serialize;
use statrs::function::gamma::gamma_ur;

const YEAR_HOURS: f64 = 365.25 * 24.0;

/// When a node is weak.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WeakNodeRule {
    /// κ: how many times the rate of its system it must exceed (default 2).
    pub factor: f64,
    /// With which probability at least (default 0.95).
    pub probability: f64,
    /// How many failures the rate of the system weighs, as in [`learn_node_rates`] (default 1).
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
    /// What a node of its system fails in a year.
    pub system_per_year: f64,
    /// The probability that its rate exceeds the factor times that of its system.
    pub probability: f64,
}

/// The nodes whose rates exceed κ times the rate of their system with at least the probability that
/// is asked for.
///
/// A system is observed from its first failure to its last, and its rate λ₀ is the number of its
/// failures by its nodes and that time. What is believed of a node is what
/// [`learn_node_rates`] learns: after n failures in an up-time of U hours, a Gamma distribution of
/// shape k + n and rate k / λ₀ + U. A failure while the node is down is none, and one whose end is
/// unknown takes a second. Systems whose failures all begin at one instant have no rate, and none
/// of their nodes is looked at.
///
/// # Errors
///
/// When a failure ends before it begins.
pub fn weak_nodes(log: &FailureLog, rule: WeakNodeRule) -> Result<WeakNodes, FailureError> {
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
        let Some(system) = records.first().map(|record| record.system) else {
            continue;
        };
        let nodes = Nodes(log.nodes.get(&system).copied().unwrap_or_default());
        let Some(rates) = rates_of(records, nodes, rule.prior_failures)? else {
            continue;
        };
        found.nodes += u64::from(nodes.0);
        let mut weak = weak_of(system, &rates, rule);
        weak.sort_by(|one, other| other.per_year.total_cmp(&one.per_year));
        found.weak.append(&mut weak);
    }
    found.expected_wrong = (found.weak.iter()).map(|node| 1.0 - node.probability).sum();
    Ok(found)
}

/// How often the nodes of one system fail.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemRates {
    /// λ₀: of a mean node, per hour.
    pub common: f64,
    /// By node: its failures.
    pub failures: Vec<u32>,
    /// By node: what is believed of it, per hour of up-time.
    pub learned: Vec<f64>,
}

/// What the failures of a log say of the nodes of one system, as [`weak_nodes`] has it; `None`
/// where they all begin at one instant, or are of no node.
///
/// # Errors
///
/// When a failure ends before it begins.
pub fn system_rates(
    log: &FailureLog,
    system: u32,
    prior_failures: f64,
) -> Result<Option<SystemRates>, FailureError> {
    let records = log.records.iter().filter(|record| record.system == system);
    let records: Vec<FailureRecord> = records.cloned().collect();
    let nodes = Nodes(log.nodes.get(&system).copied().unwrap_or_default());
    rates_of(&records, nodes, prior_failures)
}

fn rates_of(
    records: &[FailureRecord],
    nodes: Nodes,
    prior_failures: f64,
) -> Result<Option<SystemRates>, FailureError> {
    let (Some(first), Some(last)) = (records.first(), records.last()) else {
        return Ok(None);
    };
    let observed = Seconds(last.start - first.start);
    if observed == Seconds::ZERO || nodes == Nodes(0) {
        return Ok(None);
    }
    let outages = records.iter().map(|record| Outage {
        node: NodeIndex(record.node),
        start: Seconds(record.start - first.start),
        end: Seconds(record.repaired.unwrap_or(record.start) - first.start),
    });
    let seen = FailureTrace::from_outages(outages)?;
    let mut failures = vec![0_u32; nodes.0 as usize];
    for event in seen.events.iter().filter(|event| !event.up) {
        if let Some(count) = failures.get_mut(event.node.0 as usize) {
            *count += 1;
        }
    }
    let all: u32 = failures.iter().sum();
    let common = f64::from(all) / (f64::from(nodes.0) * observed.hours());
    let common_rates = NodeRates {
        failure_rate_per_hour: common,
        repair_rate_per_hour: 0.0,
    };
    // The last failure begins at the end of what is observed, and counts.
    let until = observed + Seconds(1);
    let learned = learn_node_rates(&seen, nodes, until, common_rates, prior_failures);
    Ok(Some(SystemRates {
        common,
        failures,
        learned: (learned.iter())
            .map(|rates| rates.failure_rate_per_hour)
            .collect(),
    }))
}

fn weak_of(system: u32, rates: &SystemRates, rule: WeakNodeRule) -> Vec<WeakNode> {
    let nodes = (0_u32..).zip(&rates.failures).zip(&rates.learned);
    let weak = nodes.filter_map(|((node, &failures), &rate)| {
        let shape = rule.prior_failures + f64::from(failures);
        let hours = shape / rate;
        let probability = gamma_ur(shape, rule.factor * rates.common * hours);
        (probability >= rule.probability).then_some(WeakNode {
            system,
            node,
            failures,
            per_year: rate * YEAR_HOURS,
            system_per_year: rates.common * YEAR_HOURS,
            probability,
        })
    });
    weak.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const HOURS: i64 = 3_600;

    /// What is found where failures (node, hour, hours down) of one system were seen.
    fn found(nodes: u32, failures: &[(u32, i64, i64)], probability: f64) -> WeakNodes {
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
        let log = FailureLog {
            records,
            nodes: BTreeMap::from([(7, nodes)]),
            incomplete: 0,
        };
        let rule = WeakNodeRule {
            probability,
            ..WeakNodeRule::default()
        };
        weak_nodes(&log, rule).unwrap()
    }

    /// Ten nodes with 20 failures in 19,000 hours: two each, so that 2 λ₀ (1 / λ₀ + U) = 6. The
    /// rate of a node with n failures exceeds 2 λ₀ with the probability that a Poisson variable of
    /// mean 6 is at most n: 0.9574 for 10, 0.9161 for 9. A failure takes a second.
    #[test]
    fn ten_failures_where_two_are_usual_are_weak_and_nine_are_not() {
        let failing = |most: u32| -> Vec<(u32, i64, i64)> {
            (0..20)
                .map(|number| {
                    let node = if number < most { 0 } else { 1 + number % 9 };
                    (node, i64::from(number) * 1_000, 0)
                })
                .collect()
        };
        let ten = found(10, &failing(10), 0.95);
        assert_eq!(ten.nodes, 10);
        let [node] = ten.weak[..] else {
            panic!("{:?}", ten.weak);
        };
        assert_eq!((node.system, node.node, node.failures), (7, 0, 10));
        assert!((node.probability - 0.957_379).abs() < 1e-6, "{node:?}");
        assert!((ten.expected_wrong - 0.042_621).abs() < 1e-6);
        let common = 20.0 / 190_000.0 * YEAR_HOURS;
        assert!((node.system_per_year / common - 1.0).abs() < 1e-12);
        // 11 failures in 9,500 + 19,000 hours, less 9 seconds.
        let believed = 11.0 / (28_500.0 - 9.0 / 3_600.0) * YEAR_HOURS;
        assert!((node.per_year / believed - 1.0).abs() < 1e-12);

        assert_eq!(found(10, &failing(9), 0.95).weak, []);
        let [node] = found(10, &failing(9), 0.9).weak[..] else {
            panic!("one node");
        };
        assert!((node.probability - 0.916_076).abs() < 1e-6, "{node:?}");
    }

    #[test]
    fn nodes_that_fail_alike_are_not_weak() {
        let alike: Vec<_> = (0..400)
            .map(|number| (number % 8, i64::from(number), 0))
            .collect();
        assert_eq!(found(8, &alike, 0.95).weak, []);
    }

    /// A failure while the node is down is none, and nothing counts after the last failure: of 100
    /// hours and a second node 0 is up for all but 40 hours, and node 1 for 100.
    #[test]
    fn rates_are_by_time_up() {
        let found = found(2, &[(0, 0, 30), (0, 10, 30), (1, 100, 50)], 0.0);
        let common = 2.0 / 200.0;
        let believed = |up: f64| 2.0 / (1.0 / common + up);
        let expected = [(0, believed(60.0 + 1.0 / 3_600.0)), (1, believed(100.0))];
        assert_eq!(found.weak.len(), 2);
        for (node, (number, rate)) in found.weak.iter().zip(expected) {
            assert_eq!((node.node, node.failures), (number, 1));
            assert!((node.per_year / YEAR_HOURS / rate - 1.0).abs() < 1e-12);
            assert!((node.system_per_year / YEAR_HOURS / common - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn a_system_that_failed_at_one_instant_has_no_rate() {
        let found = found(4, &[(0, 5, 1), (1, 5, 1)], 0.0);
        assert_eq!((found.nodes, found.weak.len()), (0, 0));
    }
}
