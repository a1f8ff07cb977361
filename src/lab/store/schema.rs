//! The tables, lookup tables and views, version by version.
//!
//! Many rows are made small: a job's own attributes are kept once per workload (`job`), not once per simulation, and an
//! outcome holds times as seconds after the release, which take two or three bytes where absolute times take four.
//! Probabilities stay `REAL`: they are read back bit by bit, and only overbooked slots have any.
//! Views give everything readable names, absolute times and coins.

/// "BKAH": marks a file as ours (`PRAGMA application_id`).
pub const APPLICATION_ID: i32 = 0x424B_4148;

/// The version that this program writes (`PRAGMA user_version`).
pub const SCHEMA_VERSION: i32 = 6;

/// One step forward: the version that it leads to and what it executes on the version before.
pub(super) struct Migration {
    pub(super) version: i32,
    pub(super) sql: &'static str,
}

/// Every step from an empty file to [`SCHEMA_VERSION`], oldest first. Steps that were released are never edited.
pub(super) const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 1,
        sql: VERSION_1,
    },
    Migration {
        version: 2,
        sql: super::version_2::VERSION_2,
    },
    Migration {
        version: 3,
        sql: super::version_3::VERSION_3,
    },
    Migration {
        version: 4,
        sql: super::version_4::VERSION_4,
    },
    Migration {
        version: 5,
        sql: super::version_5::VERSION_5,
    },
    Migration {
        version: 6,
        sql: super::version_6::VERSION_6,
    },
];

