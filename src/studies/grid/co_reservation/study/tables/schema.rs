//! The tables in SQL, the views of them, and what the views about all studies show.

use bookahead_lab::tables::{Outcomes, View};

pub(super) const SQL: &str = "
CREATE TABLE cluster (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    cluster INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    first_job INTEGER NOT NULL,
    jobs INTEGER NOT NULL,
    window_start INTEGER NOT NULL,
    accuracy REAL NOT NULL,
    stop INTEGER NOT NULL,
    PRIMARY KEY (simulation, cluster)
) STRICT, WITHOUT ROWID;

CREATE TABLE cluster_measure (
    simulation INTEGER NOT NULL,
    cluster INTEGER NOT NULL,
    measure INTEGER NOT NULL REFERENCES measure (code),
    class TEXT NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (simulation, measure, cluster, class),
    FOREIGN KEY (simulation, cluster) REFERENCES cluster (simulation, cluster)
) STRICT, WITHOUT ROWID;

CREATE TABLE cluster_event (
    simulation INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    time INTEGER NOT NULL,
    cluster INTEGER NOT NULL,
    first_node INTEGER,
    nodes INTEGER,
    up INTEGER NOT NULL CHECK (up IN (0, 1)),
    PRIMARY KEY (simulation, sequence),
    FOREIGN KEY (simulation, cluster) REFERENCES cluster (simulation, cluster)
) STRICT, WITHOUT ROWID;

CREATE TABLE co_verdict (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    granted INTEGER NOT NULL CHECK (granted IN (0, 1))
) STRICT;

CREATE TABLE co_request (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    request INTEGER NOT NULL,
    trace_number INTEGER NOT NULL,
    submit INTEGER NOT NULL,
    earliest INTEGER NOT NULL,
    deadline INTEGER NOT NULL,
    duration INTEGER NOT NULL,
    parts INTEGER NOT NULL,
    verdict INTEGER NOT NULL REFERENCES co_verdict (code),
    answered INTEGER NOT NULL,
    start INTEGER,
    cost REAL,
    pof REAL NOT NULL,
    probes INTEGER NOT NULL,
    reserved INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    cancelled INTEGER NOT NULL,
    timed_out INTEGER NOT NULL,
    repeated INTEGER NOT NULL,
    starts INTEGER NOT NULL,
    candidates REAL NOT NULL,
    worst_case REAL NOT NULL,
    first_start INTEGER,
    last_start INTEGER,
    cheapest REAL,
    dearest REAL,
    waiting_before INTEGER NOT NULL,
    waiting_after INTEGER NOT NULL,
    lost_parts INTEGER NOT NULL,
    replaced_parts INTEGER NOT NULL,
    user INTEGER,
    PRIMARY KEY (simulation, request)
) STRICT, WITHOUT ROWID;

CREATE TABLE co_part (
    simulation INTEGER NOT NULL,
    request INTEGER NOT NULL,
    part INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    cluster INTEGER,
    lost INTEGER NOT NULL,
    PRIMARY KEY (simulation, request, part),
    FOREIGN KEY (simulation, request) REFERENCES co_request (simulation, request)
) STRICT, WITHOUT ROWID;

CREATE TABLE co_task (
    simulation INTEGER NOT NULL,
    request INTEGER NOT NULL,
    workflow INTEGER NOT NULL,
    PRIMARY KEY (simulation, request),
    FOREIGN KEY (simulation, request) REFERENCES co_request (simulation, request)
) STRICT, WITHOUT ROWID;

