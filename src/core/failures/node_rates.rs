//! Failure and repair rates of single nodes, learned from failures that were seen.

use std::sync::Arc;

use super::{FailureTrace, NodeRates};
use crate::units::{NodeIndex, Nodes, Seconds};

/// Learns the rates of `nodes` nodes from their failures before `until`.
///
/// Rates are shrunk towards the common ones: λ of a node has a Gamma prior with mean λ₀ that weighs
/// as `prior_failures` failures do, and so has μ. After `n` failures in an up-time of `U` and a
/// down-time of `D` hours the means are `(k + n) / (k / λ₀ + U)` and `(k + r) / (k / μ₀ + D)`,
/// where `r` counts finished repairs. Without anything seen they are the common rates; so they are
/// for a common rate of 0.
#[must_use]
pub fn learn_node_rates(
    seen: &FailureTrace,
    nodes: Nodes,
    until: Seconds,
    common: NodeRates,
    prior_failures: f64,
) -> Arc<[NodeRates]> {
    let mut counts = vec![(0_u32, 0_u32, Seconds::ZERO, None); nodes.0 as usize];
    for event in seen.events.iter().filter(|event| event.time < until) {
        let Some((failures, repairs, down, since)) = counts.get_mut(event.node.0 as usize) else {
            continue;
        };
        if event.up {
            if let Some(since) = since.take() {
                *repairs += 1;
                *down += event.time - since;
            }
        } else {
            *failures += 1;
            *since = Some(event.time);
        }
    }
    let rate = |common: f64, count: u32, time: Seconds| {
        if common > 0.0 {
            (prior_failures + f64::from(count)) / (prior_failures / common + time.hours())
        } else {
            0.0
        }
    };
    let rates = counts
        .into_iter()
        .map(|(failures, repairs, mut down, since)| {
            if let Some(since) = since {
                down += until - since;
            }
            let up = until.max(Seconds::ZERO) - down;
            NodeRates {
                failure_rate_per_hour: rate(common.failure_rate_per_hour, failures, up),
                repair_rate_per_hour: rate(common.repair_rate_per_hour, repairs, down),
            }
        });
    rates.collect()
}

/// The nodes by what they promise, the best first: by availability times survival of an hour, ties
/// by number. Entry `i` is the node that has rank `i`.
#[must_use]
pub fn by_reliability(rates: &[NodeRates]) -> Vec<NodeIndex> {
    // A node that fails less promises more for every length of run; of equal ones, that which is
    // repaired faster.
    let mut order: Vec<usize> = (0..rates.len()).collect();
    order.sort_by(|&one, &other| {
        let (one, other) = (rates[one], rates[other]);
        let by_failures = (one.failure_rate_per_hour).total_cmp(&other.failure_rate_per_hour);
        by_failures.then(
            other
                .repair_rate_per_hour
                .total_cmp(&one.repair_rate_per_hour),
        )
    });
    order
        .into_iter()
        .map(|node| NodeIndex(u32::try_from(node).unwrap_or(u32::MAX)))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::failures::Outage;

    const COMMON: NodeRates = NodeRates {
        failure_rate_per_hour: 0.001,
        repair_rate_per_hour: 0.5,
    };

    fn outage(node: u32, start_hours: i64, end_hours: i64) -> Outage {
        Outage {
            node: NodeIndex(node),
            start: Seconds(start_hours * 3_600),
            end: Seconds(end_hours * 3_600),
        }
    }

    #[test]
    fn rates_are_the_means_of_the_gamma_posterior() {
        // Node 1: down twice, from hours 10 to 14 and from 90 on.
        let seen = FailureTrace::from_outages([outage(1, 10, 14), outage(1, 90, 120)]).unwrap();
        let rates = learn_node_rates(&seen, Nodes(2), Seconds(100 * 3_600), COMMON, 2.0);
        let close = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-12;
        assert!(close(
            rates[0].failure_rate_per_hour,
            2.0 / (2_000.0 + 100.0)
        ));
        assert!(close(rates[0].repair_rate_per_hour, 0.5));
        assert!(close(
            rates[1].failure_rate_per_hour,
            4.0 / (2_000.0 + 86.0)
        ));
        assert!(close(rates[1].repair_rate_per_hour, 3.0 / (4.0 + 14.0)));
        assert_eq!(by_reliability(&rates), [NodeIndex(0), NodeIndex(1)]);
    }

    #[test]
    fn nothing_seen_gives_the_common_rates_and_the_order_of_numbers() {
        for until in [Seconds(0), Seconds(-7_200)] {
            let rates = learn_node_rates(&FailureTrace::default(), Nodes(3), until, COMMON, 1.0);
            assert!(rates.iter().all(|rates| *rates == COMMON));
            assert_eq!(by_reliability(&rates), [0, 1, 2].map(NodeIndex));
        }
    }

    proptest! {
        #[test]
        fn a_strong_prior_keeps_the_common_rates_and_a_weak_one_gives_what_was_seen(
            starts in prop::collection::vec((0_u32..4, 0_i64..900), 1..40),
        ) {
            let outages = starts.iter().map(|&(node, start)| outage(node, start, start + 1));
            let seen = FailureTrace::from_outages(outages).unwrap();
            let until = Seconds(1_000 * 3_600);
            let strong = learn_node_rates(&seen, Nodes(4), until, COMMON, 1e12);
            for rates in strong.iter() {
                prop_assert!((rates.failure_rate_per_hour / 0.001 - 1.0).abs() < 1e-6);
            }
            let weak = learn_node_rates(&seen, Nodes(4), until, COMMON, 1e-12);
            for (node, rates) in weak.iter().enumerate() {
                let downs = seen.events.iter().filter(|event| !event.up && event.node.0 == node as u32);
                let count = downs.count() as f64;
                prop_assert!((rates.failure_rate_per_hour - count / 1_000.0).abs() < 0.1 * count / 1_000.0 + 1e-9);
            }
        }
    }
}
