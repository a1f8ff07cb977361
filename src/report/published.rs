//! Published numbers that can be drawn over measured curves: a value or a bound of one measure at
//! values of axes.

use std::collections::BTreeMap;

use bookahead_lab::sweep::AxisValue;

/// The selected values of an axis, by the axis's dotted key; all values of an axis that is not
/// named.
pub type AxisFilter = BTreeMap<String, Vec<AxisValue>>;

/// A number that a paper printed, or that follows from what it says.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// The finding that it is of.
    pub id: String,
    /// The measure, as the store calls it.
    pub measure: String,
    /// Where it holds: the values of axes; it says nothing about an axis that is not named.
    pub at: AxisFilter,
    /// What was published.
    pub number: PublishedNumber,
}

/// A published value or bound, in the unit of its measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PublishedNumber {
    /// About this value.
    Value {
        /// The value.
        value: f64,
        /// The least and the greatest mean that counts as the same.
        within: [f64; 2],
    },
    /// This value at most.
    AtMost(f64),
    /// This value at least.
    AtLeast(f64),
}

impl PublishedNumber {
    /// The number in another unit, which is this many times smaller.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        match self {
            Self::Value { value, within } => Self::Value {
                value: factor * value,
                within: within.map(|end| factor * end),
            },
            Self::AtMost(value) => Self::AtMost(factor * value),
            Self::AtLeast(value) => Self::AtLeast(factor * value),
        }
    }
}

impl Published {
    /// Whether it says something of a place, given as the value on every axis that the place has.
    #[must_use]
    pub fn holds_at<'v>(&self, value: impl Fn(&str) -> Option<&'v AxisValue>) -> bool {
        self.at.iter().all(|(key, wanted)| {
            value(key).is_none_or(|own| wanted.iter().any(|one| same(one, own)))
        })
    }
}

/// The published numbers of one run that can be drawn, and the measures that findings name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PublishedOfRun {
    /// The numbers.
    pub numbers: Vec<Published>,
    /// The measures whose means findings name, one entry a finding.
    pub measures: Vec<String>,
}

/// Whether two axis values are the same: 10 and 10.0 are.
#[must_use]
pub fn same(left: &AxisValue, right: &AxisValue) -> bool {
    match (real(left), real(right)) {
        (Some(left), Some(right)) => (left - right).abs() <= 1e-12 * left.abs().max(right.abs()),
        _ => left == right,
    }
}

/// The number of an axis value; `None` where it is none.
#[must_use]
pub fn real(value: &AxisValue) -> Option<f64> {
    match value {
        AxisValue::Integer(value) => Some(*value as f64),
        AxisValue::Real(value) => Some(*value),
        AxisValue::Text(_) | AxisValue::Flag(_) => None,
    }
}
