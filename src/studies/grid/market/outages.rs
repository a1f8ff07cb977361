//! Clusters of a market that fail as a whole (Birkenheuer 2012, §2.2.4), by the settings and the
//! draws of co-reservations ([`crate::co_reservation::OutageEvents`]).

use bookahead_core::failures::{FailureError, FailureTrace, Outage};
use bookahead_core::random::StreamSeed;
use bookahead_core::units::{NodeIndex, Nodes, Seconds};

use crate::co_reservation::local::{ClusterId, OutageEvent};
use crate::co_reservation::{ClusterFailureSettings, OutageEvents};

/// What fails of so many clusters of `nodes` nodes before `until`, beside what fails anyway. Nodes
/// are numbered one cluster after the other. A node that is down for two reasons is back when both
/// are over.
///
/// # Errors
///
/// When an outage would end before it begins, which drawn ones do not.
pub fn with_cluster_outages(
    failures: &FailureTrace,
    settings: &ClusterFailureSettings,
    (clusters, nodes): (u32, Nodes),
    until: Seconds,
    seed: &StreamSeed,
) -> Result<FailureTrace, FailureError> {
    let sizes = vec![nodes; clusters as usize];
    let drawn = OutageEvents::new(Some(settings), &sizes, seed).before(until);
    let mut open: Vec<(ClusterId, OutageEvent, Seconds)> = Vec::new();
    let mut spans = Vec::new();
    for (time, cluster, event) in drawn {
        let (down, is_up) = match event {
            OutageEvent::ClusterUp => (OutageEvent::ClusterDown, true),
            OutageEvent::NodesUp { first, count } => {
                (OutageEvent::NodesDown { first, count }, true)
            }
            down => (down, false),
        };
        if !is_up {
            open.push((cluster, down, time));
            continue;
        }
        let is_it = |it: &(ClusterId, OutageEvent, Seconds)| (it.0, it.1) == (cluster, down);
        if let Some(place) = open.iter().position(is_it) {
            let (_, _, start) = open.swap_remove(place);
            spans.push((cluster, down, start, time));
        }
    }
    // What is not repaired in time stays down for longer than anything is under way.
    let never = until + Seconds::HOUR;
    spans.extend((open.into_iter()).map(|(cluster, down, start)| (cluster, down, start, never)));
    let mut outages = outages_of(failures, never);
    for (cluster, down, start, end) in spans {
        let (first, count) = match down {
            OutageEvent::NodesDown { first, count } => (first, count),
            _ => (0, nodes.0),
        };
        let begin = u32::from(cluster.0) * nodes.0 + first;
        let hit = (begin..begin + count).map(NodeIndex);
        outages.extend(hit.map(|node| Outage { node, start, end }));
    }
    FailureTrace::from_outages(outages)
}

/// The outages of a trace; those that are not repaired last until `never`.
fn outages_of(failures: &FailureTrace, never: Seconds) -> Vec<Outage> {
    let mut since = std::collections::BTreeMap::new();
    let mut outages = Vec::new();
    for event in &failures.events {
        if !event.up {
            since.insert(event.node, event.time);
        } else if let Some(start) = since.remove(&event.node) {
            outages.push(Outage {
                node: event.node,
                start,
                end: event.time,
            });
        }
    }
    let open = since.into_iter();
    outages.extend(open.map(|(node, start)| Outage {
        node,
        start,
        end: never.max(start + Seconds(1)),
    }));
    outages
}

#[cfg(test)]
mod tests {
    use bookahead_core::failures::NodeEvent;

    use super::*;

    fn settings(cluster: Option<i64>, node: Option<i64>) -> ClusterFailureSettings {
        ClusterFailureSettings {
            cluster_mtbf: cluster.map(Seconds),
            cluster_repair: Seconds(10_000),
            node_mtbf: node.map(Seconds),
            node_repair: Seconds(5_000),
            node_cpus: 2,
            silent: false,
        }
    }

    fn drawn(settings: &ClusterFailureSettings, beside: &FailureTrace) -> FailureTrace {
        let (size, until) = ((2, Nodes(3)), Seconds(2_000_000));
        with_cluster_outages(beside, settings, size, until, &StreamSeed::default()).unwrap()
    }

    #[test]
    fn all_nodes_of_a_cluster_fail_and_come_back_together() {
        let trace = drawn(&settings(Some(100_000), None), &FailureTrace::default());
        let clusters = trace.by_machine([Nodes(3), Nodes(3)]);
        for cluster in &clusters {
            assert!(
                (20..70).contains(&(cluster.events.len() / 3)),
                "{cluster:?}"
            );
            for instant in cluster.events.chunks(3) {
                let nodes: Vec<u32> = instant.iter().map(|event| event.node.0).collect();
                assert_eq!(nodes, [0, 1, 2]);
                let first = instant[0];
                assert!(
                    instant
                        .iter()
                        .all(|it| (it.time, it.up) == (first.time, first.up))
                );
            }
        }
        assert_ne!(clusters[0], clusters[1], "each cluster fails on its own");
    }

    #[test]
    fn a_node_that_is_down_already_is_back_when_both_outages_are_over() {
        let alone = drawn(&settings(Some(100_000), None), &FailureTrace::default());
        let of_node = |trace: &FailureTrace| -> Vec<NodeEvent> {
            let mut events = trace.events.clone();
            events.retain(|event| event.node == NodeIndex(1));
            events
        };
        let [down, up] = of_node(&alone)[..2] else {
            panic!("{alone:?}");
        };
        let own = |time, is_up| NodeEvent {
            time,
            node: NodeIndex(1),
            up: is_up,
        };
        let beside = FailureTrace {
            events: vec![
                own(down.time - Seconds(5), false),
                own(down.time + Seconds(5), true),
                own(up.time - Seconds(5), false),
                own(up.time + Seconds(5), true),
            ],
        };
        let both = of_node(&drawn(&settings(Some(100_000), None), &beside));
        assert_eq!(both[0], own(down.time - Seconds(5), false));
        assert_eq!(both[1], own(up.time + Seconds(5), true));
        assert_eq!(both[2..], of_node(&alone)[2..]);
    }

    #[test]
    fn nodes_of_a_cluster_may_fail_by_themselves() {
        let trace = drawn(&settings(None, Some(100_000)), &FailureTrace::default());
        let first = trace.events[0];
        let together = trace.events.iter().filter(|event| event.time == first.time);
        assert!(
            (1..=2).contains(&together.count()),
            "two CPUs are one node, the last has one"
        );
    }
}
