//! What is left of a sweep to do: the simulations that points not yet done need.

use std::collections::HashSet;

use super::cost::CostModel;
use super::digest::Identity;
use super::spec::{Sweep, Task};

/// The simulations that those of these points (by index) need that are not done yet, dearest first.
#[must_use]
pub fn tasks(
    sweep: &Sweep,
    points: &[usize],
    done: &HashSet<Identity>,
    costs: &CostModel,
) -> Vec<Task> {
    let canonical = canonical(sweep);
    let mut open: Vec<(u32, u32)> = (points.iter())
        .map(|index| (*index as u32, &sweep.points[*index]))
        .filter(|(_, point)| !done.contains(&point.id))
        .map(|(index, point)| (canonical[point.simulation], index))
        .collect();
    open.sort_unstable();
    let mut tasks: Vec<Task> = open
        .chunk_by(|one, other| one.0 == other.0)
        .map(|points| {
            let simulation = points[0].0 as usize;
            Task {
                simulation,
                points: points.iter().map(|(_, index)| *index as usize).collect(),
                seconds: costs.seconds(sweep.simulations.kind(simulation)),
            }
        })
        .collect();
    tasks.sort_by(|a, b| {
        b.seconds
            .total_cmp(&a.seconds)
            .then(a.simulation.cmp(&b.simulation))
    });
    tasks
}

/// For each simulation the first one of its identity: specifications that differ in what their
/// strategy does not read have one.
fn canonical(sweep: &Sweep) -> Vec<u32> {
    let mut canonical: Vec<u32> = (0..sweep.simulations.len() as u32).collect();
    let ids = &sweep.simulation_ids;
    if ids.len() == canonical.len() {
        let mut by_id = canonical.clone();
        by_id.sort_unstable_by_key(|number| (&ids[*number as usize], *number));
        for equal in by_id.chunk_by(|one, other| ids[*one as usize] == ids[*other as usize]) {
            for number in equal {
                canonical[*number as usize] = equal[0];
            }
        }
    }
    canonical
}
