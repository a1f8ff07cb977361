//! Whether the settings of a run saw the same jobs and failures, by the hashes that are stored with their simulations.

use std::collections::HashMap;

use crate::store::PointColumns;
use crate::sweep::Seen;

/// What the hashes of a run say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SameInputs {
    /// Whether it is not known of some simulations what they saw.
    pub is_unknown: bool,
    /// The axes along which points of one replication do not see the same.
    pub changes: Vec<Change>,
}

/// What an axis changes beside the settings that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The axis.
    pub axis: String,
    /// Whether its values see other jobs.
    pub jobs: bool,
    /// Whether its values see other failures.
    pub failures: bool,
}

impl Change {
    /// What is changed, in words.
    #[must_use]
    pub fn what(&self) -> &'static str {
        match (self.jobs, self.failures) {
            (true, true) => "jobs and failures",
            (true, false) => "jobs",
            (false, _) => "failures",
        }
    }
}

impl SameInputs {
    pub(super) fn of(points: &PointColumns) -> Self {
        let is_unknown = points.seen.iter().any(|seen| !seen.is_known())
            // Points of one simulation saw the same, whatever that was.
            && points.simulation.iter().any(|own| *own != points.simulation[0]);
        let mut first: HashMap<u32, Seen> = HashMap::new();
        let mut replications = points.replication.iter().zip(&points.seen);
        let all_same = replications
            .all(|(replication, seen)| first.entry(*replication).or_insert(*seen) == seen);
        let changes = if all_same {
            Vec::new()
        } else {
            let axes = 0..points.axes.len();
            axes.filter_map(|axis| change(points, axis)).collect()
        };
        Self {
            is_unknown,
            changes,
        }
    }
}

/// What the values of an axis see differently where everything else is the same.
fn change(points: &PointColumns, axis: usize) -> Option<Change> {
    let mut first: HashMap<(Vec<Option<u32>>, u32), Seen> = HashMap::new();
    let (mut jobs, mut failures) = (false, false);
    for (point, seen) in points.seen.iter().enumerate() {
        let others = points.axes.iter().enumerate();
        let others = others
            .filter(|(at, _)| *at != axis)
            .map(|(_, column)| column.positions[point]);
        let key = (others.collect(), points.replication[point]);
        let known = first.entry(key).or_insert(*seen);
        jobs |= known.jobs != seen.jobs;
        failures |= known.failures != seen.failures;
    }
    (jobs || failures).then(|| Change {
        axis: points.axes[axis].axis.key.clone(),
        jobs,
        failures,
    })
}
