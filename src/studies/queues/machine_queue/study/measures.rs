//! A queue on a machine with partitions (`scheduling::machine_queue`).

use bookahead_core::scheduling::measures::{Measure, QuantityKind, Topic, measure};

/// What it measures beside the mean wait and the announced starts that other queues have, in the
/// order of tables.
#[rustfmt::skip]
pub const MEASURES: &[Measure] = &[
    measure("refused_percent", "%", "Jobs that the machine refused (%)", 2, Topic::Jobs),
    measure("without_place_percent", "%", "Jobs without a partition (%)", 2, Topic::Jobs),
    measure("recorded_wait_minutes", "min", "Mean wait as recorded (min)", 1, Topic::Waits),
    measure("compared_wait_minutes", "min", "Mean simulated wait of the jobs with a recorded one (min)", 1, Topic::Detail),
    measure("wait_difference_minutes", "min", "Mean of |simulated − recorded wait| (min)", 1, Topic::Waits),
    measure("wait_rank_correlation", "", "Rank correlation of simulated and recorded waits", 2, Topic::Waits).of_kind(QuantityKind::Signed),
    measure("crossing_percent", "%", "Jobs on nodes of several switches (% of those that started)", 2, Topic::Jobs),
    measure("crossing_killed_percent", "%", "Jobs killed at their request only because they crossed switches (% of those that started)", 2, Topic::Jobs),
    measure("response_minutes", "min", "Mean time from submission to end (min)", 1, Topic::Waits),
    measure("added_reservation_begin_seconds", "s", "Begin of the added reservation (s)", 0, Topic::Detail),
    measure("others_delay_core_hours", "core-h", "What the added reservation delays others by (core-hours)", 1, Topic::Prices).of_kind(QuantityKind::Signed),
    measure("others_delay_per_core_hour", "", "The same for each reserved core-hour", 2, Topic::Prices).of_kind(QuantityKind::Signed),
    measure("others_delayed_jobs", "", "Jobs that start later because of it", 0, Topic::Detail),
    measure("others_hurried_jobs", "", "Jobs that start earlier because of it", 0, Topic::Detail),
];
