mod commitment;
mod failures;
mod memory_and_make;
mod network;
mod one_slot;
mod outlasting;
mod queues;
mod refunds;
mod running_sites;
mod several;
mod site_speeds;
mod users;

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use bookahead_core::failures::{FailureTrace, NodeEvent};
use bookahead_core::kernel::drive;
use bookahead_core::plan::SlotRules;
use bookahead_core::units::{NodeIndex, NodeSeconds, Nodes};
use bookahead_core::workload::{Job, JobId};
use bookahead_reservations::slots::SlotSource;

use super::super::{
    ApplicationTask, BoughtSlot, EdgeSale, HoleSale, PlanValue, Provider, ProvisioningError,
    ProvisioningOutcome, ProvisioningRun, Refund, SiteWorkload, SlotTariff, TaskFate, Wish,
    provisioning_scene,
};
use super::*;
use crate::provisioning::Dependency;
use crate::provisioning::testutils::{
    application_of, drawn_site, inputs_of, job, queried, rectangles, seed_of, settings_of, workload,
};

const HOUR: Seconds = Seconds::HOUR;

fn profile_slots() -> Provider {
    Provider::Advertised {
        source: SlotSource::Plan,
        rules: SlotRules::default(),
    }
}

fn simulate(
    inputs: &ProvisioningInputs,
    settings: &ProvisioningSettings,
    seed: &StreamSeed,
) -> Result<ProvisioningRun, ProvisioningError> {
    let scene = provisioning_scene(&Arc::new(inputs.clone()), settings, seed)?;
    ProvisioningRun::of(drive(scene, false))
}

/// Every kind of site with every search that it allows.
fn kinds() -> Vec<(Provider, SearchMethod)> {
    vec![
        (queried(), SearchMethod::Greedy),
        (rectangles(), SearchMethod::Moga),
        (rectangles(), SearchMethod::Nsga2),
        (rectangles(), SearchMethod::WeightedSum),
        (profile_slots(), SearchMethod::Moga),
        (rectangles(), SearchMethod::BestEffort),
        (queried(), SearchMethod::BestEffort),
        (queried(), SearchMethod::SingleSlot),
        (queried(), SearchMethod::QueriedMoga),
    ]
}

/// Whatever was realised could have happened: tasks run after their parents and their data, in
/// slots that hold them, and money adds up.
fn check(inputs: &ProvisioningInputs, run: &ProvisioningRun) -> Result<(), TestCaseError> {
    let application = &inputs.application;
    for outcome in &run.outcomes {
        let real = inputs.real(outcome.submission as usize);
        let mut done = vec![None; application.tasks().len()];
        for run in outcome
            .tasks
            .iter()
            .filter(|run| run.fate == TaskFate::Done)
        {
            prop_assert!(
                done[run.task as usize].is_none(),
                "a task runs to its end once"
            );
            done[run.task as usize] = Some((run.site, run.start, run.end));
            prop_assert!(run.start >= outcome.submitted);
            if let Some(slot) = run.slot {
                let slot = &outcome.slots[slot as usize];
                prop_assert_eq!(slot.site, run.site);
                prop_assert!(slot.slot.start <= run.start && slot.slot.lasts_until(run.end));
            }
        }
        if outcome.realised.completed {
            prop_assert!(done.iter().all(Option::is_some));
        }
        for (task, needs) in application.tasks().iter().enumerate() {
            let Some((site, start, end)) = done[task] else {
                continue;
            };
            prop_assert_eq!(end - start, real.tasks()[task].runtimes[site]);
            for dependency in &needs.parents {
                let parent = done[dependency.parent];
                let (parent_site, _, parent_end) = parent.expect("parents come first");
                let transfer = if parent_site == site {
                    Seconds::ZERO
                } else {
                    dependency.transfer
                };
                prop_assert!(start >= parent_end + transfer);
            }
        }
        let bought: f64 = outcome.slots.iter().map(|slot| slot.cost).sum();
        if !outcome.slots.is_empty() {
            prop_assert!((bought - outcome.realised.cost).abs() < 1e-6);
            let given_back = |slot: &BoughtSlot| slot.refunded + slot.forfeited;
            let slots = outcome.slots.iter();
            prop_assert!(
                slots
                    .clone()
                    .all(|slot| slot.cost >= -1e-9 && slot.refunded >= 0.0)
            );
            prop_assert!(
                slots
                    .clone()
                    .all(|slot| given_back(slot) <= slot.cost + slot.refunded + 1e-9)
            );
            let used: i64 = outcome.slots.iter().map(|slot| slot.used.0).sum();
            let ran = outcome
                .tasks
                .iter()
                .filter(|run| run.fate != TaskFate::Abandoned);
            let ran: i64 = ran
                .map(|run| run.nodes.for_span(run.end - run.start).0)
                .sum();
            prop_assert_eq!(used, ran);
        }
        prop_assert!(outcome.realised.wasted <= bought + 1e-6);
    }
    Ok(())
}

