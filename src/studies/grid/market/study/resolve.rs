//! From what a file says of a market to parts of its settings. Each function returns `None` after
//! it has said what is wrong.

use std::ops::RangeBounds as _;

use super::keys::RawMarket;
use crate::co_reservation::ClusterFailureSettings;
use crate::co_reservation::study::{RawClusterFailures, of_grid_failures};
use crate::market::{
    AuctionRule, AuctionSettings, DelegationRule, HomeRule, HomeSettings, LoadPricing,
    MigrationSettings, Overflow,
};
use bookahead_core::failures::FailureSource;
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_lab::keys::declaration::{Given, Table};
use bookahead_lab::keys::field::Field;
use bookahead_lab::keys::problem::{ProblemKind, Problems};
use bookahead_lab::study::Asked;
use bookahead_overbooking::registry;

/// How interrupted jobs move; the inner `None` where they do not.
pub(super) fn migration(
    raw: &RawMarket,
    problems: &mut Problems,
) -> Option<Option<MigrationSettings>> {
    let gib_per_node = raw.checkpoint_gib_per_node().or_default(problems);
    let bandwidth_gib_s = raw.bandwidth_gib_s().or_default(problems);
    let latency = raw.migration_latency_seconds().or_default(problems);
    Some(match raw.migration().name(problems)? {
        "best-offer" => Some(MigrationSettings {
            gib_per_node: gib_per_node?,
            bandwidth_gib_s: bandwidth_gib_s?,
            latency: Seconds(latency?),
            storage: raw.checkpoint_storage.unwrap_or_default(),
        }),
        _ => None,
    })
}

/// Where jobs are at home; the inner `None` where they have no home.
pub(super) fn home(raw: &RawMarket, problems: &mut Problems) -> Option<Option<HomeSettings>> {
    let first_percent = raw.first_home_percent().checked(problems);
    let minutes = raw.list_minutes().or_default(problems);
    let below_percent = raw.list_below_percent().or_default(problems);
    let hours = raw.load_hours().or_default(problems);
    let credit_hours = raw.credit_node_hours().or_default(problems);
    let below_pof = raw.barter_below_pof().or_default(problems);
    let places = raw.borrowed_nodes().checked(problems);
    let overflow = raw.overflow().name(problems);
    let of = match raw.home().name(problems)? {
        "user" => HomeRule::User,
        "drawn" => HomeRule::Drawn {
            first_percent: first_percent?,
        },
        _ => return Some(None),
    };
    let overflow = match overflow? {
        "stay" => Overflow::Stay,
        "list" => Overflow::List {
            every: Seconds(minutes? * 60),
            below: below_percent? / 100.0,
            horizon: Seconds::from_hours(hours?),
        },
        "barter" => Overflow::Barter {
            credit: NodeSeconds((credit_hours? * 3_600.0).round() as i64),
            below_pof: below_pof?,
        },
        "lend" => Overflow::Lend {
            places: places?.map(|places| Nodes(places as u32)),
        },
        _ => Overflow::Ask,
    };
    Some(Some(HomeSettings { of, overflow }))
}

/// Whether what becomes of jobs without room at home goes with the rest; it is refused otherwise.
pub(super) fn fits_overflow(
    raw: &RawMarket,
    home: Option<&HomeSettings>,
    (moves, follows_load): (bool, bool),
    policy: &str,
    problems: &mut Problems,
) -> bool {
    let (does, lends) = match home.map(|home| home.overflow) {
        Some(Overflow::Barter { .. }) => ("takes node-hours for money", false),
        Some(Overflow::Lend { .. }) => ("has nodes of others in its plan for a time", true),
        Some(Overflow::Ask | Overflow::Stay | Overflow::List { .. }) | None => return true,
    };
    let lending = registry::lending();
    let cannot_lend = lends && !lending.contains(&policy);
    if cannot_lend {
        let message = format!(
            "plans nodes one by one, which `clusters.policy = \"{policy}\"` does not: set it to \
             \"{}\"",
            lending.join("\" or \"")
        );
        raw.overflow().refuse(&message, problems);
    }
    let others = [
        (moves, "market.migration"),
        (follows_load, "market.price_slope"),
    ];
    let others = others.into_iter().filter(|(is_set, _)| *is_set);
    let refused = others.map(|(_, key)| {
        let message = format!("{does}: leave `{key}` at its default");
        raw.overflow().refuse(&message, problems);
    });
    refused.count() == 0 && !cannot_lend
}

