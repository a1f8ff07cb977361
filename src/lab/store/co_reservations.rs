//! From results of several clusters to rows: clusters, their measures, requests with parts and probes, time lines.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use crate::brokering::measures::{CLUSTER_MEASURES, ClusterSummary, ClusterValue};
use crate::brokering::{CoOutcome, CoVerdict, GridRun, TimeLine};
use crate::units::Seconds;

/// Enters verdicts, and every measure of a cluster, in order.
pub(super) fn enter_lookups(connection: &Connection) -> rusqlite::Result<()> {
    for measure in CLUSTER_MEASURES {
        connection.execute(
            "INSERT INTO measure (name, unit, title) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO NOTHING",
            params![measure.name, measure.unit, measure.title],
        )?;
    }
    for (code, verdict) in CoVerdict::ALL.into_iter().enumerate() {
        connection.execute(
            "INSERT OR REPLACE INTO co_verdict VALUES (?1, ?2, ?3)",
            params![code as i64, verdict.name(), verdict == CoVerdict::Granted],
        )?;
    }
    Ok(())
}

fn verdict_code(verdict: CoVerdict) -> i64 {
    CoVerdict::ALL
        .iter()
        .position(|known| *known == verdict)
        .map_or(-1, |place| place as i64)
}

/// Why outcomes would not come back from the store as they are; `None` where they would.
pub(super) fn problem(run: &GridRun) -> Option<String> {
    run.requests
        .iter()
        .find(|outcome| {
            let bounds = outcome
                .bounds
                .map_or([0.0; 2], |bounds| [bounds.cheapest, bounds.dearest]);
            [outcome.pof, outcome.candidates, outcome.worst_case]
                .into_iter()
                .chain(outcome.cost)
                .chain(bounds)
                .any(|number| !number.is_finite())
        })
        .map(|outcome| {
            format!(
                "a cost, a probability or a count of candidates of request {} is not a number",
                outcome.request.id.0
            )
        })
}

/// Writes the clusters of a simulation and what was measured at each; returns the rows.
pub(super) fn write_clusters(
    connection: &Connection,
    simulation: i64,
    clusters: &[ClusterSummary],
    values: &[ClusterValue],
) -> rusqlite::Result<u64> {
    let mut insert =
        connection.prepare_cached("INSERT INTO cluster VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
    for (place, cluster) in clusters.iter().enumerate() {
        insert.execute(params![
            simulation,
            place as i64,
            cluster.nodes.0,
            cluster.first_job,
            cluster.jobs,
            cluster.window_start.0,
            cluster.accuracy,
            cluster.stop.0
        ])?;
    }
    let mut insert = connection.prepare_cached(
        "INSERT OR REPLACE INTO cluster_measure VALUES (?1, ?2, (SELECT code FROM measure WHERE name = ?3), ?4, ?5)",
    )?;
    for value in values {
        insert.execute(params![
            simulation,
            value.cluster.0,
            value.measure,
            value.class,
            value.value
        ])?;
    }
    Ok((clusters.len() + values.len()) as u64)
}

/// Writes what became of every request; returns the rows. Times but the first are seconds after it, as they are small then.
pub(super) fn write_co_requests(
    connection: &Connection,
    simulation: i64,
    run: &GridRun,
) -> rusqlite::Result<u64> {
    let mut lost: BTreeMap<(u32, usize), i64> = BTreeMap::new();
    for part in run.parts.iter().flatten().filter(|part| part.lost) {
        let request = part.order.request.0;
        let place = run.requests.get(request as usize).and_then(|outcome| {
            let places = outcome.request.largest_first();
            places.get(usize::from(part.order.part)).copied()
        });
        if let Some(place) = place {
            *lost.entry((request, place)).or_default() += 1;
        }
    }
    let mut rows = 0;
    let mut insert = connection.prepare_cached(
        "INSERT INTO co_request VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
         ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30)",
    )?;
    for outcome in &run.requests {
        let request = &outcome.request;
        let after = |time: Seconds| (time - request.submit).0;
        let bounds = outcome.bounds;
        let messages = outcome.messages;
        insert.execute(params![
            simulation,
            request.id.0,
            request.trace_number,
            request.submit.0,
            after(request.earliest),
            after(request.deadline),
            request.duration.0,
            request.parts.len() as i64,
            verdict_code(outcome.verdict),
            after(outcome.answered),
            outcome.start.map(after),
            outcome.cost,
            outcome.pof,
            messages.probes,
            messages.granted,
            messages.refused,
            messages.cancelled,
            messages.timed_out,
            messages.repeated,
            outcome.starts,
            outcome.candidates,
            outcome.worst_case,
            bounds.map(|bounds| after(bounds.earliest)),
            bounds.map(|bounds| after(bounds.latest)),
            bounds.map(|bounds| bounds.cheapest),
            bounds.map(|bounds| bounds.dearest),
            outcome.waiting_before,
            outcome.waiting_after,
            outcome.lost_parts,
            outcome.replaced_parts,
        ])?;
        rows += 1 + write_parts(connection, simulation, outcome, &lost)?;
        rows += write_probes(connection, simulation, outcome)?;
    }
    Ok(rows)
}

fn write_parts(
    connection: &Connection,
    simulation: i64,
    outcome: &CoOutcome,
    lost: &BTreeMap<(u32, usize), i64>,
) -> rusqlite::Result<u64> {
    let mut insert =
        connection.prepare_cached("INSERT INTO co_part VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
    let request = &outcome.request;
    for (part, nodes) in request.parts.iter().enumerate() {
        insert.execute(params![
            simulation,
            request.id.0,
            part as i64,
            nodes.0,
            outcome.clusters.get(part).map(|cluster| cluster.0),
            lost.get(&(request.id.0, part)).copied().unwrap_or(0)
        ])?;
    }
    Ok(request.parts.len() as u64)
}

fn write_probes(
    connection: &Connection,
    simulation: i64,
    outcome: &CoOutcome,
) -> rusqlite::Result<u64> {
    let mut insert = connection
        .prepare_cached("INSERT INTO co_probe VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")?;
    for probe in &outcome.probes {
        let counts = probe.counts;
        insert.execute(params![
            simulation,
            outcome.request.id.0,
            probe.cluster.0,
            counts.unfiltered,
            counts.counting,
            counts.backlog,
            counts.quota,
            counts.exempt,
            probe.backlog_now.0,
            probe.backlog_earliest.0
        ])?;
    }
    Ok(outcome.probes.len() as u64)
}

/// Writes how the CPUs of each cluster were used over time; returns the rows.
pub(super) fn write_time_lines(
    connection: &Connection,
    simulation: i64,
    lines: &[TimeLine],
) -> rusqlite::Result<u64> {
    let mut rows = 0;
    let mut insert =
        connection.prepare_cached("INSERT INTO time_line VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for line in lines {
        for sample in &line.samples {
            insert.execute(params![
                simulation,
                line.cluster.0,
                sample.time.0,
                sample.jobs,
                sample.parts
            ])?;
        }
        rows += line.samples.len() as u64;
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_of_a_co_reservation_has_its_code() {
        for (code, verdict) in CoVerdict::ALL.into_iter().enumerate() {
            assert_eq!(verdict_code(verdict), code as i64);
        }
    }
}
