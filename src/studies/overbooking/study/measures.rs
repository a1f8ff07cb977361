//! How well statistics of estimates describe the jobs that were accepted, what closed loops of
//! clients do, and what checkpoints do. A policy has the metrics of its jobs beside it, and with
//! reservations the measures of their study.

use bookahead_core::scheduling::measures::{Measure, QuantityKind, Topic, measure};

/// What it measures, in the order of tables.
#[rustfmt::skip]
pub const MEASURES: &[Measure] = &[
    measure("interval_90_coverage_percent", "%", "Jobs inside their predicted 90 % interval (%)", 2, Topic::Overbooking),
    measure("interval_90_promised_percent", "%", "Jobs that would be inside it as predicted (%)", 2, Topic::Detail),
    measure("interval_90_width_percent", "%", "Width of the predicted 90 % interval (% of the estimate)", 2, Topic::Detail).of_kind(QuantityKind::Mean),
    measure("resubmissions", "", "Submissions after a rejection or failure", 0, Topic::Jobs),
    measure("cancellations", "", "Jobs taken back before their start", 0, Topic::Jobs),
    measure("first_rejected_percent", "%", "Jobs rejected at their first submission (%)", 2, Topic::Jobs),
    measure("finally_rejected_percent", "%", "Jobs rejected for good (%)", 2, Topic::Jobs),
    measure("finally_successful_percent", "%", "Jobs successful in the end (%)", 2, Topic::Jobs),
    measure("followers_percent", "%", "Jobs that follow another one (%)", 2, Topic::Detail),
    measure("followers_shift_hours", "h", "How much later than in the log they are submitted (h)", 3, Topic::Detail).of_kind(QuantityKind::Signed),
    measure("stops_at_window_end", "", "Jobs stopped at the end of a window", 0, Topic::Jobs).of_kind(QuantityKind::RareCount),
    measure("resumed_from_checkpoint", "", "Runs that went on from a checkpoint", 0, Topic::Jobs).of_kind(QuantityKind::RareCount),
    measure("kept_after_interruption", "", "Promises kept after an interruption", 0, Topic::Jobs).of_kind(QuantityKind::RareCount),
    measure("work_node_hours", "node h", "Work of successful jobs (node h)", 1, Topic::Machine),
    measure("lost_work_node_hours", "node h", "Work done in vain (node h)", 1, Topic::Machine).of_kind(QuantityKind::SkewedSum),
    measure("checkpoint_node_hours", "node h", "Checkpoints written (node h)", 1, Topic::Machine),
    measure("bandwidth_wait_node_hours", "node h", "Of it for bandwidth that others had (node h)", 1, Topic::Machine),
    measure("most_writers", "", "Jobs that wrote at once at most", 0, Topic::Machine),
    measure("suspended_node_hours", "node h", "Memory of suspended jobs (node h)", 1, Topic::Machine),
    measure("memory_rent_vc", "VC", "What it cost (VC)", 1, Topic::Money),
    measure("late_jobs", "", "Jobs that ended late", 0, Topic::Jobs).of_kind(QuantityKind::RareCount),
    measure("lateness_hours", "h", "Mean lateness of late jobs (h)", 3, Topic::Jobs),
    measure("late_forfeited_vc", "VC", "Penalties of late jobs at ratio 1 (VC)", 1, Topic::Money).of_kind(QuantityKind::SkewedSum),
    measure("refunds_vc", "VC", "Fees paid back to late jobs (VC)", 1, Topic::Money).of_kind(QuantityKind::SkewedSum),
    measure("best_effort_jobs", "", "Jobs without promises", 0, Topic::Jobs),
    measure("best_effort_done_percent", "%", "Of them done when the last promise ended (%)", 2, Topic::Jobs),
    measure("best_effort_wait_hours", "h", "Mean wait of jobs without promises (h)", 2, Topic::Waits),
    measure("best_effort_stops", "", "Times that jobs without promises gave way", 0, Topic::Jobs).of_kind(QuantityKind::RareCount),
    measure("best_effort_node_hours", "node h", "Used by jobs without promises (node h)", 1, Topic::Machine),
    measure("best_effort_lost_node_hours", "node h", "Lost with jobs that gave way (node h)", 1, Topic::Machine).of_kind(QuantityKind::SkewedSum),
    measure("best_effort_fees_vc", "VC", "Fees of jobs without promises (VC)", 1, Topic::Money),
    measure("promised_fees_vc", "VC", "Fees of jobs with promises (VC)", 1, Topic::Money),
    measure("restart_node_hours", "node h", "Checkpoints read (node h)", 1, Topic::Machine),
    measure("probable_passes", "", "Jobs that passed the first of the queue at a risk", 0, Topic::Jobs).of_kind(QuantityKind::RareCount),
    measure("overrun_passes_percent", "%", "Of them still running when that was to start (%)", 2, Topic::Jobs),
    measure("late_offers_refused", "", "Jobs whose customers refused the end that was offered", 0, Topic::Jobs).of_kind(QuantityKind::RareCount),
    measure("late_offers_refused_percent", "%", "Of all jobs (%)", 2, Topic::Jobs),
    measure("double_jobs", "", "Jobs that were given two runs", 0, Topic::Jobs).of_kind(QuantityKind::RareCount),
    measure("double_rescued", "", "Of them successful after the first was lost", 0, Topic::Jobs).of_kind(QuantityKind::RareCount),
    measure("double_spare_node_hours", "node h", "Runs whose job ended in the other one (node h)", 1, Topic::Machine),
    measure("longer_asked", "", "Requests for more time while a job runs", 0, Topic::Jobs).of_kind(QuantityKind::RareCount),
    measure("longer_in_full_percent", "%", "Of them granted in full (%)", 2, Topic::Jobs),
    measure("longer_in_part_percent", "%", "Of them granted in part (%)", 2, Topic::Jobs),
    measure("longer_granted_node_hours", "node h", "Time that was granted (node h)", 1, Topic::Machine),
];
