//! From a run of several clusters to the result of a simulation.

use super::SimulationResult;
use crate::brokering::evaluation::grid_measures;
use crate::brokering::measures::ClusterSummary;
use crate::brokering::{CoReservationSettings, GridInputs, GridRun};

/// Measures a run, and keeps its outcomes where they are asked for; those of jobs become the outcomes of the simulation.
#[must_use]
pub fn grid_result(
    inputs: &GridInputs,
    settings: &CoReservationSettings,
    mut run: GridRun,
    keep_outcomes: bool,
) -> SimulationResult {
    let (measured, cluster_values) = grid_measures(inputs, settings, &run);
    let mut result = SimulationResult {
        metrics: run.metrics,
        measured,
        clusters: ClusterSummary::of(inputs),
        cluster_values,
        ..SimulationResult::default()
    };
    if keep_outcomes {
        result.outcomes = std::mem::take(&mut run.jobs);
        result.grid = Some(run);
    }
    result
}
