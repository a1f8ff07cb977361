//! Brokers and those that they ask come to the same by actors and by plain calls.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::RngExt;

use crate::co_reservation::testutils::{further_situation, queueing_situation, situation};
use crate::co_reservation::{
    Algorithm, ClusterWorkload, CoReservationInputs, CoReservationRun, CoReservationSettings,
    RiskChoice, RiskSettings, WatchSettings, co_reservation_scene,
};
use crate::market::{
    AuctionRule, AuctionSettings, CheckpointStorage, DelegationRule, HomeRule, HomeSettings,
    LoadPricing, MarketInputs, MarketRun, MarketSettings, MigrationSettings, Overflow,
    PricedSupply, market_scene,
};
use bookahead_core::estimates::{ClassFamily, EstimateModel, EstimateSettings, LearningJobs};
use bookahead_core::failures::{FailureTrace, NodeEvent, Outage};
use bookahead_core::kernel::{Machine, Played, Scene, drive};
use bookahead_core::random::{self, StreamSeed};
use bookahead_core::scheduling::registry::PlanKind;
use bookahead_core::scheduling::{
    Acceptance, Bandwidth, CheckpointInterval, CheckpointPayer, CheckpointSettings, GapEnd,
    PolicySpec, ResumeRule,
};
use bookahead_core::units::{NodeIndex, Nodes, Seconds};
use bookahead_core::workload::{
    CoRequest, CoRequestId, Job, JobId, Preference, TraceFolder, WorkloadSettings, WorkloadSource,
    prepare,
};
use bookahead_lab::actors::conduct;
use bookahead_overbooking::registry::STRATEGIES;

/// What actors make of a scene, and what plain calls do.
fn both<M: Machine>(scene: impl Fn() -> Scene<M>) -> (Played<M>, Played<M>) {
    let (acted, messages) = conduct(scene(), true).unwrap();
    assert!(messages > 2);
    (acted, drive(scene(), true))
}

/// Plays a grid both ways, compares, and says how long each took.
fn compare_grid(
    grid: &CoReservationInputs,
    settings: &CoReservationSettings,
    seed: &StreamSeed,
) -> (CoReservationRun, Duration, Duration) {
    let scene = || co_reservation_scene(grid, settings, seed).unwrap();
    let began = Instant::now();
    let called = CoReservationRun::of(drive(scene(), true), grid);
    let calling = began.elapsed();
    let began = Instant::now();
    let acted = CoReservationRun::of(conduct(scene(), true).unwrap().0, grid);
    let acting = began.elapsed();
    assert!(acted == called, "{settings:?}: {acted:?}\n{called:?}");
    (called, calling, acting)
}

#[test]
fn grids_come_to_the_same_by_actors_and_by_plain_calls() {
    let mut granted = 0;
    for number in 0..150 {
        // Every third one has parts that need licences and storage, and an agent where something
        // fails.
        let mut situation = match number % 3 {
            0 => further_situation(number),
            _ => situation(number),
        };
        if let (0, Some(failures)) = (number % 3, &mut situation.settings.failures) {
            failures.silent = true;
            situation.settings.renegotiate = true;
            let (every, misses) = (Seconds(20), 2);
            situation.settings.watch = Some(WatchSettings { every, misses });
        }
        let seed = StreamSeed {
            seed: number,
            workload_key: "random".to_owned(),
            replication: 3,
        };
        let (called, _, _) = compare_grid(&situation.inputs, &situation.settings, &seed);
        let starts = called.requests.iter().filter(|it| it.start.is_some());
        granted += starts.count();
    }
    assert!(granted > 150);
}

#[test]
fn queued_parts_come_to_the_same_by_actors_and_by_plain_calls() {
    let mut granted = 0;
    for number in 0..150 {
        let situation = queueing_situation(number);
        let seed = StreamSeed::default();
        let (called, _, _) = compare_grid(&situation.inputs, &situation.settings, &seed);
        granted += (called.requests.iter())
            .filter(|it| it.start.is_some())
            .count();
    }
    assert!(granted > 100, "{granted}");
}

