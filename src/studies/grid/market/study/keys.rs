//! Keys of the market.

use crate::co_reservation::study::{GRID_FAILURES, RawClusterFailures};
use crate::market::{CheckpointStorage, DelegationRule, PricedSupply};
use bookahead_lab::keys::declaration::{Given, integer_within, named, one_of, real, reals};
use bookahead_lab::keys::scheduling::{ACCEPTANCE, RawAcceptance};
use bookahead_lab::{section, tables};
use bookahead_overbooking::registry::quoting;

tables! {
    market: RawMarket = MARKET,
    clusters: RawClusters = CLUSTERS,
    grid_failures: RawClusterFailures = GRID_FAILURES,
    ;
    acceptance: RawAcceptance = ACCEPTANCE,
}

section! {
    /// The clusters of a market, each of `workload.nodes` nodes.
    CLUSTERS = "clusters", RawClusters {
        /// How many clusters there are.
        count: Given<i64> = integer_within(1, 1_000).default_is("8"),
        /// What each of them plans with.
        policy: Given<String> = one_of(quoting).default_is("heuristic-overbooking"),
    }
}

section! {
    /// The market over clusters.
    MARKET = "market", RawMarket {
        /// Whom the broker delegates a job to.
        rule: Option<DelegationRule> = named::<DelegationRule>(),
        /// How the price of a job is made.
        mechanism: Given<String> = one_of(|| vec!["posted", "tender", "reverse-first", "reverse-second", "double"])
            .note(": providers post it, the customer names it, the lowest of sealed asks wins, at its own or at the second lowest price, or bids and asks that meet in a clearing trade at one price")
            .default_is("posted")
            .decides("Birkenheuer 2012 §2.1.2"),
        /// How often the market is cleared.
        clearing_minutes: Given<i64> = integer_within(1, 100_000)
            .note(" minutes, for mechanism = \"double\": a job takes part until its latest start")
            .default_is("10")
            .decides("Birkenheuer 2012 §2.1.2"),
        /// By what providers multiply their expected penalty in what they ask of a tender or an
        /// auction.
        ask_safety: Given<f64> = real().from(0.0).default_is("1"),
        /// What a node-hour costs a provider, which it asks besides.
        node_hour_cost: Given<f64> = real().from(0.0).note(" coins, one of which is the list price").default_is("0"),
        /// How fast the clusters are.
        cluster_speeds: Given<Vec<f64>> = reals().from(0.01).to(100.0)
            .words("numbers from 0.01 to 100 by cluster, repeated where there are more clusters: a job runs and is planned for 1/speed of its time there; empty: 1 everywhere")
            .default_is("[]")
            .decides("Meltzer 2005 §4.7.1"),
        /// What a node-hour costs at each cluster.
        cluster_prices: Given<Vec<f64>> = reals().from(0.0).to(1e6)
            .words("numbers from 0 to 1000000 by cluster, repeated where there are more clusters: coins for a node-hour there; empty: 1 everywhere")
            .default_is("[]")
            .decides("Meltzer 2005 §4.7.1"),
        /// What a customer may spend.
        budget: Given<f64> = real().from(0.0)
            .words("from 0 on, for rule = \"deadline-budget\": a user spends at most so many list fees of the jobs that he submitted so far (default: no limit)"),
        /// What a kept promise is worth to the customer.
        value: Given<f64> = real().from(0.0).note(" fees").default_is("1.5"),
        /// What a broken promise costs the customer.
        damage: Given<f64> = real().from(0.0).note(" fees").default_is("2.0"),
        /// How much less a job costs that would certainly fail; in between in proportion to the
        /// promised probability of failure.
        discount: Given<f64> = real().from(0.0).to(1.0).note(" fees").default_is("0.5"),
        /// The share of clusters that are optimistic.
        optimists: Given<f64> = real().from(0.0).to(1.0).default_is("0.0"),
        /// By what optimistic clusters multiply the probability of failure that they say.
        optimism: Given<f64> = real().from(0.0).to(1.0).default_is("0.25"),
        /// How many imaginary broken promises the broker begins with.
        prior_failures: Given<f64> = real().above(0.0).default_is("1.0"),
        /// Decided promises after which earlier ones count half; 0: they never age.
        half_life_jobs: Given<f64> = real().from(0.0).default_is("0.0"),
        /// Whether interrupted jobs may go on at another cluster.
        migration: Given<String> = one_of(|| vec!["none", "best-offer"])
            .note(": whether jobs that save their work may go on at another cluster after an interruption")
            .default_is("none"),
        /// The size of a checkpoint.
        checkpoint_gib_per_node: Given<f64> = real().from(0.0)
            .note(" GiB a node of the job, which a migration transfers")
            .default_is("4.0"),
        /// How fast it is transferred.
        bandwidth_gib_s: Given<f64> = real().above(0.0).note(" GiB a second, of each transfer").default_is("1.0"),
        /// What a migration takes beside the transfer.
        migration_latency_seconds: Given<i64> = integer_within(0, 1 << 30).note(" seconds").default_is("60"),
        /// Where checkpoints are stored.
        checkpoint_storage: Option<CheckpointStorage> = named::<CheckpointStorage>()
            .note(": local ones cannot be read, and no job moves, while no node of their cluster is up")
            .decides("Birkenheuer 2012 §2.2.4"),
        /// Which cluster is asked first.
        home: Given<String> = one_of(|| vec!["none", "user", "drawn"])
            .note(": the home of a job, which is asked before the others")
            .default_is("none")
            .decides("Birkenheuer 2012 §1.2.2"),
        /// How many jobs are at home at the first cluster.
        first_home_percent: Given<f64> = real().from(0.0).to(100.0)
            .words("0 to 100, for home = \"drawn\": jobs at home at the first cluster; the others share the rest equally (default: all have equal shares)"),
        /// What becomes of a job that its home cannot place at full length.
        overflow: Given<String> = one_of(|| vec!["ask", "stay", "list", "barter", "lend"])
            .note(": the others are asked at once, nobody is asked, underused clusters take it from a list, another one takes it for node-hours, or another one lends its home the nodes that are missing")
            .default_is("ask")
            .decides("Birkenheuer 2012 §1.2.2"),
        /// How often clusters look at the list.
        list_minutes: Given<i64> = integer_within(1, 100_000).note(" minutes").default_is("30"),
        /// How little a cluster must have booked to take jobs from the list.
        list_below_percent: Given<f64> = real().from(0.0).to(100.0)
            .note(": a cluster takes while less of its next hours is booked")
            .default_is("50"),
        /// How much a cluster may owe the others.
        credit_node_hours: Given<f64> = real().from(0.0).to(1e9)
            .note(", for overflow = \"barter\": a home whose debt would be larger offers the job to nobody")
            .default_is("1000")
            .decides("Birkenheuer 2012 §2.1.2"),
        /// How many nodes of others a home may hold or have booked.
        borrowed_nodes: Given<i64> = integer_within(1, 1_000_000)
            .words("from 1 to 1000000, for overflow = \"lend\": nodes of others that a home may hold or have booked at a time (default: as many as it has)")
            .decides("Birkenheuer 2012 §1.2.2"),
        /// How little risk a slot must have that is had for node-hours.
        barter_below_pof: Given<f64> = real().above(0.0).to(1.0)
            .note(": the PoF that the broker believes is less than this")
            .default_is("0.05"),
        /// By how much of itself a price rises when the load of its provider doubles.
        price_slope: Given<f64> = real().from(0.0)
            .note("; 0: prices do not follow the load")
            .default_is("0")
            .decides("Birkenheuer 2012 §2.1.2"),
        /// The load at which prices are the usual ones.
        price_usual_load_percent: Given<f64> = real().from(1.0).to(100.0)
            .note(" of the nodes are booked")
            .default_is("50"),
        /// The lowest price.
        price_lowest: Given<f64> = real().from(0.01).to(1.0).note(" of the usual price").default_is("0.5"),
        /// The highest price.
        price_highest: Given<f64> = real().from(1.0).note(" times the usual price").default_is("2"),
        /// What counts as supply where prices follow the load.
        price_supply: Option<PricedSupply> = named::<PricedSupply>()
            .note(": the nodes, or also what overbooking is believed to add to them"),
        /// How far ahead it counts what a cluster has booked.
        load_hours: Given<f64> = real().from(0.1).to(10_000.0).note(" hours").default_is("24"),
    }
    former {
        clusters => "clusters.count",
        policy => "clusters.policy",
        pof_max => "acceptance.pof_max",
        penalty => "acceptance.penalty_ratio",
    }
}