/// How prices follow the load; the inner `None` where they do not.
pub(super) fn load_pricing(
    raw: &RawMarket,
    problems: &mut Problems,
) -> Option<Option<LoadPricing>> {
    let slope = raw.price_slope().or_default(problems);
    let usual_percent = raw.price_usual_load_percent().or_default(problems);
    let lowest = raw.price_lowest().or_default(problems);
    let highest = raw.price_highest().or_default(problems);
    let hours = raw.load_hours().or_default(problems);
    let pricing = LoadPricing {
        slope: slope?,
        usual_load: usual_percent? / 100.0,
        lowest: lowest?,
        highest: highest?,
        supply: raw.price_supply.unwrap_or_default(),
        horizon: Seconds::from_hours(hours?),
    };
    Some((pricing.slope > 0.0).then_some(pricing))
}

/// How prices are made where none is posted; the inner `None` where providers post them.
pub(super) fn auction(
    raw: &RawMarket,
    (moves, has_home, follows_load): (bool, bool, bool),
    problems: &mut Problems,
) -> Option<Option<AuctionSettings>> {
    let safety = raw.ask_safety().or_default(problems);
    let node_hour_cost = raw.node_hour_cost().or_default(problems);
    let minutes = raw.clearing_minutes().or_default(problems);
    let mechanism = raw.mechanism().name(problems)?;
    if mechanism != "double" && raw.clearing_minutes.is_some() {
        let message = format!(
            "`market.mechanism = \"{mechanism}\"` clears nothing: leave this key out, or set the \
             mechanism to \"double\""
        );
        raw.clearing_minutes().refuse(&message, problems);
        return None;
    }
    let rule = match mechanism {
        "tender" => AuctionRule::Tender,
        "reverse-first" => AuctionRule::ReverseFirst,
        "reverse-second" => AuctionRule::ReverseSecond,
        "double" => AuctionRule::Double {
            every: Seconds(minutes? * 60),
        },
        _ => return Some(None),
    };
    let others = [
        (moves, "market.migration"),
        (has_home, "market.home"),
        (follows_load, "market.price_slope"),
    ];
    let mut is_refused = false;
    for (_, key) in others.into_iter().filter(|(is_set, _)| *is_set) {
        is_refused = true;
        let message =
            format!("asks all clusters once and makes the price: leave `{key}` at its default");
        raw.mechanism().refuse(&message, problems);
    }
    let settings = AuctionSettings {
        rule,
        safety: safety?,
        node_hour_cost: node_hour_cost?,
    };
    (!is_refused).then_some(Some(settings))
}

/// Speeds and prices by cluster, each empty where all are 1.
pub(super) fn unlike_clusters(
    raw: &RawMarket,
    (moves, has_home, is_auction): (bool, bool, bool),
    problems: &mut Problems,
) -> Option<(Vec<f64>, Vec<f64>)> {
    let others = [
        (moves, "market.migration"),
        (has_home, "market.home"),
        (is_auction, "market.mechanism"),
    ];
    let others = others.into_iter().filter(|(is_set, _)| *is_set);
    let mut of_each = |field: Field<'_, Given<Vec<f64>>>| {
        let values = field.or_default();
        if !values.iter().all(|value| field.key.range.contains(value)) {
            field.refuse("one of these numbers is out of range", problems);
            return None;
        }
        if values.iter().all(|value| *value == 1.0) {
            return Some(Vec::new());
        }
        let mut is_refused = false;
        for (_, key) in others.clone() {
            is_refused = true;
            let message = format!("`{key}` takes all clusters for alike: leave one of the two out");
            field.refuse(&message, problems);
        }
        (!is_refused).then_some(values)
    };
    let speeds = of_each(raw.cluster_speeds());
    let prices = of_each(raw.cluster_prices());
    if has_home && raw.rule == Some(DelegationRule::DeadlineBudget) {
        let message = "asks one cluster first, and `market.rule = \"deadline-budget\"` asks all: \
                       leave one of them at its default";
        raw.home().refuse(message, problems);
        return None;
    }
    Some((speeds?, prices?))
}

