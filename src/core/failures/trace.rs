//! A sorted list of node failures and repairs, from recorded outages or from a model.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use serde::{Deserialize, Serialize};

use super::survival::{check, draw_exponential};
use super::{FailureError, SurvivalModel};
use crate::random::Stream;
use crate::units::{NodeIndex, Nodes, Seconds};

/// One node goes down or comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeEvent {
    /// When.
    pub time: Seconds,
    /// Which node.
    pub node: NodeIndex,
    /// Whether the node is up from now on.
    pub up: bool,
}

/// A span in which one node is down, from `start` until before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outage {
    /// Which node.
    pub node: NodeIndex,
    /// When it fails.
    pub start: Seconds,
    /// When it is repaired.
    pub end: Seconds,
}

/// Node events in order of time (repairs before failures at equal times, then by node); each node
/// alternates between down and up, starting with down. All nodes are up before the first event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailureTrace {
    /// The events.
    pub events: Vec<NodeEvent>,
}

/// More outages than this in one simulation (about 100 MB of events) are a wrong rate or a wrong
/// horizon, not a study.
pub(super) const MOST_OUTAGES: usize = 2_000_000;

/// The events of a shared trace.
#[derive(Clone, Debug)]
pub struct SharedEvents(pub Arc<FailureTrace>);

impl AsRef<[NodeEvent]> for SharedEvents {
    fn as_ref(&self) -> &[NodeEvent] {
        &self.0.events
    }
}

