//! Clusters that lend each other nodes.

use super::*;
use bookahead_core::failures::{NodeEvent, SurvivalModel};
use bookahead_core::scheduling::ClusterMachine;
use bookahead_core::units::NodeIndex;
use bookahead_overbooking::registry;

const HOUR: i64 = 3_600;

const LEND: Overflow = Overflow::Lend { places: None };

fn hours(start: i64, end: i64) -> (Seconds, Seconds) {
    (Seconds(start * HOUR), Seconds(end * HOUR))
}

/// Clusters on which nothing is believed to fail.
fn lending(strategy: &str, clusters: u32, of: HomeRule, overflow: Overflow) -> MarketSettings {
    let mut settings = MarketSettings {
        clusters,
        optimists: 0.0,
        home: Some(HomeSettings { of, overflow }),
        ..settings(DelegationRule::Promised)
    };
    settings.policy.strategy = strategy.to_owned();
    settings.policy.reliability.failure_rate_per_hour = 0.0;
    settings.policy.reliability.survival = SurvivalModel::Poisson { rate_per_hour: 0.0 };
    settings
}

/// Two clusters of four nodes, by user.
fn two(strategy: &str) -> MarketSettings {
    lending(strategy, 2, HomeRule::User, LEND)
}

#[test]
fn six_nodes_are_had_for_as_long_as_two_of_them_are_lent() {
    let settings = two("comprehensive-overbooking");
    let statistics = inputs(200, 1).estimates;
    let strategy = registry::strategy("comprehensive-overbooking").unwrap();
    let policy = (strategy.build)(Nodes(8), &settings.policy, statistics);
    let mut machine = ClusterMachine::new(Nodes(8), policy);
    machine.make_places(Nodes(4));
    let wide = |hours: i64| {
        Job::rigid(JobId(0), Seconds::ZERO, Nodes(6), Seconds(hours * HOUR))
            .due_by(Seconds(hours * HOUR))
    };
    assert_eq!(machine.quote_job(&wide(8)), None);
    let (start, end) = hours(0, 8);
    let places = machine.borrow_nodes(Nodes(2), start, end).unwrap();
    assert_eq!(machine.empty_places(), Nodes(2));
    machine.settle(Seconds::ZERO);
    let quote = machine.quote_job(&wide(8)).unwrap();
    assert_eq!(
        (quote.start, quote.end, quote.overbooked),
        (start, end, false)
    );
    let quote = machine.quote_job(&wide(9)).unwrap();
    assert_eq!(
        (quote.start, quote.end, quote.overbooked),
        (start, end, true)
    );
    machine.revoke_loan(&places, start);
    machine.settle(Seconds::ZERO);
    assert_eq!(machine.quote_job(&wide(8)), None);
    assert_eq!(machine.empty_places(), Nodes(4));
}

/// Home is busy for 10 h, the other cluster for `other` hours. The last job wants four nodes of its
/// home for 6 h before 12 h.
fn busy(strategy: &str, other: i64) -> (MarketSettings, MarketInputs) {
    let job = |id, user, hours, due| Job {
        user: Some(user),
        ..Job::rigid(JobId(id), Seconds::ZERO, Nodes(4), Seconds(hours * HOUR))
            .due_by(Seconds(due * HOUR))
    };
    let mut inputs = inputs(1, 1);
    inputs.nodes = Nodes(4);
    inputs.jobs = match other {
        0 => [job(0, 0, 10, 10), job(1, 0, 6, 12)].into(),
        _ => [job(0, 0, 10, 10), job(1, 1, other, other), job(2, 0, 6, 12)].into(),
    };
    (two(strategy), inputs)
}

#[test]
fn a_job_stays_at_home_where_another_cluster_lends_what_is_missing() {
    for (other, slot) in [(0, Some((0, 6))), (5, Some((5, 11))), (7, None)] {
        let (settings, inputs) = busy("conservative-backfilling", other);
        let run = simulate(&settings, &inputs);
        let wanted = JobId(inputs.jobs.len() as u32 - 1);
        let found = run.delegations.iter().find(|it| it.job == wanted);
        let got = found.map(|it| {
            let promise = it.outcome.as_ref().unwrap().promise.as_ref().unwrap();
            assert_eq!(it.cluster, 0, "its home runs it");
            (promise.start.0 / HOUR, promise.end.0 / HOUR)
        });
        assert_eq!(got, slot);
        let jobs = inputs.jobs.len() as f64;
        let part = if slot.is_some() { 100.0 / jobs } else { 0.0 };
        assert_eq!(run.measured.get("market_borrowing_percent"), Some(part));
        assert_eq!(run.measured.get("market_away_percent"), Some(0.0));
    }
}

