//! Interrupted jobs that go on at another cluster.

use std::collections::BTreeMap;

use bookahead_core::failures::NodeEvent;
use bookahead_core::scheduling::{
    Acceptance, Bandwidth, CheckpointInterval, CheckpointPayer, CheckpointSettings, GapEnd,
    ResumeRule,
};
use bookahead_core::units::NodeIndex;

use super::*;

pub(super) fn saving(interval: i64, gap_end: GapEnd) -> CheckpointSettings {
    CheckpointSettings {
        interval: CheckpointInterval::Fixed(Seconds(interval)),
        cost: Seconds(10),
        restart: Seconds(20),
        payer: CheckpointPayer::Provider,
        gap_end,
        resume: ResumeRule::Any,
        memory_price: 0.0,
        bandwidth: Bandwidth::Own,
    }
}

fn migration() -> MigrationSettings {
    MigrationSettings {
        gib_per_node: 4.0,
        bandwidth_gib_s: 1.0,
        latency: Seconds(60),
        storage: CheckpointStorage::Remote,
    }
}

/// Two clusters of two nodes that do not overbook, and one job on both nodes for 1,000 s.
fn one_job(deadline: i64) -> (MarketSettings, MarketInputs) {
    let mut settings = MarketSettings {
        clusters: 2,
        optimists: 0.0,
        migration: Some(migration()),
        ..settings(DelegationRule::Promised)
    };
    settings.policy = PolicySpec {
        strategy: "heuristic-planning".to_owned(),
        checkpoint: Some(saving(100, GapEnd::Checkpoint)),
        ..settings.policy
    };
    settings.policy.reliability.failure_rate_per_hour = 0.0;
    settings.policy.reliability.survival =
        bookahead_core::failures::SurvivalModel::Poisson { rate_per_hour: 0.0 };
    let mut inputs = inputs(1, 1);
    let job = Job {
        submit: Seconds::ZERO,
        release: Seconds::ZERO,
        estimate: Seconds(1_000),
        runtime: Seconds(1_000),
        deadline: Seconds(deadline),
        nodes: Nodes(2),
        ..inputs.jobs[0].clone()
    };
    inputs.jobs = [job].into();
    inputs.nodes = Nodes(2);
    // The cluster that gets the job loses a node at 500.
    let chosen = simulate(&settings, &inputs);
    let chosen = (chosen.providers.iter())
        .position(|provider| provider.jobs == 1)
        .unwrap();
    inputs.failures = vec![FailureTrace::default(); 2];
    inputs.failures[chosen].events.push(NodeEvent {
        time: Seconds(500),
        node: NodeIndex(1),
        up: false,
    });
    (settings, inputs)
}

#[test]
fn a_job_moves_with_what_it_saved_and_the_money_is_that_by_hand() {
    let (settings, inputs) = one_job(2_000);
    let run = simulate(&settings, &inputs);
    // Written at 110, 220, 330 and 440; 60 s of work are lost. 60 s of latency, and 8 GiB at 1
    // GiB/s.
    let [only] = run.moves[..] else {
        panic!("{:?}", run.moves);
    };
    assert_eq!((only.time, only.transfer), (Seconds(500), Seconds(68)));
    assert_eq!((only.saved, only.price), (Seconds(400), 1_200.0));
    let outcome = &run.providers[only.to.0].outcomes[0];
    // It reads until 588 and does 600 s of work with five checkpoints.
    assert_eq!(outcome.end, Some(Seconds(1_238)));
    assert!(outcome.verdict.is_successful());
    assert_eq!((outcome.restarts, outcome.node_failures), (1, 1));
    let execution = outcome.execution.unwrap();
    let spans = [
        execution.useful,
        execution.lost,
        execution.written,
        execution.read,
    ];
    assert_eq!(spans.map(|span| span.0), [1_000, 60, 90, 20]);
    // The customer pays 2,000 node-seconds to the first provider, of which the second one gets six
    // tenths.
    assert_eq!(run.providers[only.from.0].gain, 800.0);
    assert_eq!(run.providers[only.to.0].gain, 1_200.0);
    assert_eq!((run.metrics.submitted, run.metrics.successful), (1, 1));
    assert_eq!(run.measured.get("market_kept_percent"), Some(100.0));
    assert_eq!(run.measured.get("market_moved_kept_percent"), Some(100.0));
}

#[test]
fn a_job_that_would_come_too_late_stays_and_fails() {
    // At the other cluster it needs until 1,238.
    for (deadline, moves) in [(1_237, 0), (1_238, 1)] {
        let (settings, inputs) = one_job(deadline);
        let run = simulate(&settings, &inputs);
        assert_eq!(run.moves.len(), moves);
        assert_eq!(run.metrics.successful, moves as u64);
    }
}

#[test]
fn a_promise_that_the_buyer_of_a_rest_breaks_costs_both_and_the_customer_gets_one_penalty() {
    let (settings, mut inputs) = one_job(2_000);
    let from = (inputs.failures.iter())
        .position(|trace| !trace.events.is_empty())
        .unwrap();
    let lost = NodeEvent {
        time: Seconds(700),
        node: NodeIndex(0),
        up: false,
    };
    inputs.failures[1 - from].events.push(lost);
    let run = simulate(&settings, &inputs);
    assert_eq!(run.moves.len(), 1);
    assert_eq!(run.metrics.failed, 1);
    // The first owes 2,000 to the customer and gets 1,200 from the second.
    assert_eq!(run.providers[from].gain, -800.0);
    assert_eq!(run.providers[1 - from].gain, -1_200.0);
    assert_eq!(
        run.measured.get("market_customer_gain_percent"),
        Some(-100.0)
    );
}

