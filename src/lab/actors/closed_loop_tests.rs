//! Clients that wait for answers do the same behind actors and called directly.

use std::sync::Arc;

use rand::RngExt;

use super::simulate_cluster_and_clients;
use crate::failures::{FailureTrace, NodeEvent};
use crate::random::stream;
use crate::scheduling::{
    ClientSettings, ClientTies, ClosedLoop, ClusterMachine, Follows, PolicySettings, registry,
    simulate_clients,
};
use crate::units::{NodeIndex, Nodes, Seconds};
use crate::workload::{Job, JobId, JobKind};

const NODES: Nodes = Nodes(6);

fn jobs(number: u64) -> Arc<[Job]> {
    let mut stream = stream(number, "clients", 0, "jobs");
    let mut submit = Seconds::ZERO;
    let job = |id| {
        submit += Seconds(stream.random_range(0..1_200));
        let estimate = Seconds(stream.random_range(1..5_000));
        Job {
            id: JobId(id),
            trace_number: i64::from(id),
            submit,
            release: submit,
            estimate,
            runtime: Seconds(stream.random_range(1..=estimate.0)),
            deadline: submit + estimate * stream.random_range(1..4),
            nodes: Nodes(stream.random_range(1..=7)),
            user: None,
            application: None,
            kind: JobKind::Flexible,
        }
    };
    (0..60).map(job).collect()
}

#[test]
fn closed_loops_give_equal_results_through_actors_and_without_them() {
    let mut failed = 0;
    for number in 0..25 {
        let jobs = jobs(number);
        let mut stream = stream(number, "clients", 0, "ties");
        let follows = (0..60)
            .map(|id: u32| {
                (id > 0 && stream.random_range(0..3) == 0).then(|| Follows {
                    job: stream.random_range(0..id),
                    think_time: Seconds(stream.random_range(0..900)),
                })
            })
            .collect();
        let patience = (0..60)
            .map(|_| Seconds(stream.random_range(1..9_000)))
            .collect();
        let mut events: Vec<NodeEvent> = (0..200)
            .map(|event| NodeEvent {
                time: Seconds(event * 700 + stream.random_range(0..700)),
                node: NodeIndex(stream.random_range(0..6)),
                up: stream.random_range(0..2) == 0,
            })
            .collect();
        events.sort_by_key(|event| event.time);
        let failures = Arc::new(FailureTrace { events });
        let settings = ClientSettings {
            resubmit_rejected: 2,
            resubmit_failed: 1,
            resubmit_after: Seconds(stream.random_range(1..4_000)),
            ..ClientSettings::default()
        };
        let ties = Arc::new(ClientTies::of(follows, patience));
        for strategy in registry::STRATEGIES.iter().filter(|it| !it.overbooks) {
            let policy = PolicySettings {
                strategy: strategy.name.to_owned(),
                ..PolicySettings::default()
            };
            let clients = ClosedLoop::new(settings.clone(), Arc::clone(&jobs), Arc::clone(&ties));
            let direct =
                simulate_clients(NODES, &policy, None, clients.clone(), &failures).unwrap();
            let machine = ClusterMachine::new(NODES, (strategy.build)(NODES, &policy, None));
            let (run, measured) =
                simulate_cluster_and_clients(machine, NODES, clients, &failures, true)
                    .unwrap()
                    .unwrap();
            failed += run.metrics.failed;
            let acted = (run.metrics, run.outcomes, measured);
            assert_eq!(acted, direct, "{number} {}", strategy.name);
        }
    }
    assert!(failed > 50, "{failed}");
}
