//! What studies measured beside the totals of jobs, by name.

use rusqlite::{Connection, params};

use super::TableGroup;
use crate::scheduling::measures::Measure;
use crate::store::rows::Prepared;
use crate::tables::{Definition, ExportKind, ExportSource, RowWriter, View};

/// The tables of measures.
pub(super) struct Measures;

impl TableGroup for Measures {
    fn definition(&self) -> Definition {
        Definition {
            sql: SQL,
            results: &["simulation_measure"],
            views: VIEWS,
            exports: EXPORTS,
            enter_lookups,
            ..Definition::NONE
        }
    }

    fn write(&self, writer: &RowWriter<'_>, prepared: &Prepared) -> rusqlite::Result<u64> {
        let mut rows = 0;
        let mut insert = writer.table("simulation_measure")?;
        for (name, value) in prepared.finished.result.measured.iter() {
            let code = writer.measure(name, writer.known_measure(name))?;
            insert.insert(params![writer.simulation(), code, value])?;
            rows += 1;
        }
        Ok(rows)
    }
}

fn enter_lookups(connection: &Connection, measures: &[&'static Measure]) -> rusqlite::Result<()> {
    for measure in measures {
        connection.execute(
            "INSERT INTO measure (name, unit, title) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO NOTHING",
            params![measure.name, measure.unit, measure.title],
        )?;
    }
    Ok(())
}

const SQL: &str = "
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
";

const VIEWS: &[View] = &[
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
];

const EXPORTS: &[ExportKind] = &[
    ExportKind {
        name: "point-measures",
        about: "One row for each measure of each place of the sweep",
        of_outcomes: false,
        source: ExportSource::Run("v_measure", "place, measure"),
        columns: "run, place, axes text, strategy text, workload_label text, replication, simulation, measure text, unit text, \
            title text, value number",
    },
    ExportKind {
        name: "measures",
        about: "One row for each measure of each simulation",
        of_outcomes: false,
        source: ExportSource::Simulations(
            "(SELECT d.simulation, q.name AS measure, q.unit, q.title, d.value
              FROM simulation_measure d JOIN measure q ON q.code = d.measure)",
        ),
        columns: "simulation, measure text, unit text, title text, value number",
    },
];
