//! Workflows that buy their resources (`src/studies/workflows/provisioning/`, spec
//! `provisioning.md` §10). `wf_` is the plan, or best effort where that is the search.

use bookahead_core::scheduling::measures::{Measure, QuantityKind, Topic, measure};

/// What it measures, in the order of tables.
#[rustfmt::skip]
pub const MEASURES: &[Measure] = &[
    measure("wf_makespan_hours", "h", "Makespan (h)", 2, Topic::Workflows),
    measure("wf_cost_su", "SU", "Allocation cost (SU)", 1, Topic::Workflows),
    measure("wf_makespan_ratio", "", "Makespan ÷ best effort", 3, Topic::Workflows),
    measure("wf_cost_ratio", "", "Allocation cost ÷ best effort", 3, Topic::Workflows),
    measure("wf_planned_percent", "%", "Applications with a plan (%)", 1, Topic::Detail),
    measure("be_makespan_hours", "h", "Makespan of best effort (h)", 2, Topic::Workflows),
    measure("be_cost_su", "SU", "Allocation cost of best effort (SU)", 1, Topic::Detail),
    measure("wf_idle_su", "SU", "Paid and idle (SU)", 1, Topic::Workflows),
    measure("wf_externality_su", "SU", "Paid for the delay of others (SU)", 1, Topic::Workflows),
    measure("wf_slots_offered", "", "Slots to choose from", 1, Topic::Detail),
    measure("wf_slots_bought", "", "Slots bought", 1, Topic::Workflows),
    measure("wf_front_size", "", "Plans on the Pareto front", 1, Topic::Workflows),
    measure("wf_hypervolume", "", "Hypervolume of the Pareto front", 4, Topic::Workflows),
    measure("wf_evaluations", "", "Plans evaluated", 0, Topic::Detail),
    measure("wf_infeasible_percent", "%", "Evaluated plans that do not fit (%)", 1, Topic::Detail),
    measure("wf_queries", "", "Queries answered", 0, Topic::Detail),
    measure("wf_offers", "", "Offers a query", 1, Topic::Detail),
    measure("wf_deadline_met_percent", "%", "Deadlines met (%)", 1, Topic::Workflows),
    measure("be_deadline_met_percent", "%", "Deadlines met by best effort (%)", 1, Topic::Detail),
    measure("wf_within_budget_percent", "%", "Budgets kept (%)", 1, Topic::Workflows),
    measure("wf_completed_percent", "%", "Applications completed (%)", 1, Topic::CarriedOut),
    measure("wf_realised_makespan_hours", "h", "Makespan when carried out (h)", 2, Topic::CarriedOut),
    measure("wf_realised_cost_su", "SU", "Paid when carried out (SU)", 1, Topic::CarriedOut),
    measure("wf_wasted_su", "SU", "Paid for nothing (SU)", 1, Topic::CarriedOut),
    measure("wf_slots_gone", "", "Slots gone when reserved", 2, Topic::CarriedOut),
    measure("wf_replans", "", "Plans made anew for slots gone", 2, Topic::CarriedOut),
    measure("wf_lost_tasks", "", "Tasks lost to node failures", 2, Topic::CarriedOut).of_kind(QuantityKind::RareCount),
    measure("wf_reprovisioned", "", "Plans made anew after failures", 2, Topic::CarriedOut),
    measure("wf_outlasted_tasks", "", "Tasks that outlasted their slots", 2, Topic::CarriedOut),
    measure("wf_rebooked_tasks", "", "Tasks booked anew because of that", 2, Topic::CarriedOut),
    measure("wf_after_ends_su", "SU", "Paid after tasks' early ends (SU)", 1, Topic::CarriedOut),
    measure("others_jobs", "", "Jobs of others compared", 0, Topic::Detail),
    measure("others_wait_hours", "h", "Wait of others (h)", 3, Topic::CarriedOut),
    measure("others_undisturbed_wait_hours", "h", "Wait of others without applications (h)", 3, Topic::Detail),
    measure("others_added_wait_minutes", "min", "Wait added to others (min)", 2, Topic::CarriedOut).of_kind(QuantityKind::Signed),
    measure("others_delayed_percent", "%", "Jobs of others delayed (%)", 2, Topic::CarriedOut),
    measure("others_slowdown_ratio", "", "Slowdown of others ÷ undisturbed", 3, Topic::CarriedOut),
    measure("site_utilisation_percent", "%", "Utilisation by own jobs (%)", 1, Topic::Detail),
    measure("site_copied_percent", "%", "Jobs copied for the load (%)", 1, Topic::Detail),
    measure("site_kept_percent", "%", "Jobs kept for the load (%)", 1, Topic::Detail),
];
