//! The measures of a market, taken at its end.

use std::collections::HashMap;

use bookahead_core::scheduling::measures::{Measured, jain};
use bookahead_core::scheduling::{JobOutcome, SimulationMetrics};
use bookahead_core::workload::JobId;

use super::{
    Broker, Delegation, DelegationRule, MarketCluster, MarketRun, Provider, ProviderResult,
    migration,
};

/// How near the broker's belief must be to the truth to count as knowledge.
const KNOWN_WITHIN: f64 = 0.02;

pub(super) fn result(mut broker: Broker, clusters: &[MarketCluster]) -> MarketRun {
    broker.learn();
    let home = broker.home_measures();
    let prices = broker.price_measures();
    let clearings = broker.clearing_measures();
    let (agreed, listed) = broker.agreed();
    let Broker {
        settings,
        customers,
        moves,
        quotes,
        keep_outcomes,
        submitted,
        offered,
        kept_fees,
        accounts,
        ..
    } = broker;
    let mut metrics = SimulationMetrics::default();
    for cluster in clusters {
        metrics = cluster.machine.metrics().beside(&metrics);
    }
    let delegations = if keep_outcomes {
        delegations(&broker.providers)
    } else {
        Vec::new()
    };
    let providers = broker.providers.into_iter();
    let results: Vec<ProviderResult> = providers.map(|provider| provider.result).collect();
    let not_delegated = submitted - metrics.submitted;
    metrics.submitted += not_delegated;
    metrics.dropped += not_delegated;
    let mut measured = Measured::default();
    // Rests were delegated before.
    let delegated: u64 = results
        .iter()
        .map(|result| result.jobs - result.rests)
        .sum();
    let broken: u64 = (results.iter())
        .map(|result| result.broken - result.broken_rests)
        .sum();
    let percent = |measured: &mut Measured, name, above: f64, below: f64| {
        measured.add_ratio(name, 100.0 * above, below);
    };
    let gain: f64 = results.iter().map(|result| result.gain).sum();
    percent(&mut measured, "market_provider_gain_percent", gain, offered);
    percent(
        &mut measured,
        "market_customer_gain_percent",
        customers,
        offered,
    );
    let total = submitted as f64;
    percent(
        &mut measured,
        "market_delegated_percent",
        delegated as f64,
        total,
    );
    let kept = (delegated - broken) as f64;
    percent(&mut measured, "market_kept_percent", kept, delegated as f64);
    let revenues: Vec<f64> = results.iter().map(|result| result.revenue).collect();
    let goes_by_budgets = settings.rule == DelegationRule::DeadlineBudget;
    if goes_by_budgets || !settings.speeds.is_empty() || !settings.prices.is_empty() {
        percent(&mut measured, "market_served_percent", kept, total);
        // What a seller of rests gets, another provider paid.
        let paid: f64 = revenues.iter().sum();
        percent(&mut measured, "market_spent_percent", paid, kept_fees);
    }
    if goes_by_budgets && settings.budget.is_some() {
        let refused = accounts.over_budget as f64;
        percent(&mut measured, "market_over_budget_percent", refused, total);
    }
    let (above, below) = jain(&revenues);
    percent(&mut measured, "market_jain_percent", above, below);
    let clusters = results.len() as f64;
    for (is_honest, names) in [(true, &HONEST), (false, &OPTIMISTIC)] {
        let of_kind: Vec<&ProviderResult> = results
            .iter()
            .filter(|result| (result.optimism == 1.0) == is_honest)
            .collect();
        let number = of_kind.len() as f64;
        let sum = |value: fn(&ProviderResult) -> f64| -> f64 {
            of_kind.iter().map(|result| value(result)).sum()
        };
        let jobs = sum(|result| result.jobs as f64);
        // An equal share of all fees is 100 %.
        percent(
            &mut measured,
            names[0],
            sum(|result| result.gain) * clusters,
            offered * number,
        );
        percent(
            &mut measured,
            names[1],
            jobs * clusters,
            delegated as f64 * number,
        );
        percent(&mut measured, names[2], sum(|result| result.promised), jobs);
        percent(
            &mut measured,
            names[3],
            sum(|result| result.broken as f64),
            jobs,
        );
        if settings.rule.learns() {
            let known: Vec<f64> = of_kind
                .iter()
                .filter_map(|result| result.known_after(KNOWN_WITHIN))
                .map(|jobs| jobs as f64)
                .collect();
            measured.add_ratio(names[4], known.iter().sum(), known.len() as f64);
            percent(&mut measured, names[5], known.len() as f64, number);
        }
    }
    measured.extend(&metrics.checkpoints.measures());
    measured.extend(&metrics.late.measures());
    measured.extend(&home);
    measured.extend(&prices);
    measured.extend(&clearings);
    if settings.auction.is_some() {
        percent(&mut measured, "market_agreed_price_percent", agreed, listed);
    }
    if settings.migration.is_some() {
        measured.extend(&migration::measures(&moves, &results, offered));
    }
    MarketRun {
        metrics,
        providers: results,
        measured,
        moves,
        quotes,
        delegations,
    }
}

/// What was delegated to whom, with what became of it.
fn delegations(providers: &[Provider]) -> Vec<Delegation> {
    let mut all = Vec::new();
    for (cluster, provider) in providers.iter().enumerate() {
        let outcomes = provider.result.outcomes.iter();
        let by_number: HashMap<JobId, &JobOutcome> =
            outcomes.map(|outcome| (outcome.job.id, outcome)).collect();
        for (number, contract) in (0..).zip(&provider.contracts) {
            all.push(Delegation {
                cluster,
                number,
                job: contract.job,
                buyer: contract.buyer.map(|(buyer, of)| (buyer, of as u32)),
                fee: contract.fee,
                price: contract.price,
                pof: contract.promised,
                outcome: by_number.get(&JobId(number)).map(|own| (*own).clone()),
            });
        }
    }
    all
}

/// Measures of honest providers, and of the others in the same order.
const HONEST: [&str; 6] = [
    "market_honest_gain_percent",
    "market_honest_share_percent",
    "market_honest_promised_percent",
    "market_honest_broken_percent",
    "market_honest_known_after_jobs",
    "market_honest_known_percent",
];
const OPTIMISTIC: [&str; 6] = [
    "market_optimistic_gain_percent",
    "market_optimistic_share_percent",
    "market_optimistic_promised_percent",
    "market_optimistic_broken_percent",
    "market_optimistic_known_after_jobs",
    "market_optimistic_known_percent",
];
