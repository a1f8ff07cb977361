//! The steps to versions 8 to 12.

/// Digests of what is stored, and what a simulation saw. Of what older programs stored neither is
/// known any more.
pub(in super::super) const TO_12: &str = "
ALTER TABLE simulation ADD COLUMN digest TEXT;
ALTER TABLE simulation ADD COLUMN jobs_hash TEXT;
ALTER TABLE simulation ADD COLUMN failures_hash TEXT;
ALTER TABLE run ADD COLUMN digest TEXT;
";

/// No question of the program looked points up by the value of an axis, and the index for it was a
/// third of what each run enters.
pub(in super::super) const TO_11: &str = "DROP INDEX IF EXISTS point_axis_by_value;";

/// Tasks that outlast their slots are stopped, and there are further measures: views and lookups
/// are made anew.
pub(in super::super) const TO_10: &str = "";

/// Reservations that a machine lost to its nodes have a verdict of their own, and there are further
/// measures: views and lookups are made anew.
pub(in super::super) const TO_9: &str = "";

/// What cleaning dropped; what slots, co-reservations and workflows leave beside their totals;
/// users of reservations, classes of estimates, sums by width, and no deadline where there is none.
pub(in super::super) const TO_8: &str = "
CREATE TABLE run_loss (
    run INTEGER NOT NULL REFERENCES run (id),
    workload TEXT NOT NULL,
    rule TEXT NOT NULL,
    records INTEGER NOT NULL,
    dropped INTEGER NOT NULL,
    PRIMARY KEY (run, workload, rule)
) STRICT, WITHOUT ROWID;

CREATE TABLE slot_sample (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    sample INTEGER NOT NULL,
    time INTEGER NOT NULL,
    tasks INTEGER NOT NULL,
    slots TEXT NOT NULL,
    PRIMARY KEY (simulation, sample)
) STRICT, WITHOUT ROWID;

CREATE TABLE virtual_background (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,
    jobs INTEGER NOT NULL
) STRICT;

CREATE TABLE virtual_background_job (
    background INTEGER NOT NULL REFERENCES virtual_background (id),
    job INTEGER NOT NULL,
    trace_number INTEGER NOT NULL,
    submit INTEGER NOT NULL,
    estimate INTEGER NOT NULL,
    runtime INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    user INTEGER,
    application INTEGER,
    start INTEGER,
    PRIMARY KEY (background, job)
) STRICT, WITHOUT ROWID;

CREATE TABLE virtual_simulation (
    simulation INTEGER PRIMARY KEY REFERENCES simulation (id),
    background INTEGER NOT NULL REFERENCES virtual_background (id)
) STRICT;

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

ALTER TABLE reservation_outcome ADD COLUMN user INTEGER;
ALTER TABLE co_request ADD COLUMN user INTEGER;
CREATE TABLE estimate_class (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    class INTEGER NOT NULL,
    label TEXT NOT NULL,
    samples INTEGER NOT NULL,
    PRIMARY KEY (simulation, class)
) STRICT, WITHOUT ROWID;
CREATE TEMPORARY TABLE job_7 AS SELECT * FROM job;
DROP TABLE job;
CREATE TABLE job (
    workload INTEGER NOT NULL REFERENCES workload (id),
    job INTEGER NOT NULL,
    trace_number INTEGER NOT NULL,
    submit INTEGER NOT NULL,
    release INTEGER NOT NULL,
    estimate INTEGER NOT NULL,
    runtime INTEGER NOT NULL,
    deadline INTEGER,
    nodes INTEGER NOT NULL,
    user INTEGER,
    application INTEGER,
    fixed INTEGER NOT NULL DEFAULT 0 CHECK (fixed IN (0, 1)),
    PRIMARY KEY (workload, job)
) STRICT, WITHOUT ROWID;
INSERT INTO job SELECT workload, job, trace_number, submit, release, estimate, runtime,
    nullif(deadline, 2305843009213693951), nodes, user, application, fixed FROM job_7;
DROP TABLE job_7;
CREATE INDEX job_fixed ON job (workload, job) WHERE fixed = 1;
CREATE TABLE simulation_width (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    width INTEGER NOT NULL,
    jobs INTEGER NOT NULL,
    successful INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    started INTEGER NOT NULL,
    wait_total INTEGER NOT NULL,
    PRIMARY KEY (simulation, width)
) STRICT, WITHOUT ROWID;
WITH RECURSIVE class (width, low, high) AS (VALUES (0, 1, 1) UNION ALL SELECT width + 1, high + 1, 2 * high FROM class WHERE width < 32)
INSERT INTO simulation_width
SELECT o.simulation, c.width, count(*), sum(v.outcome = 'successful'), sum(v.outcome = 'failed'), count(o.start), coalesce(sum(o.start), 0)
FROM job_outcome o
JOIN simulation m ON m.id = o.simulation
JOIN job j ON j.workload = m.workload AND j.job = o.job
JOIN verdict v ON v.code = o.verdict
JOIN class c ON j.nodes BETWEEN c.low AND c.high
GROUP BY o.simulation, c.width;
";
