//! Axes and their values, and those of a point as places in the values of the sweep's axes: a sweep
//! of millions of points keeps every value once.

use std::fmt;
use std::ops::Index;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// One axis: a configuration key and its values in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// The dotted configuration key, such as `acceptance.pof_max`.
    pub key: String,
    /// Its values in the order of the file.
    pub values: Vec<AxisValue>,
}

/// A value on an axis, with the type that it has in the store.
#[derive(Clone, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AxisValue {
    /// A whole number.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// A name.
    Text(String),
    /// A switch.
    Flag(bool),
}

/// The value of every axis of a sweep at one of its points, by key. The replications of a
/// combination share theirs.
#[derive(Clone)]
pub struct PointAxes(Arc<Combination>);

struct Combination {
    /// By key.
    axes: Arc<[Axis]>,
    positions: Box<[u32]>,
}

impl PointAxes {
    /// The values at these positions, one of each of the axes, which are in the order of their
    /// keys.
    pub(super) fn new(axes: &Arc<[Axis]>, positions: Box<[u32]>) -> Self {
        Self(Arc::new(Combination {
            axes: Arc::clone(axes),
            positions,
        }))
    }

    /// The value of the axis with this key; `None` where the sweep has no such axis.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&AxisValue> {
        self.iter()
            .find(|(known, _)| *known == key)
            .map(|(_, value)| value)
    }

    /// Every axis with its value, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &AxisValue)> {
        let Combination { axes, positions } = self.0.as_ref();
        axes.iter()
            .zip(positions)
            .map(|(axis, position)| (axis.key.as_str(), &axis.values[*position as usize]))
    }
}

impl Index<&str> for PointAxes {
    type Output = AxisValue;

    /// # Panics
    ///
    /// Where the sweep has no such axis.
    fn index(&self, key: &str) -> &AxisValue {
        self.get(key).expect("an axis of the sweep")
    }
}

impl PartialEq for PointAxes {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl fmt::Debug for PointAxes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self.iter()).finish()
    }
}

impl FromIterator<(String, AxisValue)> for PointAxes {
    /// Values of axes of their own, for a point that belongs to no sweep.
    fn from_iter<T: IntoIterator<Item = (String, AxisValue)>>(values: T) -> Self {
        let mut axes: Vec<Axis> = values
            .into_iter()
            .map(|(key, value)| Axis {
                key,
                values: vec![value],
            })
            .collect();
        axes.sort_by(|one, other| one.key.cmp(&other.key));
        Self(Arc::new(Combination {
            positions: vec![0; axes.len()].into(),
            axes: axes.into(),
        }))
    }
}
