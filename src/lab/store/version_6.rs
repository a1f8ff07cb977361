//! The sixth version of the tables: probabilities of failure that were calibrated before they were promised.

/// What leads from version 5 to version 6. What was counted before was promised as the model gave it, so it is of kind 0.
pub(super) const VERSION_6: &str = "
ALTER TABLE job_outcome ADD COLUMN calibrated_pof REAL;

CREATE TABLE calibration_kind (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO calibration_kind VALUES (0, 'promised'), (1, 'raw');

-- Copied out and in again: renaming a table asks every view of the file, also those of its owner.
CREATE TEMP TABLE earlier_calibration AS SELECT * FROM simulation_calibration;
DROP TABLE simulation_calibration;
CREATE TABLE simulation_calibration (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    kind INTEGER NOT NULL REFERENCES calibration_kind (code),
    bin INTEGER NOT NULL CHECK (bin BETWEEN 1 AND 20),
    jobs INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    failed_overbooked INTEGER NOT NULL,
    pof_sum REAL NOT NULL,
    brier_sum REAL NOT NULL,
    PRIMARY KEY (simulation, kind, bin)
) STRICT, WITHOUT ROWID;
INSERT INTO simulation_calibration
    SELECT simulation, 0, bin, jobs, failed, failed_overbooked, pof_sum, brier_sum FROM earlier_calibration;
DROP TABLE earlier_calibration;
";

/// The views of predicted against realised failures, made and dropped with the others.
pub(super) const VIEWS_6: &[(&str, &str)] = &[
    (
        "v_calibration",
        "SELECT c.simulation, s.name AS strategy, k.name AS probability, c.bin, (c.bin - 1) / 20.0 AS pof_from,
            c.bin / 20.0 AS pof_to, c.jobs, c.failed, c.failed_overbooked, c.pof_sum, c.brier_sum
         FROM simulation_calibration c
         JOIN simulation m ON m.id = c.simulation
         JOIN strategy s ON s.code = m.strategy
         JOIN calibration_kind k ON k.code = c.kind
         WHERE c.kind = 0",
    ),
    // Where nothing was calibrated, what was promised is what the model gave.
    (
        "v_calibration_raw",
        "SELECT c.simulation, s.name AS strategy, k.name AS probability, c.bin, (c.bin - 1) / 20.0 AS pof_from,
            c.bin / 20.0 AS pof_to, c.jobs, c.failed, c.failed_overbooked, c.pof_sum, c.brier_sum
         FROM simulation_calibration c
         JOIN simulation m ON m.id = c.simulation
         JOIN strategy s ON s.code = m.strategy
         JOIN calibration_kind k ON k.code = c.kind
         WHERE c.kind = 1 OR NOT EXISTS
             (SELECT 1 FROM simulation_calibration r WHERE r.simulation = c.simulation AND r.kind = 1)",
    ),
];