fn tariffs() -> impl Strategy<Value = SlotTariff> {
    let holes = prop_oneof![Just(HoleSale::Whole), Just(HoleSale::Parts)];
    let edges = prop_oneof![Just(EdgeSale::Extensible), Just(EdgeSale::Bounded)];
    let prices = (0.5..3.0_f64, 0.0..9.0_f64, 0.5..4.0_f64);
    (prices, 0_u8..12, holes, edges).prop_map(|(prices, day_begins, holes, edges)| SlotTariff {
        unit_price: prices.0,
        fixed_price: prices.1,
        day_factor: prices.2,
        day_begins,
        day_ends: day_begins + 10,
        holes,
        edges,
    })
}

fn refunds() -> impl Strategy<Value = Refund> {
    let factors = prop_oneof![Just(0.0), Just(0.1), Just(0.5), Just(1.0)];
    (0..3, factors).prop_map(|(kind, penalty_factor)| match kind {
        0 => Refund::None,
        1 => Refund::Rest { penalty_factor },
        _ => Refund::Both { penalty_factor },
    })
}

/// Brokers with a task of one node and two hours each at 06:00, at a site where from then on one
/// node is free until 10:00, when a job takes both for two hours.
fn beside_a_hole(brokers: u32, holes: HoleSale) -> ProvisioningRun {
    let site = workload(2, vec![job(0, 0, 1, 36_000), job(1, 1, 2, 7_200)]);
    let wish = Wish::TradeOff { alpha: 0.0 };
    let mut settings = settings_of(rectangles(), SearchMethod::Moga, wish);
    settings.brokers = brokers;
    settings.tariff = SlotTariff {
        unit_price: 2.0,
        fixed_price: 5.0,
        day_factor: 3.0,
        day_begins: 7,
        holes,
        ..SlotTariff::default()
    };
    let task = ApplicationTask {
        nodes: Nodes(1),
        runtimes: vec![HOUR * 2],
        parents: Vec::new(),
    };
    let application = Application::new(vec![task], vec![0]);
    let inputs = inputs_of(vec![site], application, &settings, &[HOUR * 6]);
    simulate(&inputs, &settings, &seed_of(3)).unwrap()
}

#[test]
fn a_slot_in_front_of_a_job_costs_what_the_tariff_says_whole_or_in_parts() {
    // An hour of the night, and three of the day or one; c is 2 at night and 6 by day, f is 5.
    for (holes, by_time, hours) in [(HoleSale::Whole, 20.0, 4.0), (HoleSale::Parts, 8.0, 2.0)] {
        let outcome = &beside_a_hole(1, holes).outcomes[0];
        let planned = outcome.planned.unwrap();
        assert_eq!(planned.makespan, HOUR * 2);
        assert_eq!(planned.cost, by_time + 5.0);
        assert_eq!(outcome.realised.cost, planned.cost);
        assert_eq!(outcome.slots.len(), 1);
        assert_eq!(outcome.slots[0].slot.unit_price, by_time / hours);
    }
}

