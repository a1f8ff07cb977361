//! Clusters of unlike speed and price, deadlines and budgets (Meltzer 2005, §4.7.1, Fig. 9).

use super::super::budget::within;
use super::*;

const HOUR: i64 = 3_600;

/// A, B, C and D: price, speed.
const CLUSTERS: [(f64, f64); 4] = [(1.0, 1.0), (2.0, 2.0), (3.0, 1.0), (2.0, 2.0)];

/// Certain clusters with these prices and speeds.
fn unlike(clusters: &[(f64, f64)], budget: Option<f64>) -> MarketSettings {
    let mut settings = MarketSettings {
        clusters: clusters.len() as u32,
        optimists: 0.0,
        prices: clusters.iter().map(|it| it.0).collect(),
        speeds: clusters.iter().map(|it| it.1).collect(),
        budget,
        ..settings(DelegationRule::DeadlineBudget)
    };
    settings.policy = PolicySpec::named("heuristic-planning");
    settings.policy.reliability.failure_rate_per_hour = 0.0;
    settings.policy.reliability.survival =
        bookahead_core::failures::SurvivalModel::Poisson { rate_per_hour: 0.0 };
    settings
}

/// 10 CPUs for two hours at speed 1, due in two hours.
fn job(id: u32) -> Job {
    Job::rigid(JobId(id), Seconds(0), Nodes(10), Seconds(2 * HOUR)).due_by(Seconds(2 * HOUR))
}

fn offers(starts: [f64; 4]) -> Vec<Offer> {
    let settings = unlike(&CLUSTERS, None);
    let offer = |(number, start): (usize, f64)| {
        let provider = Provider::new(&settings, Nodes(10), number as u32);
        let start = Seconds((start * HOUR as f64) as i64);
        let quote = JobQuote {
            start,
            end: start + Seconds((2.0 * HOUR as f64 / CLUSTERS[number].1) as i64),
            overbooked: false,
            pof: 0.0,
        };
        provider.offer(number, &job(0), &quote, (&settings, None))
    };
    starts.into_iter().enumerate().filter_map(offer).collect()
}

#[test]
fn the_cheapest_group_comes_first_then_the_start_within_deadline_and_budget() {
    let mut ties = random::stream(1, "market", 0, "ties");
    let units = |units: f64| units * HOUR as f64;
    let mut taken = |starts, left| {
        let best = within(&offers(starts), Seconds(2 * HOUR), units(left), &mut ties);
        best.map(|best| (best.provider, best.contract.price / HOUR as f64))
    };
    // A (1, 1, 4), B (2, 2, 1), C (3, 1, 0), D (2, 2, 0.5): A, B and D cost 1 for their speed, and
    // of these D starts first.
    assert_eq!(taken([4.0, 1.0, 0.0, 0.5], 50.0), Some((3, 20.0)));
    // D is busy until 1.5 and would miss the deadline.
    assert_eq!(taken([4.0, 1.0, 0.0, 1.5], 30.0), Some((1, 20.0)));
    // A third job would break the budget of 50, whatever B has free.
    assert_eq!(taken([4.0, 1.0, 0.0, 1.5], 10.0), None);
    assert_eq!(taken([4.0, 2.0, 0.0, 1.5], 10.0), None);
    // With money it goes on to the dear group, where nobody else is left in time.
    assert_eq!(taken([4.0, 2.0, 0.0, 1.5], 60.0), Some((2, 60.0)));
    assert_eq!(taken([4.0, 2.0, 0.0, 1.5], 59.0), None);
    assert_eq!(taken([4.0, 2.0, 0.5, 1.5], 60.0), None);
}

#[test]
fn ratios_that_are_equal_by_hand_are_one_group() {
    // 0.3 / 0.1 is less than 3 in binary numbers.
    let settings = unlike(&[(0.3, 0.1), (3.0, 1.0), (1.0, 3.0)], None);
    assert_eq!(
        settings.price_for_speed_of(0),
        settings.price_for_speed_of(1)
    );
    assert!(settings.price_for_speed_of(2) < 1.0);
    // Repeated where there are more clusters.
    assert_eq!((settings.speed_of(3), settings.speed_of(4)), (0.1, 1.0));
}

#[test]
fn a_faster_cluster_holds_nodes_for_less_time_and_is_paid_by_price_and_speed() {
    // A slow and cheap cluster, and one that is three times as fast and four times as dear.
    let settings = unlike(&[(1.0, 1.0), (4.0, 3.0)], None);
    let mut inputs = inputs(1, 1);
    inputs.nodes = Nodes(10);
    let second = Job {
        estimate: Seconds(HOUR),
        runtime: Seconds(1_000),
        ..job(1)
    };
    inputs.jobs = [job(0), second].into();
    let run = simulate(&settings, &inputs);
    let held: Vec<_> = (run.delegations.iter())
        .map(|it| {
            let outcome = it.outcome.as_ref().unwrap();
            (it.cluster, it.fee, it.price, outcome.start, outcome.end)
        })
        .collect();
    let hours = |hours: f64| hours * HOUR as f64;
    let close = |one: f64, other: f64| (one - other).abs() < 1e-4;
    // The second has no room at the slow one; 1,000 seconds are 334 at speed 3.
    let (zero, end) = (Some(Seconds(0)), Seconds(2 * HOUR));
    assert_eq!((held[0].0, held[0].3, held[0].4), (0, zero, Some(end)));
    assert_eq!((held[0].1, held[0].2), (hours(20.0), hours(20.0)));
    let end = Seconds(334);
    assert_eq!((held[1].0, held[1].3, held[1].4), (1, zero, Some(end)));
    assert_eq!(held[1].1, hours(10.0));
    assert!(close(held[1].2, hours(10.0) * 4.0 / 3.0));
    // The fast cluster planned 20 minutes.
    let fast = run.quotes.iter().find(|it| it.job.0 == 1 && it.is_taken);
    assert_eq!(fast.unwrap().end, Seconds(HOUR / 3));
    let get = |name| run.measured.get(name).unwrap();
    assert_eq!(get("market_served_percent"), 100.0);
    assert!(close(
        get("market_spent_percent"),
        100.0 * (2.0 + 4.0 / 3.0) / 3.0
    ));
    // Value and gains are in list fees: 1.5 of each, less what was paid.
    let gain = 100.0 * (1.5 * 3.0 - 2.0 - 4.0 / 3.0) / 3.0;
    assert!(close(get("market_customer_gain_percent"), gain));
    // Jobs keep in their outcomes what was submitted.
    assert_eq!(
        run.job_outcomes(&inputs.jobs)[1].job.runtime,
        Seconds(1_000)
    );
}

