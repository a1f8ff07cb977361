//! How well statistics of estimates describe the jobs that were accepted, and what closed loops of clients do. A policy has the metrics of
//! its jobs beside it, and with reservations the measures of their study.

use crate::scheduling::measures::{Measure, Topic, measure};

/// What it measures, in the order of tables.
#[rustfmt::skip]
pub const MEASURES: &[Measure] = &[
    measure("interval_90_coverage_percent", "%", "Accepted jobs within nine tenths of their distribution (%)", 2, Topic::Overbooking),
    measure("interval_90_promised_percent", "%", "How many would be by their distributions (%)", 2, Topic::Detail),
    measure("interval_90_width_percent", "%", "Width of nine tenths of their distribution (% of the estimate)", 2, Topic::Detail),
    measure("resubmissions", "", "Submissions after a rejection or failure", 0, Topic::Jobs),
    measure("cancellations", "", "Jobs taken back before their start", 0, Topic::Jobs),
    measure("first_rejected_percent", "%", "Jobs rejected at their first submission (%)", 2, Topic::Jobs),
    measure("finally_rejected_percent", "%", "Jobs rejected for good (%)", 2, Topic::Jobs),
    measure("finally_successful_percent", "%", "Jobs successful in the end (%)", 2, Topic::Jobs),
    measure("followers_percent", "%", "Jobs that follow another one (%)", 2, Topic::Detail),
    measure("followers_shift_hours", "h", "How much later than in the log they are submitted (h)", 3, Topic::Detail),
];
