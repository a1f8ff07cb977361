//! What each version of the schema changed: the statements that bring a store of the version before
//! forward.

/// Storage that parts of requests need, and candidates that lacked it.
pub(super) const TO_23: &str = "
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
";

/// Licences that parts of requests need, and candidates that lacked them.
pub(super) const TO_22: &str = "
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
";

/// What clusters had free at the candidate starts of a request.
pub(super) const TO_21: &str = "
CREATE TABLE co_free_cpus (
    simulation INTEGER NOT NULL,
    request INTEGER NOT NULL,
    cluster INTEGER NOT NULL,
    start INTEGER NOT NULL,
    free INTEGER NOT NULL,
    PRIMARY KEY (simulation, request, cluster, start),
    FOREIGN KEY (simulation, request, cluster) REFERENCES co_probe (simulation, request, cluster)
) STRICT, WITHOUT ROWID;
";

/// When the twin jobs of reservations started.
pub(super) const TO_20: &str = "
CREATE TABLE twin_job (
    simulation INTEGER NOT NULL,
    request INTEGER NOT NULL,
    start INTEGER NOT NULL,
    PRIMARY KEY (simulation, request),
    FOREIGN KEY (simulation, request) REFERENCES reservation_outcome (simulation, request)
) STRICT, WITHOUT ROWID;
";

/// Requests to a broker that are tasks of workflows, and their order.
pub(super) const TO_19: &str = "
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
";

/// Requests for reservations that come too late have a verdict of their own (lookups are made
/// anew), and a rule says of how many replications it selects.
pub(super) const TO_18: &str = "ALTER TABLE run_rule ADD COLUMN population INTEGER;";

