//! Every policy by name: one line each.

use std::sync::Arc;

use super::{Backfilling, Comprehensive, Heuristic, Policy, PolicySettings, Queue, Shortening};
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
    /// Security factor S of the risk test in the thesis (spec §3.4.3); 1 where it has none.
    pub security_factor: f64,
    /// The strategy that additional gain is measured against (spec §6).
    pub baseline: Option<&'static str>,
    /// What it plans with; so also which settings it reads.
    pub plan: PlanKind,
    /// Makes the policy for one cluster.
    pub build: Build,
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
}

/// Makes a policy for a cluster of this many nodes; strategies that overbook are given estimates.
pub type Build = fn(Nodes, &PolicySettings, Option<Arc<EstimateModel>>) -> Box<dyn Policy>;

/// All policies, in the order in which tables show them.
pub const STRATEGIES: &[Strategy] = &[
    Strategy {
        name: "fcfs",
        summary: "first come, first served queue; promises nothing",
        overbooks: false,
        security_factor: 1.0,
        baseline: None,
        plan: PlanKind::Queue,
        build: |_, settings, _| Box::new(Queue::of(Backfilling::None, settings)),
    },
    Strategy {
        name: "easy-backfilling",
        summary: "queue with aggressive backfilling behind one reservation; promises nothing",
        overbooks: false,
        security_factor: 1.0,
        baseline: None,
        plan: PlanKind::Queue,
        build: |_, settings, _| Box::new(Queue::of(Backfilling::Aggressive, settings)),
    },
    Strategy {
        name: "conservative-backfilling",
        summary: "node-mapped plan, full estimates, no early release",
        overbooks: false,
        security_factor: 1.0,
        baseline: None,
        plan: PlanKind::Mapped,
        build: |nodes, settings, _| Box::new(Comprehensive::new(nodes, settings, false, None)),
    },
    Strategy {
        name: "heuristic-planning",
        summary: "counted plan, full estimates, re-planned at every end",
        overbooks: false,
        security_factor: 1.0,
        baseline: None,
        plan: PlanKind::Counted,
        build: |nodes, settings, _| Box::new(Heuristic::new(nodes, settings, false, None)),
    },
    Strategy {
        name: "comprehensive-overbooking",
        summary: "node-mapped plan, overbooked by convolved completion-time distributions",
        overbooks: true,
        security_factor: 4.0,
        baseline: Some("conservative-backfilling"),
        plan: PlanKind::Mapped,
        build: |nodes, settings, estimates| {
            Box::new(Comprehensive::new(nodes, settings, true, estimates))
        },
    },
    Strategy {
        name: "heuristic-overbooking",
        summary: "counted plan, overbooked by the job's own ratio distribution, re-planned at every end",
        overbooks: true,
        security_factor: 2.0,
        baseline: Some("heuristic-planning"),
        plan: PlanKind::Counted,
        build: |nodes, settings, estimates| {
            Box::new(Heuristic::new(nodes, settings, true, estimates))
        },
    },
    Strategy {
        name: "overbooking-2008",
        summary: "conservative backfilling with shortened durations (Birkenheuer et al. 2008)",
        overbooks: true,
        security_factor: 1.0,
        baseline: Some("conservative-backfilling"),
        plan: PlanKind::Shortened,
        build: |nodes, settings, estimates| Box::new(Shortening::new(nodes, settings, estimates)),
    },
];

/// Finds a policy by name.
#[must_use]
pub fn strategy(name: &str) -> Option<&'static Strategy> {
    STRATEGIES.iter().find(|strategy| strategy.name == name)
}
