//! Sites of unlike speed, and what a processor-hour costs there (Singh 2008, §3, p. 17–18).

use bookahead_core::random::stream;
use bookahead_core::workload::workflows::{
    Network, SyntheticSettings, Task, TaskId, Workflow, synthetic,
};

use super::*;
use crate::provisioning::QueueChoice;

/// The application that a workflow is on sites of 32 processors with these speeds and prices.
fn at(workflow: &Workflow, speeds: &[f64], prices: &[f64]) -> Application {
    let sizes = vec![Nodes(32); speeds.len()];
    let workflow = workflow.at_speeds(speeds).unwrap();
    let application = Application::of(&workflow, &sizes, &Network::default()).unwrap();
    application.priced(prices)
}

fn one_task() -> Workflow {
    let task = Task {
        name: "task".to_owned(),
        module: "task".to_owned(),
        nodes: Nodes(22),
        seconds: 1_000.0,
        seconds_by_resource: Vec::new(),
    };
    Workflow::new("one", vec![task], Vec::new()).unwrap()
}

/// What becomes of an application that is submitted to idle sites.
fn on_idle_sites(
    application: Application,
    settings: &ProvisioningSettings,
    sites: usize,
) -> ProvisioningOutcome {
    let sites = vec![workload(32, Vec::new()); sites];
    let inputs = inputs_of(sites, application, settings, &[Seconds::ZERO]);
    let run = simulate(&inputs, settings, &seed_of(1)).unwrap();
    run.outcomes.into_iter().next().unwrap()
}

fn hundredths(cost: f64) -> f64 {
    (100.0 * cost).round() / 100.0
}

/// S7 of the addendum: 22 processors for 1,000 s are 22,000 / 3,600 = 6.11 SU at speed 1 and c 1.
/// At speed 2 it is 500 s, with c 2 again 6.11 SU, and with c 1 it is 11,000 / 3,600 = 3.06 SU.
#[test]
fn a_task_takes_half_as_long_at_twice_the_speed_and_costs_its_time_at_the_price_of_the_site() {
    let vectors = [
        (1.0, 1.0, 1_000, 6.11),
        (2.0, 2.0, 500, 6.11),
        (2.0, 1.0, 500, 3.06),
    ];
    for (speed, price, seconds, cost) in vectors {
        for (provider, search) in kinds() {
            for commitment in [
                Commitment::Discarded,
                Commitment::Committed { submissions: 1 },
            ] {
                let wish = Wish::TradeOff { alpha: 0.5 };
                let mut settings = settings_of(provider, search, wish);
                settings.commitment = commitment;
                let application = at(&one_task(), &[speed], &[price]);
                assert_eq!(hundredths(application.least_cost() / 3_600.0), cost);
                let outcome = on_idle_sites(application, &settings, 1);
                let told = |run: &TaskRun| (run.end - run.start).0;
                assert_eq!(
                    outcome.tasks.iter().map(told).collect::<Vec<_>>(),
                    [seconds]
                );
                let realised = outcome.realised;
                assert_eq!(realised.makespan, Seconds(seconds));
                assert_eq!(hundredths(realised.cost), cost, "{search:?}");
                assert_eq!(hundredths(outcome.costs[0]), cost);
                let best_effort = outcome.best_effort.unwrap();
                assert_eq!(hundredths(best_effort.cost), cost);
                assert_eq!(best_effort.makespan, Seconds(seconds));
                let planned = outcome.planned.map(|planned| hundredths(planned.cost));
                assert_eq!(planned.unwrap_or(cost), cost);
                for slot in &outcome.slots {
                    assert_eq!((hundredths(slot.cost), slot.slot.unit_price), (cost, price));
                }
            }
        }
    }
}

