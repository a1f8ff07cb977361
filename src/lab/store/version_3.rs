//! The third version of the tables: reservations of one machine, and measures by name.

/// What leads from version 2 to version 3. The table of reservations was made ahead of its study and never written.
pub(super) const VERSION_3: &str = "
ALTER TABLE job ADD COLUMN fixed INTEGER NOT NULL DEFAULT 0 CHECK (fixed IN (0, 1));

CREATE TABLE measure (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    unit TEXT NOT NULL,
    title TEXT NOT NULL
) STRICT;

CREATE TABLE simulation_measure (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    measure INTEGER NOT NULL REFERENCES measure (code),
    value REAL NOT NULL,
    PRIMARY KEY (simulation, measure)
) STRICT, WITHOUT ROWID;

CREATE TABLE request_verdict (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    granted INTEGER NOT NULL CHECK (granted IN (0, 1))
) STRICT;

DROP TABLE reservation_outcome;
CREATE TABLE reservation_outcome (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    request INTEGER NOT NULL,
    trace_number INTEGER NOT NULL,
    asked_at INTEGER NOT NULL,
    earliest INTEGER NOT NULL,
    alpha REAL,
    duration INTEGER NOT NULL,
    unused INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    verdict INTEGER NOT NULL REFERENCES request_verdict (code),
    start INTEGER,
    \"end\" INTEGER,
    price INTEGER,
    offers INTEGER NOT NULL,
    displaced_jobs INTEGER,
    displaced_seconds INTEGER,
    PRIMARY KEY (simulation, request)
) STRICT, WITHOUT ROWID;

CREATE TABLE offer (
    simulation INTEGER NOT NULL,
    request INTEGER NOT NULL,
    start INTEGER NOT NULL,
    price INTEGER NOT NULL,
    PRIMARY KEY (simulation, request, start),
    FOREIGN KEY (simulation, request) REFERENCES reservation_outcome (simulation, request)
) STRICT, WITHOUT ROWID;

CREATE TABLE virtual_trial (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    trial INTEGER NOT NULL,
    asked_at INTEGER NOT NULL,
    wanted_start INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    duration INTEGER NOT NULL,
    price INTEGER,
    submitted INTEGER,
    padded_runtime INTEGER,
    probability REAL,
    virtual_start INTEGER,
    scheme TEXT NOT NULL CHECK (scheme IN ('reservation', 'virtual', 'neither')),
    combined_cost INTEGER,
    PRIMARY KEY (simulation, trial)
) STRICT, WITHOUT ROWID;
";