CREATE TABLE co_task_order (
    simulation INTEGER NOT NULL,
    request INTEGER NOT NULL,
    after INTEGER NOT NULL,
    PRIMARY KEY (simulation, request, after),
    FOREIGN KEY (simulation, request) REFERENCES co_task (simulation, request)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempt_fate (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE co_attempt (
    simulation INTEGER NOT NULL,
    request INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    part INTEGER NOT NULL,
    cluster INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    start INTEGER NOT NULL,
    duration INTEGER NOT NULL,
    sent INTEGER NOT NULL,
    answered INTEGER,
    given_up INTEGER,
    fate INTEGER NOT NULL REFERENCES attempt_fate (code),
    PRIMARY KEY (simulation, request, attempt),
    FOREIGN KEY (simulation, request) REFERENCES co_request (simulation, request)
) STRICT, WITHOUT ROWID;

CREATE TABLE co_probe (
    simulation INTEGER NOT NULL,
    request INTEGER NOT NULL,
    cluster INTEGER NOT NULL,
    unfiltered INTEGER NOT NULL,
    counting INTEGER NOT NULL,
    backlog INTEGER NOT NULL,
    quota INTEGER NOT NULL,
    exempt INTEGER NOT NULL,
    backlog_now INTEGER NOT NULL,
    backlog_earliest INTEGER NOT NULL,
    PRIMARY KEY (simulation, request, cluster),
    FOREIGN KEY (simulation, request) REFERENCES co_request (simulation, request)
) STRICT, WITHOUT ROWID;

CREATE TABLE co_free_cpus (
    simulation INTEGER NOT NULL,
    request INTEGER NOT NULL,
    cluster INTEGER NOT NULL,
    start INTEGER NOT NULL,
    free INTEGER NOT NULL,
    PRIMARY KEY (simulation, request, cluster, start),
    FOREIGN KEY (simulation, request, cluster) REFERENCES co_probe (simulation, request, cluster)
) STRICT, WITHOUT ROWID;

CREATE TABLE co_licences (
    simulation INTEGER NOT NULL,
    request INTEGER NOT NULL,
    part INTEGER NOT NULL,
    licences INTEGER NOT NULL,
    PRIMARY KEY (simulation, request, part),
    FOREIGN KEY (simulation, request, part) REFERENCES co_part (simulation, request, part)
) STRICT, WITHOUT ROWID;

CREATE TABLE co_licence_lack (
    simulation INTEGER NOT NULL,
    request INTEGER NOT NULL,
    cluster INTEGER NOT NULL,
    candidates INTEGER NOT NULL,
    PRIMARY KEY (simulation, request, cluster),
    FOREIGN KEY (simulation, request, cluster) REFERENCES co_probe (simulation, request, cluster)
) STRICT, WITHOUT ROWID;

CREATE TABLE co_storage (
    simulation INTEGER NOT NULL,
    request INTEGER NOT NULL,
    part INTEGER NOT NULL,
    gb INTEGER NOT NULL,
    PRIMARY KEY (simulation, request, part),
    FOREIGN KEY (simulation, request, part) REFERENCES co_part (simulation, request, part)
) STRICT, WITHOUT ROWID;

CREATE TABLE co_storage_lack (
    simulation INTEGER NOT NULL,
    request INTEGER NOT NULL,
    cluster INTEGER NOT NULL,
    candidates INTEGER NOT NULL,
    PRIMARY KEY (simulation, request, cluster),
    FOREIGN KEY (simulation, request, cluster) REFERENCES co_probe (simulation, request, cluster)
) STRICT, WITHOUT ROWID;

CREATE TABLE co_class (
    simulation INTEGER NOT NULL,
    request INTEGER NOT NULL,
    class TEXT NOT NULL CHECK (class IN ('renegotiable', 'priority')),
    PRIMARY KEY (simulation, request),
    FOREIGN KEY (simulation, request) REFERENCES co_request (simulation, request)
) STRICT, WITHOUT ROWID;

CREATE TABLE co_information (
    simulation INTEGER NOT NULL,
    request INTEGER NOT NULL,
    known_clusters INTEGER NOT NULL,
    probed_clusters INTEGER NOT NULL,
    second_rounds INTEGER NOT NULL,
    PRIMARY KEY (simulation, request),
    FOREIGN KEY (simulation, request) REFERENCES co_request (simulation, request)
) STRICT, WITHOUT ROWID;

CREATE TABLE time_line (
    simulation INTEGER NOT NULL,
    cluster INTEGER NOT NULL,
    time INTEGER NOT NULL,
    jobs INTEGER NOT NULL,
    parts INTEGER NOT NULL,
    PRIMARY KEY (simulation, cluster, time),
    FOREIGN KEY (simulation, cluster) REFERENCES cluster (simulation, cluster)
) STRICT, WITHOUT ROWID;
";

pub(super) const VIEWS: &[View] = &[
    (
        "v_cluster",
        "SELECT c.simulation, c.cluster, c.nodes, c.first_job, c.jobs, c.window_start, c.accuracy, c.stop FROM cluster c",
    ),
    (
        "v_cluster_measure",
        "SELECT rp.run, rp.place,
            (SELECT json_group_object(x.key, x.value) FROM (
                SELECT key, value FROM v_point_axis va WHERE va.run = rp.run AND va.place = rp.place ORDER BY axis
            ) x) AS axes,
            p.replication, p.simulation, d.cluster, q.name AS measure, d.class, q.unit, q.title, d.value
         FROM run_point rp
         JOIN point p ON p.id = rp.point
         JOIN cluster_measure d ON d.simulation = p.simulation
         JOIN measure q ON q.code = d.measure",
    ),
    (
        "v_cluster_event",
        "SELECT e.simulation, e.time, e.cluster, e.first_node IS NULL AS whole, coalesce(e.first_node, 0) AS first_node,
            coalesce(e.nodes, c.nodes) AS nodes, e.up
         FROM cluster_event e JOIN cluster c ON c.simulation = e.simulation AND c.cluster = e.cluster
         UNION ALL
         SELECT n.simulation, n.time, c.cluster, 0, n.node - c.first, 1, n.up
         FROM (SELECT simulation, cluster, nodes,
                sum(nodes) OVER (PARTITION BY simulation ORDER BY cluster) - nodes AS first FROM cluster) c
         JOIN node_event n ON n.simulation = c.simulation AND n.node >= c.first AND n.node < c.first + c.nodes",
    ),
    (
        "v_co_request",
        "SELECT o.simulation, o.request, o.trace_number, o.user, o.submit, o.submit + o.earliest AS earliest,
            o.submit + o.deadline AS deadline, o.duration, o.deadline - o.earliest - o.duration AS slack, o.parts,
            v.name AS verdict, v.granted, o.submit + o.answered AS answered, o.submit + o.start AS start, o.start AS lead,
            CASE WHEN o.start IS NULL THEN NULL WHEN o.last_start > o.first_start
                THEN CAST(o.start - o.first_start AS REAL) / (o.last_start - o.first_start)
                WHEN o.first_start IS NOT NULL THEN 0.0 END AS relative_start,
            CASE WHEN o.cost IS NULL THEN NULL WHEN o.dearest > o.cheapest
                THEN (o.cost - o.cheapest) / (o.dearest - o.cheapest)
                WHEN o.cheapest IS NOT NULL THEN 0.0 END AS relative_cost,
            o.cost, o.pof, o.reserved + o.refused + o.cancelled AS messages, o.probes, o.reserved, o.refused, o.cancelled,
            o.timed_out, o.repeated, o.starts, o.candidates, o.worst_case,
            1.0 - coalesce((o.reserved + o.refused + o.cancelled) / nullif(o.worst_case, 0.0), 0.0) AS efficiency,
            o.submit + o.first_start AS first_start, o.submit + o.last_start AS last_start, o.cheapest, o.dearest,
            o.waiting_before, o.waiting_after,
            CASE WHEN v.granted THEN coalesce(CAST(o.waiting_after AS REAL) / nullif(o.waiting_before, 0), 0.0) END
                AS unfairness,
            o.lost_parts, o.replaced_parts,
            CASE WHEN t.workflow IS NOT NULL THEN 'workflow' WHEN o.parts = 1 THEN 'single' ELSE 'co-reservation' END AS kind,
            t.workflow, i.known_clusters, i.probed_clusters, i.second_rounds,
            coalesce(k.class, 'fixed') AS class
         FROM co_request o JOIN co_verdict v ON v.code = o.verdict
         LEFT JOIN co_task t ON t.simulation = o.simulation AND t.request = o.request
         LEFT JOIN co_information i ON i.simulation = o.simulation AND i.request = o.request
         LEFT JOIN co_class k ON k.simulation = o.simulation AND k.request = o.request",
    ),
    (
        "v_co_workflow",
        "SELECT q.simulation, q.workflow, count(*) AS tasks, sum(q.granted) AS granted_tasks,
            min(q.granted AND q.lost_parts <= q.replaced_parts) AS kept, min(q.submit) AS submit, min(q.earliest) AS earliest,
            max(q.deadline) AS deadline, CASE WHEN min(q.granted) THEN min(q.start) END AS start,
            CASE WHEN min(q.granted) THEN max(q.start + q.duration) END AS \"end\", sum(q.cost) AS cost
         FROM v_co_request q WHERE q.workflow IS NOT NULL GROUP BY q.simulation, q.workflow",
    ),
    (
        "v_co_task_order",
        "SELECT t.simulation, t.workflow, o.request, o.after
         FROM co_task_order o JOIN co_task t ON t.simulation = o.simulation AND t.request = o.request",
    ),
    (
        "v_co_part",
        "SELECT p.simulation, p.request, p.part, p.nodes, p.cluster, o.submit + o.start AS start,
            o.submit + o.start + o.duration AS \"end\", o.duration, p.lost, coalesce(l.licences, 0) AS licences,
            coalesce(s.gb, 0) AS storage_gb
         FROM co_part p JOIN co_request o ON o.simulation = p.simulation AND o.request = p.request
         LEFT JOIN co_licences l ON l.simulation = p.simulation AND l.request = p.request AND l.part = p.part
         LEFT JOIN co_storage s ON s.simulation = p.simulation AND s.request = p.request AND s.part = p.part",
    ),
    (
        "v_co_attempt",
        "SELECT a.simulation, a.request, a.attempt, a.part, a.cluster, a.nodes, o.submit + a.start AS start,
            o.submit + a.start + a.duration AS \"end\", a.duration, o.submit + a.sent AS sent,
            o.submit + a.answered AS answered, o.submit + a.given_up AS given_up, f.name AS fate
         FROM co_attempt a
         JOIN co_request o ON o.simulation = a.simulation AND o.request = a.request
         JOIN attempt_fate f ON f.code = a.fate",
    ),
    (
        "v_co_probe",
        "SELECT b.simulation, b.request, b.cluster, o.submit, b.unfiltered, b.counting, b.backlog, b.quota, b.exempt,
            CAST(b.counting + coalesce(l.candidates, 0) + coalesce(s.candidates, 0) + b.backlog + b.quota AS REAL)
                / nullif(b.unfiltered, 0) AS filtering_degree,
            b.backlog_now, b.backlog_earliest, coalesce(l.candidates, 0) AS licences,
            coalesce(s.candidates, 0) AS storage
         FROM co_probe b JOIN co_request o ON o.simulation = b.simulation AND o.request = b.request
         LEFT JOIN co_licence_lack l
            ON l.simulation = b.simulation AND l.request = b.request AND l.cluster = b.cluster
         LEFT JOIN co_storage_lack s
            ON s.simulation = b.simulation AND s.request = b.request AND s.cluster = b.cluster",
    ),
    (
        "v_co_free_cpus",
        "SELECT f.simulation, f.request, f.cluster, o.submit, o.submit + f.start AS start,
            o.submit + f.start + o.duration AS \"end\", f.free
         FROM co_free_cpus f JOIN co_request o ON o.simulation = f.simulation AND o.request = f.request",
    ),
];

/// What the views about all studies show of them.
pub(super) const OUTCOMES: Outcomes = Outcomes {
    algorithm: Some(
        "m.spec ->> '$.study.search.algorithm'",
    ),
    clusters: Some(
        "(SELECT count(*) FROM cluster c WHERE c.simulation = m.id)",
    ),
    cluster_of_job: Some(
        "(SELECT c.cluster FROM cluster c
          WHERE c.simulation = j.simulation AND j.job >= c.first_job AND j.job < c.first_job + c.jobs)",
    ),
    penalty_ratio: Some("m.spec ->> '$.study.risk.penalty_ratio'"),
    jobs: None,
    reservations: Some(
        "SELECT q.simulation, q.request, NULL, q.parts,
            CASE q.parts WHEN 1 THEN (SELECT p.cluster FROM co_part p WHERE p.simulation = q.simulation AND p.request = q.request) END,
            q.trace_number, q.user,
            (SELECT sum(p.nodes) FROM co_part p WHERE p.simulation = q.simulation AND p.request = q.request),
            q.submit, q.earliest, q.deadline, q.duration, NULL,
            CASE WHEN NOT q.granted THEN 'rejected' WHEN q.lost_parts > q.replaced_parts THEN 'lost' ELSE 'granted' END,
            q.verdict, CASE WHEN q.granted THEN q.pof END, q.start, q.start + q.duration, q.cost, NULL
         FROM v_co_request q",
    ),
    nodes_fail: true,
    machines: Some("SELECT c.simulation, c.cluster, 'cluster ' || c.cluster, c.nodes FROM cluster c"),
    // A part that was given back before its start held nothing.
    held: Some(
        "SELECT c.simulation, c.cluster, 'jobs', j.start, j.\"end\", j.nodes FROM cluster c
         JOIN v_job j ON j.simulation = c.simulation AND j.job >= c.first_job AND j.job < c.first_job + c.jobs
         UNION ALL SELECT a.simulation, a.cluster,
            CASE a.fate WHEN 'lost' THEN 'parts of co-reservations that were lost' ELSE 'parts of co-reservations' END,
            a.start, min(a.\"end\", coalesce(a.given_up, a.\"end\")), a.nodes FROM v_co_attempt a
         WHERE a.fate IN ('reserved', 'cancelled', 'lost', 'unreachable') AND a.start < coalesce(a.given_up, a.\"end\")",
    ),
};
