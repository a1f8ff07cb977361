//! Clusters whose nodes fail by their load (Birkenheuer 2012, §3.3.1).

use std::sync::Arc;

use bookahead_core::failures::{FailuresByLoad, NodeEvent, NodeFailures, PossibleFailure};
use bookahead_core::scheduling::{ClusterMachine, Verdict};
use bookahead_core::units::{NodeIndex, Nodes, Seconds};
use bookahead_core::workload::{Job, JobId};

use crate::{Replay, Work, registry, replay};

/// (time, node, how long it is down, load above which it happens).
fn possible(list: &[(i64, u32, i64, f64)]) -> NodeFailures {
    let failures = list
        .iter()
        .map(|&(time, node, down, above_load)| PossibleFailure {
            time: Seconds(time),
            node: NodeIndex(node),
            down: Seconds(down),
            above_load,
        });
    NodeFailures::ByLoad(Arc::new(FailuresByLoad {
        possible: failures.collect(),
    }))
}

/// Two of four nodes for 100 s, and two more from 200 to 300 s.
fn play(strategy: &str, failures: &NodeFailures) -> Replay {
    let job = |id, submit| {
        Job::rigid(JobId(id), Seconds(submit), Nodes(2), Seconds(100))
            .running_for(Seconds(100))
            .due_by(Seconds(submit + 100))
    };
    let jobs = [job(0, 0), job(1, 200)];
    let strategy = registry::strategy(strategy).expect("registered");
    let policy = (strategy.build)(Nodes(4), &super::named(strategy.name, Seconds(100)), None);
    let machine = ClusterMachine::new(Nodes(4), policy);
    replay(machine, Work::Jobs(Arc::from(jobs)), failures)
}

#[test]
fn a_possible_failure_happens_if_more_nodes_run_jobs_than_it_needs() {
    for strategy in registry::STRATEGIES.iter().filter(|it| !it.overbooks) {
        let verdicts = |list: &[(i64, u32, i64, f64)]| {
            let played = play(strategy.name, &possible(list));
            let failed = |verdict: Verdict| verdict.is_failed();
            let verdicts = (played.outcomes.iter()).map(|outcome| failed(outcome.verdict));
            (verdicts.collect::<Vec<_>>(), played.failures.events.len())
        };
        // Half of the nodes run jobs at 50 and at 250, none at 150.
        assert_eq!(verdicts(&[(50, 0, 10, 0.5), (250, 1, 10, 0.5)]).1, 0);
        assert_eq!(verdicts(&[(150, 0, 10, 0.0)]).1, 0);
        // An idle node fails, too, if its machine is busy enough.
        assert_eq!(verdicts(&[(50, 3, 10, 0.49)]), (vec![false, false], 2));
        let (failed, events) =
            verdicts(&[(50, 0, 10, 0.49), (150, 2, 10, -0.1), (250, 1, 10, 0.5)]);
        // The first job has no time to begin anew.
        assert_eq!(
            (failed, events),
            (vec![true, false], 4),
            "{}",
            strategy.name
        );
    }
}

#[test]
fn a_node_that_is_down_does_not_fail_and_what_happened_is_told_with_its_repair() {
    let failures = possible(&[
        (10, 3, 100, 0.0),
        (60, 3, 500, 0.0),
        (110, 3, 5, -1.0),
        (120, 3, 7, -1.0),
    ]);
    let played = play("heuristic-planning", &failures);
    let event = |time, up| NodeEvent {
        time: Seconds(time),
        node: NodeIndex(3),
        up,
    };
    // Back at 110, and a repair comes before a failure of its second.
    let happened = [
        (10, false),
        (110, true),
        (110, false),
        (115, true),
        (120, false),
        (127, true),
    ];
    let happened: Vec<NodeEvent> = happened.map(|(time, up)| event(time, up)).into();
    assert_eq!(played.failures.events, happened);
    assert!(played.failures.validate().is_ok());
}
