//! What a simulation reads, put together: its jobs, the failures that they meet, their users, and
//! the batteries that a policy learns from before.

use std::sync::Arc;

use super::{Battery, OverbookingStudy, PolicySimulation, node_rates};
use crate::best_effort::BestEffortSettings;
use crate::{ClientTies, ClosedLoop, Dependencies, Lengthening};
use bookahead_core::failures::NodeFailures;
use bookahead_core::scheduling::{Customers, LongerEstimates};
use bookahead_core::units::Seconds;
use bookahead_core::workload::battery::battery_before;
use bookahead_core::workload::{Job, ReleaseSettings};
use bookahead_lab::study::SimulationSpec;
use bookahead_lab::study::inputs::{InputError, Inputs, PreparedWorkload};

/// The most batteries that are run before the simulated one: what `learning_batteries` and
/// `calibration_batteries` allow.
const MOST_BATTERIES_BEFORE: u32 = 20;

/// The batteries that a policy learns from before its own, the earliest first, each with its
/// failures: those of the replications before, and, for what promises are worth, before the first
/// one the end of what estimates are learned from. No replication is before a fresh one.
fn batteries_before(
    study: &OverbookingStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
    workload: &PreparedWorkload,
) -> Result<Vec<Battery>, Arc<InputError>> {
    let mut batteries = Vec::new();
    let replications = OverbookingStudy::replications_before(spec);
    for back in (1..=OverbookingStudy::batteries_before(spec)).rev() {
        let (jobs, replication) = match replications.checked_sub(back) {
            Some(earlier) => (workload.batteries.get(earlier as usize).cloned(), earlier),
            None => {
                let beyond = back - replications;
                let jobs = battery_before(
                    &workload.learning,
                    spec.workload.battery_jobs,
                    beyond as usize,
                    workload.first_factor,
                );
                // Drawn failures of their own, too: no replication has so high a number.
                let own = spec.workload.workload_of(spec.replication);
                let place = own.wrapping_mul(MOST_BATTERIES_BEFORE + 1) + beyond;
                (jobs, u32::MAX - place)
            }
        };
        if let Some(jobs) = jobs {
            let failures = inputs.node_failures(spec, &jobs, replication, Seconds::ZERO)?;
            let jobs = match &study.best_effort {
                None => jobs,
                Some(settings) => promised_only(settings, spec, inputs, &jobs),
            };
            let failures = node_rates::renumbered(spec, inputs, failures)?;
            batteries.push((jobs, failures));
        }
    }
    Ok(batteries)
}

/// Policies take reservations as jobs with a fixed window.
fn jobs(
    study: &OverbookingStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
    workload: &PreparedWorkload,
) -> Result<Arc<[Job]>, Arc<InputError>> {
    let jobs = inputs.battery(workload, spec)?;
    let jobs: Arc<[Job]> = match &study.requests {
        None => jobs,
        Some(requests) => inputs
            .jobs_and_requests(spec, requests, &jobs)
            .into_jobs()
            .into(),
    };
    Ok(match &study.releases {
        None => jobs,
        Some(releases) => {
            let mut draws = inputs.seed(spec).stream(ReleaseSettings::STREAM);
            releases.applied(&jobs, &mut draws)
        }
    })
}

pub(super) fn failures(
    study: &OverbookingStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
) -> Result<NodeFailures, Arc<InputError>> {
    let workload = inputs.workload(spec)?;
    let jobs = jobs(study, spec, inputs, &workload)?;
    let ties = ties(study, spec, inputs, &jobs)?;
    failures_of(study, spec, inputs, &jobs, ties.as_deref())
}

/// The failures that a battery meets, which may last longer where jobs are submitted later than
/// they are listed.
fn failures_of(
    study: &OverbookingStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
    jobs: &[Job],
    ties: Option<&ClientTies>,
) -> Result<NodeFailures, Arc<InputError>> {
    let Some(ties) = ties else {
        return inputs.node_failures(spec, jobs, spec.replication, Seconds::ZERO);
    };
    let listed = jobs.iter().map(|job| job.deadline).max();
    let later = ties.latest_end(&study.client, jobs) - listed.unwrap_or(Seconds::ZERO);
    inputs.node_failures(spec, jobs, spec.replication, later.max(Seconds::ZERO))
}