/// The most CPUs that jobs in their last run and parts hold at once on a cluster.
fn most_held(grid: &CoReservationInputs, run: &CoReservationRun, cluster: usize) -> i64 {
    let mut changes = Vec::new();
    let mut hold = |start: Seconds, end: Seconds, nodes: Nodes| {
        if start < end {
            changes.extend([(end, -i64::from(nodes.0)), (start, i64::from(nodes.0))]);
        }
    };
    for job in grid.clusters[cluster].jobs.iter() {
        let outcome = run.jobs.iter().find(|it| it.job.id == job.id).unwrap();
        if let (Some(start), Some(end)) = (outcome.start, outcome.end) {
            hold(start, end, job.nodes);
        }
    }
    for part in &run.parts[cluster] {
        let end = part.order.start + part.order.duration;
        let end = part.gone.map_or(end, |gone| end.min(gone));
        hold(part.order.start, end, part.order.nodes);
    }
    changes.sort_unstable();
    let held = changes.iter().scan(0, |held, (_, change)| {
        *held += change;
        Some(*held)
    });
    held.max().unwrap_or(0)
}

#[test]
fn clusters_of_every_registered_policy_keep_what_they_promise_a_broker() {
    for strategy in STRATEGIES {
        let (mut granted, mut lost, mut lost_without_failures) = (0, 0, 0);
        for number in 0..40 {
            let mut drawn = situation(number);
            let jobs = drawn.inputs.clusters.iter();
            let jobs: Vec<Job> = jobs.flat_map(|it| it.jobs.to_vec()).collect();
            drawn.inputs.estimates = EstimateModel::learn(&jobs, &everybody()).ok().map(Arc::new);
            drawn.settings.risk = Some(RiskSettings {
                choice: RiskChoice::Limit { pof: 0.4 },
                penalty_ratio: 1.0,
                pof_max: 0.3,
                strategy: strategy.name.to_owned(),
                reliability: None,
                policy: None,
            });
            let seed = StreamSeed {
                seed: number,
                ..StreamSeed::default()
            };
            let (run, _, _) = compare_grid(&drawn.inputs, &drawn.settings, &seed);
            assert_eq!(run.jobs.len(), jobs.len(), "{}", strategy.name);
            for (cluster, workload) in drawn.inputs.clusters.iter().enumerate() {
                let most = most_held(&drawn.inputs, &run, cluster);
                assert!(most <= workload.nodes.0.into(), "{}", strategy.name);
            }
            granted += run.requests.iter().filter(|it| it.start.is_some()).count();
            let parts = run.parts.iter().flatten();
            let missing = parts.filter(|part| part.lost).count();
            lost += missing;
            let fails = (drawn.settings.failures.as_ref())
                .is_some_and(|it| it.cluster_mtbf.is_some() || it.node_mtbf.is_some());
            if fails || !drawn.inputs.failures.events.is_empty() {
                continue;
            }
            lost_without_failures += missing;
            for outcome in &run.jobs {
                // No job has a deadline: none is rejected, and none is cut short.
                assert!(outcome.verdict.is_successful(), "{outcome:?}");
                let promised = outcome.promise.map(|promise| promise.end);
                assert!(
                    promised.is_none_or(|end| outcome.end <= Some(end)),
                    "{} {number}: {outcome:?}",
                    strategy.name
                );
                assert_eq!(promised.is_none(), strategy.plan == PlanKind::Queue);
            }
        }
        assert!(
            granted > 20 && lost > 0,
            "{}: {granted} {lost}",
            strategy.name
        );
        if strategy.name != "heuristic-overbooking" {
            assert_eq!(lost_without_failures, 0, "{}", strategy.name);
        }
    }
}

