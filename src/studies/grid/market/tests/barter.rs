//! Jobs that go to other clusters for node-hours.

use super::home::{last_job, two_clusters};
use super::*;

const HOUR: i64 = 3_600;

fn barter(credit_node_hours: i64, below_pof: f64) -> Overflow {
    Overflow::Barter {
        credit: NodeSeconds(credit_node_hours * HOUR),
        below_pof,
    }
}

#[test]
fn a_home_pays_with_node_hours_up_to_its_credit_and_with_its_customers_money() {
    // The job has four nodes for 6 h.
    let run = two_clusters(0, barter(24, 0.05));
    assert_eq!(last_job(&run), Some((1, 0, 6, 0.0)));
    let get = |name| run.measured.get(name);
    assert_eq!(get("market_out_of_credit_percent"), Some(0.0));
    assert_eq!(get("market_owed_percent"), Some(100.0));
    // Both customers paid their home, 40 and 24 node-hours at the list price.
    let revenues: Vec<f64> = run
        .providers
        .iter()
        .map(|it| it.revenue / 3_600.0)
        .collect();
    assert_eq!(revenues, [64.0, 0.0]);

    let run = two_clusters(0, barter(23, 0.05));
    assert_eq!((run.metrics.accepted, run.metrics.dropped), (1, 1));
    assert_eq!(run.measured.get("market_out_of_credit_percent"), Some(50.0));
}

#[test]
fn what_is_risky_is_not_to_be_had_for_node_hours() {
    // From 7 h on five of six hours are left elsewhere, which two of ten jobs exceed.
    let run = two_clusters(7, barter(24, 0.19));
    assert_eq!(run.metrics.accepted, 2);
    let run = two_clusters(7, barter(24, 0.25));
    let (cluster, start, end, _) = last_job(&run).unwrap();
    assert_eq!((cluster, start, end), (1, 7, 12));
}

/// What every cluster has of the others by the delegations, and how much was exchanged.
fn balances(run: &MarketRun, inputs: &MarketInputs, clusters: usize) -> (Vec<f64>, f64) {
    let (mut balances, mut exchanged) = (vec![0.0; clusters], 0.0);
    for it in &run.delegations {
        let home = it.job.0 as usize % clusters;
        let kept = (it.outcome.as_ref()).is_some_and(|it| it.verdict.is_successful());
        if kept && home != it.cluster {
            let fee = inputs.jobs[it.job.0 as usize].fee().0 as f64;
            balances[home] -= fee;
            balances[it.cluster] += fee;
            exchanged += fee;
        }
    }
    (balances, exchanged)
}

#[test]
fn nobody_owes_more_than_his_credit_and_money_stays_what_it_is() {
    for seed in 0..4 {
        for credit in [0, 20, 1_000_000] {
            let settings = MarketSettings {
                home: Some(HomeSettings {
                    of: HomeRule::User,
                    overflow: barter(credit, 0.3),
                }),
                ..settings(DelegationRule::Promised)
            };
            let inputs = inputs(400, seed);
            let run = simulate(&settings, &inputs);
            let clusters = settings.clusters as usize;
            let (owed, exchanged) = balances(&run, &inputs, clusters);
            let limit = -(credit * HOUR) as f64;
            assert!(owed.iter().all(|balance| *balance >= limit), "{owed:?}");
            let get = |name| run.measured.get(name).unwrap();
            if credit == 0 {
                // Nobody can begin.
                assert_eq!(get("market_away_percent"), 0.0);
            } else {
                assert!(get("market_away_percent") > 1.0);
                let positive: f64 = owed.iter().filter(|it| **it > 0.0).sum();
                let share = 100.0 * positive / exchanged;
                assert!((get("market_owed_percent") - share).abs() < 1e-9);
            }
            assert_books_balance(&settings, &inputs.jobs, &run);
        }
    }
}

#[test]
fn without_a_limit_and_with_any_risk_jobs_go_where_they_go_for_money() {
    let of = HomeRule::User;
    let at = |overflow| MarketSettings {
        home: Some(HomeSettings { of, overflow }),
        ..settings(DelegationRule::Promised)
    };
    let (money, kind) = (at(Overflow::Ask), at(barter(1_000_000_000, 1.0)));
    for seed in 0..4 {
        let inputs = inputs(400, seed);
        let (money, kind) = (simulate(&money, &inputs), simulate(&kind, &inputs));
        assert_eq!(money.delegations, kind.delegations);
        let total = |run: &MarketRun| run.providers.iter().map(|it| it.gain).sum::<f64>();
        assert!((total(&money) - total(&kind)).abs() < 1e-3);
        let gains = |run: &MarketRun| run.providers.iter().map(|it| it.gain).collect::<Vec<_>>();
        assert_ne!(gains(&money), gains(&kind));
    }
}
