//! What each of several applications would cost and take if none of the others were submitted.

use std::sync::Arc;

use bookahead_core::kernel::drive;
use bookahead_core::random::StreamSeed;

use super::{
    Commitment, PlanValue, ProvisioningError, ProvisioningInputs, ProvisioningRun,
    ProvisioningSettings, SearchMethod, Users, best_effort, provisioning_scene,
};

/// For each submission, cost and makespan of each of its applications when it is carried out alone,
/// at the sites as they were at that instant and by the same search; `None` where it does not end.
/// Empty where applications are submitted one by one.
///
/// # Errors
///
/// When such a simulation cannot be carried out.
pub fn alone(
    inputs: &ProvisioningInputs,
    settings: &ProvisioningSettings,
    seed: &StreamSeed,
) -> Result<Vec<Vec<Option<PlanValue>>>, ProvisioningError> {
    if inputs.parts.is_empty() {
        return Ok(Vec::new());
    }
    let settings = ProvisioningSettings {
        commitment: Commitment::Discarded,
        brokers: 1,
        joint: true,
        ..settings.clone()
    };
    let mut alone = Vec::with_capacity(inputs.instants.len());
    for (submission, &instant) in inputs.instants.iter().enumerate() {
        let mut values = Vec::with_capacity(inputs.parts.len());
        for part in &inputs.parts {
            let application = inputs.application.part(part).0;
            let real = inputs.real(submission).part(part).0;
            let best_effort = match settings.search {
                SearchMethod::BestEffort => {
                    let forks = inputs.background.fork(&inputs.sites, instant);
                    best_effort(&real, forks, settings.queue_choice)
                }
                _ => None,
            };
            let own = ProvisioningInputs {
                application: Arc::new(application),
                real: match inputs.real.as_slice() {
                    [] => Vec::new(),
                    _ => vec![Arc::new(real)],
                },
                instants: vec![instant],
                best_effort: best_effort.map(Arc::new).into_iter().collect(),
                searched: None,
                slots_left: Vec::new(),
                parts: Vec::new(),
                users: Users::default(),
                alone: Vec::new(),
                judged: Vec::new(),
                keep_prices: false,
                ..inputs.clone()
            };
            let scene = provisioning_scene(&Arc::new(own), &settings, seed)?;
            let run = ProvisioningRun::of(drive(scene, false))?;
            let realised = run.outcomes.first().map(|outcome| outcome.realised);
            let completed = realised.filter(|realised| realised.completed);
            values.push(completed.map(|realised| PlanValue {
                cost: realised.cost,
                makespan: realised.makespan,
            }));
        }
        alone.push(values);
    }
    Ok(alone)
}
