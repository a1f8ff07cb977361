//! Pairs of points of a run with the same requests, as runs of their own: the requests that only
//! one of two settings grants.

use serde::{Deserialize, Serialize};

use super::Fixed;
use super::file::fixed;
use bookahead_lab::sweep::Axis;

/// A run whose values tell what two settings of another run grant differently, by the names of
/// [`PAIRED_MEASURES`](bookahead_lab::store::PAIRED_MEASURES). The axes that the settings name are
/// gone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paired {
    /// Its name, used as `run` by checks.
    pub run: String,
    /// The run that it is made of.
    pub of: String,
    /// Values on axes that make the left points.
    #[serde(deserialize_with = "fixed")]
    pub left: Fixed,
    /// Values on axes that make the right points.
    #[serde(deserialize_with = "fixed")]
    pub right: Fixed,
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
