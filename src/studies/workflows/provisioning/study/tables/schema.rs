//! The tables in SQL, the views of them, and what the views about all studies show.

use bookahead_lab::tables::{Outcomes, View};

pub(super) const SQL: &str = "
CREATE TABLE workflow_site (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    site INTEGER NOT NULL,
    label TEXT NOT NULL,
    nodes INTEGER NOT NULL,
    wanted_percent REAL,
    utilisation_percent REAL NOT NULL,
    copied_percent REAL NOT NULL,
    kept_percent REAL NOT NULL,
    window_start INTEGER NOT NULL,
    window_end INTEGER NOT NULL,
    PRIMARY KEY (simulation, site)
) STRICT, WITHOUT ROWID;

CREATE TABLE workflow_submission (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    submission INTEGER NOT NULL,
    submitted INTEGER NOT NULL,
    planned_cost REAL,
    planned_makespan INTEGER,
    completed INTEGER NOT NULL CHECK (completed IN (0, 1)),
    makespan INTEGER NOT NULL,
    cost REAL NOT NULL,
    wasted REAL NOT NULL,
    gone INTEGER NOT NULL,
    replans INTEGER NOT NULL,
    lost_tasks INTEGER NOT NULL,
    reprovisioned INTEGER NOT NULL,
    best_effort_cost REAL,
    best_effort_makespan INTEGER,
    hypervolume REAL,
    slots_offered INTEGER NOT NULL,
    evaluations INTEGER NOT NULL,
    infeasible INTEGER NOT NULL,
    queries INTEGER NOT NULL,
    offers INTEGER NOT NULL,
    PRIMARY KEY (simulation, submission)
) STRICT, WITHOUT ROWID;

CREATE TABLE workflow_front (
    simulation INTEGER NOT NULL,
    submission INTEGER NOT NULL,
    member INTEGER NOT NULL,
    cost REAL NOT NULL,
    makespan INTEGER NOT NULL,
    chosen INTEGER NOT NULL CHECK (chosen IN (0, 1)),
    PRIMARY KEY (simulation, submission, member),
    FOREIGN KEY (simulation, submission) REFERENCES workflow_submission (simulation, submission)
) STRICT, WITHOUT ROWID;

CREATE TABLE workflow_slot (
    simulation INTEGER NOT NULL,
    submission INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    site INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    start INTEGER NOT NULL,
    \"end\" INTEGER NOT NULL,
    unit_price REAL NOT NULL,
    fixed_price REAL NOT NULL,
    divisible INTEGER NOT NULL CHECK (divisible IN (0, 1)),
    cost REAL NOT NULL,
    used INTEGER NOT NULL,
    externality INTEGER NOT NULL,
    PRIMARY KEY (simulation, submission, slot),
    FOREIGN KEY (simulation, submission) REFERENCES workflow_submission (simulation, submission)
) STRICT, WITHOUT ROWID;

CREATE TABLE workflow_slot_return (
    simulation INTEGER NOT NULL,
    submission INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    refunded REAL NOT NULL,
    forfeited REAL NOT NULL,
    PRIMARY KEY (simulation, submission, slot),
    FOREIGN KEY (simulation, submission, slot) REFERENCES workflow_slot (simulation, submission, slot)
) STRICT, WITHOUT ROWID;

