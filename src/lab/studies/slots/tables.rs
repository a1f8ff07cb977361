//! What a machine advertised at each sample.

use rusqlite::{Connection, params};

use crate::scheduling::SlotSample;
use crate::tables::{Definition, ExportKind, ExportSource, Rows, View, write_many};

/// The tables.
pub(super) const TABLES: Definition = Definition {
    sql: SQL,
    results: &["advertised_slot", "slot_sample"],
    views: VIEWS,
    exports: EXPORTS,
    ..Definition::NONE
};

/// The samples; empty unless outcomes were asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlotRows(pub Vec<SlotSample>);

impl Rows for SlotRows {
    fn strip(&mut self, _replication: u32) {
        self.0 = Vec::new();
    }

    /// Times of slots are seconds after the sample.
    fn write(
        &self,
        connection: &Connection,
        simulation: i64,
        _replication: u32,
    ) -> rusqlite::Result<u64> {
        let mut insert =
            connection.prepare_cached("INSERT INTO slot_sample VALUES (?1, ?2, ?3, ?4, ?5)")?;
        for (number, sample) in self.0.iter().enumerate() {
            insert.execute(params![
                simulation,
                number as i64,
                sample.time.0,
                sample.tasks,
                sample.slots.len() as i64
            ])?;
        }
        let slots = self.0.iter().zip(0_i64..).flat_map(|(sample, number)| {
            let slots = sample.slots.iter().zip(0_i64..);
            slots.map(move |(slot, place)| {
                [
                    simulation,
                    number,
                    place,
                    i64::from(slot.nodes.0),
                    (slot.start - sample.time).0,
                    (slot.end - sample.time).0,
                    i64::from(slot.extensible),
                ]
            })
        });
        Ok(self.0.len() as u64 + write_many(connection, "advertised_slot", slots)?)
    }
}

const SQL: &str = "
CREATE TABLE slot_sample (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    sample INTEGER NOT NULL,
    time INTEGER NOT NULL,
    tasks INTEGER NOT NULL,
    slots INTEGER NOT NULL,
    PRIMARY KEY (simulation, sample)
) STRICT, WITHOUT ROWID;

CREATE TABLE advertised_slot (
    simulation INTEGER NOT NULL,
    sample INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    start INTEGER NOT NULL,
    \"end\" INTEGER NOT NULL,
    extensible INTEGER NOT NULL CHECK (extensible IN (0, 1)),
    PRIMARY KEY (simulation, sample, slot),
    FOREIGN KEY (simulation, sample) REFERENCES slot_sample (simulation, sample)
) STRICT, WITHOUT ROWID;
";

const VIEWS: &[View] = &[
    (
        "v_slot_sample",
        "SELECT s.simulation, s.sample, s.time, s.tasks, s.slots FROM slot_sample s",
    ),
    (
        "v_advertised_slot",
        "SELECT a.simulation, a.sample, s.time, a.slot, a.nodes, s.time + a.start AS start, s.time + a.\"end\" AS \"end\",
            a.start AS lead, a.\"end\" - a.start AS duration, a.extensible
         FROM advertised_slot a JOIN slot_sample s ON s.simulation = a.simulation AND s.sample = a.sample",
    ),
];

const EXPORTS: &[ExportKind] = &[
    ExportKind {
        name: "slot-samples",
        about: "One row for each sample of what a machine advertised",
        of_outcomes: true,
        source: ExportSource::Simulations("v_slot_sample"),
        columns: "simulation, sample, time, tasks, slots",
    },
    ExportKind {
        name: "advertised-slots",
        about: "One row for each slot that a machine advertised at a sample",
        of_outcomes: true,
        source: ExportSource::Simulations("v_advertised_slot"),
        columns: "simulation, sample, time, slot, nodes, start, end, lead, duration, extensible flag",
    },
];
