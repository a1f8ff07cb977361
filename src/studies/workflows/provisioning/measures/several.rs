//! Of several applications that are submitted together: each against itself alone (Singh 2008,
//! §4.9), and how evenly they suffer.

use bookahead_core::scheduling::measures::{Measured, jain};
use bookahead_core::units::Seconds;

use super::{add_mean, ratio};
use crate::provisioning::{PlanValue, ProvisioningInputs, ProvisioningOutcome, TaskFate};

/// Cost, in service units, and makespan of each of the applications of a submission; `None` where
/// one of their tasks did not end.
fn of_each(inputs: &ProvisioningInputs, outcome: &ProvisioningOutcome) -> Option<Vec<PlanValue>> {
    outcome.realised.completed.then(|| {
        let parts = inputs.parts.iter();
        let values = parts.map(|part| {
            let runs = outcome.tasks.iter().zip(&outcome.costs);
            let own = runs.filter(|(run, _)| part.contains(&(run.task as usize)));
            let ends = own.clone().filter(|(run, _)| run.fate == TaskFate::Done);
            let end = ends.map(|(run, _)| run.end).max();
            PlanValue {
                cost: own.map(|(_, cost)| cost).sum(),
                makespan: end.map_or(Seconds::ZERO, |end| end - outcome.submitted),
            }
        });
        values.collect()
    })
}

/// Means over submissions all of whose applications ended, also alone.
pub(super) fn add_applications(
    measured: &mut Measured,
    inputs: &ProvisioningInputs,
    outcomes: &[ProvisioningOutcome],
) {
    if inputs.parts.is_empty() {
        return;
    }
    let count = inputs.parts.len() as f64;
    let mut hours = Vec::new();
    let mut stretches: Vec<Vec<f64>> = Vec::new();
    let mut costs = Vec::new();
    for (outcome, alone) in outcomes.iter().zip(&inputs.alone) {
        let alone: Option<Vec<PlanValue>> = alone.iter().copied().collect();
        let Some((values, alone)) = of_each(inputs, outcome).zip(alone) else {
            continue;
        };
        let sum: f64 = values.iter().map(|value| value.makespan.hours()).sum();
        hours.push(sum / count);
        let both = || values.iter().zip(&alone);
        let stretch: Option<Vec<f64>> = both()
            .map(|(value, alone)| ratio(value.makespan.0 as f64, alone.makespan.0 as f64))
            .collect();
        stretches.extend(stretch);
        let ratios: Option<Vec<f64>> = both()
            .map(|(value, alone)| ratio(value.cost, alone.cost))
            .collect();
        costs.extend(ratios.map(|ratios| ratios.iter().sum::<f64>() / count));
    }
    let largest = |values: &Vec<f64>| values.iter().copied().fold(0.0, f64::max);
    let mean = |values: &Vec<f64>| values.iter().sum::<f64>() / count;
    add_mean(measured, "wf_application_hours", hours.into_iter());
    add_mean(measured, "wf_stretch", stretches.iter().map(mean));
    add_mean(
        measured,
        "wf_largest_stretch",
        stretches.iter().map(largest),
    );
    add_mean(measured, "wf_cost_ratio_alone", costs.into_iter());
    let fairness = stretches.iter().filter_map(|values| {
        let (above, below) = jain(values);
        ratio(above, below)
    });
    add_mean(measured, "wf_fairness", fairness);
}
