//! What each version of the schema changed: the statements that bring a store of the version before
//! forward.

mod early;

pub(super) use self::early::{TO_8, TO_9, TO_10, TO_11, TO_12};

/// How long decisions took, as histograms; the classes of requests, and what brokers knew when they
/// answered one; what of a slot was given back.
pub(super) const TO_24: &str = "
CREATE TABLE decision_histogram (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    decision TEXT NOT NULL CHECK (decision IN ('admission', 'request', 'quote')),
    up_to_seconds REAL NOT NULL,
    decisions INTEGER NOT NULL,
    PRIMARY KEY (simulation, decision, up_to_seconds)
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

CREATE TABLE workflow_slot_return (
    simulation INTEGER NOT NULL,
    submission INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    refunded REAL NOT NULL,
    forfeited REAL NOT NULL,
    PRIMARY KEY (simulation, submission, slot),
    FOREIGN KEY (simulation, submission, slot) REFERENCES workflow_slot (simulation, submission, slot)
) STRICT, WITHOUT ROWID;
";

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