pub(super) const VERSION_1: &str = "
CREATE TABLE run_state (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO run_state VALUES (0, 'running'), (1, 'done'), (2, 'interrupted'), (3, 'failed');

CREATE TABLE simulation_state (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO simulation_state VALUES (0, 'pending'), (1, 'running'), (2, 'done'), (3, 'failed');

CREATE TABLE verdict (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    outcome TEXT NOT NULL CHECK (outcome IN ('dropped', 'successful', 'failed'))
) STRICT;

CREATE TABLE strategy (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    overbooks INTEGER CHECK (overbooks IN (0, 1)),
    baseline TEXT
) STRICT;

CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    source TEXT,
    configuration TEXT NOT NULL,
    configuration_hash TEXT NOT NULL,
    seed INTEGER NOT NULL,
    replications INTEGER NOT NULL,
    program_version TEXT NOT NULL,
    program_commit TEXT,
    result_format INTEGER NOT NULL,
    machine_cores INTEGER NOT NULL,
    machine_os TEXT NOT NULL,
    points INTEGER NOT NULL,
    state INTEGER NOT NULL REFERENCES run_state (code),
    started INTEGER NOT NULL,
    ended INTEGER,
    process INTEGER
) STRICT;

CREATE TABLE axis (
    run INTEGER NOT NULL REFERENCES run (id),
    position INTEGER NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (run, position),
    UNIQUE (run, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE axis_value (
    run INTEGER NOT NULL,
    axis INTEGER NOT NULL,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('integer', 'real', 'text', 'flag')),
    value ANY NOT NULL CHECK (
        typeof(value) = CASE kind WHEN 'flag' THEN 'integer' ELSE kind END
    ),
    PRIMARY KEY (run, axis, position),
    FOREIGN KEY (run, axis) REFERENCES axis (run, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE workload (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,
    jobs INTEGER NOT NULL
) STRICT;

CREATE TABLE job (
    workload INTEGER NOT NULL REFERENCES workload (id),
    job INTEGER NOT NULL,
    trace_number INTEGER NOT NULL,
    submit INTEGER NOT NULL,
    release INTEGER NOT NULL,
    estimate INTEGER NOT NULL,
    runtime INTEGER NOT NULL,
    deadline INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    user INTEGER,
    application INTEGER,
    PRIMARY KEY (workload, job)
) STRICT, WITHOUT ROWID;

CREATE TABLE simulation (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,
    spec TEXT NOT NULL CHECK (json_valid(spec)),
    workload_label TEXT NOT NULL,
    workload INTEGER REFERENCES workload (id),
    strategy INTEGER NOT NULL REFERENCES strategy (code),
    replication INTEGER NOT NULL,
    state INTEGER NOT NULL REFERENCES simulation_state (code),
    detail INTEGER NOT NULL CHECK (detail BETWEEN 0 AND 2),
    attempts INTEGER NOT NULL,
    error TEXT,
    running_since INTEGER,
    running_process INTEGER
) STRICT;
CREATE INDEX simulation_not_done ON simulation (state) WHERE state <> 2;

CREATE TABLE simulation_timing (
    simulation INTEGER PRIMARY KEY REFERENCES simulation (id),
    wall_seconds REAL NOT NULL,
    finished INTEGER NOT NULL
) STRICT;

CREATE TABLE simulation_metrics (
    simulation INTEGER PRIMARY KEY REFERENCES simulation (id),
    submitted INTEGER NOT NULL,
    accepted INTEGER NOT NULL,
    dropped INTEGER NOT NULL,
    dropped_too_wide INTEGER NOT NULL,
    overbooked INTEGER NOT NULL,
    successful INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    failed_overbooked INTEGER NOT NULL,
    failed_nodes INTEGER NOT NULL,
    failed_unstartable INTEGER NOT NULL,
    restarts INTEGER NOT NULL,
    fees INTEGER NOT NULL,
    forfeited INTEGER NOT NULL,
    busy INTEGER NOT NULL,
    useful INTEGER NOT NULL,
    makespan INTEGER NOT NULL,
    capacity INTEGER NOT NULL,
    wait_total INTEGER NOT NULL,
    started INTEGER NOT NULL,
    weighted_response INTEGER NOT NULL,
    weighted_run INTEGER NOT NULL,
    pof_evaluations INTEGER NOT NULL,
    convolutions INTEGER NOT NULL,
    replans INTEGER NOT NULL,
    moves INTEGER NOT NULL
) STRICT;

CREATE TABLE point (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    penalty_ratio REAL NOT NULL,
    replication INTEGER NOT NULL
) STRICT;
CREATE INDEX point_by_simulation ON point (simulation);

CREATE TABLE run_point (
    run INTEGER NOT NULL REFERENCES run (id),
    place INTEGER NOT NULL,
    point INTEGER NOT NULL REFERENCES point (id),
    PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_point_by_point ON run_point (point);

CREATE TABLE point_axis (
    run INTEGER NOT NULL,
    place INTEGER NOT NULL,
    axis INTEGER NOT NULL,
    value INTEGER NOT NULL,
    PRIMARY KEY (run, place, axis),
    FOREIGN KEY (run, place) REFERENCES run_point (run, place),
    FOREIGN KEY (run, axis, value) REFERENCES axis_value (run, axis, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX point_axis_by_value ON point_axis (run, axis, value);

CREATE TABLE job_outcome (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    job INTEGER NOT NULL,
    verdict INTEGER NOT NULL,
    class INTEGER,
    overbooked INTEGER,
    planned_start INTEGER,
    planned_cut INTEGER,
    available REAL,
    executable REAL,
    survives REAL,
    predecessors INTEGER,
    start INTEGER,
    \"end\" INTEGER,
    restarts INTEGER NOT NULL,
    node_failures INTEGER NOT NULL,
    PRIMARY KEY (simulation, job)
) STRICT, WITHOUT ROWID;

CREATE TABLE node_event (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    sequence INTEGER NOT NULL,
    time INTEGER NOT NULL,
    node INTEGER NOT NULL,
    up INTEGER NOT NULL CHECK (up IN (0, 1)),
    PRIMARY KEY (simulation, sequence)
) STRICT, WITHOUT ROWID;
";

/// The views for people, by name. They are dropped and made anew by every migration, so an edit here needs a new version
/// but no statement of its own.
pub(super) const VIEWS: &[(&str, &str)] = &[
    (
        "v_run",
        "SELECT r.id AS run, r.name, r.description, s.name AS state, r.points,
            (SELECT count(*) FROM run_point rp JOIN point p ON p.id = rp.point JOIN simulation m ON m.id = p.simulation
             WHERE rp.run = r.id AND m.state = 2) AS points_done,
            (SELECT count(*) FROM run_point rp JOIN point p ON p.id = rp.point JOIN simulation m ON m.id = p.simulation
             WHERE rp.run = r.id AND m.state = 3) AS points_failed,
            r.replications, r.seed, r.source, r.configuration_hash, r.program_version, r.program_commit, r.result_format,
            r.machine_cores, r.machine_os,
            r.machine_host, r.process, datetime(r.last_commit / 1000, 'unixepoch') AS last_commit_utc,
            datetime(r.started / 1000, 'unixepoch') AS started_utc,
            datetime(r.ended / 1000, 'unixepoch') AS ended_utc,
            (r.ended - r.started) / 1000.0 AS duration_seconds
         FROM run r JOIN run_state s ON s.code = r.state",
    ),
    (
        "v_point_axis",
        "SELECT pa.run, pa.place, a.position AS axis, a.key, v.kind, v.value, v.position AS value_position
         FROM point_axis pa
         JOIN axis a ON a.run = pa.run AND a.position = pa.axis
         JOIN axis_value v ON v.run = pa.run AND v.axis = pa.axis AND v.position = pa.value",
    ),
    (
        "v_simulation",
        "SELECT m.id AS simulation, m.identity, m.generation, st.name AS state, m.attempts, m.error, m.workload_label,
            m.workload, s.name AS strategy, m.replication, m.spec, m.computed_by, r.program_version, r.program_commit,
            t.wall_seconds,
            datetime(t.finished / 1000, 'unixepoch') AS finished_utc
         FROM simulation m
         JOIN simulation_state st ON st.code = m.state
         JOIN strategy s ON s.code = m.strategy
         LEFT JOIN run r ON r.id = m.computed_by
         LEFT JOIN simulation_timing t ON t.simulation = m.id",
    ),
    (
        "v_point",
        "SELECT rp.run, rp.place, p.id AS point, p.identity, m.generation, st.name AS state, m.attempts, m.error,
            (SELECT json_group_object(x.key, x.value) FROM (
                SELECT key, value FROM v_point_axis va WHERE va.run = rp.run AND va.place = rp.place ORDER BY axis
            ) x) AS axes,
            s.name AS strategy, m.workload_label, p.replication, p.penalty_ratio, p.simulation,
            k.fees / 3600.0 AS fees,
            k.forfeited / 3600.0 AS forfeited,
            p.penalty_ratio * (k.forfeited / 3600.0) AS penalties,
            k.fees / 3600.0 - p.penalty_ratio * (k.forfeited / 3600.0) AS gain,
            (k.fees + k.forfeited) / 3600.0 AS booked,
            k.submitted, k.accepted, k.successful, k.failed, k.dropped, k.dropped_too_wide, k.overbooked,
            k.failed_overbooked, k.failed_nodes, k.failed_unstartable, k.started, k.restarts,
            CAST(k.busy AS REAL) / nullif(k.capacity, 0) AS utilisation,
            CAST(k.useful AS REAL) / nullif(k.capacity, 0) AS useful_utilisation,
            CAST(k.wait_total AS REAL) / nullif(k.started, 0) AS mean_wait,
            CAST(k.weighted_response AS REAL) / nullif(k.weighted_run, 0) AS slowdown,
            CAST(k.dropped AS REAL) / nullif(k.submitted, 0) AS rejection_rate,
            k.makespan, k.pof_evaluations, k.convolutions, k.replans, k.moves, t.wall_seconds
         FROM run_point rp
         JOIN point p ON p.id = rp.point
         JOIN simulation m ON m.id = p.simulation
         JOIN simulation_state st ON st.code = m.state
         JOIN strategy s ON s.code = m.strategy
         LEFT JOIN simulation_metrics k ON k.simulation = m.id
         LEFT JOIN simulation_timing t ON t.simulation = m.id",
    ),
    (
        "v_measure",
        "SELECT rp.run, rp.place,
            (SELECT json_group_object(x.key, x.value) FROM (
                SELECT key, value FROM v_point_axis va WHERE va.run = rp.run AND va.place = rp.place ORDER BY axis
            ) x) AS axes,
            s.name AS strategy, m.workload_label, p.replication, p.simulation, q.name AS measure, q.unit, q.title, d.value
         FROM run_point rp
         JOIN point p ON p.id = rp.point
         JOIN simulation m ON m.id = p.simulation
         JOIN strategy s ON s.code = m.strategy
         JOIN simulation_measure d ON d.simulation = m.id
         JOIN measure q ON q.code = d.measure",
    ),
    (
        "v_reservation",
        "SELECT o.simulation, o.request, o.trace_number, o.asked_at, o.asked_at + o.earliest AS earliest, o.alpha, o.duration,
            o.duration - o.unused AS runtime, o.nodes, v.name AS verdict, v.granted, o.asked_at + o.start AS start,
            o.asked_at + o.\"end\" AS \"end\", o.start AS waiting, o.price / 3600.0 AS price_su,
            o.nodes * o.duration / 3600.0 AS base_price_su, o.offers, o.displaced_jobs, o.displaced_seconds
         FROM reservation_outcome o JOIN request_verdict v ON v.code = o.verdict",
    ),
    (
        "v_virtual_trial",
        "SELECT t.simulation, t.trial, t.asked_at, t.asked_at + t.wanted_start AS wanted_start, t.nodes, t.duration,
            t.price / 3600.0 AS reservation_cost_su, t.asked_at + t.submitted AS submitted, t.padded_runtime, t.probability,
            t.asked_at + t.virtual_start AS virtual_start,
            t.nodes * (t.wanted_start - t.virtual_start) / 3600.0 AS virtual_cost_su, t.scheme,
            t.combined_cost / 3600.0 AS combined_cost_su, t.nodes * t.duration / 3600.0 AS base_price_su
         FROM virtual_trial t",
    ),
    (
        "v_offer",
        "SELECT f.simulation, f.request, o.asked_at + f.start AS start, f.price / 3600.0 AS price_su,
            coalesce(f.start = o.start, 0) AS chosen
         FROM offer f JOIN reservation_outcome o ON o.simulation = f.simulation AND o.request = f.request",
    ),
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
        "v_co_request",
        "SELECT o.simulation, o.request, o.trace_number, o.submit, o.submit + o.earliest AS earliest,
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
            o.lost_parts, o.replaced_parts
         FROM co_request o JOIN co_verdict v ON v.code = o.verdict",
    ),
    (
        "v_co_part",
        "SELECT p.simulation, p.request, p.part, p.nodes, p.cluster, o.submit + o.start AS start,
            o.submit + o.start + o.duration AS \"end\", o.duration, p.lost
         FROM co_part p JOIN co_request o ON o.simulation = p.simulation AND o.request = p.request",
    ),
    (
        "v_co_probe",
        "SELECT b.simulation, b.request, b.cluster, o.submit, b.unfiltered, b.counting, b.backlog, b.quota, b.exempt,
            CAST(b.counting + b.backlog + b.quota AS REAL) / nullif(b.unfiltered, 0) AS filtering_degree,
            b.backlog_now, b.backlog_earliest
         FROM co_probe b JOIN co_request o ON o.simulation = b.simulation AND o.request = b.request",
    ),
    (
        "v_histogram",
        "SELECT h.simulation, q.name AS quantity, q.unit, h.bin, b.low, b.high, h.count
         FROM simulation_histogram h
         JOIN quantity q ON q.code = h.quantity
         JOIN histogram_bin b ON b.bin = h.bin",
    ),
    (
        "v_job",
        "SELECT o.simulation, o.job, j.trace_number, j.user, j.application, j.nodes, j.submit, j.release, j.estimate,
            j.runtime, j.deadline, j.fixed, v.outcome, v.name AS reason, o.class, o.overbooked,
            j.release + o.planned_start AS planned_start,
            j.release + o.planned_start + j.estimate - o.planned_cut AS planned_end,
            j.estimate - o.planned_cut AS slot_length,
            o.available, o.executable, o.survives,
            o.available * o.executable * o.survives AS pos,
            coalesce(o.calibrated_pof, 1.0 - o.available * o.executable * o.survives) AS pof,
            1.0 - o.available * o.executable * o.survives AS raw_pof,
            o.predecessors,
            j.release + o.start AS start,
            j.release + o.\"end\" AS \"end\",
            o.start AS waiting,
            CASE v.outcome WHEN 'successful' THEN j.nodes * j.estimate / 3600.0 ELSE 0.0 END AS fee,
            CASE v.outcome WHEN 'failed' THEN j.nodes * j.estimate / 3600.0 ELSE 0.0 END AS penalty,
            o.restarts, o.node_failures
         FROM job_outcome o
         JOIN simulation m ON m.id = o.simulation
         JOIN job j ON j.workload = m.workload AND j.job = o.job
         JOIN verdict v ON v.code = o.verdict",
    ),
];
