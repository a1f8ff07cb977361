//! Every policy by name: one line each.

use bookahead_core::scheduling::{Backfilling, Policy, PolicySpec, Queue};
use bookahead_core::units::Nodes;

pub use bookahead_core::scheduling::registry::{Build, PlanKind, Strategy};

use crate::policies::{Comprehensive, Heuristic, ProbabilisticBackfilling, Shortening};

/// All policies, in the order in which tables show them.
pub const STRATEGIES: &[Strategy] = &[
    Strategy {
        name: "fcfs",
        summary: "first come, first served queue; promises nothing",
        ..Strategy::QUEUE
    },
    Strategy {
        name: "easy-backfilling",
        summary: "queue with aggressive backfilling behind one reservation; promises nothing",
        backfills: true,
        build: |_, spec, estimates| match estimates {
            Some(estimates) if spec.backfill_risk > 0.0 => {
                let policy = ProbabilisticBackfilling::new(spec.backfill_risk, estimates);
                Box::new(Queue::of(policy, spec.into()))
            }
            _ => Box::new(Queue::of(Backfilling::Aggressive, spec.into())),
        },
        ..Strategy::QUEUE
    },
    Strategy {
        name: "conservative-backfilling",
        summary: "node-mapped plan, full estimates, no early release",
        overbooks: false,
        security_factor: 1.0,
        baseline: None,
        backfills: false,
        plan: PlanKind::Mapped,
        build: |nodes, spec, estimates| {
            let policy = Comprehensive::backfilling(nodes, spec.into());
            Box::new(policy.with_statistics(estimates))
        },
    },
    Strategy {
        name: "heuristic-planning",
        summary: "counted plan, full estimates, re-planned at every end",
        overbooks: false,
        security_factor: 1.0,
        baseline: None,
        backfills: false,
        plan: PlanKind::Counted,
        build: |nodes, spec, estimates| {
            let policy = Heuristic::planning(nodes, spec.into());
            Box::new(policy.with_statistics(estimates))
        },
    },
    Strategy {
        name: "comprehensive-overbooking",
        summary: "node-mapped plan, overbooked by convolved completion-time distributions",
        overbooks: true,
        security_factor: 4.0,
        baseline: Some("conservative-backfilling"),
        backfills: false,
        plan: PlanKind::Mapped,
        build: |nodes, spec, estimates| {
            Box::new(Comprehensive::overbooking(nodes, spec.into(), estimates))
        },
    },
    Strategy {
        name: "heuristic-overbooking",
        summary: "counted plan, overbooked by the job's own ratio distribution, re-planned at every end",
        overbooks: true,
        security_factor: 2.0,
        baseline: Some("heuristic-planning"),
        backfills: false,
        plan: PlanKind::Counted,
        build: |nodes, spec, estimates| {
            Box::new(Heuristic::overbooking(nodes, spec.into(), estimates))
        },
    },
    Strategy {
        name: "overbooking-2008",
        summary: "conservative backfilling with shortened durations (Birkenheuer et al. 2008)",
        overbooks: true,
        security_factor: 1.0,
        baseline: Some("conservative-backfilling"),
        backfills: false,
        plan: PlanKind::Shortened,
        build: |nodes, spec, estimates| Box::new(Shortening::new(nodes, spec.into(), estimates)),
    },
    Strategy {
        name: "shelf-backfilling",
        summary: "node-mapped plan of shelves, each for jobs of like length side by side, no early release",
        overbooks: false,
        security_factor: 1.0,
        baseline: None,
        backfills: false,
        plan: PlanKind::Shelves,
        build: |nodes, spec, estimates| {
            let policy = Comprehensive::in_shelves(nodes, spec.into(), spec.shelves);
            Box::new(policy.with_statistics(estimates))
        },
    },
];

/// Finds a policy by name.
#[must_use]
pub fn strategy(name: &str) -> Option<&'static Strategy> {
    STRATEGIES.iter().find(|strategy| strategy.name == name)
}

/// The names of the policies that quote jobs.
#[must_use]
pub fn quoting() -> Vec<&'static str> {
    names_of_those(|policy| policy.job_quoter().is_some())
}

/// The names of the policies that can do without some of their nodes for a time.
#[must_use]
pub fn lending() -> Vec<&'static str> {
    names_of_those(|policy| policy.node_lender().is_some())
}

/// The names of the policies of which this is true.
fn names_of_those(can: impl Fn(&mut dyn Policy) -> bool) -> Vec<&'static str> {
    let spec = PolicySpec::default();
    let able = STRATEGIES
        .iter()
        .filter(|strategy| can(&mut *(strategy.build)(Nodes(1), &spec, None)));
    able.map(|strategy| strategy.name).collect()
}

#[cfg(test)]
mod tests {
    use bookahead_core::scheduling::QueueSettings;

    use super::*;
    use crate::policies::{HeuristicSettings, ShorteningSettings};

    #[test]
    fn every_policy_sells_windows_and_those_that_compute_a_risk_of_each_job_quote_it() {
        let spec = PolicySpec::default();
        for strategy in STRATEGIES {
            let mut policy = (strategy.build)(Nodes(1), &spec, None);
            assert!(policy.window_seller().is_some(), "{}", strategy.name);
        }
        let plans = [
            "conservative-backfilling",
            "heuristic-planning",
            "comprehensive-overbooking",
            "heuristic-overbooking",
            "shelf-backfilling",
        ];
        assert_eq!(quoting(), plans);
        assert_eq!(lending(), [plans[0], plans[2]]);
    }

    #[test]
    fn settings_are_the_same_by_default_as_in_a_specification() {
        let spec = PolicySpec::default();
        assert_eq!(QueueSettings::from(&spec), QueueSettings::default());
        assert_eq!(HeuristicSettings::from(&spec), HeuristicSettings::default());
        assert_eq!(
            ShorteningSettings::from(&spec),
            ShorteningSettings::default()
        );
    }
}