#[test]
fn what_is_lent_is_not_there_for_those_at_home_with_the_lender() {
    let (settings, mut inputs) = busy("conservative-backfilling", 0);
    let late = |id, hours, due| Job {
        user: Some(1),
        ..Job::rigid(JobId(id), Seconds(HOUR), Nodes(1), Seconds(hours * HOUR))
            .due_by(Seconds(due * HOUR))
    };
    let mut jobs = inputs.jobs.to_vec();
    jobs.extend([late(2, 1, 5), late(3, 1, 7)]);
    inputs.jobs = jobs.into();
    let run = simulate(&settings, &inputs);
    let of = |job| run.delegations.iter().find(|it| it.job == JobId(job));
    assert!(of(2).is_none(), "all of its nodes are away until 6 h");
    let promise = of(3).unwrap().outcome.as_ref().unwrap().promise;
    assert_eq!(promise.unwrap().start, Seconds(6 * HOUR));
}

#[test]
fn a_job_is_lost_with_a_node_that_was_lent_for_it() {
    let (settings, mut inputs) = busy("conservative-backfilling", 5);
    let event = |tenths: i64, up| NodeEvent {
        time: Seconds(tenths * HOUR / 10),
        node: NodeIndex(2),
        up,
    };
    let verdict = |inputs: &MarketInputs| {
        let run = simulate(&settings, inputs);
        let last = run.job_outcomes(&inputs.jobs).pop().unwrap();
        last.verdict
    };
    // It runs from 5 to 11 h. Before, and from then on, nothing of it is there; a node that is
    // broken when it is lent is broken there, too.
    for (down, up, is_lost) in [
        (70, 80, true),
        (10, 20, false),
        (111, 120, false),
        (45, 55, true),
        (110, 115, false),
    ] {
        inputs.failures = vec![
            FailureTrace::default(),
            FailureTrace {
                events: vec![event(down, false), event(up, true)],
            },
        ];
        // The job that the other cluster runs until 5 h is hit by what fails before.
        let found = verdict(&inputs);
        assert_eq!(found.is_failed(), is_lost, "{down} to {up}: {found:?}");
        assert!(found.is_failed() || found.is_successful());
    }
}

#[test]
fn alone_nobody_lends_and_a_home_is_as_if_it_kept_its_jobs() {
    for strategy in registry::lending() {
        let of = |overflow| {
            let settings = lending(strategy, 1, HomeRule::User, overflow);
            let mut run = simulate(&settings, &inputs(400, 3));
            run.measured = Default::default();
            run
        };
        assert_eq!(of(Overflow::Stay), of(LEND));
    }
}

#[test]
fn no_node_is_in_two_places_and_no_money_is_lost() {
    let mut lent = 0.0;
    for (strategy, seed) in registry::lending()
        .into_iter()
        .flat_map(|it| [(it, 1), (it, 2)])
    {
        let drawn = HomeRule::Drawn {
            first_percent: Some(60.0),
        };
        let settings = lending(
            strategy,
            3,
            drawn,
            Overflow::Lend {
                places: Some(Nodes(5)),
            },
        );
        let mut inputs = inputs(300, seed);
        let mut stream = random::stream(seed, "market", 0, "breaks");
        inputs.failures = (0..3)
            .map(|_| {
                let mut time = 0;
                let breaks = (0..40).flat_map(|_| {
                    time += stream.random_range(100..1_500);
                    let (down, node) = (time, NodeIndex(stream.random_range(0..NODES)));
                    time += stream.random_range(1..900);
                    [(down, node, false), (time, node, true)]
                });
                let events = breaks.map(|(time, node, up)| NodeEvent {
                    time: Seconds(time),
                    node,
                    up,
                });
                FailureTrace {
                    events: events.collect(),
                }
            })
            .collect();
        let run = simulate(&settings, &inputs);
        assert_eq!(run, simulate(&settings, &inputs));
        assert_eq!(run.job_outcomes(&inputs.jobs).len(), 300);
        // Over all clusters no more nodes are in use than there are.
        let mut changes = Vec::new();
        for delegation in &run.delegations {
            let outcome = delegation.outcome.as_ref().unwrap();
            if let (Some(start), Some(end), 0) = (outcome.start, outcome.end, outcome.restarts) {
                changes.push((end, -i64::from(outcome.job.nodes.0)));
                changes.push((start, i64::from(outcome.job.nodes.0)));
            }
        }
        changes.sort_unstable();
        let mut used = 0;
        for (time, change) in changes {
            used += change;
            assert!(used <= 3 * i64::from(NODES), "{used} nodes at {time:?}");
        }
        assert_books_balance(&settings, &inputs.jobs, &run);
        let get = |name| run.measured.get(name).unwrap();
        lent += get("market_borrowing_percent");
    }
    assert!(lent > 4.0, "{lent} % in four runs");
}

#[test]
fn only_nodes_that_are_planned_one_by_one_are_lent() {
    let refused = |settings: &MarketSettings| {
        let scene = market_scene(settings, &inputs(1, 1), true);
        scene.err().unwrap().to_string()
    };
    let counted = refused(&two("heuristic-planning"));
    assert!(counted.contains("conservative-backfilling"), "{counted}");
}

#[test]
fn the_places_of_borrowed_nodes_are_no_capacity() {
    let (settings, inputs) = busy("conservative-backfilling", 0);
    let lent = simulate(&settings, &inputs);
    // Both homes end with the job of 10 h; the job of the other one runs at home, too.
    assert_eq!(lent.metrics.capacity, Nodes(4).for_span(Seconds(10 * HOUR)));
}
