//! From what a file says of a market to parts of its settings. Each function returns `None` after it
//! has said what is wrong.

use super::keys::RawMarket;
use crate::co_reservation::ClusterFailureSettings;
use crate::co_reservation::study::{RawClusterFailures, of_grid_failures};
use crate::market::{HomeRule, HomeSettings, LoadPricing, MigrationSettings, Overflow};
use bookahead_core::failures::FailureSource;
use bookahead_core::units::Seconds;
use bookahead_lab::keys::declaration::Table;
use bookahead_lab::keys::problem::Problems;
use bookahead_lab::study::Asked;

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
        _ => Overflow::Ask,
    };
    Some(Some(HomeSettings { of, overflow }))
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
    Some(settings)
}