/// Four excerpts of SDSC Blue, and every tenth job of the first as the template of a request.
fn blue(folder: &TraceFolder) -> CoReservationInputs {
    let settings = WorkloadSettings {
        evaluation_jobs: 6_000,
        battery_jobs: 1_500,
        ..WorkloadSettings::of(
            WorkloadSource::Trace {
                file: "SDSC-BLUE-2000-4.2-cln.swf".to_owned(),
            },
            Nodes(1_160),
        )
    };
    let prepared = prepare(&settings, folder, 1).unwrap().batteries;
    let mut batteries: Vec<_> = prepared.iter().map(|jobs| jobs.to_vec()).collect();
    for (id, job) in (0..).zip(batteries.iter_mut().flatten()) {
        job.id = JobId(id);
    }
    let templates = batteries[0].iter().step_by(10);
    let requests = (0..).zip(templates).map(|(id, job)| {
        let earliest = job.submit + job.estimate * 3;
        CoRequest {
            id: CoRequestId(id),
            trace_number: job.trace_number,
            user: None,
            submit: job.submit,
            earliest,
            deadline: earliest + job.estimate + Seconds(job.estimate.0 * 6).min(Seconds(86_400)),
            duration: job.estimate,
            parts: vec![job.nodes, job.nodes],
            further: Vec::new(),
            preference: Preference::default(),
            task: None,
        }
    });
    let requests = requests.collect();
    let clusters = batteries.into_iter().map(|jobs| ClusterWorkload {
        nodes: Nodes(1_160),
        jobs: jobs.into(),
        window_start: Seconds::ZERO,
        accuracy: 0.4,
    });
    CoReservationInputs {
        clusters: clusters.collect(),
        requests,
        stop: Seconds(1_209_600),
        estimates: None,
        failures: Arc::default(),
    }
}

#[test]
fn grids_of_excerpts_of_a_log_come_to_the_same_by_actors_and_by_plain_calls() {
    let Some(path) = std::env::var_os(TraceFolder::VARIABLE) else {
        println!("skipped: this test needs the folder of traces that BOOKAHEAD_TRACES names");
        return;
    };
    let grid = blue(&TraceFolder::new(path));
    for (algorithm, _, _) in Algorithm::ALL {
        let mut settings = CoReservationSettings::default();
        settings.search.algorithm = *algorithm;
        let (called, calling, acting) = compare_grid(&grid, &settings, &StreamSeed::default());
        let granted = called
            .requests
            .iter()
            .filter(|it| it.start.is_some())
            .count();
        let step: u32 = called
            .requests
            .iter()
            .map(|it| it.messages.reservation_step())
            .sum();
        println!(
            "{algorithm:?}: {granted} of 150, {step} messages, {calling:?}, actors {acting:?}"
        );
        assert!(granted > 0 && called.jobs.len() == 6_000);
        for outcome in called.requests.iter().filter(|_| algorithm.row().probes) {
            // Nobody comes between: no message is sent in vain.
            let parts = outcome.clusters.len() as u32;
            assert_eq!(outcome.messages.reservation_step(), parts);
        }
        settings.messages.latency = Seconds(1);
        settings.messages.loss = 0.05;
        compare_grid(&grid, &settings, &StreamSeed::default());
    }
}

const CLUSTERS: u32 = 3;
const SIZE: u32 = 8;

/// One class for all jobs.
fn everybody() -> EstimateSettings {
    EstimateSettings {
        family: ClassFamily::All,
        learn_from: LearningJobs::Before,
        minimum_class_size: 1,
        ..EstimateSettings::default()
    }
}

/// Jobs that use a drawn share of their estimates, with days between some of them, and nodes that
/// fail meanwhile.
fn market_inputs(seed: u64) -> MarketInputs {
    let mut stream = random::stream(seed, "market", 0, "jobs");
    let mut now = Seconds::ZERO;
    let jobs: Vec<Job> = (0..200)
        .map(|number| {
            let gap = if number % 50 == 49 { 900_000 } else { 200 };
            now += Seconds(stream.random_range(0..gap));
            let estimate = Seconds(stream.random_range(600..7_200));
            let runtime = Seconds(stream.random_range(1..=estimate.0));
            let nodes = Nodes(stream.random_range(1..=SIZE));
            Job::rigid(JobId(number), now, nodes, estimate)
                .running_for(runtime)
                .due_by(now + estimate * 2)
                .numbered(i64::from(number) + 1)
        })
        .collect();
    let mut failures = || {
        let outages = (0..600).map(|_| {
            let start = Seconds(stream.random_range(0..now.0 + 30_000));
            Outage {
                node: NodeIndex(stream.random_range(0..SIZE)),
                start,
                end: start + Seconds(stream.random_range(100..4_000)),
            }
        });
        let mut events: Vec<NodeEvent> = outages
            .flat_map(|outage| {
                [(outage.start, false), (outage.end, true)].map(|(time, up)| NodeEvent {
                    time,
                    node: outage.node,
                    up,
                })
            })
            .collect();
        events.sort_by_key(|event| event.time);
        FailureTrace { events }
    };
    MarketInputs {
        nodes: Nodes(SIZE),
        failures: (0..CLUSTERS).map(|_| failures()).collect(),
        estimates: Some(Arc::new(EstimateModel::learn(&jobs, &everybody()).unwrap())),
        jobs: jobs.into(),
        ties: random::stream(seed, "market", 0, "ties"),
        homes: random::stream(seed, "market", 0, "homes"),
        bids: random::stream(seed, "market", 0, "bids"),
    }
}