impl FailureTrace {
    /// A hash of all events, as 32 hexadecimal digits.
    #[must_use]
    pub fn content_hash(&self) -> String {
        let mut hash = Sha256::new();
        for event in &self.events {
            hash.update(event.time.0.to_le_bytes());
            hash.update(event.node.0.to_le_bytes());
            hash.update([u8::from(event.up)]);
        }
        hash.finalize()
            .iter()
            .take(16)
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// The outages that begin before an instant, each with its repair, which may come later.
    #[must_use]
    pub fn beginning_before(&self, instant: Seconds) -> Self {
        let mut down = std::collections::BTreeSet::new();
        let counts = |event: &&NodeEvent| match event.up {
            true => down.remove(&event.node),
            false => event.time < instant && down.insert(event.node),
        };
        Self {
            events: self.events.iter().filter(counts).copied().collect(),
        }
    }

    /// The events of several machines of these sizes, whose nodes are numbered one machine after
    /// the other: of each machine those of its nodes, which it numbers from 0. What is beyond the
    /// last machine is nobody's.
    #[must_use]
    pub fn by_machine(&self, sizes: impl IntoIterator<Item = Nodes>) -> Vec<Self> {
        let mut end = 0;
        let mut begins = Vec::new();
        for size in sizes {
            begins.push(end);
            end += size.0;
        }
        let mut each = vec![Self::default(); begins.len()];
        for event in self.events.iter().filter(|event| event.node.0 < end) {
            // Machines without nodes begin where the next one does.
            let machine = begins.partition_point(|begin| *begin <= event.node.0) - 1;
            each[machine].events.push(NodeEvent {
                node: NodeIndex(event.node.0 - begins[machine]),
                ..*event
            });
        }
        each
    }

    /// The events of these outages, in any order. Outages of one node that overlap or touch are
    /// merged into one; an outage of no length lasts one second, because the node did fail.
    ///
    /// # Errors
    ///
    /// When an outage ends before it begins.
    pub fn from_outages(outages: impl IntoIterator<Item = Outage>) -> Result<Self, FailureError> {
        let mut outages: Vec<Outage> = outages.into_iter().collect();
        outages.sort_unstable();
        let mut merged: Vec<Outage> = Vec::with_capacity(outages.len());
        for Outage { node, start, end } in outages {
            if end < start {
                return Err(FailureError::NegativeOutage { node, start, end });
            }
            let end = end.max(start + Seconds(1));
            match merged.last_mut() {
                Some(last) if last.node == node && start <= last.end => {
                    last.end = last.end.max(end)
                }
                _ => merged.push(Outage { node, start, end }),
            }
        }
        let mut events: Vec<NodeEvent> = merged
            .into_iter()
            .flat_map(|Outage { node, start, end }| {
                let event = |time, up| NodeEvent { time, node, up };
                [event(start, false), event(end, true)]
            })
            .collect();
        events.sort_unstable_by_key(order_of_events);
        Ok(Self { events })
    }

    /// Draws failures from a model: every node is up at time 0, up-times come from `survival`,
    /// down-times are exponential with `repair_rate_per_hour`; both are rounded up to whole
    /// seconds, at least one.
    ///
    /// Holds every failure before `horizon` with its repair, which may come later. Each node has a
    /// stream of its own, so a larger machine does not change the failures of its first nodes, and
    /// a later horizon only adds events at or after the earlier one. The number of events grows
    /// with the horizon, so that must be one that a simulation can reach.
    ///
    /// # Errors
    ///
    /// When the model or the repair rate is impossible, or when there would be millions of outages.
    pub fn generate(
        survival: &SurvivalModel,
        repair_rate_per_hour: f64,
        nodes: Nodes,
        horizon: Seconds,
        mut stream_of: impl FnMut(NodeIndex) -> Stream,
    ) -> Result<Self, FailureError> {
        survival.validate()?;
        check("repair_rate_per_hour", repair_rate_per_hour, false)?;
        let mut outages = Vec::new();
        for node in (0..nodes.0).map(NodeIndex) {
            if outages.len() > MOST_OUTAGES {
                return Err(FailureError::TooManyOutages { nodes, horizon });
            }
            let mut stream = stream_of(node);
            let mut now = Seconds::ZERO;
            loop {
                let start = now + whole_seconds(survival.draw_hours(&mut stream));
                if start >= horizon {
                    break;
                }
                let end =
                    start + whole_seconds(draw_exponential(repair_rate_per_hour, &mut stream));
                outages.push(Outage { node, start, end });
                if outages.len() > MOST_OUTAGES {
                    break;
                }
                now = end;
            }
        }
        if outages.len() > MOST_OUTAGES {
            return Err(FailureError::TooManyOutages { nodes, horizon });
        }
        Self::from_outages(outages)
    }

    /// The same failures where node `order[i]` has the number `i`; nodes that the order does not
    /// name keep their number.
    #[must_use]
    pub fn renumbered(&self, order: &[NodeIndex]) -> Self {
        let mut numbers: std::collections::BTreeMap<NodeIndex, NodeIndex> = Default::default();
        for (number, &node) in (0..).map(NodeIndex).zip(order) {
            numbers.insert(node, number);
        }
        let mut events: Vec<NodeEvent> = self
            .events
            .iter()
            .map(|event| NodeEvent {
                node: numbers.get(&event.node).copied().unwrap_or(event.node),
                ..*event
            })
            .collect();
        events.sort_unstable_by_key(order_of_events);
        Self { events }
    }

    /// The same failures seen by a simulation that starts at `offset` of this trace's clock:
    /// earlier events are left out, and nodes that are down at `offset` fail at time 0. A negative
    /// offset is a lead-in before the first of them.
    #[must_use]
    pub fn starting_at(&self, offset: Seconds) -> Self {
        let past = self.events.partition_point(|event| event.time <= offset);
        let mut down = std::collections::BTreeSet::new();
        for event in &self.events[..past] {
            if event.up {
                down.remove(&event.node);
            } else {
                down.insert(event.node);
            }
        }
        let at_once = down.into_iter().map(|node| NodeEvent {
            time: Seconds::ZERO,
            node,
            up: false,
        });
        let later = self.events[past..].iter().map(|event| NodeEvent {
            time: event.time - offset,
            ..*event
        });
        Self {
            events: at_once.chain(later).collect(),
        }
    }
}

/// Time, repairs before failures, node.
fn order_of_events(event: &NodeEvent) -> (Seconds, bool, NodeIndex) {
    (event.time, !event.up, event.node)
}

/// A drawn span in whole seconds, at least one, at most [`Seconds::FAR`].
pub(super) fn whole_seconds(hours: f64) -> Seconds {
    let seconds = libm::ceil(hours * 3_600.0);
    if seconds < Seconds::FAR.0 as f64 {
        Seconds((seconds as i64).max(1))
    } else {
        Seconds::FAR
    }
}

#[cfg(any(test, feature = "testutils"))]
impl FailureTrace {
    /// Takes events that are already in order, and in which a node alternates between down and up,
    /// starting with down; else says which is the first that breaks this.
    pub fn from_events(events: Vec<NodeEvent>) -> Result<Self, usize> {
        let trace = Self { events };
        trace.validate()?;
        Ok(trace)
    }

