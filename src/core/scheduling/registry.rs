//! What is known of a policy by its name; families list theirs.

use std::sync::Arc;

use super::policy::Policy;
use super::queue::{Backfilling, Queue};
use super::spec::PolicySpec;
use crate::estimates::EstimateModel;
use crate::units::Nodes;

/// A registered scheduling policy: its name in configurations and reports, and what a sweep must
/// know about it.
#[derive(Clone, Copy, Debug)]
pub struct Strategy {
    /// The name in configurations, in the store and in reports.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Accepts slots shorter than the estimate; only then do estimates, acceptance and reliability
    /// matter.
    pub overbooks: bool,
    /// Security factor S of the risk test in the thesis (Birkenheuer 2012, §5.1.4); 1 where it has
    /// none.
    pub security_factor: f64,
    /// The strategy that additional gain is measured against (docs/model.md, "What is measured").
    pub baseline: Option<&'static str>,
    /// A queue in which jobs pass the first one where that is not delayed; so it reads how sure
    /// that must be ([`PolicySpec::backfill_risk`]).
    pub backfills: bool,
    /// What it plans with; so also which settings of a specification it reads.
    pub plan: PlanKind,
    /// Makes the policy for one cluster.
    pub build: Build,
}

impl Strategy {
    /// An entry that queues begin from: it promises nothing and overbooks nothing.
    pub const QUEUE: Self = Self {
        name: "queue",
        summary: "first come, first served",
        overbooks: false,
        security_factor: 1.0,
        baseline: None,
        backfills: false,
        plan: PlanKind::Queue,
        build: |_, spec, _| Box::new(Queue::of(Backfilling::None, spec.into())),
    };
}

/// What a policy plans with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanKind {
    /// Nothing: a queue.
    Queue,
    /// A timeline a node.
    Mapped,
    /// The number of free nodes over time, rebuilt at events.
    Counted,
    /// A timeline a node with shortened durations.
    Shortened,
    /// A timeline a node, on which jobs are put into shelves.
    Shelves,
}

/// Makes a policy for a cluster of so many nodes, with what it reads of a specification; estimates
/// are there when the strategy overbooks, or backfills at a risk.
pub type Build = fn(Nodes, &PolicySpec, Option<Arc<EstimateModel>>) -> Box<dyn Policy>;