/// At the fast site the task costs 500 s · 22 · 3 = 9.17 SU, at the slow one 6.11 SU for 1,000 s.
/// With a budget of 7 SU or a deadline of 1,000 s the slow one is taken, with 10 SU or 999 s the
/// fast one. A multiple of best effort counts from the cheapest site.
#[test]
fn who_wants_it_early_takes_the_fast_site_and_who_wants_it_cheap_the_slow_one() {
    let trade_off = |alpha| Wish::TradeOff { alpha };
    let budget = |service_units| Wish::Budget { service_units };
    let deadline = |after| Wish::Deadline {
        after: Seconds(after),
    };
    for (wish, site) in [
        (trade_off(0.0), 1),
        (trade_off(1.0), 0),
        (budget(7.0), 0),
        (budget(10.0), 1),
        (deadline(1_000), 0),
        (deadline(999), 1),
    ] {
        let application = at(&one_task(), &[1.0, 2.0], &[1.0, 3.0]);
        assert_eq!(application.least_cost(), 22_000.0);
        for search in [SearchMethod::Greedy, SearchMethod::SingleSlot] {
            let settings = settings_of(queried(), search, wish);
            let outcome = on_idle_sites(application.clone(), &settings, 2);
            assert_eq!(outcome.tasks[0].site, site, "{search:?} {wish:?}");
            assert_eq!(outcome.slots[0].slot.unit_price, [1.0, 3.0][site]);
            assert_eq!(hundredths(outcome.realised.cost), [6.11, 9.17][site]);
        }
    }
}

/// Both sites are idle. Who counts tasks goes to the first, and who looks at predicted ends to the
/// faster one; of two copies that could start at once the first site has it.
#[test]
fn best_effort_by_predicted_waits_goes_where_a_task_ends_first() {
    for (queue_choice, site) in [
        (QueueChoice::FewestTasks, 0),
        (QueueChoice::PredictedWait { quantile: 0.5 }, 1),
        (QueueChoice::Redundant { copies: 2 }, 0),
    ] {
        for commitment in [
            Commitment::Discarded,
            Commitment::Committed { submissions: 1 },
        ] {
            let wish = Wish::TradeOff { alpha: 0.0 };
            let settings = ProvisioningSettings {
                queue_choice,
                commitment,
                ..settings_of(queried(), SearchMethod::BestEffort, wish)
            };
            let application = at(&one_task(), &[1.0, 2.0], &[1.0, 3.0]);
            let outcome = on_idle_sites(application, &settings, 2);
            assert_eq!(outcome.tasks[0].site, site, "{queue_choice:?}");
            assert_eq!(hundredths(outcome.realised.cost), [6.11, 9.17][site]);
        }
    }
}

/// c of a reservation is a multiple of the price of the site: 1.5 · 3 · 11,000 / 3,600 = 13.75 SU,
/// by queries and from an advertised slot.
#[test]
fn c_of_reserved_hours_and_of_a_tariff_are_multiples_of_the_price_of_the_site() {
    for (provider, search) in [
        (queried(), SearchMethod::Greedy),
        (queried(), SearchMethod::SingleSlot),
        (rectangles(), SearchMethod::Moga),
    ] {
        let mut settings = settings_of(provider, search, Wish::TradeOff { alpha: 0.0 });
        settings.replanning.reserved_unit_price = Some(1.5);
        settings.tariff.unit_price = 1.5;
        let outcome = on_idle_sites(at(&one_task(), &[2.0], &[3.0]), &settings, 1);
        assert_eq!(outcome.planned.map(|planned| planned.cost), Some(13.75));
        assert_eq!(outcome.realised.cost, 13.75);
        assert_eq!(outcome.slots[0].slot.unit_price, 4.5);
    }
}

fn drawn(seed: u64) -> Workflow {
    let settings = SyntheticSettings {
        tasks: 12,
        mean_nodes: Nodes(5),
        mean_bytes: 12_500_000_000,
        ..SyntheticSettings::default()
    };
    synthetic(&settings, &mut stream(seed, "site speeds", 0, "workflow")).unwrap()
}

/// The same with run times that are half as long.
fn halved(workflow: &Workflow) -> Workflow {
    let tasks = workflow.tasks().iter().map(|task| Task {
        seconds: task.seconds / 2.0,
        ..task.clone()
    });
    Workflow::new(workflow.name(), tasks.collect(), workflow.edges().to_vec()).unwrap()
}