/// Jobs that were promised nothing and ran where others left nodes.
pub(super) const TO_17: &str = "
CREATE TABLE best_effort_fate (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE best_effort_job (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    job INTEGER NOT NULL,
    trace_number INTEGER NOT NULL,
    submit INTEGER NOT NULL,
    release INTEGER NOT NULL,
    estimate INTEGER NOT NULL,
    runtime INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    user INTEGER,
    application INTEGER,
    fate INTEGER NOT NULL REFERENCES best_effort_fate (code),
    stops INTEGER NOT NULL,
    node_failures INTEGER NOT NULL,
    PRIMARY KEY (simulation, job)
) STRICT, WITHOUT ROWID;

CREATE TABLE best_effort_run (
    simulation INTEGER NOT NULL,
    job INTEGER NOT NULL,
    run INTEGER NOT NULL,
    start INTEGER NOT NULL,
    \"end\" INTEGER NOT NULL,
    kept INTEGER NOT NULL CHECK (kept IN (0, 1)),
    PRIMARY KEY (simulation, job, run),
    FOREIGN KEY (simulation, job) REFERENCES best_effort_job (simulation, job)
) STRICT, WITHOUT ROWID;
";

/// The rule by which a run stops, the order in which it takes replications, and what was decided.
pub(super) const TO_16: &str = "
CREATE TABLE run_rule (
    run INTEGER PRIMARY KEY REFERENCES run (id),
    kind TEXT NOT NULL CHECK (kind IN ('stop', 'select')),
    quantities TEXT NOT NULL,
    axes TEXT,
    goal TEXT,
    baseline TEXT,
    width REAL NOT NULL,
    is_relative INTEGER NOT NULL CHECK (is_relative IN (0, 1)),
    probability REAL NOT NULL,
    least INTEGER NOT NULL,
    rung INTEGER NOT NULL,
    most INTEGER NOT NULL,
    confirm INTEGER NOT NULL
) STRICT;

CREATE TABLE run_turn (
    run INTEGER NOT NULL REFERENCES run (id),
    turn INTEGER NOT NULL,
    replication INTEGER NOT NULL,
    PRIMARY KEY (run, turn)
) STRICT, WITHOUT ROWID;

CREATE TABLE verdict_of_rule (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO verdict_of_rule VALUES (0, 'kept'), (1, 'eliminated'), (2, 'selected'), (3, 'survived'), (4, 'leading'),
    (5, 'narrow enough'), (6, 'not narrow enough'), (7, 'undefined'), (8, 'confirmed'), (9, 'baseline'), (10, 'optimum');

CREATE TABLE decision (
    run INTEGER NOT NULL REFERENCES run (id),
    number INTEGER NOT NULL,
    rung INTEGER NOT NULL,
    place INTEGER NOT NULL,
    quantity TEXT NOT NULL,
    replications INTEGER NOT NULL,
    mean REAL,
    statistic REAL,
    bound REAL,
    verdict INTEGER NOT NULL REFERENCES verdict_of_rule (code),
    PRIMARY KEY (run, number),
    FOREIGN KEY (run, place) REFERENCES run_point (run, place)
) STRICT, WITHOUT ROWID;
";

/// Machines of a run that are not as large as that of the log, too small for some jobs, or asked
/// for much more or less than they can do.
pub(super) const TO_15: &str = "
CREATE TABLE run_machine (
    run INTEGER NOT NULL REFERENCES run (id),
    workload TEXT NOT NULL,
    nodes INTEGER NOT NULL,
    log_nodes INTEGER,
    jobs INTEGER NOT NULL,
    too_wide INTEGER NOT NULL,
    lowest_load REAL,
    highest_load REAL,
    PRIMARY KEY (run, workload, nodes)
) STRICT, WITHOUT ROWID;
";

/// What people say of runs, and where runs are that are not here any more; verdicts of delegations
/// are codes, as verdicts are everywhere; what fails at clusters; how long decisions took. Axes are
/// shown by the present names of their keys, and the penalty ratio of a point is the one that its
/// simulation read: those are views, which are made anew.
pub(super) const TO_14: &str = "
CREATE TABLE run_tag (
    run INTEGER NOT NULL REFERENCES run (id),
    tag TEXT NOT NULL,
    PRIMARY KEY (run, tag)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_note (
    run INTEGER PRIMARY KEY REFERENCES run (id),
    note TEXT NOT NULL
) STRICT;

CREATE TABLE run_gone (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    started INTEGER NOT NULL,
    gone INTEGER NOT NULL,
    archive TEXT
) STRICT;

CREATE TEMPORARY TABLE market_delegation_13 AS SELECT * FROM market_delegation;
DROP TABLE market_delegation;
CREATE TABLE market_delegation (
    simulation INTEGER NOT NULL,
    cluster INTEGER NOT NULL,
    number INTEGER NOT NULL,
    job INTEGER NOT NULL,
    buyer INTEGER,
    buyer_number INTEGER,
    fee REAL NOT NULL,
    price REAL NOT NULL,
    pof REAL NOT NULL,
    verdict INTEGER REFERENCES verdict (code),
    start INTEGER,
    \"end\" INTEGER,
    PRIMARY KEY (simulation, cluster, number),
    FOREIGN KEY (simulation, cluster) REFERENCES market_cluster (simulation, cluster)
) STRICT, WITHOUT ROWID;
INSERT INTO market_delegation SELECT d.simulation, d.cluster, d.number, d.job, d.buyer, d.buyer_number, d.fee, d.price,
    d.pof, (SELECT v.code FROM verdict v WHERE v.name = d.verdict), d.start, d.\"end\" FROM market_delegation_13 d;
DROP TABLE market_delegation_13;

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

CREATE TABLE decision_timing (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    decision TEXT NOT NULL CHECK (decision IN ('admission', 'request', 'quote')),
    decisions INTEGER NOT NULL,
    p50_seconds REAL NOT NULL,
    p99_seconds REAL NOT NULL,
    longest_seconds REAL NOT NULL,
    PRIMARY KEY (simulation, decision)
) STRICT, WITHOUT ROWID;
";

/// What a market leaves beside its totals.
pub(super) const TO_13: &str = "
CREATE TABLE market_cluster (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    cluster INTEGER NOT NULL,
    optimism REAL NOT NULL,
    jobs INTEGER NOT NULL,
    rests INTEGER NOT NULL,
    broken INTEGER NOT NULL,
    promised REAL NOT NULL,
    revenue REAL NOT NULL,
    gain REAL NOT NULL,
    PRIMARY KEY (simulation, cluster)
) STRICT, WITHOUT ROWID;

CREATE TABLE market_quote (
    simulation INTEGER NOT NULL,
    job INTEGER NOT NULL,
    cluster INTEGER NOT NULL,
    start INTEGER NOT NULL,
    \"end\" INTEGER NOT NULL,
    pof REAL NOT NULL,
    price REAL NOT NULL,
    score REAL NOT NULL,
    taken INTEGER NOT NULL CHECK (taken IN (0, 1)),
    PRIMARY KEY (simulation, job, cluster),
    FOREIGN KEY (simulation, cluster) REFERENCES market_cluster (simulation, cluster)
) STRICT, WITHOUT ROWID;

CREATE TABLE market_delegation (
    simulation INTEGER NOT NULL,
    cluster INTEGER NOT NULL,
    number INTEGER NOT NULL,
    job INTEGER NOT NULL,
    buyer INTEGER,
    buyer_number INTEGER,
    fee REAL NOT NULL,
    price REAL NOT NULL,
    pof REAL NOT NULL,
    verdict TEXT,
    start INTEGER,
    \"end\" INTEGER,
    PRIMARY KEY (simulation, cluster, number),
    FOREIGN KEY (simulation, cluster) REFERENCES market_cluster (simulation, cluster)
) STRICT, WITHOUT ROWID;

CREATE TABLE market_move (
    simulation INTEGER NOT NULL,
    move INTEGER NOT NULL,
    time INTEGER NOT NULL,
    transfer INTEGER NOT NULL,
    cluster INTEGER NOT NULL,
    number INTEGER NOT NULL,
    to_cluster INTEGER NOT NULL,
    to_number INTEGER NOT NULL,
    saved INTEGER NOT NULL,
    price REAL NOT NULL,
    PRIMARY KEY (simulation, move),
    FOREIGN KEY (simulation, cluster, number) REFERENCES market_delegation (simulation, cluster, number)
) STRICT, WITHOUT ROWID;
";

/// Digests of what is stored, and what a simulation saw. Of what older programs stored neither is
/// known any more.
pub(super) const TO_12: &str = "
ALTER TABLE simulation ADD COLUMN digest TEXT;
ALTER TABLE simulation ADD COLUMN jobs_hash TEXT;
ALTER TABLE simulation ADD COLUMN failures_hash TEXT;
ALTER TABLE run ADD COLUMN digest TEXT;
";

/// No question of the program looked points up by the value of an axis, and the index for it was a
/// third of what each run enters.
pub(super) const TO_11: &str = "DROP INDEX IF EXISTS point_axis_by_value;";

/// Tasks that outlast their slots are stopped, and there are further measures: views and lookups
/// are made anew.
pub(super) const TO_10: &str = "";

/// Reservations that a machine lost to its nodes have a verdict of their own, and there are further
/// measures: views and lookups are made anew.
pub(super) const TO_9: &str = "";

/// What cleaning dropped; what slots, co-reservations and workflows leave beside their totals;
/// users of reservations, classes of estimates, sums by width, and no deadline where there is none.
pub(super) const TO_8: &str = "
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
