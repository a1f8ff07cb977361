//! Requests for reservations of one machine, and the offers that they chose from.

use rusqlite::{Connection, params};

use crate::replanning::{RequestVerdict, ReservationOutcome};
use bookahead_core::scheduling::measures::Measure;
use bookahead_core::units::Seconds;
use bookahead_core::workload::WantedStart;
use bookahead_lab::tables::{
    Definition, ExportKind, ExportSource, Outcomes, RowWriter, Rows, View,
};

/// The tables.
pub(super) const TABLES: Definition = Definition {
    sql: SQL,
    results: &["twin_job", "offer", "reservation_outcome"],
    views: VIEWS,
    exports: EXPORTS,
    outcomes: OUTCOMES,
    enter_lookups,
    ..Definition::NONE
};

/// One outcome a request in order of request id; empty unless asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReservationRows(pub Vec<ReservationOutcome>);

impl Rows for ReservationRows {
    fn strip(&mut self, _replication: u32) {
        self.0 = Vec::new();
    }

    fn write(&self, writer: &RowWriter<'_>, _replication: u32) -> rusqlite::Result<u64> {
        write_reservations(writer, &self.0)
    }
}

fn enter_lookups(connection: &Connection, _: &[&'static Measure]) -> rusqlite::Result<()> {
    for (code, verdict) in RequestVerdict::ALL.iter().enumerate() {
        connection.execute(
            "INSERT OR REPLACE INTO request_verdict VALUES (?1, ?2, ?3)",
            params![code as i64, verdict.name(), !verdict.is_rejected()],
        )?;
    }
    Ok(())
}

const SQL: &str = "
CREATE TABLE request_verdict (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    granted INTEGER NOT NULL CHECK (granted IN (0, 1))
) STRICT;

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
    user INTEGER,
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

CREATE TABLE twin_job (
    simulation INTEGER NOT NULL,
    request INTEGER NOT NULL,
    start INTEGER NOT NULL,
    PRIMARY KEY (simulation, request),
    FOREIGN KEY (simulation, request) REFERENCES reservation_outcome (simulation, request)
) STRICT, WITHOUT ROWID;
";

const VIEWS: &[View] = &[
    (
        "v_reservation",
        "SELECT o.simulation, o.request, o.trace_number, o.user, o.asked_at, o.asked_at + o.earliest AS earliest, o.alpha, o.duration,
            o.duration - o.unused AS runtime, o.nodes, v.name AS verdict, v.granted, o.asked_at + o.start AS start,
            o.asked_at + o.\"end\" AS \"end\", o.start AS waiting, o.price / 3600.0 AS price_su,
            o.nodes * o.duration / 3600.0 AS base_price_su, o.offers, o.displaced_jobs, o.displaced_seconds,
            o.asked_at + t.start AS twin_start
         FROM reservation_outcome o JOIN request_verdict v ON v.code = o.verdict
         LEFT JOIN twin_job t ON t.simulation = o.simulation AND t.request = o.request",
    ),
    (
        "v_offer",
        "SELECT f.simulation, f.request, o.asked_at + f.start AS start, f.price / 3600.0 AS price_su,
            coalesce(f.start = o.start, 0) AS chosen
         FROM offer f JOIN reservation_outcome o ON o.simulation = f.simulation AND o.request = f.request",
    ),
];

/// What the views about all studies show of them.
const OUTCOMES: Outcomes = Outcomes {
    algorithm: Some(
        "m.spec ->> '$.study.admission'",
    ),
    clusters: None,
    cluster_of_job: None,
    penalty_ratio: None,
    jobs: None,
    reservations: Some(
        "SELECT q.simulation, q.request, NULL, 1, NULL, q.trace_number, q.user, q.nodes, q.asked_at, q.earliest, NULL,
            q.duration, q.runtime,
            CASE WHEN q.verdict = 'lost' THEN 'lost' WHEN q.granted THEN 'granted' WHEN q.verdict = 'cancelled' THEN 'cancelled' ELSE 'rejected' END,
            q.verdict, NULL, q.start, q.\"end\", q.price_su, NULL
         FROM v_reservation q",
    ),
    nodes_fail: true,
    machines: None,
    held: Some(
        "SELECT j.simulation, 0, 'jobs', j.start, j.\"end\", j.nodes FROM v_job j
         UNION ALL SELECT q.simulation, 0, 'reservations', q.start, q.\"end\", q.nodes FROM v_reservation q
         WHERE q.granted OR q.verdict = 'lost'",
    ),
};

const EXPORTS: &[ExportKind] = &[
    ExportKind {
        name: "reservations",
        about: "One row for each request for a reservation",
        of_outcomes: true,
        source: ExportSource::Simulations("v_reservation"),
        columns: "simulation, request, trace_number, user, asked_at, earliest, alpha number, duration, runtime, nodes, verdict text, \
            granted flag, start, end, waiting, price_su number, base_price_su number, offers, displaced_jobs, \
            displaced_seconds, twin_start",
    },
    ExportKind {
        name: "offers",
        about: "One row for each start that a request was offered",
        of_outcomes: true,
        source: ExportSource::Simulations("v_offer"),
        columns: "simulation, request, start, price_su number, chosen flag",
    },
];

/// Writes what became of every request, what it was offered, and when its twin job started; returns
/// the rows. Times are seconds after the request was asked, as they are small then.
fn write_reservations(
    writer: &RowWriter<'_>,
    outcomes: &[ReservationOutcome],
) -> rusqlite::Result<u64> {
    let mut rows = 0;
    let mut insert = writer.table("reservation_outcome")?;
    let mut offer = writer.table("offer")?;
    let mut twin = writer.table("twin_job")?;
    for outcome in outcomes {
        let request = &outcome.request;
        let after = |time: Seconds| (time - request.submit).0;
        let alpha = match request.wanted {
            WantedStart::At(_) => None,
            WantedStart::From { alpha, .. } => Some(alpha),
        };
        insert.insert(params![
            writer.simulation(),
            request.id.0,
            request.trace_number,
            request.submit.0,
            after(request.wanted.earliest()),
            alpha,
            request.duration.0,
            (request.duration - request.runtime.min(request.duration)).0,
            request.nodes.0,
            outcome.verdict as i64,
            outcome.start.map(after),
            outcome.end.map(after),
            outcome.price.map(|price| price.0),
            outcome.offers.len() as i64,
            outcome.displaced_jobs,
            outcome.displaced.map(|displaced| displaced.0),
            request.user,
        ])?;
        rows += 1 + outcome.offers.len() as u64;
        if let Some(start) = outcome.twin_start {
            twin.insert(params![writer.simulation(), request.id.0, after(start)])?;
            rows += 1;
        }
        for offered in &outcome.offers {
            offer.insert(params![
                writer.simulation(),
                request.id.0,
                after(offered.start),
                offered.price.0
            ])?;
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_of_requests_keep_their_codes() {
        let names = RequestVerdict::ALL.iter().map(|verdict| verdict.name());
        let by_code = [
            "granted",
            "cancelled",
            "conflicts-with-fixed",
            "conflicts-with-planned",
            "too-wide",
            "no-duration",
            "start-in-the-past",
            "lost",
            "too-short-notice",
        ];
        assert!(names.eq(by_code));
    }
}
