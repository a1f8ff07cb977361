//! Quantities that must not be mixed up: seconds, node counts, booked node-time and money.
//!
//! All virtual time is a whole number of seconds, all booked node-time is a whole number of
//! node-seconds, so sums are exact and independent of their order. Only ratios and money derived
//! from them are `f64`.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

use serde::{Deserialize, Serialize};

/// A point in virtual time, or a span of it, in whole seconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seconds(pub i64);

impl Seconds {
    /// The start of a simulation, or an empty span.
    pub const ZERO: Self = Self(0);
    /// Later than anything that a simulation reaches; half of the integer range, so that adding a
    /// span cannot overflow.
    pub const FAR: Self = Self(i64::MAX / 4);
    /// One hour.
    pub const HOUR: Self = Self(3_600);

    /// The span in hours.
    #[must_use]
    pub fn hours(self) -> f64 {
        self.0 as f64 / 3_600.0
    }

    /// The nearest whole second to a span in hours.
    #[must_use]
    pub fn from_hours(hours: f64) -> Self {
        Self((hours * 3_600.0).round() as i64)
    }
}

impl Add for Seconds {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Seconds {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Neg for Seconds {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Mul<i64> for Seconds {
    type Output = Self;
    fn mul(self, factor: i64) -> Self {
        Self(self.0 * factor)
    }
}

impl AddAssign for Seconds {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl SubAssign for Seconds {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} s", self.0)
    }
}

/// A number of nodes (the trace's unit of allocation: processors in the Parallel Workloads Archive,
/// nodes on Arminius).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Nodes(pub u32);

impl Nodes {
    /// The node-time that this many nodes hold for `span`.
    #[must_use]
    pub fn for_span(self, span: Seconds) -> NodeSeconds {
        NodeSeconds(i64::from(self.0) * span.0)
    }
}

impl fmt::Display for Nodes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} nodes", self.0)
    }
}

/// An amount of memory in megabytes, of 1,024 kilobytes each.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Megabytes(pub u32);

impl Megabytes {
    /// More than any machine has. Plans count it with a sign, and have room for twice as much.
    pub const MOST: Self = Self(1_000_000_000);

    /// The amount in kilobytes, rounded up and at most [`Self::MOST`].
    #[must_use]
    pub fn from_kilobytes(kilobytes: f64) -> Self {
        Self((kilobytes / 1_024.0).ceil().min(f64::from(Self::MOST.0)) as u32)
    }

    /// So much for each of so many nodes, at most [`Self::MOST`].
    #[must_use]
    pub fn of_nodes(self, nodes: Nodes) -> Self {
        Self(self.0.saturating_mul(nodes.0).min(Self::MOST.0))
    }

    /// Whether nobody counts it.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.0 == 0
    }
}

/// The index of one concrete node of a cluster, from 0.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct NodeIndex(pub u32);

/// Booked or used node-time in whole node-seconds.
///
/// One virtual coin is one booked node-hour (docs/model.md, "Time, nodes and money"), so fees are
/// kept here, exactly, and turned into [`Coins`] only where a penalty ratio multiplies them or a
/// person reads them.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct NodeSeconds(pub i64);

impl NodeSeconds {
    /// The part of these spans, which are nodes with a start and an end, that lies in
    /// `[from, until)`.
    pub fn within(
        from: Seconds,
        until: Seconds,
        spans: impl Iterator<Item = (Nodes, Seconds, Seconds)>,
    ) -> Self {
        let inside = spans.map(|(nodes, start, end)| {
            let span = (end.min(until) - start.max(from)).max(Seconds::ZERO);
            nodes.for_span(span).0
        });
        Self(inside.sum())
    }

    /// The same node-time as virtual coins: one coin a node-hour.
    #[must_use]
    pub fn coins(self) -> Coins {
        Coins(self.0 as f64 / 3_600.0)
    }
}

impl Add for NodeSeconds {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for NodeSeconds {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

/// Money in virtual coins (VC): one coin buys one node for one hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Coins(pub f64);

impl fmt::Display for Coins {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:.1} VC", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gromacs_job_of_the_introduction_costs_29952_coins() {
        // The example of Birkenheuer 2012, §1.1: 48 nodes for 26 days = 48 · 624 h.
        let fee = Nodes(48).for_span(Seconds::HOUR * 624);
        assert_eq!(fee.coins(), Coins(29_952.0));
    }

    #[test]
    fn of_a_span_only_what_lies_inside_counts() {
        let spans = [(0, 5), (8, 12), (15, 30), (30, 40), (2, 4)]
            .map(|(start, end)| (Nodes(2), Seconds(start), Seconds(end)));
        // 1 of [4, 5), 4 of [8, 12) and 5 of [15, 20) seconds, on two nodes each.
        let inside = NodeSeconds::within(Seconds(4), Seconds(20), spans.into_iter());
        assert_eq!(inside, NodeSeconds(20));
    }
}
