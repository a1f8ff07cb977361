//! A sorted list of node failures and repairs, from recorded outages or from a model.

use std::ops::RangeBounds;
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

impl NodeEvent {
    /// What traces are ordered by: time, repairs before failures, node.
    #[must_use]
    pub fn order(&self) -> (Seconds, bool, NodeIndex) {
        (self.time, !self.up, self.node)
    }
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

    /// The outages that begin within a span, each with its repair, which may come later.
    #[must_use]
    pub fn beginning_within(&self, span: impl RangeBounds<Seconds>) -> Self {
        let mut down = std::collections::BTreeSet::new();
        let counts = |event: &&NodeEvent| match event.up {
            true => down.remove(&event.node),
            false => span.contains(&event.time) && down.insert(event.node),
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

    /// The events of several machines of these sizes in one list, with nodes numbered one machine
    /// after the other: what [`Self::by_machine`] takes apart again.
    #[must_use]
    pub fn of_machines(machines: impl IntoIterator<Item = (Nodes, Self)>) -> Self {
        let mut begin = 0;
        let mut events = Vec::new();
        for (size, trace) in machines {
            events.extend(trace.events.iter().map(|event| NodeEvent {
                node: NodeIndex(event.node.0 + begin),
                ..*event
            }));
            begin += size.0;
        }
        events.sort_unstable_by_key(NodeEvent::order);
        Self { events }
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
        events.sort_unstable_by_key(NodeEvent::order);
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
        events.sort_unstable_by_key(NodeEvent::order);
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

/// A drawn span in whole seconds, at least one, at most [`Seconds::FAR`].
pub(super) fn whole_seconds(hours: f64) -> Seconds {
    let seconds = libm::ceil(hours * 3_600.0);
    if seconds < Seconds::FAR.0 as f64 {
        Seconds((seconds as i64).max(1))
    } else {
        Seconds::FAR
    }
}

impl FailureTrace {
    /// Takes events that are already in order, and in which a node alternates between down and up,
    /// starting with down.
    ///
    /// # Errors
    ///
    /// Which is the first event that breaks this.
    pub fn from_events(events: Vec<NodeEvent>) -> Result<Self, usize> {
        let trace = Self { events };
        trace.validate()?;
        Ok(trace)
    }

    /// Whether the events are in the order that the type promises.
    ///
    /// # Errors
    ///
    /// Which is the first event that breaks it.
    pub fn validate(&self) -> Result<(), usize> {
        let mut down = std::collections::BTreeSet::new();
        let mut previous = None;
        for (index, event) in self.events.iter().enumerate() {
            let alternates = if event.up {
                down.remove(&event.node)
            } else {
                down.insert(event.node)
            };
            if !alternates || previous.is_some_and(|previous| previous >= event.order()) {
                return Err(index);
            }
            previous = Some(event.order());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
