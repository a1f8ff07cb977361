//! Clusters that fail as a whole.

use super::moving::saving;
use super::*;
use bookahead_core::failures::NodeEvent;
use bookahead_core::scheduling::{CheckpointSettings, GapEnd};
use bookahead_core::units::NodeIndex;

const HOUR: i64 = 3_600;

/// Two clusters of two nodes on which checkpoints cost nothing, and one job on both nodes for 4 h,
/// due at 8 h. The cluster that gets it is down from 2.5 to 6.5 h.
fn one_outage(storage: Option<CheckpointStorage>) -> MarketRun {
    let migration = storage.map(|storage| MigrationSettings {
        gib_per_node: 0.0,
        bandwidth_gib_s: 1.0,
        latency: Seconds(HOUR / 10),
        storage,
    });
    let mut settings = MarketSettings {
        clusters: 2,
        optimists: 0.0,
        migration,
        ..settings(DelegationRule::Promised)
    };
    settings.policy = PolicySpec {
        strategy: "heuristic-planning".to_owned(),
        checkpoint: Some(CheckpointSettings {
            cost: Seconds::ZERO,
            restart: Seconds::ZERO,
            ..saving(HOUR, GapEnd::Checkpoint)
        }),
        ..settings.policy
    };
    settings.policy.reliability.failure_rate_per_hour = 0.0;
    settings.policy.reliability.survival =
        bookahead_core::failures::SurvivalModel::Poisson { rate_per_hour: 0.0 };
    // Its provider expects it to be down for 4 h.
    settings.policy.reliability.repair_rate_per_hour = 0.25;
    let mut inputs = inputs(1, 1);
    inputs.nodes = Nodes(2);
    inputs.jobs = [
        Job::rigid(JobId(0), Seconds::ZERO, Nodes(2), Seconds(4 * HOUR)).due_by(Seconds(8 * HOUR)),
    ]
    .into();
    let chosen = simulate(&settings, &inputs);
    let chosen = (chosen.providers.iter()).position(|provider| provider.jobs == 1);
    let event = |tenths: i64, node, up| NodeEvent {
        time: Seconds(tenths * HOUR / 10),
        node: NodeIndex(node),
        up,
    };
    inputs.failures = vec![FailureTrace::default(); 2];
    inputs.failures[chosen.unwrap()].events = vec![
        event(25, 0, false),
        event(25, 1, false),
        event(65, 0, true),
        event(65, 1, true),
    ];
    simulate(&settings, &inputs)
}

#[test]
fn a_checkpoint_inside_of_a_cluster_that_is_down_helps_nobody() {
    // It saved 2 h, and could end at 8.5 h.
    let local = one_outage(Some(CheckpointStorage::Local));
    assert_eq!((local.moves.len(), local.metrics.failed), (0, 1));
    // Whoever may not move fails as well.
    assert_eq!(one_outage(None).metrics.failed, 1);
}

#[test]
fn a_checkpoint_outside_of_it_lets_the_job_go_on_elsewhere() {
    let remote = one_outage(Some(CheckpointStorage::Remote));
    let [only] = remote.moves[..] else {
        panic!("{:?}", remote.moves);
    };
    assert_eq!((only.time.0, only.saved.0), (5 * HOUR / 2, 2 * HOUR));
    // 2.5 h, 0.1 h on its way, 2 h of work.
    let outcome = &remote.providers[only.to.0].outcomes[0];
    assert_eq!(outcome.end, Some(Seconds(46 * HOUR / 10)));
    assert!(outcome.verdict.is_successful());
}
