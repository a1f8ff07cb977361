//! What can be exported of several clusters.

use bookahead_lab::tables::{ExportKind, ExportSource};

pub(super) const EXPORTS: &[ExportKind] = &[
    ExportKind {
        name: "clusters",
        about: "One row for each cluster of each simulation",
        of_outcomes: false,
        source: ExportSource::Simulations("v_cluster"),
        columns: "simulation, cluster, nodes, first_job, jobs, window_start, accuracy number, stop",
    },
    ExportKind {
        name: "point-cluster-measures",
        about: "One row for each measure of each cluster at each place of the sweep",
        of_outcomes: false,
        source: ExportSource::Run("v_cluster_measure", "place, cluster, measure, class"),
        columns: "run, place, axes text, replication, simulation, cluster, measure text, class text, unit text, title text, \
            value number",
    },
    ExportKind {
        name: "cluster-measures",
        about: "One row for each measure of each cluster",
        of_outcomes: false,
        source: ExportSource::Simulations(
            "(SELECT d.simulation, d.cluster, q.name AS measure, d.class, q.unit, q.title, d.value
              FROM cluster_measure d JOIN measure q ON q.code = d.measure)",
        ),
        columns: "simulation, cluster, measure text, class text, unit text, title text, value number",
    },
    ExportKind {
        name: "cluster-events",
        about: "One row for each failure and repair of a cluster, or of nodes of one",
        of_outcomes: true,
        source: ExportSource::SimulationsBy(
            "v_cluster_event",
            "simulation, time, cluster, first_node",
        ),
        columns: "simulation, time, cluster, whole flag, first_node, nodes, up flag",
    },
    ExportKind {
        name: "co-requests",
        about: "One row for each request for a co-reservation",
        of_outcomes: false,
        source: ExportSource::Simulations("v_co_request"),
        columns: "simulation, request, trace_number, user, submit, earliest, deadline, duration, slack, parts, verdict text, \
            granted flag, answered, start, lead, relative_start number, relative_cost number, cost number, pof number, \
            messages, probes, reserved, refused, cancelled, timed_out, repeated, starts, candidates number, \
            worst_case number, efficiency number, first_start, last_start, cheapest number, dearest number, waiting_before, \
            waiting_after, unfairness number, lost_parts, replaced_parts, kind text, workflow, known_clusters, \
            probed_clusters, second_rounds, class text",
    },
    ExportKind {
        name: "co-workflows",
        about: "One row for each workflow that a broker was asked for",
        of_outcomes: false,
        source: ExportSource::Simulations("v_co_workflow"),
        columns: "simulation, workflow, tasks, granted_tasks, kept flag, submit, earliest, deadline, start, end, cost number",
    },
    ExportKind {
        name: "co-task-order",
        about: "One row for each pair of tasks of a workflow of which one begins after the other",
        of_outcomes: false,
        source: ExportSource::SimulationsBy("v_co_task_order", "simulation, request, after"),
        columns: "simulation, workflow, request, after",
    },
    ExportKind {
        name: "co-parts",
        about: "One row for each part of each co-reservation",
        of_outcomes: false,
        source: ExportSource::Simulations("v_co_part"),
        columns: "simulation, request, part, nodes, cluster, start, end, duration, lost, licences, storage_gb",
    },
    ExportKind {
        name: "co-attempts",
        about: "One row for each order to reserve a part of a co-reservation",
        of_outcomes: true,
        source: ExportSource::Simulations("v_co_attempt"),
        columns: "simulation, request, attempt, part, cluster, nodes, start, end, duration, sent, answered, given_up, fate text",
    },
    ExportKind {
        name: "co-probes",
        about: "One row for each cluster that a co-reservation probed",
        of_outcomes: false,
        source: ExportSource::Simulations("v_co_probe"),
        columns: "simulation, request, cluster, submit, unfiltered, counting, backlog, quota, exempt, filtering_degree number, \
            backlog_now, backlog_earliest, licences, storage",
    },
    ExportKind {
        name: "co-free-cpus",
        about: "One row for each candidate start at a cluster that a co-reservation probed",
        of_outcomes: false,
        source: ExportSource::SimulationsBy(
            "v_co_free_cpus",
            "simulation, request, cluster, start",
        ),
        columns: "simulation, request, cluster, submit, start, end, free",
    },
    ExportKind {
        name: "time-lines",
        about: "One row for each cluster and hour",
        of_outcomes: false,
        source: ExportSource::Simulations("time_line"),
        columns: "simulation, cluster, time, jobs, parts",
    },
];
