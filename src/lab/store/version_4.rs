//! The fourth version of the tables: several clusters and co-reservations.

/// What leads from version 3 to version 4. The tables of co-reservations were made ahead of their study and never written.
pub(super) const VERSION_4: &str = "
DROP TABLE co_reservation_part;
DROP TABLE co_reservation;
DROP TABLE admission;

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
