//! One combination of axis values: its cells as nodes of the tree, and the simulation that they
//! make of a file.

use super::axes::{Cell, Dimension};
use super::document::{Document, Node, node_of};
use super::keys::COMMON;
use super::raw::RawExperiment;
use super::resolve;
use super::spec::SimulationSpec;
use crate::keys::declaration::Section;
use crate::keys::problem::ProblemKind;
use crate::keys::problem::Problems;
use crate::study::{AnyStudy, Asked, Studies, StudySpec};
use crate::workload::MissingEstimate;

/// The value of every cell as a node of the tree: by dimension, row and column.
pub(super) type CellNodes<'a> = Vec<Vec<Vec<Option<Node<'a>>>>>;

pub(super) fn nodes_of(dimensions: &[Dimension]) -> CellNodes<'_> {
    dimensions
        .iter()
        .map(|dimension| dimension.rows.iter().map(|row| row_nodes(row)).collect())
        .collect()
}

fn row_nodes(row: &[Cell]) -> Vec<Option<Node<'_>>> {
    row.iter()
        .map(|cell| node_of(&cell.text, cell.span.clone()))
        .collect()
}

/// The simulation of one combination of axis values, normalised, and its penalty ratio.
pub(super) fn resolved<'i>(
    document: &Document<'i>,
    values: &[(&str, &Node<'i>)],
    replications: u32,
    seed: u64,
    problems: &mut Problems,
) -> Option<(SimulationSpec, f64)> {
    let raw = document.read(values, problems);
    let workload = resolve::workload(
        raw.workload.as_ref(),
        replications,
        &document.log_sizes,
        problems,
    );
    let estimates = resolve::estimates(&raw.estimates, problems);
    let failures = resolve::failures(&raw.failures, problems);
    let policy = resolve::policy(
        document.keys.studies(),
        raw.scheduling.as_ref(),
        &raw.acceptance,
        &raw.reliability,
        &raw.checkpoint,
        &raw.penalty,
        problems,
    );
    let requests = resolve::reservations(&raw.reservations, &raw.requests, problems);
    let (
        Some(workload),
        Some(estimates),
        Some(failures),
        Some((scheduling, penalty_ratio)),
        Some(requests),
    ) = (workload, estimates, failures, policy, requests)
    else {
        return None;
    };
    let written = raw.workload.as_ref();
    let laxity = match (&workload.whole, written) {
        (Some(_), Some(written)) => written.get_ref().laxity().or_default(problems)?,
        _ => workload.laxity,
    };
    let asked = Asked {
        laxity,
        strategy: &scheduling.strategy,
        workload: &workload,
        failures: &failures,
        scheduling: &scheduling,
        replications,
        requests: requests.as_ref(),
        written,
        log_sizes: &document.log_sizes,
    };
    let study = study(document.keys.studies(), &raw, &asked, problems)?;
    let base = SimulationSpec {
        workload,
        estimates: Some(estimates),
        failures,
        scheduling,
        study,
        replication: 0,
        seed,
    }
    .normalised(document.keys.studies());
    Some((base, penalty_ratio))
}

/// The study that a file asks for, with its settings; `None` where something is wrong with them.
fn study(
    studies: Studies,
    raw: &RawExperiment,
    asked: &Asked<'_>,
    problems: &mut Problems,
) -> Option<StudySpec> {
    let mut found = None;
    let is_read = |path: &str| is_read(studies, asked.strategy, path);
    for (study, keys) in studies.iter().zip(&raw.studies) {
        if is_asked_for(studies, study, asked.strategy) {
            found = Some((study, study.resolve(keys, asked, problems)?));
        } else if !study.is_left_out(keys, &is_read, problems) {
            return None;
        }
    }
    let (of, study) = found?;
    let requests = &raw.reservations;
    if let Some(place) = &requests.place
        && !study.takes_reservations()
    {
        let share = requests.share_percent();
        share.refuse_at(place.clone(), "this study takes no reservations", problems);
        return None;
    }
    if asked.failures.follow_load() && !study.takes_failures_by_load() {
        let message = "failures follow the load of a policy's one cluster, all of whose jobs ask for \
                       promises";
        raw.failures.load_factor().refuse(message, problems);
        return None;
    }
    if asked.workload.whole.is_some()
        && !study.takes_deadlines()
        && let Some(laxity) = asked.written.and_then(|it| it.get_ref().laxity.as_ref())
    {
        problems.add(
            ProblemKind::Conflict,
            "workload.laxity",
            laxity.span(),
            "no job of this whole trace has a deadline",
            "leave it out, or leave out `whole_trace`: jobs of batteries have deadlines",
        );
        return None;
    }
    if asked.workload.cleaning.missing_estimate == MissingEstimate::Recorded
        && !study.takes_missing_requests()
    {
        problems.add(
            ProblemKind::Conflict,
            "workload.missing_estimate",
            asked.place(),
            "this study cannot plan jobs that ask for no time",
            "take `runtime` instead of `recorded`, or let the queue that plans with predictions \
             plan with requests",
        );
        return None;
    }
    if of.strategy().is_none() && asked.workload.whole.is_some() {
        let names: Vec<String> = studies
            .strategies()
            .map(|study| format!("`{}`", study.name))
            .collect();
        problems.add(
            ProblemKind::Conflict,
            "workload.whole_trace",
            asked.place(),
            "policies that promise a deadline are simulated in batteries",
            format!(
                "leave out `whole_trace`, or choose one of the studies ({}) as strategy",
                names.join(", ")
            ),
        );
        return None;
    }
    Some(study)
}

/// Whether a file with this strategy asks for a study.
fn is_asked_for(studies: Studies, study: &dyn AnyStudy, strategy: &str) -> bool {
    match study.strategy() {
        Some(own) => own.name == strategy,
        None => !studies.is_strategy(strategy),
    }
}

/// Whether a table or a key is declared for files of all studies, or by the study that a file with
/// this strategy asks for.
fn is_read(studies: Studies, strategy: &str, path: &str) -> bool {
    let declares =
        |section: &Section| section.path == path || section.keys.iter().any(|key| key.path == path);
    let mut of_studies = studies.iter();
    COMMON.iter().any(declares)
        || of_studies.any(|study| {
            is_asked_for(studies, study, strategy) && study.sections().iter().any(declares)
        })
}
