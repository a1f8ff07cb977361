//! Pairs of points of a run with the same requests, as runs of their own: which requests one setting alone grants.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::sweep::{Axis, AxisValue};

/// A run whose values tell what two settings of another run grant differently, by the names of
/// [`PAIRED_MEASURES`](crate::store::PAIRED_MEASURES). The axes that the settings name are gone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Paired {
    /// Its name, used as `run` by checks.
    pub run: String,
    /// The run that it is made of.
    pub of: String,
    /// Values on axes that make the left points.
    pub left: BTreeMap<String, AxisValue>,
    /// Values on axes that make the right points.
    pub right: BTreeMap<String, AxisValue>,
}

impl Paired {
    /// Those of the axes of the other run that are left.
    #[must_use]
    pub fn axes(&self, of: &[Axis]) -> Vec<Axis> {
        of.iter()
            .filter(|axis| {
                !self.left.contains_key(&axis.key) && !self.right.contains_key(&axis.key)
            })
            .cloned()
            .collect()
    }
}