/// `[grid_failures]`; the inner `None` where nothing fails by it.
pub(super) fn cluster_failures(
    raw: &Table<RawClusterFailures>,
    asked: &Asked<'_>,
    problems: &mut Problems,
) -> Option<Option<ClusterFailureSettings>> {
    let settings = of_grid_failures(raw, problems)?;
    let draws_nodes = (settings.as_ref()).is_some_and(|it| it.node_mtbf.is_some());
    if draws_nodes && asked.failures.source != FailureSource::None {
        raw.node_mtbf_days().refuse(
            "the nodes of clusters fail by `[failures]` already",
            problems,
        );
        return None;
    }
    if settings.as_ref().is_some_and(|it| it.silent) {
        problems.add(
            ProblemKind::Conflict,
            "grid_failures.silent_outages",
            raw.place.clone().unwrap_or(0..0),
            "a market learns of jobs, and what a cluster says while it is down makes no difference",
            "leave it out",
        );
        return None;
    }
    Some(settings)
}

#[cfg(test)]
mod tests {
    use bookahead_lab::study::{Studies, study};
    use bookahead_lab::sweep::Experiment;

    use crate::market::study::MarketStudy;
    use crate::market::{
        AuctionRule, AuctionSettings, DelegationRule, HomeRule, MarketSettings, Overflow,
        PricedSupply,
    };
    use bookahead_core::units::Seconds;

    const STUDIES: Studies = Studies::new(&[study::<MarketStudy>()]);

    fn resolved(more: &str) -> Result<MarketSettings, String> {
        let text = format!(
            "[experiment]\nname = \"m\"\n[workload]\nmodel = \"lublin-feitelson\"\njobs = 900\nnodes = 32\n\
             battery_jobs = 300\nload.value = 2.0\n[scheduling]\nstrategy = \"market\"\n{more}"
        );
        let experiment = Experiment::parse(STUDIES, "m.toml", &text, None);
        let experiment = experiment.map_err(|error| error.to_string())?;
        let simulation = experiment.sweep.simulations.iter().next();
        let market = simulation.and_then(|spec| spec.study.get::<MarketStudy>().cloned());
        Ok(market.expect("a market").settings)
    }

    #[test]
    fn homes_prices_and_outages_are_absent_unless_a_file_asks_for_them() {
        let plain = resolved("").unwrap();
        let unread = "[market]\nprice_lowest = 0.7\noverflow = \"list\"\nload_hours = 3.0\n\
                      [grid_failures]\ncluster_mtbf_days = 0.0\n";
        assert_eq!(resolved(unread).unwrap(), plain);
        assert!(plain.home.is_none() && plain.load_pricing.is_none());
        assert!(plain.cluster_failures.is_none());
    }