    /// Which is the first event that breaks the order that the type promises.
    pub fn validate(&self) -> Result<(), usize> {
        let mut down = std::collections::BTreeSet::new();
        let mut previous = None;
        for (index, event) in self.events.iter().enumerate() {
            let alternates = if event.up {
                down.remove(&event.node)
            } else {
                down.insert(event.node)
            };
            if !alternates || previous.is_some_and(|previous| previous >= order_of_events(event)) {
                return Err(index);
            }
            previous = Some(order_of_events(event));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random;

    fn outage(node: u32, start: i64, end: i64) -> Outage {
        Outage {
            node: NodeIndex(node),
            start: Seconds(start),
            end: Seconds(end),
        }
    }

    fn event(time: i64, node: u32, up: bool) -> NodeEvent {
        NodeEvent {
            time: Seconds(time),
            node: NodeIndex(node),
            up,
        }
    }

    fn generate(nodes: u32, horizon: i64) -> FailureTrace {
        let survival = SurvivalModel::Poisson {
            rate_per_hour: 0.02,
        };
        FailureTrace::generate(&survival, 0.5, Nodes(nodes), Seconds(horizon), |node| {
            random::stream(3, "test", 0, &format!("failures/node/{}", node.0))
        })
        .unwrap()
    }

    #[test]
    fn each_machine_meets_the_failures_of_its_own_nodes() {
        let event = |time, node| NodeEvent {
            time: Seconds(time),
            node: NodeIndex(node),
            up: false,
        };
        let all = FailureTrace {
            events: vec![event(1, 0), event(2, 9), event(3, 5), event(4, 99)],
        };
        let seen = |sizes: [u32; 4]| {
            let each = all.by_machine(sizes.map(Nodes)).into_iter();
            let own = |own: FailureTrace| -> Vec<(i64, u32)> {
                let events = own.events.iter();
                events.map(|event| (event.time.0, event.node.0)).collect()
            };
            each.map(own).collect::<Vec<_>>()
        };
        assert_eq!(
            seen([4, 4, 0, 4]),
            [vec![(1, 0)], vec![(3, 1)], vec![], vec![(2, 1)]]
        );
        assert_eq!(
            seen([0, 6, 2, 1]),
            [vec![], vec![(1, 0), (3, 5)], vec![], vec![]]
        );
    }

    #[test]
    fn overlapping_and_touching_outages_of_a_node_are_one() {
        let outages = [
            outage(1, 50, 60),
            outage(0, 10, 30),
            outage(0, 20, 25),
            outage(0, 30, 40),
            outage(0, 60, 60),
        ];
        let trace = FailureTrace::from_outages(outages).unwrap();
        let expected = [
            event(10, 0, false),
            event(40, 0, true),
            event(50, 1, false),
            event(60, 1, true),
            event(60, 0, false),
            event(61, 0, true),
        ];
        assert_eq!(trace.events, expected);
        trace.validate().unwrap();
    }

    #[test]
    fn an_outage_that_ends_before_it_begins_is_an_error() {
        let error = FailureTrace::from_outages([outage(4, 10, 9)]).unwrap_err();
        assert!(error.to_string().contains("node 4"), "{error}");
    }

    #[test]
    fn events_out_of_order_are_errors() {
        let good = vec![event(1, 0, false), event(5, 0, true), event(5, 1, false)];
        FailureTrace::from_events(good).unwrap();
        for (bad, wrong) in [
            (vec![event(1, 0, true)], 0),
            (vec![event(1, 0, false), event(2, 0, false)], 1),
            (vec![event(5, 0, false), event(4, 1, false)], 1),
            (
                vec![event(1, 0, false), event(5, 1, false), event(5, 0, true)],
                2,
            ),
        ] {
            assert_eq!(FailureTrace::from_events(bad), Err(wrong));
        }
    }

    #[test]
    fn drawn_failures_have_the_rates_of_the_model() {
        // 200 nodes for 10,000 h: about 200 · 10,000 / (50 + 2) = 38,461 outages, give or take
        // three times their root.
        let trace = generate(200, 10_000 * 3_600);
        trace.validate().unwrap();
        let failures = trace.events.iter().filter(|event| !event.up).count() as f64;
        assert!(
            (failures - 38_461.0).abs() < 3.0 * 38_461.0_f64.sqrt(),
            "{failures}"
        );
        let down: i64 = trace
            .events
            .iter()
            .map(|event| {
                if event.up {
                    event.time.0
                } else {
                    -event.time.0
                }
            })
            .sum();
        let mean = down as f64 / 3_600.0 / failures;
        assert!((mean - 2.0).abs() < 3.0 * 2.0 / failures.sqrt(), "{mean}");
    }

    #[test]
    fn a_larger_machine_does_not_change_the_failures_of_its_first_nodes() {
        let small = generate(5, 3_600_000);
        let mut large = generate(50, 3_600_000);
        large.events.retain(|event| event.node < NodeIndex(5));
        assert_eq!(small, large);
    }

    #[test]
    fn a_later_horizon_adds_only_later_events() {
        let horizon = 1_800_000;
        let before = |trace: FailureTrace| -> Vec<NodeEvent> {
            trace
                .events
                .into_iter()
                .filter(|event| event.time < Seconds(horizon))
                .collect()
        };
        let short = before(generate(20, horizon));
        assert!(short.len() > 100);
        assert_eq!(short, before(generate(20, 4 * horizon)));
    }

    #[test]
    fn starting_later_keeps_what_is_down_down() {
        let outages = [
            outage(0, 0, 10),
            outage(1, 5, 30),
            outage(2, 20, 25),
            outage(3, 40, 50),
        ];
        let trace = FailureTrace::from_outages(outages)
            .unwrap()
            .starting_at(Seconds(20));
        let expected = [
            (0, 1, false),
            (0, 2, false),
            (5, 2, true),
            (10, 1, true),
            (20, 3, false),
            (30, 3, true),
        ];
        assert_eq!(
            trace.events,
            expected.map(|(time, node, up)| event(time, node, up))
        );
        trace.validate().unwrap();
    }

    #[test]
    fn impossible_rates_are_errors() {
        let never = SurvivalModel::Poisson { rate_per_hour: 0.0 };
        let generate = |survival, repair| {
            let stream = |_| random::stream(0, "", 0, "");
            FailureTrace::generate(survival, repair, Nodes(9), Seconds(99_999), stream)
        };
        assert!(generate(&never, 0.0).is_err());
        assert!(
            generate(
                &SurvivalModel::Poisson {
                    rate_per_hour: -1.0
                },
                1.0
            )
            .is_err()
        );
        assert_eq!(generate(&never, 1.0).unwrap(), FailureTrace::default());
    }

    proptest! {
        #[test]
        fn any_outages_make_a_trace_that_is_down_exactly_then(
            drawn in prop::collection::vec((0_u32..4, 0_i64..100, 1_i64..30), 0..40), offset in 0_i64..120,
        ) {
            let outages: Vec<Outage> =
                drawn.iter().map(|&(node, start, length)| outage(node, start, start + length)).collect();
            let trace = FailureTrace::from_outages(outages.clone()).unwrap();
            prop_assert!(trace.validate().is_ok());
            let shifted = trace.starting_at(Seconds(offset));
            prop_assert!(shifted.validate().is_ok());
            for node in (0..4).map(NodeIndex) {
                for time in offset..140 {
                    let recorded = outages.iter().any(|outage| {
                        outage.node == node && outage.start.0 <= time && time < outage.end.0
                    });
                    let down = |trace: &FailureTrace, time: i64| {
                        let is_before = |event: &&NodeEvent| event.node == node && event.time.0 <= time;
                        trace.events.iter().rfind(is_before).is_some_and(|event| !event.up)
                    };
                    prop_assert_eq!(down(&trace, time), recorded);
                    prop_assert_eq!(down(&shifted, time - offset), recorded);
                }
            }
        }
    }
}
