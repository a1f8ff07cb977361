//! From what a file says of a market to parts of its settings. Each function returns `None` after it
//! has said what is wrong.

use super::keys::RawMarket;
use crate::market::{HomeRule, HomeSettings, MigrationSettings, Overflow};
use bookahead_core::units::Seconds;
use bookahead_lab::keys::problem::Problems;

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
