//! What is known of single nodes when a simulation starts: rates that are learned from the failures
//! before it, and the order of nodes.

use std::sync::Arc;

use bookahead_core::failures::{NodeFailures, NodeRates, by_reliability, learn_node_rates};
use bookahead_core::scheduling::{NodeKnowledge, NodeOrder, PolicySpec};
use bookahead_core::units::NodeIndex;
use bookahead_lab::study::SimulationSpec;
use bookahead_lab::study::inputs::{InputError, Inputs};

/// Rates of all nodes, from the failures between time 0 of the failure clock and the start, by the
/// numbers of the failures.
fn rates(
    spec: &SimulationSpec,
    inputs: &Inputs,
    prior_failures: f64,
) -> Result<Arc<[NodeRates]>, Arc<InputError>> {
    let reliability = &spec.scheduling.reliability;
    let common = NodeRates {
        failure_rate_per_hour: reliability.failure_rate_per_hour,
        repair_rate_per_hour: reliability.repair_rate_per_hour,
    };
    let seen = inputs.failures_before(spec, spec.replication)?;
    let (nodes, until) = (spec.workload.nodes, spec.failures.offset);
    Ok(learn_node_rates(
        &seen,
        nodes,
        until,
        common,
        prior_failures,
    ))
}

/// The nodes in the order in which they are numbered; `None` where they keep their numbers.
fn order(
    spec: &SimulationSpec,
    inputs: &Inputs,
) -> Result<Option<Vec<NodeIndex>>, Arc<InputError>> {
    match spec.scheduling.node_order {
        NodeOrder::Index => Ok(None),
        NodeOrder::Reliability { prior_failures } => {
            let rates = rates(spec, inputs, prior_failures)?;
            Ok(Some(by_reliability(&rates)))
        }
    }
}

/// The settings of the policy with what was learned of nodes filled in.
pub(super) fn knowing_nodes(
    spec: &SimulationSpec,
    inputs: &Inputs,
) -> Result<PolicySpec, Arc<InputError>> {
    let mut policy = spec.scheduling.clone();
    if let NodeKnowledge::Learned {
        prior_failures,
        rates: learned,
    } = &mut policy.reliability.nodes
    {
        let by_number = rates(spec, inputs, *prior_failures)?;
        *learned = Some(match order(spec, inputs)? {
            None => by_number,
            Some(order) => {
                let ranked = order.iter().map(|node| by_number[node.0 as usize]);
                ranked.collect()
            }
        });
    }
    Ok(policy)
}

/// The failures with the numbers that nodes have in the simulation.
pub(super) fn renumbered(
    spec: &SimulationSpec,
    inputs: &Inputs,
    failures: NodeFailures,
) -> Result<NodeFailures, Arc<InputError>> {
    // Nothing is learned of nodes whose failures follow the load: the order is an error then.
    Ok(match (order(spec, inputs)?, failures) {
        (Some(order), NodeFailures::Known(known)) => {
            NodeFailures::Known(Arc::new(known.renumbered(&order)))
        }
        (_, failures) => failures,
    })
}

/// A hash of the failures that rates are learned from; empty where none are.
pub(super) fn seen_hash(spec: &SimulationSpec, inputs: &Inputs) -> Result<String, Arc<InputError>> {
    let is_read =
        !spec.scheduling.reliability.nodes.is_common() || !spec.scheduling.node_order.is_index();
    if !is_read {
        return Ok(String::new());
    }
    Ok(inputs
        .failures_before(spec, spec.replication)?
        .content_hash())
}
