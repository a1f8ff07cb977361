//! What simulations of several clusters read: excerpts of a trace, requests made from them,
//! failures of nodes, and what clusters that overbook have learned.

use std::sync::Arc;

use super::settings::CoReservationStudy;
use crate::co_reservation::{ClusterWorkload, CoReservationInputs, SearchSettings};
use bookahead_core::estimates::{EstimateModel, EstimateSettings};
use bookahead_core::random;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::workflows::{Negatives, Workflow};
use bookahead_core::workload::{
    ClusterExcerpt, ClusterExcerpts, CoRequest, Excerpts, WorkflowShape, WorkloadError,
    cut_clusters, generate_co_requests,
};
use bookahead_lab::study::SimulationSpec;
use bookahead_lab::study::inputs::{
    Cache, InputError, Inputs, PreparedWorkload, canonical_text, worked_off,
};

/// Excerpts that simulations share.
#[derive(Default)]
struct Shared {
    excerpts: Cache<ClusterExcerpts>,
    workflows: Cache<(Workflow, String)>,
}

/// The file that says what workflows look like; `None` where none is read.
pub(super) fn workflow_file(study: &CoReservationStudy) -> Option<&str> {
    let requests = study.requests.as_ref()?;
    match &requests.kinds.as_ref()?.tasks {
        WorkflowShape::File(file) => Some(file),
        WorkflowShape::Stages(_) => None,
    }
}

/// The workflow in that file, with the hash of its content.
pub(super) fn workflow(
    study: &CoReservationStudy,
    inputs: &Inputs,
) -> Result<Option<Arc<(Workflow, String)>>, Arc<InputError>> {
    let read = |file: &str| {
        let workflows = &inputs.shared::<Shared>().workflows;
        workflows.get(file.to_owned(), || {
            inputs.workflow(file, Negatives::default())
        })
    };
    workflow_file(study).map(read).transpose()
}

fn cluster_workload(excerpt: &ClusterExcerpt) -> ClusterWorkload {
    ClusterWorkload {
        nodes: excerpt.nodes,
        jobs: Arc::clone(&excerpt.jobs),
        window_start: excerpt.window_start,
        accuracy: excerpt.accuracy,
    }
}

/// What a simulation reads.
pub(super) fn grid(
    study: &CoReservationStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
    workload: &PreparedWorkload,
    estimates: Option<Arc<EstimateModel>>,
) -> Result<Arc<CoReservationInputs>, Arc<InputError>> {
    let failed = |error: WorkloadError| InputError::Workload(error.to_string());
    let excerpts = excerpts(study, spec, inputs, workload)?;
    let requests = match &study.requests {
        None => Vec::new(),
        Some(requests) => {
            // The source alone: every algorithm, network and number of clusters sees the same
            // requests.
            let key = inputs.source_key(&spec.workload);
            let nodes = spec.workload.nodes;
            let workflow = workflow(study, inputs)?;
            generate_co_requests(
                &excerpts,
                nodes,
                requests,
                workflow.as_ref().map(|sourced| &sourced.0),
                spec.seed,
                &key,
                spec.replication,
            )
            .map_err(failed)?
        }
    };
    let clusters: Vec<ClusterWorkload> = excerpts.clusters.iter().map(cluster_workload).collect();
    let nodes = clusters.iter().map(|cluster| cluster.nodes.0).sum();
    let until = latest_end(&clusters, &requests, &study.settings.search);
    Ok(Arc::new(CoReservationInputs {
        failures: inputs.failures_until(spec, Nodes(nodes), spec.replication, until)?,
        clusters,
        requests: requests.into(),
        stop: excerpts.stop,
        estimates,
    }))
}

/// When each cluster would have worked off its jobs and all requests: whatever the broker does,
/// nothing of them is under way then. What fails is known until this instant.
pub(super) fn latest_end(
    clusters: &[ClusterWorkload],
    requests: &[CoRequest],
    search: &SearchSettings,
) -> Seconds {
    let requests: Vec<CoRequest> = requests
        .iter()
        .map(|it| search.as_run(it.clone()))
        .collect();
    let until = clusters.iter().map(|cluster| {
        let jobs = cluster
            .jobs
            .iter()
            .map(|job| (job.submit, job.estimate, job.nodes));
        let parts = requests.iter().flat_map(|request| {
            let part = |width: &Nodes| (request.earliest, request.duration, *width);
            request.parts.iter().map(part)
        });
        worked_off(jobs.chain(parts), cluster.nodes)
    });
    until.max().unwrap_or(Seconds::ZERO)
}

fn excerpts(
    study: &CoReservationStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
    workload: &PreparedWorkload,
) -> Result<Arc<ClusterExcerpts>, Arc<InputError>> {
    let jobs = inputs.battery(workload, spec)?;
    let settings = &study.clusters;
    let cut = |replication| {
        let source = inputs.source_key(&spec.workload);
        let mut stream = random::stream(spec.seed, &source, replication, "cluster excerpts");
        cut_clusters(&jobs, spec.workload.nodes, settings, &mut stream)
            .map_err(|error| InputError::Workload(error.to_string()))
    };
    // Drawn ones are cut when they are needed: each replication has its own, and they would fill
    // the memory.
    if settings.excerpts == Excerpts::Drawn {
        return Ok(Arc::new(cut(spec.replication)?));
    }
    let workload_key = inputs.workload_key(&spec.workload);
    let own = spec.workload.workload_of(spec.replication);
    let key = format!(
        "{}|{workload_key}|{own}|{}",
        spec.seed,
        canonical_text(settings)
    );
    inputs.shared::<Shared>().excerpts.get(key, || cut(own))
}

/// A whole trace has no jobs set apart for learning: clusters learn from what none of them runs.
fn model(
    study: &CoReservationStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
    workload: &PreparedWorkload,
    settings: &EstimateSettings,
) -> Result<Arc<EstimateModel>, Arc<InputError>> {
    let excerpts = excerpts(study, spec, inputs, workload)?;
    let clusters = canonical_text(&study.clusters);
    let place = match study.clusters.excerpts {
        Excerpts::Drawn => format!("{clusters}|{}", spec.replication),
        Excerpts::Fingerprint | Excerpts::Spaced => clusters,
    };
    let jobs = inputs.battery(workload, spec)?;
    inputs.model_from(spec, settings, &place, || PreparedWorkload {
        label: workload.label.clone(),
        learning: excerpts.outside(&jobs).into(),
        batteries: Vec::new(),
        first_factor: 1.0,
        cleaning: workload.cleaning.clone(),
        nodes: workload.nodes,
        log_nodes: workload.log_nodes,
        content_hash: String::new(),
    })
}

/// What clusters that overbook have learned; `None` where nobody asks for it.
pub(super) fn estimates(
    study: &CoReservationStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
    workload: &PreparedWorkload,
) -> Result<Option<Arc<EstimateModel>>, Arc<InputError>> {
    let settings = spec.estimates.as_ref();
    settings
        .map(|settings| model(study, spec, inputs, workload, settings))
        .transpose()
}
