//! Runs, their axes, and the points that they show.

use super::TableGroup;
use crate::tables::{Definition, ExportKind, ExportSource, View};

/// The tables of runs and points.
pub(super) struct Runs;

impl TableGroup for Runs {
    fn definition(&self) -> Definition {
        Definition {
            sql: SQL,
            results: &[],
            views: VIEWS,
            exports: EXPORTS,
            ..Definition::NONE
        }
    }
}

const SQL: &str = "
CREATE TABLE run_state (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO run_state VALUES (0, 'running'), (1, 'done'), (2, 'interrupted'), (3, 'failed');

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
    process INTEGER,
    machine_host TEXT,
    process_started INTEGER,
    boot TEXT,
    store_file TEXT,
    last_commit INTEGER,
    digest TEXT
) STRICT;

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

CREATE TABLE run_input (
    run INTEGER NOT NULL REFERENCES run (id),
    source TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (run, source, content)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_loss (
    run INTEGER NOT NULL REFERENCES run (id),
    workload TEXT NOT NULL,
    rule TEXT NOT NULL,
    records INTEGER NOT NULL,
    dropped INTEGER NOT NULL,
    PRIMARY KEY (run, workload, rule)
) STRICT, WITHOUT ROWID;

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
    confirm INTEGER NOT NULL,
    population INTEGER
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

CREATE TABLE point (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL,
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    penalty_ratio REAL NOT NULL,
    replication INTEGER NOT NULL,
    UNIQUE (identity, simulation)
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
";

const VIEWS: &[View] = &[
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
            (r.ended - r.started) / 1000.0 AS duration_seconds,
            (SELECT group_concat(x.tag, ', ') FROM (SELECT t.tag FROM run_tag t WHERE t.run = r.id ORDER BY t.tag) x) AS tags,
            (SELECT n.note FROM run_note n WHERE n.run = r.id) AS note
         FROM run r JOIN run_state s ON s.code = r.state",
    ),
    (
        "v_axis",
        "SELECT run, position, PRESENT_KEY AS key FROM axis",
    ),
    (
        "v_point_axis",
        "SELECT pa.run, pa.place, a.position AS axis, a.key, v.kind, v.value, v.position AS value_position
         FROM point_axis pa
         JOIN v_axis a ON a.run = pa.run AND a.position = pa.axis
         JOIN axis_value v ON v.run = pa.run AND v.axis = pa.axis AND v.position = pa.value",
    ),
    (
        "v_decision",
        "SELECT d.run, d.number, d.rung, d.place,
            (SELECT json_group_object(x.key, x.value) FROM (
                SELECT key, value FROM v_point_axis va WHERE va.run = d.run AND va.place = d.place ORDER BY axis
            ) x) AS axes,
            d.quantity, d.replications, d.mean, d.statistic, d.bound, v.name AS verdict
         FROM decision d JOIN verdict_of_rule v ON v.code = d.verdict",
    ),
    (
        "v_point",
        "SELECT rp.run, rp.place, p.id AS point, p.identity, m.generation, st.name AS state, m.attempts, m.error,
            (SELECT json_group_object(x.key, x.value) FROM (
                SELECT key, value FROM v_point_axis va WHERE va.run = rp.run AND va.place = rp.place ORDER BY axis
            ) x) AS axes,
            s.name AS strategy, m.workload_label, p.replication, PENALTY_RATIO AS penalty_ratio, p.simulation, m.jobs_hash, m.failures_hash,
            METRICS,
            t.wall_seconds
         FROM run_point rp
         JOIN point p ON p.id = rp.point
         JOIN simulation m ON m.id = p.simulation
         JOIN simulation_state st ON st.code = m.state
         JOIN strategy s ON s.code = m.strategy
         LEFT JOIN simulation_metrics k ON k.simulation = m.id
         LEFT JOIN simulation_timing t ON t.simulation = m.id",
    ),
];

/// The points of a run.
pub(in crate::store) const POINTS: ExportKind = ExportKind {
    name: "points",
    about: "One row for each place of the sweep",
    of_outcomes: false,
    source: ExportSource::Points,
    columns: "run, place, identity text, simulation, state text, error text, strategy text, workload_label text, replication, \
        penalty_ratio number, jobs_hash text, failures_hash text, METRICS",
};

const EXPORTS: &[ExportKind] = &[
    ExportKind {
        name: "decisions",
        about: "One row for each decision of a rule by which a sweep stops",
        of_outcomes: false,
        source: ExportSource::Run("v_decision", "number"),
        columns: "run, number, rung, place, axes text, quantity text, replications, mean number, statistic number, bound number, \
            verdict text",
    },
    ExportKind {
        name: "runs",
        about: "One row, for the run",
        of_outcomes: false,
        source: ExportSource::Run("v_run", "run"),
        columns: "run, name text, description text, state text, points, points_done, points_failed, replications, seed, source text, \
            configuration_hash text, program_version text, program_commit text, result_format, machine_cores, machine_os text, \
            machine_host text, process, last_commit_utc text, started_utc text, ended_utc text, duration_seconds number, tags text, \
            note text",
    },
    POINTS,
    ExportKind {
        name: "axis-keys",
        about: "One row for each axis",
        of_outcomes: false,
        source: ExportSource::Run("v_axis", "position"),
        columns: "run, position, key text",
    },
    ExportKind {
        name: "axes",
        about: "One row for each place and axis",
        of_outcomes: false,
        source: ExportSource::Axes,
        columns: "run, place, axis, key text, kind text, value text, value_position",
    },
];