    #[test]
    fn what_a_file_says_of_homes_prices_and_outages_is_what_a_market_reads() {
        let text = "[market]\nhome = \"drawn\"\nfirst_home_percent = 40.0\noverflow = \"list\"\nlist_minutes = 10\n\
                    list_below_percent = 25.0\nload_hours = 12.0\nprice_slope = 0.5\nprice_supply = \"overbooked\"\n\
                    [grid_failures]\ncluster_mtbf_days = 2.0\n";
        let settings = resolved(text).unwrap();
        let home = settings.home.unwrap();
        let first_percent = Some(40.0);
        assert_eq!(home.of, HomeRule::Drawn { first_percent });
        let list = Overflow::List {
            every: Seconds(600),
            below: 0.25,
            horizon: Seconds(43_200),
        };
        assert_eq!(home.overflow, list);
        let pricing = settings.load_pricing.unwrap();
        assert_eq!((pricing.slope, pricing.usual_load), (0.5, 0.5));
        assert_eq!(pricing.supply, PricedSupply::Overbooked);
        let failures = settings.cluster_failures.unwrap();
        assert_eq!(failures.cluster_mtbf, Some(Seconds(172_800)));
        assert_eq!(failures.node_mtbf, None);
    }

    #[test]
    fn a_tender_or_an_auction_reads_neither_the_rule_nor_the_discount_and_takes_no_homes() {
        let plain = resolved("").unwrap();
        assert!(plain.auction.is_none());
        let posted = resolved("[market]\nask_safety = 2.0\nnode_hour_cost = 0.1\n");
        assert_eq!(posted.unwrap(), plain);
        let text = "[market]\nmechanism = \"reverse-second\"\nask_safety = 2.0\n";
        let settings = resolved(text).unwrap();
        let auction = AuctionSettings {
            rule: AuctionRule::ReverseSecond,
            safety: 2.0,
            node_hour_cost: 0.0,
        };
        assert_eq!(settings.auction, Some(auction));
        let more = "rule = \"cheapest\"\ndiscount = 0.1\nhalf_life_jobs = 20.0\n";
        assert_eq!(resolved(&format!("{text}{more}")).unwrap(), settings);
        let both = "home = \"user\"\nprice_slope = 0.5\n";
        let refused = resolved(&format!("{text}{both}")).unwrap_err();
        for key in ["market.home", "market.price_slope"] {
            assert!(refused.contains(key), "{refused}");
        }
    }

    #[test]
    fn only_a_double_auction_clears_every_so_many_minutes() {
        let double = |more: &str| resolved(&format!("[market]\nmechanism = \"double\"\n{more}"));
        let every = |minutes: i64| {
            Some(AuctionSettings {
                rule: AuctionRule::Double {
                    every: Seconds(60 * minutes),
                },
                safety: 1.0,
                node_hour_cost: 0.0,
            })
        };
        assert_eq!(double("").unwrap().auction, every(10));
        let hourly = double("clearing_minutes = 60\n").unwrap();
        assert_eq!(hourly.auction, every(60));
        let unread = double("clearing_minutes = 60\nrule = \"random\"\ndiscount = 0.1\n");
        assert_eq!(unread.unwrap(), hourly);
        for mechanism in ["posted", "tender", "reverse-first"] {
            let text = format!("[market]\nmechanism = \"{mechanism}\"\nclearing_minutes = 60\n");
            let refused = resolved(&text).unwrap_err();
            for said in ["market.clearing_minutes", mechanism, "leave this key out"] {
                assert!(refused.contains(said), "{refused}");
            }
        }
        let refused = double("clearing_minutes = 0\n").unwrap_err();
        assert!(refused.contains("market.clearing_minutes"), "{refused}");
        let refused = double("home = \"user\"\n").unwrap_err();
        assert!(refused.contains("market.home"), "{refused}");
    }

