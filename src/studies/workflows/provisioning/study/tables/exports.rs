//! What can be exported of workflows that buy their resources.

use bookahead_lab::tables::{ExportKind, ExportSource};

pub(super) const EXPORTS: &[ExportKind] = &[
    ExportKind {
        name: "sites",
        about: "One row for each site that sells resources to workflows",
        of_outcomes: false,
        source: ExportSource::Simulations("v_workflow_site"),
        columns: "simulation, site, label text, nodes, wanted_percent number, utilisation_percent number, copied_percent number, \
            kept_percent number, window_start, window_end",
    },
    ExportKind {
        name: "submissions",
        about: "One row for each workflow that was submitted",
        of_outcomes: false,
        source: ExportSource::Simulations("v_workflow_submission"),
        columns: "simulation, submission, provider text, search text, alpha number, deadline, budget_su number, submitted, \
            planned_cost_su number, planned_makespan, cost_ratio number, makespan_ratio number, completed flag, makespan, \
            cost_su number, wasted_su number, gone, replans, lost_tasks, reprovisioned, best_effort_cost_su number, \
            best_effort_makespan, hypervolume number, slots_offered, evaluations, infeasible, queries, offers",
    },
    ExportKind {
        name: "fronts",
        about: "One row for each plan of a Pareto front",
        of_outcomes: false,
        source: ExportSource::Simulations("v_workflow_front"),
        columns: "simulation, submission, member, cost_su number, makespan, chosen flag",
    },
    ExportKind {
        name: "slots",
        about: "One row for each slot that was paid for",
        of_outcomes: false,
        source: ExportSource::Simulations("v_workflow_slot"),
        columns: "simulation, submission, slot, site, nodes, start, end, unit_price number, fixed_price number, divisible flag, \
            cost_su number, used_su number, externality_su number, refunded_su number, forfeited_su number",
    },
    ExportKind {
        name: "tasks",
        about: "One row for each run of a task of a workflow",
        of_outcomes: false,
        source: ExportSource::Simulations("v_workflow_task"),
        columns: "simulation, submission, position, task, site, nodes, start, end, slot, fate text",
    },
    ExportKind {
        name: "workflow-offers",
        about: "One row for each start that a site offered for a task",
        of_outcomes: true,
        source: ExportSource::Simulations("v_workflow_offer"),
        columns: "simulation, submission, query, task, site, nodes, start, duration, price_su number, cost_su number",
    },
    ExportKind {
        name: "workflow-advertised",
        about: "One row for each slot that the first search of a plan could choose from",
        of_outcomes: true,
        source: ExportSource::Simulations("v_workflow_advertised"),
        columns: "simulation, submission, slot, site, nodes, start, end, unit_price number, fixed_price number, divisible flag",
    },
    ExportKind {
        name: "site-jobs",
        about: "One row for each job of others that was at a site while workflows ran",
        of_outcomes: true,
        source: ExportSource::Simulations("v_workflow_site_job"),
        columns: "simulation, site, job, trace_number, user, application, nodes, submit, estimate, runtime, start, end, waiting, \
            undisturbed_start, undisturbed_waiting, delayed",
    },
    ExportKind {
        name: "effects",
        about: "One row for what workflows did to the other jobs of a site",
        of_outcomes: false,
        source: ExportSource::Simulations("v_workflow_effect"),
        columns: "simulation, site, jobs, delayed, wait_hours number, undisturbed_wait_hours number, slowdown number, \
            undisturbed_slowdown number",
    },
];