#[test]
fn a_user_spends_what_his_jobs_allow_and_a_job_without_one_what_it_allows() {
    // One dear cluster: four fees for one.
    let settings = unlike(&[(4.0, 1.0)], Some(2.0));
    let mut inputs = inputs(1, 1);
    inputs.nodes = Nodes(10);
    let late = |id: u32, user: Option<i64>| {
        let submit = Seconds(i64::from(id) * 10 * HOUR);
        Job {
            submit,
            release: submit,
            ..job(id).of_user(user).due_by(submit + Seconds(2 * HOUR))
        }
    };
    // Of every two jobs one can be paid; nobody pays for a stranger.
    let users = [Some(7), Some(7), Some(8), Some(7), Some(7), None, None];
    inputs.jobs = (0..).zip(users).map(|(id, user)| late(id, user)).collect();
    let run = simulate(&settings, &inputs);
    let taken: Vec<u32> = run.delegations.iter().map(|it| it.job.0).collect();
    assert_eq!(taken, [1, 4]);
    let get = |run: &MarketRun, name| run.measured.get(name).unwrap();
    assert!((get(&run, "market_over_budget_percent") - 500.0 / 7.0).abs() < 1e-9);
    assert_eq!(get(&run, "market_spent_percent"), 400.0);
    let free = simulate(
        &MarketSettings {
            budget: None,
            ..settings
        },
        &inputs,
    );
    assert_eq!(free.delegations.len(), 7);
    assert!(free.measured.get("market_over_budget_percent").is_none());
}

#[test]
fn what_a_broken_promise_would_have_cost_can_be_spent_again() {
    let contract = |job| Contract {
        on_loan: false,
        job: JobId(job),
        home: None,
        user: Some(7),
        fee: 20.0,
        price: 20.0,
        load_factor: 1.0,
        planned: 20.0,
        promised: 0.0,
        buyer: None,
    };
    let mut ties = random::stream(1, "market", 0, "ties");
    let mut accounts = Accounts::default();
    let own = job(0).of_user(7);
    accounts.submitted(&own, Some(1.0));
    let mut is_taken = |accounts: &mut Accounts| {
        let offers = offers([0.0, 4.0, 4.0, 4.0]);
        accounts.choose(&own, &offers, &mut ties).is_some()
    };
    assert!(is_taken(&mut accounts));
    let agreed = Contract {
        price: own.fee().0 as f64,
        ..contract(0)
    };
    accounts.agreed(&agreed);
    assert!(!is_taken(&mut accounts));
    assert_eq!(accounts.over_budget, 1);
    accounts.returned(&agreed);
    assert!(is_taken(&mut accounts));
}

#[test]
fn no_user_spends_more_than_his_budget() {
    let clusters = [(1.0, 1.0), (2.0, 1.0), (3.0, 2.0)];
    for seed in 0..4 {
        let mut settings = unlike(&clusters, Some(1.2));
        settings.policy = PolicySpec {
            acceptance: Acceptance::Pof { maximum: 0.6 },
            ..PolicySpec::named("heuristic-overbooking")
        };
        let mut inputs = inputs(400, seed);
        let users = inputs.jobs.iter().map(|job| Job {
            user: Some(i64::from(job.id.0 % 5)),
            ..job.clone()
        });
        inputs.jobs = users.collect();
        let run = simulate(&settings, &inputs);
        assert!(run.measured.get("market_over_budget_percent").unwrap() > 1.0);
        for user in 0..5 {
            let fees: i64 = (inputs.jobs.iter().filter(|job| job.user == Some(user)))
                .map(|job| job.fee().0)
                .sum();
            let kept = run.delegations.iter().filter(|it| {
                let outcome = it.outcome.as_ref().unwrap();
                i64::from(it.job.0 % 5) == user && outcome.verdict.is_successful()
            });
            let spent: f64 = kept.map(|it| it.price).sum();
            assert!(spent <= 1.2 * fees as f64 + 1e-3, "{seed} {user}");
        }
        let worth = |of: fn(&JobOutcome) -> bool| -> f64 {
            let all = run.job_outcomes(&inputs.jobs);
            all.iter()
                .filter(|it| of(it))
                .map(|it| it.job.fee().0 as f64)
                .sum()
        };
        let expected = settings.value * worth(|it| it.verdict.is_successful())
            - settings.damage * worth(|it| it.verdict.is_failed());
        let offered: f64 = inputs.jobs.iter().map(|job| job.fee().0 as f64).sum();
        let get = |name| run.measured.get(name).unwrap();
        let gains = get("market_provider_gain_percent") + get("market_customer_gain_percent");
        assert!((gains - 100.0 * expected / offered).abs() < 1e-6, "{seed}");
    }
}