    #[test]
    fn unlike_clusters_are_read_in_turns_and_refused_with_what_takes_them_for_alike() {
        let plain = resolved("").unwrap();
        let alike = "[market]\ncluster_speeds = [1, 1.0]\ncluster_prices = [1]\nbudget = 1.5\n";
        assert_eq!(resolved(alike).unwrap(), plain);
        let text = "[clusters]\ncount = 3\n[market]\nrule = \"deadline-budget\"\nbudget = 1.5\n";
        let settings = resolved(&format!("{text}cluster_speeds = [1, 2]\n")).unwrap();
        assert_eq!(settings.rule, DelegationRule::DeadlineBudget);
        assert_eq!(settings.budget, Some(1.5));
        assert_eq!(settings.speeds, [1.0, 2.0]);
        assert_eq!([0, 1, 2].map(|it| settings.speed_of(it)), [1.0, 2.0, 1.0]);
        assert!(settings.prices.is_empty());
        // What reads no reputation, does not differ by it.
        let more = resolved(&format!(
            "{text}cluster_speeds = [1, 2]\nhalf_life_jobs = 9.0\n"
        ));
        assert_eq!(more.unwrap(), settings);
        for (others, keys) in [
            (
                "cluster_speeds = [0]",
                ["market.cluster_speeds", "out of range"],
            ),
            (
                "cluster_prices = [1, -2]",
                ["market.cluster_prices", "out of range"],
            ),
            (
                "cluster_speeds = [2]\nmigration = \"best-offer\"",
                ["market.cluster_speeds", "`market.migration`"],
            ),
            (
                "cluster_prices = [2]\nmechanism = \"tender\"",
                ["market.cluster_prices", "`market.mechanism`"],
            ),
            (
                "home = \"user\"",
                ["market.home", "`market.rule = \"deadline-budget\"`"],
            ),
            ("budget = -1.0", ["market.budget", "-1"]),
        ] {
            let text = text.replace("budget = 1.5\n", others);
            let refused = resolved(&text).unwrap_err();
            assert!(keys.iter().all(|key| refused.contains(key)), "{refused}");
        }
    }

    #[test]
    fn nodes_are_lent_by_policies_that_plan_them_one_by_one() {
        let of = |market: &str, policy: &str| {
            resolved(&format!(
                "[clusters]\npolicy = \"{policy}\"\n[market]\nhome = \"user\"\n{market}"
            ))
        };
        let overflow = |market: &str| {
            let settings = of(market, "comprehensive-overbooking").unwrap();
            settings.home.unwrap().overflow
        };
        let lend = "overflow = \"lend\"\n";
        assert_eq!(overflow(lend), Overflow::Lend { places: None });
        let ten = Some(bookahead_core::units::Nodes(10));
        assert_eq!(
            overflow(&format!("{lend}borrowed_nodes = 10\n")),
            Overflow::Lend { places: ten }
        );
        assert_eq!(overflow("borrowed_nodes = 10\n"), Overflow::Ask);
        let planned = "comprehensive-overbooking";
        for (market, policy, keys) in [
            (lend, "heuristic-planning", ["market.overflow", planned]),
            (
                "overflow = \"lend\"\nprice_slope = 1.0\n",
                planned,
                ["market.overflow", "`market.price_slope`"],
            ),
            (
                "overflow = \"lend\"\nmigration = \"best-offer\"\n",
                planned,
                ["market.overflow", "`market.migration`"],
            ),
            (
                "overflow = \"lend\"\nborrowed_nodes = 0\n",
                planned,
                ["market.borrowed_nodes", "impossible"],
            ),
        ] {
            let refused = of(market, policy).unwrap_err();
            assert!(keys.iter().all(|key| refused.contains(key)), "{refused}");
        }
    }

    #[test]
    fn clusters_of_a_market_that_say_nothing_are_refused() {
        let silent = "[grid_failures]\ncluster_mtbf_days = 2.0\nsilent_outages = true\n";
        let refused = resolved(silent).unwrap_err();
        assert!(
            refused.contains("grid_failures.silent_outages"),
            "{refused}"
        );
    }

    #[test]
    fn nodes_cannot_fail_by_two_tables_at_once() {
        let both = "[failures]\nsource = \"generated\"\n[grid_failures]\nnode_mtbf_days = 2.0\n";
        let refused = resolved(both).unwrap_err();
        assert!(
            refused.contains("fail by `[failures]` already"),
            "{refused}"
        );
        let clusters = both.replace("node_mtbf_days", "cluster_mtbf_days");
        assert!(resolved(&clusters).is_ok());
    }
}
