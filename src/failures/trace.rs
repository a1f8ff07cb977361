//! A sorted list of node failures and repairs.

use serde::{Deserialize, Serialize};

use crate::units::{NodeIndex, Seconds};

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

/// Node events in order of time (repairs before failures at equal times, then by node); each node alternates between
/// down and up, starting with down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailureTrace {
    /// The events.
    pub events: Vec<NodeEvent>,
}
