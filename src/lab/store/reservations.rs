//! From results of studies to rows: measures by name, reservation requests, the offers that they chose from.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use crate::scheduling::measures::{self, Measured};
use crate::scheduling::reserving::{RequestVerdict, ReservationOutcome};
use crate::scheduling::{CombinedScheme, VirtualTrial};
use crate::units::Seconds;
use crate::workload::WantedStart;

/// Enters what the lookup tables must know: verdicts, and every measure that there is, in order.
pub(super) fn enter_lookups(connection: &Connection) -> rusqlite::Result<()> {
    for measure in measures::MEASURES {
        connection.execute(
            "INSERT INTO measure (name, unit, title) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO NOTHING",
            params![measure.name, measure.unit, measure.title],
        )?;
    }
    for (code, verdict) in RequestVerdict::ALL.into_iter().enumerate() {
        connection.execute(
            "INSERT OR REPLACE INTO request_verdict VALUES (?1, ?2, ?3)",
            params![code as i64, verdict.name(), !verdict.is_rejected()],
        )?;
    }
    Ok(())
}

fn verdict_code(verdict: RequestVerdict) -> i64 {
    RequestVerdict::ALL
        .iter()
        .position(|known| *known == verdict)
        .map_or(-1, |place| place as i64)
}

/// Writes the measures of a simulation; returns the rows.
pub(super) fn write_measures(
    connection: &Connection,
    codes: &mut HashMap<&'static str, i64>,
    simulation: i64,
    measured: &Measured,
) -> rusqlite::Result<u64> {
    let mut rows = 0;
    for (name, value) in measured.iter() {
        let code = match codes.get(name) {
            Some(code) => *code,
            None => {
                let known = measures::find(name);
                let code = connection.query_row(
                    "INSERT INTO measure (name, unit, title) VALUES (?1, ?2, ?3)
                     ON CONFLICT (name) DO UPDATE SET unit = excluded.unit, title = excluded.title
                     RETURNING code",
                    params![
                        name,
                        known.map_or("", |measure| measure.unit),
                        known.map_or(name, |measure| measure.title)
                    ],
                    |row| row.get(0),
                )?;
                codes.insert(name, code);
                code
            }
        };
        connection
            .prepare_cached("INSERT OR REPLACE INTO simulation_measure VALUES (?1, ?2, ?3)")?
            .execute(params![simulation, code, value])?;
        rows += 1;
    }
    Ok(rows)
}

/// Writes what became of every request, and what it was offered; returns the rows. Times are seconds after the request was
/// asked, as they are small then.
pub(super) fn write_reservations(
    connection: &Connection,
    simulation: i64,
    outcomes: &[ReservationOutcome],
) -> rusqlite::Result<u64> {
    let mut rows = 0;
    let mut insert = connection.prepare_cached(
        "INSERT INTO reservation_outcome VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
    )?;
    let mut offer = connection.prepare_cached("INSERT INTO offer VALUES (?1, ?2, ?3, ?4)")?;
    for outcome in outcomes {
        let request = &outcome.request;
        let after = |time: Seconds| (time - request.submit).0;
        let alpha = match request.wanted {
            WantedStart::At(_) => None,
            WantedStart::From { alpha, .. } => Some(alpha),
        };
        insert.execute(params![
            simulation,
            request.id.0,
            request.trace_number,
            request.submit.0,
            after(request.wanted.earliest()),
            alpha,
            request.duration.0,
            (request.duration - request.runtime.min(request.duration)).0,
            request.nodes.0,
            verdict_code(outcome.verdict),
            outcome.start.map(after),
            outcome.end.map(after),
            outcome.price.map(|price| price.0),
            outcome.offers.len() as i64,
            outcome.displaced_jobs,
            outcome.displaced.map(|displaced| displaced.0),
        ])?;
        rows += 1 + outcome.offers.len() as u64;
        for offered in &outcome.offers {
            offer.execute(params![
                simulation,
                request.id.0,
                after(offered.start),
                offered.price.0
            ])?;
        }
    }
    Ok(rows)
}

/// Writes the trials of a study of virtual reservations; returns the rows. Times but the first are seconds after it.
pub(super) fn write_trials(
    connection: &Connection,
    simulation: i64,
    trials: &[VirtualTrial],
) -> rusqlite::Result<u64> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO virtual_trial VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?;
    for (number, trial) in trials.iter().enumerate() {
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
    Ok(trials.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_of_a_request_has_its_code() {
        for (code, verdict) in RequestVerdict::ALL.into_iter().enumerate() {
            assert_eq!(verdict_code(verdict), code as i64);
        }
    }
}