CREATE TABLE task_fate (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE workflow_task (
    simulation INTEGER NOT NULL,
    submission INTEGER NOT NULL,
    position INTEGER NOT NULL,
    task INTEGER NOT NULL,
    site INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    start INTEGER NOT NULL,
    \"end\" INTEGER NOT NULL,
    slot INTEGER,
    fate INTEGER NOT NULL REFERENCES task_fate (code),
    PRIMARY KEY (simulation, submission, position),
    FOREIGN KEY (simulation, submission) REFERENCES workflow_submission (simulation, submission)
) STRICT, WITHOUT ROWID;

CREATE TABLE workflow_query (
    simulation INTEGER NOT NULL,
    submission INTEGER NOT NULL,
    query INTEGER NOT NULL,
    task INTEGER NOT NULL,
    site INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    duration INTEGER NOT NULL,
    offers TEXT NOT NULL,
    PRIMARY KEY (simulation, submission, query),
    FOREIGN KEY (simulation, submission) REFERENCES workflow_submission (simulation, submission)
) STRICT, WITHOUT ROWID;

CREATE TABLE workflow_advertised (
    simulation INTEGER NOT NULL,
    submission INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    site INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    start INTEGER NOT NULL,
    \"end\" INTEGER NOT NULL,
    unit_price REAL NOT NULL,
    fixed_price REAL NOT NULL,
    divisible INTEGER NOT NULL CHECK (divisible IN (0, 1)),
    PRIMARY KEY (simulation, submission, slot),
    FOREIGN KEY (simulation, submission) REFERENCES workflow_submission (simulation, submission)
) STRICT, WITHOUT ROWID;

CREATE TABLE workflow_site_job (
    simulation INTEGER NOT NULL,
    site INTEGER NOT NULL,
    job INTEGER NOT NULL,
    trace_number INTEGER NOT NULL,
    submit INTEGER NOT NULL,
    estimate INTEGER NOT NULL,
    runtime INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    user INTEGER,
    application INTEGER,
    start INTEGER,
    undisturbed_start INTEGER,
    PRIMARY KEY (simulation, site, job),
    FOREIGN KEY (simulation, site) REFERENCES workflow_site (simulation, site)
) STRICT, WITHOUT ROWID;

CREATE TABLE workflow_effect (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    site INTEGER NOT NULL,
    jobs INTEGER NOT NULL,
    delayed INTEGER NOT NULL,
    wait INTEGER NOT NULL,
    undisturbed_wait INTEGER NOT NULL,
    slowdown REAL NOT NULL,
    undisturbed_slowdown REAL NOT NULL,
    PRIMARY KEY (simulation, site)
) STRICT, WITHOUT ROWID;
";

pub(super) const VIEWS: &[View] = &[
    (
        "v_workflow_site",
        "SELECT s.simulation, s.site, s.label, s.nodes, s.wanted_percent, s.utilisation_percent, s.copied_percent, s.kept_percent,
            s.window_start, s.window_end
         FROM workflow_site s",
    ),
    (
        "v_workflow_submission",
        "SELECT s.simulation, s.submission, m.spec ->> '$.study.provider.provider' AS provider,
            m.spec ->> '$.study.search' AS search, m.spec ->> '$.study.wish.alpha' AS alpha,
            m.spec ->> '$.study.wish.after' AS deadline, m.spec ->> '$.study.wish.service_units' AS budget_su,
            s.submitted, s.planned_cost AS planned_cost_su, s.planned_makespan,
            s.planned_cost / nullif(s.best_effort_cost, 0.0) AS cost_ratio,
            CAST(s.planned_makespan AS REAL) / nullif(s.best_effort_makespan, 0) AS makespan_ratio,
            s.completed, s.makespan, s.cost AS cost_su, s.wasted AS wasted_su, s.gone, s.replans, s.lost_tasks, s.reprovisioned,
            s.best_effort_cost AS best_effort_cost_su, s.best_effort_makespan, s.hypervolume, s.slots_offered, s.evaluations,
            s.infeasible, s.queries, s.offers
         FROM workflow_submission s JOIN simulation m ON m.id = s.simulation",
    ),
    (
        "v_workflow_front",
        "SELECT f.simulation, f.submission, f.member, f.cost AS cost_su, f.makespan, f.chosen FROM workflow_front f",
    ),
    (
        "v_workflow_slot",
        "SELECT t.simulation, t.submission, t.slot, t.site, t.nodes, s.submitted + t.start AS start,
            s.submitted + t.\"end\" AS \"end\", t.unit_price, t.fixed_price, t.divisible, t.cost AS cost_su,
            t.used / 3600.0 AS used_su, t.externality / 3600.0 AS externality_su,
            coalesce(r.refunded, 0.0) AS refunded_su, coalesce(r.forfeited, 0.0) AS forfeited_su
         FROM workflow_slot t JOIN workflow_submission s ON s.simulation = t.simulation AND s.submission = t.submission
         LEFT JOIN workflow_slot_return r
            ON r.simulation = t.simulation AND r.submission = t.submission AND r.slot = t.slot",
    ),
    (
        "v_workflow_task",
        "SELECT t.simulation, t.submission, t.position, t.task, t.site, t.nodes, s.submitted + t.start AS start,
            s.submitted + t.\"end\" AS \"end\", t.slot, f.name AS fate
         FROM workflow_task t
         JOIN workflow_submission s ON s.simulation = t.simulation AND s.submission = t.submission
         JOIN task_fate f ON f.code = t.fate",
    ),
    (
        "v_workflow_offer",
        "SELECT q.simulation, q.submission, q.query, q.task, q.site, q.nodes, s.submitted + (e.value ->> 0) AS start, q.duration,
            (e.value ->> 1) / 3600.0 AS price_su, ((e.value ->> 1) + q.nodes * q.duration) / 3600.0 AS cost_su
         FROM workflow_query q
         JOIN workflow_submission s ON s.simulation = q.simulation AND s.submission = q.submission, json_each(q.offers) e",
    ),
    (
        "v_workflow_advertised",
        "SELECT a.simulation, a.submission, a.slot, a.site, a.nodes, s.submitted + a.start AS start,
            s.submitted + a.\"end\" AS \"end\", a.unit_price, a.fixed_price, a.divisible
         FROM workflow_advertised a
         JOIN workflow_submission s ON s.simulation = a.simulation AND s.submission = a.submission",
    ),
    (
        "v_workflow_site_job",
        "SELECT j.simulation, j.site, j.job, j.trace_number, j.user, j.application, j.nodes, j.submit, j.estimate, j.runtime,
            j.submit + j.start AS start, j.submit + j.start + min(j.runtime, j.estimate) AS \"end\", j.start AS waiting,
            j.submit + j.undisturbed_start AS undisturbed_start, j.undisturbed_start AS undisturbed_waiting,
            j.start - j.undisturbed_start AS delayed
         FROM workflow_site_job j",
    ),
    (
        "v_workflow_effect",
        "SELECT e.simulation, e.site, e.jobs, e.delayed, e.wait / 3600.0 / nullif(e.jobs, 0) AS wait_hours,
            e.undisturbed_wait / 3600.0 / nullif(e.jobs, 0) AS undisturbed_wait_hours, e.slowdown / nullif(e.jobs, 0) AS slowdown,
            e.undisturbed_slowdown / nullif(e.jobs, 0) AS undisturbed_slowdown
         FROM workflow_effect e",
    ),
];

/// What the views about all studies show of them.
pub(super) const OUTCOMES: Outcomes = Outcomes {
    algorithm: Some(
        "m.spec ->> '$.study.search'",
    ),
    clusters: Some(
        "(SELECT count(*) FROM workflow_site i WHERE i.simulation = m.id)",
    ),
    cluster_of_job: None,
    penalty_ratio: None,
    jobs: Some(
        "SELECT q.simulation, q.site, q.job, q.trace_number, q.user, q.application, q.nodes, q.estimate, q.runtime, q.submit, q.start,
            q.\"end\", q.waiting
         FROM v_workflow_site_job q",
    ),
    reservations: Some(
        "SELECT q.simulation, q.submission, q.slot, 1, q.site, NULL, NULL, q.nodes, b.submitted, NULL, NULL, q.\"end\" - q.start, NULL,
            'granted', CASE q.used_su WHEN 0 THEN 'unused' ELSE 'used' END, NULL, q.start, q.\"end\", q.cost_su, NULL
         FROM workflow_submission b
         CROSS JOIN v_workflow_slot q ON q.simulation = b.simulation AND q.submission = b.submission",
    ),
    nodes_fail: true,
    machines: Some("SELECT i.simulation, i.site, 'site ' || i.site, i.nodes FROM workflow_site i"),
    held: Some(
        "SELECT j.simulation, j.site, 'jobs of the site, without applications', j.undisturbed_start,
            j.undisturbed_start + min(j.runtime, j.estimate), j.nodes FROM v_workflow_site_job j
         UNION ALL SELECT s.simulation, s.site, 'slots that applications bought', s.start, s.\"end\", s.nodes FROM v_workflow_slot s",
    ),
};