#[test]
fn of_two_brokers_who_want_one_slot_the_second_finds_it_gone_and_takes_the_next() {
    // The next is behind the job, or where parts are sold the rest of the hole.
    for (holes, makespans) in [(HoleSale::Whole, [2, 8]), (HoleSale::Parts, [2, 4])] {
        let run = beside_a_hole(2, holes);
        let found: Vec<_> = (run.outcomes.iter())
            .map(|outcome| (outcome.realised.makespan, outcome.realised.gone))
            .collect();
        assert_eq!(
            found,
            [(HOUR * makespans[0], 0), (HOUR * makespans[1], 1)],
            "{holes:?}"
        );
        assert!(
            run.outcomes
                .iter()
                .all(|outcome| outcome.realised.completed)
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_discarded_plan_is_realised_as_it_was_made_and_never_cheaper_than_best_effort(
        seed in 0_u64..100_000,
        sites in 1_usize..4,
        alpha in prop_oneof![Just(0.0), Just(0.5), Just(1.0)],
    ) {
        for (provider, search) in kinds() {
            let settings = settings_of(provider, search, Wish::TradeOff { alpha });
            let workloads = (0..sites).map(|site| drawn_site(seed, site)).collect();
            let application = application_of(seed, sites, 15, 6);
            let inputs = inputs_of(workloads, application, &settings, &[Seconds(90_000)]);
            let run = simulate(&inputs, &settings, &seed_of(seed)).unwrap();
            check(&inputs, &run)?;
            let outcome = &run.outcomes[0];
            let best_effort = outcome.best_effort.as_ref().unwrap();
            // A short search over offers may find none that can be had together.
            let may_find_nothing = search == SearchMethod::QueriedMoga;
            prop_assert!(outcome.realised.completed || may_find_nothing);
            if outcome.planned.is_none() && may_find_nothing {
                prop_assert!(outcome.slots.is_empty() && outcome.front.is_empty());
                continue;
            }
            prop_assert_eq!(outcome.realised.gone, 0);
            prop_assert_eq!(outcome.realised.wasted, 0.0);
            prop_assert!(outcome.realised.cost >= best_effort.cost - 1e-9);
            if search == SearchMethod::BestEffort {
                prop_assert_eq!(outcome.planned, None);
                prop_assert_eq!(outcome.realised.makespan, best_effort.makespan);
                prop_assert_eq!(outcome.realised.cost, best_effort.cost);
                continue;
            }
            let planned = outcome.planned.unwrap();
            let realised = outcome.realised;
            prop_assert_eq!((planned.cost, planned.makespan), (realised.cost, realised.makespan));
            if search == SearchMethod::Greedy && alpha == 1.0 {
                // Singh 2008, §7.1: α = 1 takes what costs nothing extra, so that they are exactly
                // the same.
                prop_assert_eq!(realised.cost, best_effort.cost);
            }
            if settings.is_genetic() {
                let chosen: Vec<_> = outcome.front.iter().filter(|member| member.chosen).collect();
                prop_assert_eq!(chosen.len(), 1);
                prop_assert_eq!(chosen[0].value, planned);
                prop_assert!(outcome.front.is_sorted_by(|one, other| one.value.cost < other.value.cost));
            }
        }
    }

    /// A committed plan, reservations that are under way, and failing nodes: still nothing happens
    /// that cannot.
    #[test]
    fn whatever_goes_wrong_tasks_wait_for_their_parents_and_run_in_what_was_paid(
        seed in 0_u64..100_000,
        sites in 1_usize..3,
        latency in prop_oneof![Just(0_i64), Just(400), Just(3_000)],
        fails in any::<bool>(),
        committed in any::<bool>(),
        tariff in tariffs(),
        refund in refunds(),
        brokers in 1_u32..4,
    ) {
        for (provider, search) in kinds().into_iter().take(4) {
            let mut settings = settings_of(provider, search, Wish::TradeOff { alpha: 0.3 });
            settings.refund = refund;
            settings.tariff = tariff;
            settings.brokers = brokers;
            settings.latency = Seconds(latency);
            settings.replans = 3;
            if fails {
                settings.after_failure = AfterFailure::Fail;
            }
            let mut instants = vec![Seconds(60_000)];
            if committed {
                settings.commitment = Commitment::Committed { submissions: 2 };
                instants.push(Seconds(63_000));
            }
            let workloads = (0..sites).map(|site| SiteWorkload {
                failures: Arc::new(failing_nodes(seed, 300)),
                ..drawn_site(seed, site)
            });
            let application = application_of(seed, sites, 10, 6);
            let inputs = inputs_of(workloads.collect(), application, &settings, &instants);
            let run = simulate(&inputs, &settings, &seed_of(seed)).unwrap();
            check(&inputs, &run)?;
            for outcome in &run.outcomes {
                let realised = outcome.realised;
                let runs = |fate| outcome.tasks.iter().filter(|run| run.fate == fate).count();
                prop_assert_eq!(runs(TaskFate::Lost), realised.lost_tasks as usize);
                prop_assert!(realised.replans <= settings.replans);
                if fails {
                    prop_assert_eq!(realised.reprovisioned, 0);
                    prop_assert!(realised.lost_tasks == 0 || !realised.completed);
                } else if realised.completed {
                    prop_assert_eq!(realised.reprovisioned, realised.lost_tasks);
                }
            }
            prop_assert_eq!(run.effects.len(), if committed { sites } else { 0 });
        }
    }
}

fn failing_nodes(seed: u64, mean_seconds: i64) -> FailureTrace {
    use rand::RngExt;
    let mut stream = bookahead_core::random::stream(seed, "test", 0, "failing nodes");
    let mut time = 0;
    let mut events = Vec::new();
    while time < 200_000 {
        time += stream.random_range(10..2 * mean_seconds);
        let node = NodeIndex(stream.random_range(0..16));
        for (time, up) in [(time, false), (time + 5, true)] {
            events.push(NodeEvent {
                time: Seconds(time),
                node,
                up,
            });
        }
        time += 6;
    }
    FailureTrace::from_events(events).unwrap()
}

fn chain(nodes: u32, hours: &[i64]) -> Application {
    let tasks = hours
        .iter()
        .enumerate()
        .map(|(index, &hours)| ApplicationTask {
            nodes: Nodes(nodes),
            runtimes: vec![HOUR * hours],
            parents: index
                .checked_sub(1)
                .map(|parent| Dependency {
                    parent,
                    transfer: Seconds::ZERO,
                })
                .into_iter()
                .collect(),
        });
    Application::new(tasks.collect(), (0..hours.len()).collect())
}

fn run_one(
    site: SiteWorkload,
    application: Application,
    settings: &ProvisioningSettings,
    instants: &[Seconds],
) -> ProvisioningRun {
    let inputs = inputs_of(vec![site], application, settings, instants);
    simulate(&inputs, settings, &seed_of(1)).unwrap()
}

fn failing_at(site: SiteWorkload, time: Seconds) -> SiteWorkload {
    let event = |time, up| NodeEvent {
        time,
        node: NodeIndex(0),
        up,
    };
    let events = vec![event(time, false), event(time + HOUR, true)];
    SiteWorkload {
        failures: Arc::new(FailureTrace::from_events(events).unwrap()),
        ..site
    }
}

/// While the reservation is under way a job takes the place; the next plan goes behind it.
#[test]
fn a_start_that_is_gone_when_the_reservation_arrives_is_asked_for_again_and_counted() {
    for (provider, search) in [
        (queried(), SearchMethod::Greedy),
        (queried(), SearchMethod::SingleSlot),
        (rectangles(), SearchMethod::Moga),
    ] {
        let mut settings = settings_of(provider, search, Wish::TradeOff { alpha: 1.0 });
        settings.latency = Seconds(600);
        let site = workload(4, vec![job(0, 900, 4, 7_200)]);
        let run = run_one(site.clone(), chain(4, &[1]), &settings, &[Seconds(600)]);
        let outcome = &run.outcomes[0];
        // It wanted to begin at 1,200 s; the job runs from 900 to 8,100 s.
        assert_eq!(
            outcome.planned.unwrap().makespan,
            Seconds(if search == SearchMethod::Greedy {
                7_500 + 3_600
            } else {
                600 + 3_600
            }),
            "{search:?}"
        );
        assert_eq!((outcome.realised.gone, outcome.realised.replans), (1, 1));
        assert_eq!(outcome.tasks[0].start, Seconds(8_100));
        assert_eq!(outcome.realised.makespan, Seconds(7_500 + 3_600));
        assert_eq!(outcome.realised.cost, 4.0);

        settings.replans = 0;
        let run = run_one(site, chain(4, &[1]), &settings, &[Seconds(600)]);
        let realised = run.outcomes[0].realised;
        assert!(!realised.completed);
        assert_eq!(
            (realised.gone, realised.replans, realised.cost),
            (1, 0, 0.0)
        );
    }
}

/// One job runs, one waits for it; the application pushes in between and the waiting job starts
/// later.

#[test]
fn what_a_deadline_and_a_budget_leave_shrinks_with_time_and_money_spent() {
    let mut state = ApplicationState::new(0, Seconds(100), &ProvisioningSettings::default());
    state.paid = 3.0;
    let deadline = state.wish(Wish::Deadline { after: HOUR }, Seconds(700));
    assert_eq!(
        deadline,
        Wish::Deadline {
            after: Seconds(3_000)
        }
    );
    let budget = state.wish(
        Wish::Budget {
            service_units: 10.0,
        },
        Seconds(700),
    );
    assert_eq!(budget, Wish::Budget { service_units: 7.0 });
}

/// Not as an application that was given up: what a search found to hold the application holds it.
#[test]
fn a_plan_that_contradicts_its_search_is_an_error() {
    let wish = Wish::TradeOff { alpha: 0.0 };
    let settings = settings_of(rectangles(), SearchMethod::Moga, wish);
    let sites = vec![workload(4, Vec::new())];
    let mut inputs = inputs_of(sites, chain(4, &[1]), &settings, &[Seconds::ZERO]);
    let mut found = Genetic::default();
    let value = PlanValue {
        cost: 1.0,
        makespan: HOUR,
    };
    found.front.offer(value, || vec![false]);
    inputs.searched = Some(Arc::new(found));
    let error = simulate(&inputs, &settings, &seed_of(1)).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("the plan that the search chose"), "{text}");
}

#[test]
fn a_queried_slot_has_its_externality_in_its_price() {
    let settings = settings_of(
        queried(),
        SearchMethod::Greedy,
        Wish::TradeOff { alpha: 0.0 },
    );
    let hour = HOUR.0;
    // A job of two hours waits for the whole machine; a task of one hour goes before it and delays
    // it by one hour on 4 processors.
    let jobs = vec![job(0, 0, 4, hour), job(1, 5, 4, 2 * hour)];
    let run = run_one(workload(4, jobs), chain(2, &[1]), &settings, &[Seconds(10)]);
    let BoughtSlot {
        slot,
        cost,
        used,
        externality,
        ..
    } = run.outcomes[0].slots[0];
    assert_eq!(externality, NodeSeconds(4 * hour));
    assert_eq!((slot.fixed_price, slot.unit_price), (4.0, 1.0));
    assert_eq!((cost, used), (6.0, NodeSeconds(2 * hour)));
    assert_eq!(run.outcomes[0].realised.cost, 6.0);
}
