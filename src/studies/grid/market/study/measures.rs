//! A market over clusters (`market`).

use bookahead_core::scheduling::measures::{Measure, QuantityKind, Topic, measure};

/// What it measures, in the order of tables.
#[rustfmt::skip]
pub const MEASURES: &[Measure] = &[
    measure("market_provider_gain_percent", "%", "Gain of providers (% of the fees offered)", 2, Topic::Money).of_kind(QuantityKind::Signed),
    measure("market_customer_gain_percent", "%", "Gain of customers (% of the fees offered)", 2, Topic::Money).of_kind(QuantityKind::Signed),
    measure("market_delegated_percent", "%", "Jobs that were delegated (%)", 2, Topic::Jobs),
    measure("market_kept_percent", "%", "Kept promises (% of delegated jobs)", 2, Topic::Risk),
    measure("market_served_percent", "%", "Jobs whose promise was kept (% of all)", 2, Topic::Jobs),
    measure("market_over_budget_percent", "%", "Jobs that the budget of their customer refused (%)", 2, Topic::Jobs),
    measure("market_spent_percent", "%", "Paid for kept promises (% of their list fees)", 2, Topic::Money).of_kind(QuantityKind::Mean),
    measure("market_jain_percent", "%", "Fairness of revenues: Jain's index (%)", 1, Topic::Clusters),
    measure("market_honest_gain_percent", "%", "Gain of an honest provider (% of an equal share of fees)", 2, Topic::Money).of_kind(QuantityKind::Signed),
    measure("market_optimistic_gain_percent", "%", "Gain of an optimistic provider (% of an equal share of fees)", 2, Topic::Money).of_kind(QuantityKind::Signed),
    measure("market_honest_share_percent", "%", "Jobs of an honest provider (% of an equal share)", 1, Topic::Clusters).of_kind(QuantityKind::Mean),
    measure("market_optimistic_share_percent", "%", "Jobs of an optimistic provider (% of an equal share)", 1, Topic::Clusters).of_kind(QuantityKind::Mean),
    measure("market_honest_promised_percent", "%", "PoF that honest providers promised, mean (%)", 2, Topic::Risk),
    measure("market_optimistic_promised_percent", "%", "PoF that optimistic providers promised, mean (%)", 2, Topic::Risk),
    measure("market_honest_broken_percent", "%", "Broken promises of honest providers (%)", 2, Topic::Risk),
    measure("market_optimistic_broken_percent", "%", "Broken promises of optimistic providers (%)", 2, Topic::Risk),
    measure("market_honest_known_after_jobs", "", "Decided jobs until the belief stays within 0.02 of the rate of broken promises, honest providers", 0, Topic::Risk),
    measure("market_optimistic_known_after_jobs", "", "The same, optimistic providers", 0, Topic::Risk),
    measure("market_honest_known_percent", "%", "Honest providers of whom the broker knows that at the end (%)", 1, Topic::Detail),
    measure("market_optimistic_known_percent", "%", "Optimistic providers of whom the broker knows that at the end (%)", 1, Topic::Detail),
    measure("market_away_percent", "%", "Jobs that another cluster than their home took (% of delegated jobs)", 2, Topic::Jobs),
    measure("market_away_kept_percent", "%", "Kept promises (% of the jobs that another cluster than their home took)", 2, Topic::Risk),
    measure("market_most_loaded_refused_percent", "%", "Jobs that no cluster took (% of those at home where the most is asked for)", 2, Topic::Jobs),
    measure("market_most_loaded_kept_percent", "%", "Jobs whose promise was kept (% of those at home where the most is asked for)", 2, Topic::Risk),
    measure("market_least_loaded_refused_percent", "%", "Jobs that no cluster took (% of those at home where the least is asked for)", 2, Topic::Jobs),
    measure("market_least_loaded_kept_percent", "%", "Jobs whose promise was kept (% of those at home where the least is asked for)", 2, Topic::Risk),
    measure("market_listed_percent", "%", "Jobs that were published for underused clusters (%)", 2, Topic::Jobs),
    measure("market_list_taken_percent", "%", "Published jobs that a cluster took from the list (%)", 2, Topic::Jobs),
    measure("market_list_hours", "h", "How long those were on the list, mean (h)", 2, Topic::Detail),
    measure("market_price_percent", "%", "Prices of delegated jobs (% of the same prices at the usual load)", 1, Topic::Money).of_kind(QuantityKind::Mean),
    measure("market_agreed_price_percent", "%", "Prices that a tender or an auction made (% of list prices)", 1, Topic::Money).of_kind(QuantityKind::Mean),
    measure("market_virtual_supply_percent", "%", "Node-time that was sold beyond the slots that were planned (% of these)", 1, Topic::Money).of_kind(QuantityKind::Mean),
    measure("market_moves", "", "Interrupted jobs that went on at another cluster", 0, Topic::Jobs),
    measure("market_transfer_hours", "h", "How long they were on their way (h)", 3, Topic::Detail),
    measure("market_moved_kept_percent", "%", "Kept promises (% of the rests that moved)", 2, Topic::Risk),
    measure("market_rest_prices_percent", "%", "Prices of those rests (% of the fees offered)", 2, Topic::Money).of_kind(QuantityKind::Mean),
];
