//! Slots on the network, from the search to the outcome (Singh 2008, §8).

use bookahead_core::workload::workflows::Network;

use super::*;
use crate::provisioning::measures::provisioning_measures;
use crate::provisioning::{NetworkSlots, QueueChoice, SiteChoice};

/// Two tasks of a processor that run ten seconds at the first site and a day at the second, and one
/// that needs four processors, which only the second has, and 1000 Gbit of each of them.
fn meeting(slots: NetworkSlots) -> Application {
    let network = slots.at_rate_of_a_slot(&Network::default());
    let first = ApplicationTask {
        nodes: Nodes(1),
        runtimes: vec![Seconds(10), HOUR * 24],
        parents: Vec::new(),
    };
    let after = |parent| Dependency {
        parent,
        transfer: network.whole_seconds(125_000_000_000),
    };
    let last = ApplicationTask {
        nodes: Nodes(4),
        runtimes: vec![HOUR; 2],
        parents: vec![after(0), after(1)],
    };
    let tasks = vec![first.clone(), first, last];
    Application::new(tasks, vec![0, 1, 2]).over(slots.terms(&network))
}

fn inputs(
    slots: NetworkSlots,
    settings: &ProvisioningSettings,
    last_site: SiteWorkload,
    submissions: usize,
) -> ProvisioningInputs {
    let sites = vec![workload(2, Vec::new()), last_site];
    let instants = vec![Seconds(600); submissions];
    inputs_of(sites, meeting(slots), settings, &instants)
}

fn run(
    slots: NetworkSlots,
    settings: &ProvisioningSettings,
    last_site: SiteWorkload,
    submissions: usize,
) -> Vec<ProvisioningOutcome> {
    let inputs = inputs(slots, settings, last_site, submissions);
    simulate(&inputs, settings, &seed_of(1)).unwrap().outcomes
}

/// With `search` where it ends first.
fn fast(provider: Provider, search: SearchMethod) -> ProvisioningSettings {
    let mut settings = settings_of(provider, search, Wish::TradeOff { alpha: 0.0 });
    settings.site_choice = SiteChoice::EarliestFinish;
    if !settings.has_rectangles() {
        settings.queue_choice = QueueChoice::PredictedWait { quantile: 0.5 };
    }
    settings
}

/// Seconds that transfers waited for their slots.
fn waited(outcome: &ProvisioningOutcome) -> Vec<i64> {
    let slots = outcome.transfers.iter();
    slots.map(|slot| (slot.start - slot.ready).0).collect()
}

/// The first two end after 10 s. Without contention the last begins at 10 + 250 s; in one lane the
/// second transfer waits for 100 s; in two, each takes 100 s more. By hand: 2 · 10 s + 4 · 1 h, and
/// 0.001 SU for each of 2000 Gbit.
#[test]
fn every_search_waits_for_the_slots_of_its_data_and_pays_for_them() {
    let mut all = kinds();
    all.retain(|(_, search)| {
        !matches!(search, SearchMethod::SingleSlot | SearchMethod::BestEffort)
    });
    all.push((queried(), SearchMethod::BestEffort));
    let by_hand = 20.0 / 3_600.0 + 4.0 + 2.0;
    for (provider, search) in all {
        for (lanes, start, waits) in [(0, 260, [0, 0]), (1, 360, [0, 100]), (2, 360, [0, 0])] {
            let settings = fast(provider, search);
            let slots = NetworkSlots { lanes, price: 1e-3 };
            let outcome = &run(slots, &settings, workload(4, Vec::new()), 1)[0];
            let label = format!("{search:?} {provider:?} {lanes} lanes");
            let makespan = outcome.realised.makespan;
            assert_eq!(makespan, Seconds(start) + HOUR, "{label}");
            assert_eq!(waited(outcome), waits, "{label}");
            let cost = outcome.realised.cost;
            assert!((cost - by_hand).abs() < 1e-9, "{label}: {cost}");
        }
    }
}

/// The tasks of the second application run at 10 s, after those of the first, whose transfers hold
/// the lane from 10 to 210 s; the second's begin at 210 and 310 s, and its data is there at 560 s.
#[test]
fn committed_applications_take_the_lane_one_after_the_other() {
    for search in [SearchMethod::Greedy, SearchMethod::BestEffort] {
        let mut settings = fast(queried(), search);
        settings.commitment = Commitment::Committed { submissions: 2 };
        let slots = NetworkSlots {
            lanes: 1,
            price: 0.0,
        };
        let outcomes = run(slots, &settings, workload(8, Vec::new()), 2);
        let makespans = outcomes.iter().map(|it| it.realised.makespan - HOUR);
        let makespans: Vec<Seconds> = makespans.collect();
        assert_eq!(makespans, [Seconds(360), Seconds(560)], "{search:?}");
        assert_eq!(waited(&outcomes[1]), [190, 290], "{search:?}");
    }
}

/// Each reservation is 600 s under way. The first tasks end at 1,210 and 1,810 s; the last is to
/// begin at 2,400 s, and a job takes its processors at 2,000 s.
#[test]
fn when_a_task_is_refused_its_slots_on_the_network_are_free_again() {
    let mut settings = fast(queried(), SearchMethod::Greedy);
    settings.latency = Seconds(600);
    let slots = NetworkSlots {
        lanes: 1,
        price: 1e-3,
    };
    let taken = || workload(4, vec![job(0, 2_000, 4, 7_200)]);
    let outcome = &run(slots, &settings, taken(), 1)[0];
    assert_eq!(outcome.realised.gone, 1);
    assert_eq!(outcome.tasks[2].start, Seconds(9_200));
    let begun = outcome.transfers.iter().map(|slot| slot.start);
    assert_eq!(begun.collect::<Vec<_>>(), [Seconds(1_210), Seconds(1_810)]);
    settings.replans = 0;
    let outcome = &run(slots, &settings, taken(), 1)[0];
    assert!(!outcome.realised.completed);
    assert_eq!(outcome.transfers, []);
    assert_eq!(outcome.realised.cost, 20.0 / 3_600.0);
}

/// One of two transfers waits for 100 s. Both hold their slots for 100 s, of two pairs of sites for
/// the 3,960 s that the application takes; at half the rate, twice as long in twice the lanes.
#[test]
fn transfers_are_counted_with_their_waits_their_use_and_their_cost() {
    let settings = fast(queried(), SearchMethod::Greedy);
    let measured = |lanes, price| {
        let slots = NetworkSlots { lanes, price };
        let inputs = inputs(slots, &settings, workload(4, Vec::new()), 1);
        let run = simulate(&inputs, &settings, &seed_of(1)).unwrap();
        provisioning_measures(&inputs, &settings, &run)
    };
    let one = measured(1, 1e-3);
    let two = measured(2, 1e-3);
    for (name, in_one, in_two) in [
        ("wf_transfers", 2.0, 2.0),
        ("wf_transfer_wait_minutes", 50.0 / 60.0, 0.0),
        (
            "wf_network_use_percent",
            100.0 * 200.0 / (2.0 * 3_960.0),
            100.0 * 400.0 / (2.0 * 2.0 * 3_960.0),
        ),
        ("wf_network_su", 2.0, 2.0),
    ] {
        for (measured, wanted) in [(&one, in_one), (&two, in_two)] {
            let found = measured.get(name).unwrap();
            assert!((found - wanted).abs() < 1e-9, "{name}: {found}");
        }
        assert_eq!(measured(0, 0.0).get(name), None);
    }
}
