//! Prices that follow the load of a provider.

use super::*;

const HOUR: i64 = 3_600;

fn pricing(supply: PricedSupply, hours: i64) -> LoadPricing {
    LoadPricing {
        slope: 1.0,
        usual_load: 0.5,
        lowest: 0.5,
        highest: 2.0,
        supply,
        horizon: Seconds(hours * HOUR),
    }
}

#[test]
fn a_price_is_that_of_the_hours_that_are_booked_when_it_is_quoted() {
    for policy in ["heuristic-planning", "conservative-backfilling"] {
        prices_of_three_jobs(policy);
    }
}

fn prices_of_three_jobs(policy: &str) {
    let mut settings = MarketSettings {
        clusters: 1,
        optimists: 0.0,
        load_pricing: Some(pricing(PricedSupply::Overbooked, 24)),
        ..settings(DelegationRule::Cheapest)
    };
    settings.policy.strategy = policy.to_owned();
    settings.policy.reliability.failure_rate_per_hour = 0.0;
    settings.policy.reliability.survival =
        bookahead_core::failures::SurvivalModel::Poisson { rate_per_hour: 0.0 };
    let mut inputs = inputs(1, 1);
    let job = |id, hours| {
        Job::rigid(JobId(id), Seconds::ZERO, Nodes(4), Seconds(hours * HOUR))
            .due_by(Seconds(24 * HOUR))
    };
    inputs.nodes = Nodes(4);
    inputs.jobs = [job(0, 12), job(1, 6), job(2, 6)].into();
    let run = simulate(&settings, &inputs);
    // 0, 12 and 18 of 24 hours are booked: the lowest factor, 1, and 1 + (0.75 − 0.5) / 0.5. All
    // slots are as long as the jobs, so nothing was sold beyond the nodes.
    let node_hours: Vec<f64> = (run.quotes.iter())
        .map(|quote| quote.price / HOUR as f64)
        .collect();
    assert_eq!(node_hours, [24.0, 24.0, 36.0]);
    let get = |name| run.measured.get(name).unwrap();
    assert_eq!(get("market_price_percent"), 87.5);
    assert_eq!(get("market_virtual_supply_percent"), 0.0);
    // It is owed as it was agreed, though the load is gone when the jobs end.
    assert_eq!(run.providers[0].revenue, 84.0 * HOUR as f64);
}

#[test]
fn prices_that_follow_the_load_cancel_and_whoever_believes_in_virtual_supply_asks_less() {
    let prices = |supply| {
        let settings = MarketSettings {
            load_pricing: Some(pricing(supply, 2)),
            ..settings(DelegationRule::Random)
        };
        let run = run(&settings, 3);
        assert_books_balance(&settings, &inputs(600, 3).jobs, &run);
        let get = |name| run.measured.get(name).unwrap();
        let taken = run.quotes.iter().filter(|quote| quote.is_taken);
        let quoted: Vec<f64> = taken.map(|quote| quote.price).collect();
        let mut agreed: Vec<f64> = run.delegations.iter().map(|it| it.price).collect();
        let mut sorted = quoted.clone();
        sorted.sort_by(f64::total_cmp);
        agreed.sort_by(f64::total_cmp);
        assert_eq!(sorted, agreed, "a price is fixed at the quote");
        assert!(get("market_virtual_supply_percent") > 5.0);
        quoted
    };
    // A random choice does not look at prices, so both markets run the same jobs.
    let (nodes, overbooked) = (
        prices(PricedSupply::Nodes),
        prices(PricedSupply::Overbooked),
    );
    assert_eq!(nodes.len(), overbooked.len());
    assert!(
        nodes
            .iter()
            .zip(&overbooked)
            .all(|(nodes, less)| less <= nodes)
    );
    assert!(overbooked.iter().sum::<f64>() < nodes.iter().sum::<f64>());
}
