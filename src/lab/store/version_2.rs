//! The second version of the tables: states that survive a kill, generations, distributions, and room for later studies.

/// What leads from version 1 to version 2. `simulation` and `point` are made anew, because the uniqueness of a column cannot
/// be taken away; everything that refers to them refers by number, and the numbers stay.
pub(super) const VERSION_2: &str = "
ALTER TABLE run ADD COLUMN machine_host TEXT;
ALTER TABLE run ADD COLUMN process_started INTEGER;
ALTER TABLE run ADD COLUMN boot TEXT;
ALTER TABLE run ADD COLUMN store_file TEXT;
ALTER TABLE run ADD COLUMN last_commit INTEGER;

CREATE TABLE run_input (
    run INTEGER NOT NULL REFERENCES run (id),
    source TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (run, source, content)
) STRICT, WITHOUT ROWID;

CREATE TABLE simulation_new (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL,
    generation INTEGER NOT NULL,
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
    running_in INTEGER REFERENCES run (id),
    computed_by INTEGER REFERENCES run (id),
    UNIQUE (identity, generation)
) STRICT;
INSERT INTO simulation_new
SELECT m.id, m.identity, 1, m.spec, m.workload_label, m.workload, m.strategy, m.replication,
    CASE m.state WHEN 1 THEN 0 ELSE m.state END, m.detail, m.attempts, m.error, NULL, NULL,
    CASE WHEN m.state = 2 THEN
        (SELECT min(rp.run) FROM run_point rp JOIN point p ON p.id = rp.point WHERE p.simulation = m.id)
    END
FROM simulation m;
DROP TABLE simulation;
ALTER TABLE simulation_new RENAME TO simulation;
CREATE INDEX simulation_not_done ON simulation (state) WHERE state <> 2;

CREATE TABLE point_new (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL,
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    penalty_ratio REAL NOT NULL,
    replication INTEGER NOT NULL,
    UNIQUE (identity, simulation)
) STRICT;
INSERT INTO point_new SELECT id, identity, simulation, penalty_ratio, replication FROM point;
DROP TABLE point;
ALTER TABLE point_new RENAME TO point;
CREATE INDEX point_by_simulation ON point (simulation);

CREATE TABLE quantity (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    unit TEXT NOT NULL
) STRICT;
INSERT INTO quantity VALUES (0, 'wait', 's'), (1, 'slowdown', '');

CREATE TABLE histogram_bin (
    bin INTEGER PRIMARY KEY,
    low REAL NOT NULL,
    high REAL NOT NULL
) STRICT;

CREATE TABLE simulation_histogram (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    quantity INTEGER NOT NULL REFERENCES quantity (code),
    bin INTEGER NOT NULL REFERENCES histogram_bin (bin),
    count INTEGER NOT NULL,
    PRIMARY KEY (simulation, quantity, bin)
) STRICT, WITHOUT ROWID;

CREATE TABLE simulation_calibration (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    bin INTEGER NOT NULL CHECK (bin BETWEEN 1 AND 20),
    jobs INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    failed_overbooked INTEGER NOT NULL,
    pof_sum REAL NOT NULL,
    brier_sum REAL NOT NULL,
    PRIMARY KEY (simulation, bin)
) STRICT, WITHOUT ROWID;

CREATE TABLE admission (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO admission VALUES (0, 'rejected'), (1, 'granted'), (2, 'cancelled'), (3, 'lost');

CREATE TABLE reservation_outcome (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    request INTEGER NOT NULL,
    asked_at INTEGER NOT NULL,
    earliest INTEGER NOT NULL,
    duration INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    admission INTEGER NOT NULL REFERENCES admission (code),
    start INTEGER,
    price REAL,
    displaced_jobs INTEGER,
    displaced_seconds INTEGER,
    PRIMARY KEY (simulation, request)
) STRICT, WITHOUT ROWID;

CREATE TABLE slot (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    request INTEGER NOT NULL,
    position INTEGER NOT NULL,
    cluster INTEGER NOT NULL,
    start INTEGER NOT NULL,
    duration INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    price REAL NOT NULL,
    chosen INTEGER NOT NULL CHECK (chosen IN (0, 1)),
    PRIMARY KEY (simulation, request, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE co_reservation (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    request INTEGER NOT NULL,
    asked_at INTEGER NOT NULL,
    admission INTEGER NOT NULL REFERENCES admission (code),
    start INTEGER,
    cost REAL,
    lists INTEGER NOT NULL,
    probes INTEGER NOT NULL,
    reserves INTEGER NOT NULL,
    cancels INTEGER NOT NULL,
    PRIMARY KEY (simulation, request)
) STRICT, WITHOUT ROWID;

CREATE TABLE co_reservation_part (
    simulation INTEGER NOT NULL,
    request INTEGER NOT NULL,
    part INTEGER NOT NULL,
    cluster INTEGER,
    nodes INTEGER NOT NULL,
    start INTEGER,
    duration INTEGER NOT NULL,
    price REAL,
    admission INTEGER NOT NULL REFERENCES admission (code),
    PRIMARY KEY (simulation, request, part),
    FOREIGN KEY (simulation, request) REFERENCES co_reservation (simulation, request)
) STRICT, WITHOUT ROWID;

CREATE TABLE workflow_task (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    submission INTEGER NOT NULL,
    task INTEGER NOT NULL,
    cluster INTEGER,
    slot INTEGER,
    nodes INTEGER NOT NULL,
    planned_start INTEGER,
    start INTEGER,
    \"end\" INTEGER,
    cost REAL,
    PRIMARY KEY (simulation, submission, task)
) STRICT, WITHOUT ROWID;
";
