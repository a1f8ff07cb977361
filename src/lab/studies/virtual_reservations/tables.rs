//! Trials of virtual reservations.

use rusqlite::{Connection, params};

use crate::scheduling::{CombinedScheme, VirtualTrial};
use crate::tables::{Definition, ExportKind, ExportSource, Outcomes, Rows, View};
use crate::units::Seconds;

/// The tables.
pub(super) const TABLES: Definition = Definition {
    sql: SQL,
    results: &["virtual_trial"],
    views: VIEWS,
    exports: EXPORTS,
    outcomes: OUTCOMES,
    ..Definition::NONE
};

/// The trials; empty unless outcomes were asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialRows(pub Vec<VirtualTrial>);

impl Rows for TrialRows {
    fn strip(&mut self, _replication: u32) {
        self.0 = Vec::new();
    }

    /// Times but the first are seconds after it.
    fn write(
        &self,
        connection: &Connection,
        simulation: i64,
        _replication: u32,
    ) -> rusqlite::Result<u64> {
        let mut insert = connection.prepare_cached(
            "INSERT INTO virtual_trial VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?;
        for (number, trial) in self.0.iter().enumerate() {
            let after = |time: Seconds| (time - trial.asked_at).0;
            let scheme = match trial.combined.scheme {
                CombinedScheme::Reservation => "reservation",
                CombinedScheme::Virtual => "virtual",
                CombinedScheme::Neither => "neither",
            };
            let submission = trial.submission;
            insert.execute(params![
                simulation,
                number as i64,
                trial.asked_at.0,
                after(trial.wanted_start),
                trial.nodes.0,
                trial.duration.0,
                trial.price.map(|price| price.0),
                submission.map(|submission| after(submission.submit)),
                submission.map(|submission| submission.runtime.0),
                submission.map(|submission| submission.probability),
                trial.virtual_start.map(after),
                scheme,
                trial.combined.extra_cost.map(|cost| cost.0),
            ])?;
        }
        Ok(self.0.len() as u64)
    }
}

const SQL: &str = "
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

const VIEWS: &[View] = &[
    (
        "v_virtual_trial",
        "SELECT t.simulation, t.trial, t.asked_at, t.asked_at + t.wanted_start AS wanted_start, t.nodes, t.duration,
            t.price / 3600.0 AS reservation_cost_su, t.asked_at + t.submitted AS submitted, t.padded_runtime, t.probability,
            t.asked_at + t.virtual_start AS virtual_start,
            t.nodes * (t.wanted_start - t.virtual_start) / 3600.0 AS virtual_cost_su, t.scheme,
            t.combined_cost / 3600.0 AS combined_cost_su, t.nodes * t.duration / 3600.0 AS base_price_su
         FROM virtual_trial t",
    ),
];

/// What the views about all studies show of them.
const OUTCOMES: Outcomes = Outcomes {
    algorithm: None,
    clusters: None,
    cluster_of_job: None,
    reservations: Some(
        "SELECT q.simulation, q.trial, NULL, 1, NULL, NULL, NULL, q.nodes, q.asked_at, q.wanted_start, NULL, q.duration, NULL,
            CASE q.scheme WHEN 'neither' THEN 'rejected' ELSE 'granted' END, q.scheme,
            CASE q.scheme WHEN 'virtual' THEN 1.0 - q.probability END,
            CASE q.scheme WHEN 'neither' THEN NULL ELSE q.wanted_start END,
            CASE q.scheme WHEN 'neither' THEN NULL ELSE q.wanted_start + q.duration END, q.combined_cost_su, NULL
         FROM v_virtual_trial q",
    ),
};

const EXPORTS: &[ExportKind] = &[ExportKind {
    name: "trials",
    about: "One row for each trial of a virtual reservation",
    of_outcomes: true,
    source: ExportSource::Simulations("v_virtual_trial"),
    columns: "simulation, trial, asked_at, wanted_start, nodes, duration, reservation_cost_su number, submitted, \
            padded_runtime, probability number, virtual_start, virtual_cost_su number, scheme text, combined_cost_su number, \
            base_price_su number",
}];
