//! One combination of axis values: its cells as nodes of the tree, and the simulation that they
//! make of a file.

use super::axes::{Cell, Dimension};
use super::document::{Document, Node, node_of};
use super::resolve;
use super::spec::SimulationSpec;
use crate::keys::problem::Problems;
use crate::studies::{self, Asked};

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
    let workload = resolve::workload(raw.workload.as_ref(), replications, problems);
    let estimates = resolve::estimates(&raw.estimates, problems);
    let failures = resolve::failures(&raw.failures, problems);
    let policy = resolve::policy(
        raw.scheduling.as_ref(),
        &raw.acceptance,
        &raw.reliability,
        &raw.checkpoint,
        &raw.penalty,
        problems,
    );
    let requests = studies::requests(&raw.studies, problems);
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
    let asked = Asked {
        strategy: &scheduling.strategy,
        workload: &workload,
        failures: &failures,
        replications,
        requests: requests.as_ref(),
        written: raw.workload.as_ref(),
        tables: &raw.studies,
    };
    let study = studies::resolve(&asked, problems)?;
    let base = SimulationSpec {
        workload,
        estimates: Some(estimates),
        failures,
        scheduling,
        study,
        replication: 0,
        seed,
    }
    .normalised();
    Some((base, penalty_ratio))
}