/// A market with failures in which jobs are stopped; with odd seeds those of a cluster share its
/// bandwidth.
pub(super) fn troubled(policy: &str, seed: u64, gap_end: GapEnd) -> (MarketSettings, MarketInputs) {
    let mut settings = MarketSettings {
        migration: Some(migration()),
        ..settings(DelegationRule::Reputation)
    };
    settings.policy = PolicySpec {
        strategy: policy.to_owned(),
        acceptance: Acceptance::Pof { maximum: 0.6 },
        checkpoint: Some(CheckpointSettings {
            bandwidth: if seed.is_multiple_of(2) {
                Bandwidth::Own
            } else {
                Bandwidth::SharedByNodes(Nodes(2))
            },
            ..saving(300, gap_end)
        }),
        ..settings.policy
    };
    let mut inputs = inputs(300, seed);
    let mut stream = random::stream(seed, "market", 0, "failures");
    inputs.failures = (0..settings.clusters)
        .map(|_| {
            let mut events: Vec<NodeEvent> = (0..60)
                .flat_map(|_| {
                    let time = stream.random_range(0..30_000);
                    let node = NodeIndex(stream.random_range(0..NODES));
                    let down = stream.random_range(100..4_000);
                    [(time, false), (time + down, true)].map(|(time, up)| NodeEvent {
                        time: Seconds(time),
                        node,
                        up,
                    })
                })
                .collect();
            events.sort_by_key(|event| event.time);
            FailureTrace { events }
        })
        .collect();
    (settings, inputs)
}

#[test]
fn jobs_that_move_run_at_one_place_at_a_time_and_no_work_is_lost_on_the_way() {
    let mut moves = 0;
    for (policy, gap_end) in [
        ("heuristic-overbooking", GapEnd::Checkpoint),
        ("comprehensive-overbooking", GapEnd::Checkpoint),
        ("comprehensive-overbooking", GapEnd::Suspend),
        ("conservative-backfilling", GapEnd::Kill),
    ] {
        for seed in 0..4 {
            let (settings, inputs) = troubled(policy, seed, gap_end);
            let mut scene = market_scene(&settings, &inputs, true).unwrap();
            for cluster in &mut scene.services {
                cluster.machine.record_allocations();
            }
            let mut played = drive(scene, false);
            let clusters = played.services.iter_mut();
            let allocations: Vec<_> = clusters
                .map(|cluster| cluster.machine.take_allocations())
                .collect();
            let mut market = MarketRun::of(played);
            moves += market.moves.len();
            let into: BTreeMap<(usize, JobId), (usize, JobId)> = market
                .moves
                .iter()
                .map(|each| (each.to, each.from))
                .collect();
            let first = |mut place: (usize, JobId)| {
                while let Some(&from) = into.get(&place) {
                    place = from;
                }
                place
            };
            let mut runs: BTreeMap<(usize, JobId), Vec<(Seconds, Seconds)>> = BTreeMap::new();
            let mut outcomes: BTreeMap<(usize, JobId), JobOutcome> = BTreeMap::new();
            let providers = market.providers.iter_mut().zip(allocations);
            for (number, (provider, allocations)) in providers.enumerate() {
                for run in allocations {
                    let spans = runs.entry(first((number, run.job))).or_default();
                    spans.push((run.start, run.end));
                }
                for outcome in provider.outcomes.drain(..) {
                    let place = first((number, outcome.job.id));
                    assert!(
                        !outcome.verdict.is_dropped(),
                        "what was promised was dropped"
                    );
                    let earlier = outcomes.insert(place, outcome);
                    assert!(earlier.is_none(), "one promise has one outcome");
                }
            }
            for (place, spans) in &mut runs {
                spans.sort();
                assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0));
                let outcome = &outcomes[place];
                let execution = outcome.execution.unwrap();
                let held: i64 = spans.iter().map(|(start, end)| (*end - *start).0).sum();
                assert_eq!(held, execution.held().0);
                let job = &outcome.job;
                if outcome.verdict.is_successful() {
                    assert_eq!(execution.useful, job.runtime.min(job.estimate));
                    assert!(outcome.end.unwrap() <= job.deadline);
                }
            }
            for each in &market.moves {
                let runs = &runs[&first(each.to)];
                let on_its_way = each.time..each.time + each.transfer;
                // A run that was taken back in the instant in which it began has no length.
                let is_kept = |(start, end): &(Seconds, Seconds)| start < end;
                let mut real = runs.iter().filter(|run| is_kept(run));
                assert!(real.all(|(start, _)| !on_its_way.contains(start)));
            }
        }
    }
    assert!(moves > 100, "only {moves} jobs moved");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn a_market_with_moves_is_the_same_every_time_and_its_money_adds_up(seed in 0_u64..1_000) {
        let (settings, inputs) = troubled("heuristic-overbooking", seed, GapEnd::Checkpoint);
        let run = simulate(&settings, &inputs);
        prop_assert_eq!(&run, &simulate(&settings, &inputs));
        // Prices and penalties between providers cancel, too.
        assert_books_balance(&settings, &inputs.jobs, &run);
        prop_assert_eq!(run.metrics.submitted, 300);
        let rests: u64 = run.providers.iter().map(|provider| provider.rests).sum();
        prop_assert_eq!(rests, run.moves.len() as u64);
    }
}
