//! What a machine advertised at each sample.

use rusqlite::params;

use crate::slots::SlotSample;
use bookahead_lab::tables::{
    Definition, ExportKind, ExportSource, RowWriter, Rows, View, json_rows,
};

/// The tables.
pub(super) const TABLES: Definition = Definition {
    sql: SQL,
    results: &["slot_sample"],
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

    /// The slots of a sample are one JSON text: as rows they would take a tenth of the time of a
    /// simulation.
    fn write(&self, writer: &RowWriter<'_>, _replication: u32) -> rusqlite::Result<u64> {
        let mut insert = writer.table("slot_sample")?;
        for (number, sample) in self.0.iter().enumerate() {
            let slots = json_rows(sample.slots.iter().map(|slot| {
                [
                    i64::from(slot.nodes.0),
                    (slot.start - sample.time).0,
                    (slot.end - sample.time).0,
                    i64::from(slot.extensible),
                ]
            }));
            insert.insert(params![
                writer.simulation(),
                number as i64,
                sample.time.0,
                sample.tasks,
                slots
            ])?;
        }
        Ok(self.0.len() as u64)
    }
}

const SQL: &str = "
CREATE TABLE slot_sample (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    sample INTEGER NOT NULL,
    time INTEGER NOT NULL,
    tasks INTEGER NOT NULL,
    slots TEXT NOT NULL,
    PRIMARY KEY (simulation, sample)
) STRICT, WITHOUT ROWID;
";

const VIEWS: &[View] = &[
    (
        "v_slot_sample",
        "SELECT s.simulation, s.sample, s.time, s.tasks, json_array_length(s.slots) AS slots FROM slot_sample s",
    ),
    (
        "v_advertised_slot",
        "SELECT s.simulation, s.sample, s.time, e.key AS slot, e.value ->> 0 AS nodes, s.time + (e.value ->> 1) AS start,
            s.time + (e.value ->> 2) AS \"end\", e.value ->> 1 AS lead, (e.value ->> 2) - (e.value ->> 1) AS duration,
            e.value ->> 3 AS extensible
         FROM slot_sample s, json_each(s.slots) e",
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
