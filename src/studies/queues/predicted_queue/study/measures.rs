//! A queue that plans with predictions (`predicted_queue`).

use bookahead_core::scheduling::measures::{Measure, Topic, measure};

/// What it measures, in the order of tables.
#[rustfmt::skip]
pub const MEASURES: &[Measure] = &[
    measure("bounded_slowdown", "", "Mean bounded slowdown", 2, Topic::Waits),
    measure("bounded_slowdown_rms", "", "Root mean square of the bounded slowdown", 1, Topic::Detail),
    measure("bounded_slowdown_max", "", "Largest bounded slowdown", 1, Topic::Detail),
    measure("queue_wait_minutes", "min", "Mean wait (min)", 1, Topic::Waits),
    measure("flow_seconds", "s", "Mean wait and run (s)", 0, Topic::Detail),
    measure("stretch", "", "Mean stretch, (wait + run) ÷ run", 1, Topic::Detail),
    measure("prediction_accuracy_percent", "%", "Accuracy of predictions (%)", 1, Topic::Predictions),
    measure("prediction_error_minutes", "min", "Mean error of first predictions (min)", 1, Topic::Predictions),
    measure("coverage_percent", "%", "Jobs that ended within their first prediction (%)", 1, Topic::Predictions),
    measure("expiries_per_job", "", "Expired predictions a job", 2, Topic::Predictions),
    measure("reserved_percent", "%", "Jobs that waited with a reservation (%)", 1, Topic::Predictions),
    measure("reservation_error_minutes", "min", "Mean of |start − reservation| (min)", 1, Topic::Predictions),
    measure("reservation_error_median_minutes", "min", "Median of |start − reservation| (min)", 1, Topic::Detail),
    measure("reservation_error_deviation_minutes", "min", "Standard deviation of |start − reservation| (min)", 1, Topic::Detail),
    measure("delayed_percent", "%", "Jobs that started after their reservation (%)", 2, Topic::Predictions),
    measure("delay_minutes", "min", "Mean delay behind the reservation (min)", 1, Topic::Predictions),
    measure("delay_median_minutes", "min", "Median delay behind the reservation (min)", 1, Topic::Detail),
    measure("delay_deviation_minutes", "min", "Standard deviation of delays (min)", 1, Topic::Detail),
    // Of plans, too: a policy that promises starts has them.
    measure("promised_percent", "%", "Jobs that waited with a promised start (%)", 1, Topic::Predictions),
    measure("promise_ahead_seconds", "s", "Promised start behind the moment of the promise (s)", 0, Topic::Detail),
    measure("promise_error_seconds", "s", "Mean of |start − promised start| (s)", 0, Topic::Predictions),
    measure("promise_error_median_seconds", "s", "Median of |start − promised start| (s)", 0, Topic::Detail),
    measure("promise_error_p90_seconds", "s", "90 % quantile of |start − promised start| (s)", 0, Topic::Detail),
    measure("promise_late_percent", "%", "Promised jobs that started later (%)", 2, Topic::Predictions),
    measure("promise_late_seconds", "s", "Mean delay of those that started later (s)", 0, Topic::Predictions),
    measure("promise_margin_p90_seconds", "s", "Time behind the promise by which nine of ten have started (s)", 0, Topic::Detail),
    measure("promise_early_percent", "%", "Promised jobs that started earlier (%)", 1, Topic::Detail),
    measure("promise_early_seconds", "s", "Mean lead of those that started earlier (s)", 0, Topic::Detail),
    measure("promise_unstarted_percent", "%", "Promised jobs that never started (%)", 2, Topic::Detail),
    measure("first_priority_wait_hours", "h", "Mean wait in the first class of priority (h)", 2, Topic::Waits),
    measure("second_priority_wait_hours", "h", "Mean wait in the second class of priority (h)", 2, Topic::Waits),
    measure("third_priority_wait_hours", "h", "Mean wait in the third class of priority (h)", 2, Topic::Waits),
    measure("first_posted_wait_hours", "h", "Wait posted for the first class of priority (h)", 2, Topic::Detail),
    measure("second_posted_wait_hours", "h", "Wait posted for the second class of priority (h)", 2, Topic::Detail),
    measure("third_posted_wait_hours", "h", "Wait posted for the third class of priority (h)", 2, Topic::Detail),
    measure("first_priority_percent", "%", "Jobs in the first class of priority (%)", 1, Topic::Detail),
    measure("priority_paid_su", "SU", "Prices of classes paid (SU)", 0, Topic::Prices),
];
