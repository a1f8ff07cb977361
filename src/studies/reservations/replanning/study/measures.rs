//! The machine that takes reservations (`src/studies/reservations/replanning/`), and fixed
//! reservations beside flexible jobs (`src/core/scheduling/outcome.rs`).

use bookahead_core::scheduling::measures::{Measure, QuantityKind, Topic, measure};

/// What it measures, in the order of tables.
#[rustfmt::skip]
pub const MEASURES: &[Measure] = &[
    measure("requests", "", "Requests", 0, Topic::Detail),
    measure("granted", "", "Reservations granted", 0, Topic::Detail),
    measure("rejected_percent", "%", "Requests rejected (%)", 2, Topic::Reservations),
    measure("rejected_fixed_percent", "%", "Rejected for running jobs or reservations (%)", 2, Topic::Detail),
    measure("rejected_planned_percent", "%", "Rejected for planned jobs (%)", 2, Topic::Detail),
    measure("rejected_impossible_percent", "%", "Impossible requests (%)", 2, Topic::Detail),
    measure("reservations_used_percent", "%", "Machine used by reservations (%)", 2, Topic::Reservations),
    measure("held_idle_percent", "%", "Held by reservations and not used (%)", 2, Topic::Detail),
    measure("loaded_utilisation_percent", "%", "Utilisation while jobs are submitted (%)", 2, Topic::Machine),
    measure("job_wait_hours", "h", "Mean wait of jobs (h)", 3, Topic::Waits),
    measure("reservation_wait_hours", "h", "Mean wait of reservations (h)", 3, Topic::Waits),
    measure("wait_ratio", "", "Wait of reservations ÷ wait of jobs", 3, Topic::Waits),
    measure("price_su", "SU", "Mean additive price (SU)", 3, Topic::Prices),
    measure("price_deviation_su", "SU", "Deviation of the price within a simulation (SU)", 2, Topic::Detail),
    measure("priced_percent", "%", "Reservations with a price above 0 (%)", 2, Topic::Prices),
    measure("offers_mean", "", "Offers a request", 1, Topic::Detail),
    measure("displaced_jobs_mean", "", "Jobs displaced a reservation", 3, Topic::Prices),
    measure("displaced_hours_mean", "h", "Delay inflicted a reservation (h)", 3, Topic::Prices),
    measure("anomalies", "", "Jobs moved back by planning anew", 0, Topic::Detail).of_kind(QuantityKind::RareCount),
    measure("reservations_lost_percent", "%", "Granted reservations lost to failures (%)", 2, Topic::Reservations),
    measure("failures_lost_processor_seconds", "s", "Processor-seconds of runs that a failure ended", 0, Topic::Detail).of_kind(QuantityKind::SkewedSum),
    measure("truncated_jobs", "", "Jobs truncated for a reservation", 0, Topic::Reservations).of_kind(QuantityKind::RareCount),
    measure("requeued_jobs", "", "Times that a job was requeued for a reservation", 0, Topic::Reservations).of_kind(QuantityKind::RareCount),
    measure("stopped_lost_processor_seconds", "s", "Processor-seconds of runs stopped for a reservation", 0, Topic::Prices).of_kind(QuantityKind::SkewedSum),
    measure("stopped_wait_hours", "h", "Mean wait of jobs that were stopped (h)", 3, Topic::Detail),
    measure("stopped_bounded_slowdown", "", "Mean bounded slowdown of jobs that were stopped", 1, Topic::Detail),
    measure("preemptible_wait_hours", "h", "Mean wait of preemptible jobs (h)", 3, Topic::Waits),
    measure("preemptible_bounded_slowdown", "", "Mean bounded slowdown of preemptible jobs", 1, Topic::Detail),
    measure("other_wait_hours", "h", "Mean wait of jobs that are not preemptible (h)", 3, Topic::Waits),
    measure("other_bounded_slowdown", "", "Mean bounded slowdown of jobs that are not preemptible", 1, Topic::Detail),
    measure("flexible_rejected_percent", "%", "Flexible jobs rejected (%)", 2, Topic::Reservations),
    measure("flexible_fees_vc", "VC", "Fees of flexible jobs (VC)", 0, Topic::Prices),
    measure("flexible_forfeited_vc", "VC", "Forfeited fees of flexible jobs (VC)", 0, Topic::Prices).of_kind(QuantityKind::SkewedSum),
    measure("reservation_fees_vc", "VC", "Fees of reservations (VC)", 0, Topic::Prices),
    measure("reservation_forfeited_vc", "VC", "Forfeited fees of reservations (VC)", 0, Topic::Detail).of_kind(QuantityKind::SkewedSum),
];
