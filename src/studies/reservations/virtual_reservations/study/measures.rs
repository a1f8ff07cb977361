//! Virtual reservations against real ones, and predictions of waits
//! (`src/studies/reservations/virtual_reservations/study/`).

use bookahead_core::scheduling::measures::{Measure, QuantityKind, Topic, measure};

/// What it measures, in the order of tables.
#[rustfmt::skip]
pub const MEASURES: &[Measure] = &[
    measure("trials", "", "Trials", 0, Topic::Detail),
    measure("var_cost", "", "Cost of virtual reservations (÷ nodes·duration)", 3, Topic::Virtual),
    measure("var_bound", "", "Bound of that cost", 3, Topic::Detail),
    measure("var_bound_when_asked", "", "Published bound of that cost", 3, Topic::Detail),
    measure("var_successes", "", "Virtual reservations that succeeded", 0, Topic::Detail),
    measure("ar_successes", "", "Reservations that succeeded", 0, Topic::Detail),
    measure("combined_successes", "", "Combined schemes that succeeded", 0, Topic::Detail),
    measure("combined_cost_where_ar", "", "Cost of the combined scheme where the reservation was granted", 3, Topic::Detail),
    measure("var_cost_where_both", "", "Cost of virtual reservations where both succeeded", 3, Topic::Detail),
    measure("ar_cost_where_both", "", "Cost of reservations where both succeeded", 3, Topic::Detail),
    measure("combined_uses_var_percent", "%", "Trials in which the combined scheme keeps the virtual one (%)", 1, Topic::Detail),
    measure("var_submitted_percent", "%", "Trials in which a padded job was submitted (%)", 1, Topic::Detail),
    measure("var_started_late_percent", "%", "Trials in which the padded job started too late (%)", 1, Topic::Detail),
    measure("var_ended_idle_percent", "%", "Trials in which the padded job was ended because it idled (%)", 1, Topic::Detail),
    measure("var_success_percent", "%", "Success of virtual reservations (%)", 1, Topic::Virtual),
    measure("ar_cost", "", "Cost of reservations (÷ nodes·duration)", 3, Topic::Virtual),
    measure("ar_success_percent", "%", "Success of reservations (%)", 1, Topic::Virtual),
    measure("ar_free_percent", "%", "Reservations at price 0 (%)", 1, Topic::Detail),
    measure("combined_cost", "", "Cost of the combined scheme (÷ nodes·duration)", 3, Topic::Virtual),
    measure("combined_success_percent", "%", "Success of the combined scheme (%)", 1, Topic::Virtual),
    measure("var_cheaper_percent", "%", "Trials in which the virtual one is cheaper (%)", 1, Topic::Virtual),
    measure("ar_cheaper_percent", "%", "Trials in which the real one is cheaper (%)", 1, Topic::Virtual),
    measure("only_var_percent", "%", "Trials in which only the virtual one succeeds (%)", 1, Topic::Detail),
    measure("only_ar_percent", "%", "Trials in which only the real one succeeds (%)", 1, Topic::Detail),
    measure("neither_percent", "%", "Trials in which neither succeeds (%)", 1, Topic::Detail),
    measure("worst_var_over_bound", "", "Largest cost minus bound of a virtual reservation", 3, Topic::Detail).of_kind(QuantityKind::Signed),
    measure("worst_combined_over_ar", "", "Largest cost of the combined scheme minus that of the reservation", 3, Topic::Detail).of_kind(QuantityKind::Signed),
    measure("failure_correlation", "", "Correlation of the failures of both", 2, Topic::Detail).of_kind(QuantityKind::Signed),
    measure("prediction_mean", "", "Predicted probability of the chosen submissions", 3, Topic::Predictions),
    measure("brier_score", "", "Brier score of predicted waits", 4, Topic::Predictions),
    measure("bound_coverage_50_percent", "%", "Waits within the bound of the 50 % quantile (%)", 1, Topic::Predictions),
    measure("bound_coverage_75_percent", "%", "Waits within the bound of the 75 % quantile (%)", 1, Topic::Predictions),
    measure("bound_coverage_95_percent", "%", "Waits within the bound of the 95 % quantile (%)", 1, Topic::Predictions),
];