/// What ties the jobs of a closed loop together; `None` where the loop is open.
fn ties(
    study: &OverbookingStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
    jobs: &[Job],
) -> Result<Option<Arc<ClientTies>>, Arc<InputError>> {
    let client = &study.client;
    if client.is_open_loop() {
        return Ok(None);
    }
    let log = match client.dependencies {
        Dependencies::None => Arc::default(),
        Dependencies::Trace | Dependencies::Sessions => inputs.job_log(spec)?,
    };
    let mut stream = inputs.seed(spec).stream(ClientTies::STREAM);
    let ties = ClientTies::new(client, jobs, &log, &mut stream);
    Ok(Some(Arc::new(ties)))
}

/// The users of these jobs, if they may refuse what they are offered.
fn customers(
    study: &OverbookingStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
    jobs: &[Job],
) -> Option<Customers> {
    let refuses = study.client.refuses_late_offers;
    refuses.then(|| {
        let mut stream = inputs.seed(spec).stream(Customers::STREAM);
        Customers::drawn(jobs.len(), &mut stream)
    })
}

/// The users of these jobs, if they may ask for more time.
fn longer_estimates(
    study: &OverbookingStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
    jobs: &[Job],
) -> Option<LongerEstimates> {
    study
        .client
        .lengthening
        .map(|Lengthening { percent, before }| {
            let mut stream = inputs.seed(spec).stream(LongerEstimates::STREAM);
            LongerEstimates::drawn(jobs.len(), percent, before, &mut stream)
        })
}

pub(super) fn with_inputs(
    study: &OverbookingStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
) -> Result<PolicySimulation, Arc<InputError>> {
    let workload = inputs.workload(spec)?;
    let jobs = jobs(study, spec, inputs, &workload)?;
    let ties = ties(study, spec, inputs, &jobs)?;
    let met = failures_of(study, spec, inputs, &jobs, ties.as_deref())?;
    let (jobs, best_effort) = match study.best_effort {
        None => (jobs, None),
        Some(settings) => {
            let (jobs, promised) = split(&settings, spec, inputs, &jobs);
            (jobs.into(), Some((settings, promised)))
        }
    };
    Ok(PolicySimulation {
        nodes: spec.workload.nodes,
        strategy: inputs.studies().policy(&spec.scheduling.strategy),
        policy: node_rates::knowing_nodes(spec, inputs)?,
        before: batteries_before(study, spec, inputs, &workload)?,
        recorded: match &met {
            NodeFailures::Known(known) => Some(Arc::clone(known)),
            NodeFailures::ByLoad(_) => None,
        },
        failures: node_rates::renumbered(spec, inputs, met)?,
        customers: customers(study, spec, inputs, &jobs),
        longer_estimates: longer_estimates(study, spec, inputs, &jobs),
        clients: ties.map(|ties| ClosedLoop::new(study.client.clone(), jobs.clone(), ties)),
        jobs,
        best_effort,
        estimates: inputs.estimates(spec)?,
    })
}

/// The jobs, those that ask for promises with the lowest ids, and how many these are.
fn split(
    settings: &BestEffortSettings,
    spec: &SimulationSpec,
    inputs: &Inputs,
    jobs: &[Job],
) -> (Vec<Job>, u32) {
    let mut draws = inputs.seed(spec).stream(BestEffortSettings::STREAM);
    settings.split(jobs, &mut draws)
}

/// The jobs of a battery that ask for promises: nothing is learned from others.
fn promised_only(
    settings: &BestEffortSettings,
    spec: &SimulationSpec,
    inputs: &Inputs,
    jobs: &[Job],
) -> Arc<[Job]> {
    let (jobs, promised) = split(settings, spec, inputs, jobs);
    jobs.into_iter().filter(|job| job.id.0 < promised).collect()
}