#[test]
fn markets_come_to_the_same_by_actors_and_by_plain_calls() {
    let (mut moves, mut broken) = (0, 0);
    for seed in 0..4 {
        let inputs = market_inputs(seed);
        let list = Overflow::List {
            every: Seconds(600),
            below: 0.5,
            horizon: Seconds(7_200),
        };
        let double = AuctionSettings {
            rule: AuctionRule::Double {
                every: Seconds(1_800),
            },
            safety: 1.0,
            node_hour_cost: 0.25,
        };
        for (rule, migrates, overflow, auction) in [
            (DelegationRule::Reputation, false, None, None),
            (DelegationRule::Reputation, true, None, None),
            (DelegationRule::Cheapest, true, Some(list), None),
            (DelegationRule::Random, false, Some(Overflow::Ask), None),
            (DelegationRule::Cheapest, false, None, Some(double)),
        ] {
            let saving = CheckpointSettings {
                interval: CheckpointInterval::Fixed(Seconds(300)),
                cost: Seconds(10),
                restart: Seconds(20),
                payer: CheckpointPayer::Provider,
                gap_end: GapEnd::Checkpoint,
                resume: ResumeRule::Any,
                memory_price: 0.0,
                bandwidth: Bandwidth::Own,
            };
            let settings = MarketSettings {
                clusters: CLUSTERS,
                policy: PolicySpec {
                    acceptance: Acceptance::Pof { maximum: 0.6 },
                    checkpoint: migrates.then_some(saving),
                    ..PolicySpec::named("heuristic-overbooking")
                },
                rule,
                value: 1.5,
                damage: 2.0,
                penalty: 1.0,
                discount: 0.5,
                optimists: 0.5,
                optimism: 0.2,
                prior_failures: 1.0,
                half_life_jobs: 20.0,
                migration: migrates.then_some(MigrationSettings {
                    gib_per_node: 4.0,
                    bandwidth_gib_s: 1.0,
                    latency: Seconds(60),
                    storage: CheckpointStorage::Remote,
                }),
                home: overflow.map(|overflow| HomeSettings {
                    of: HomeRule::Drawn {
                        first_percent: Some(60.0),
                    },
                    overflow,
                }),
                load_pricing: overflow.map(|_| LoadPricing {
                    slope: 1.0,
                    usual_load: 0.5,
                    lowest: 0.5,
                    highest: 2.0,
                    supply: PricedSupply::Overbooked,
                    horizon: Seconds(7_200),
                }),
                auction,
                cluster_failures: None,
                speeds: Vec::new(),
                prices: Vec::new(),
                budget: None,
            };
            let (acted, called) = both(|| market_scene(&settings, &inputs, true).unwrap());
            assert!(acted.is_over && called.is_over);
            let called = MarketRun::of(called);
            assert_eq!(MarketRun::of(acted), called, "{seed} {rule:?} {migrates}");
            assert_eq!(called.metrics.submitted, 200);
            moves += called.moves.len();
            broken += called.providers.iter().map(|it| it.broken).sum::<u64>();
        }
    }
    assert!(moves > 10 && broken > 100, "{moves} {broken}");
}