/// Two sites whose nodes fail, and slots that are given back.
fn played(
    seed: u64,
    application: &Application,
    (provider, search): (Provider, SearchMethod),
    submissions: u32,
) -> (ProvisioningInputs, ProvisioningRun) {
    let mut settings = settings_of(provider, search, Wish::TradeOff { alpha: 0.4 });
    settings.refund = Refund::Both {
        penalty_factor: 0.1,
    };
    let mut instants = vec![Seconds(60_000)];
    if submissions > 1 {
        settings.commitment = Commitment::Committed { submissions };
        instants.push(Seconds(63_000));
    }
    let sites = (0..2).map(|site| SiteWorkload {
        failures: Arc::new(failing_nodes(seed, 300)),
        nodes: Nodes(32),
        ..drawn_site(seed, site)
    });
    let inputs = inputs_of(sites.collect(), application.clone(), &settings, &instants);
    let run = simulate(&inputs, &settings, &seed_of(seed)).unwrap();
    (inputs, run)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn speeds_and_prices_of_one_change_nothing_and_a_speed_of_two_is_half_the_run_time_by_hand(
        seed in 0_u64..100_000,
        price in prop_oneof![Just(1.0), Just(1.5), Just(2.0)],
        submissions in 1_u32..3,
    ) {
        let workflow = drawn(seed);
        let sizes = [Nodes(32); 2];
        let by_hand = |workflow: &Workflow| {
            Application::of(workflow, &sizes, &Network::default()).unwrap()
        };
        let half = by_hand(&halved(&workflow)).priced(&[price; 2]);
        let twice = at(&workflow, &[2.0; 2], &[price; 2]);
        for (task, id) in half.tasks().iter().zip(0..) {
            let seconds = workflow.task(TaskId(id)).seconds;
            prop_assert_eq!(task.runtimes[0].0, ((seconds / 2.0).ceil() as i64).max(1));
        }
        for kind in kinds() {
            let play = |application: &Application| played(seed, application, kind, submissions).1;
            prop_assert_eq!(play(&by_hand(&workflow)), play(&at(&workflow, &[1.0; 2], &[1.0; 2])));
            prop_assert_eq!(play(&half), play(&twice));
        }
    }

    #[test]
    fn whatever_goes_wrong_at_unlike_sites_run_times_and_money_are_those_of_the_site(
        seed in 0_u64..100_000,
        speeds in (0.3..3.0_f64, 0.3..3.0_f64),
        prices in (0.0..4.0_f64, 0.0..4.0_f64),
        submissions in 1_u32..3,
    ) {
        let prices = [prices.0, prices.1];
        let application = at(&drawn(seed), &[speeds.0, speeds.1], &prices);
        for kind in kinds() {
            let (inputs, run) = played(seed, &application, kind, submissions);
            check(&inputs, &run)?;
            for outcome in &run.outcomes {
                let shares: f64 = outcome.costs.iter().sum();
                prop_assert!((shares - outcome.realised.cost).abs() < 1e-6);
                for slot in &outcome.slots {
                    prop_assert!((slot.slot.unit_price - prices[slot.site]).abs() < 1e-9);
                }
                let best_effort = outcome.best_effort.as_ref().unwrap();
                let placed = application.tasks().iter().zip(&best_effort.placements);
                let cost: f64 = placed
                    .map(|(task, placed)| {
                        let work = task.nodes.for_span(placed.end - placed.start);
                        work.coins().0 * prices[placed.site]
                    })
                    .sum();
                prop_assert!((best_effort.cost - cost).abs() < 1e-6);
                let least = application.least_cost() / 3_600.0;
                prop_assert!(best_effort.cost >= least - 1e-9);
            }
        }
    }

    /// Prices that are twice as high everywhere double what is advertised, and change no plan.
    #[test]
    fn prices_of_two_everywhere_double_the_cost_of_advertised_slots_and_change_no_plan(
        seed in 0_u64..100_000,
    ) {
        let workflow = drawn(seed);
        let genetic = kinds().into_iter().filter(|(_, search)| {
            matches!(search, SearchMethod::Moga | SearchMethod::Nsga2 | SearchMethod::BestEffort)
        });
        for kind in genetic {
            let play = |price| {
                let application = at(&workflow, &[1.0, 2.0], &[price; 2]);
                played(seed, &application, kind, 1).1.outcomes.remove(0)
            };
            let (once, twice) = (play(1.0), play(2.0));
            prop_assert_eq!(&once.tasks, &twice.tasks);
            prop_assert!((2.0 * once.realised.cost - twice.realised.cost).abs() < 1e-6);
            let cost = |outcome: &ProvisioningOutcome| outcome.best_effort.as_ref().unwrap().cost;
            prop_assert!((2.0 * cost(&once) - cost(&twice)).abs() < 1e-6);
        }
    }
}
