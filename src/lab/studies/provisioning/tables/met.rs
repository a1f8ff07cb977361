//! What a broker met at the sites: offers, advertised slots, jobs of others.

use rusqlite::{Connection, params};

use super::after;
use crate::brokering::provisioning::{ProvisioningOutcome, SiteJob};
use crate::tables::{json_rows, write_many};
use crate::units::Seconds;

/// Writes what sites offered for tasks; returns the rows.
pub(super) fn write_offers(
    connection: &Connection,
    simulation: i64,
    outcome: &ProvisioningOutcome,
) -> rusqlite::Result<u64> {
    let mut insert = connection
        .prepare_cached("INSERT INTO workflow_query VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
    let mut queries = 0;
    // The offers of a query are one JSON text: there are dozens, and rows of their own would double the time of a simulation.
    for offers in outcome
        .prices
        .chunk_by(|one, other| one.query == other.query)
    {
        let asked = offers[0];
        let texts = offers
            .iter()
            .map(|offer| [after(outcome, offer.start), offer.price.0]);
        insert.execute(params![
            simulation,
            outcome.submission,
            asked.query,
            asked.task,
            asked.site as i64,
            asked.nodes.0,
            asked.duration.0,
            json_rows(texts)
        ])?;
        queries += 1;
    }
    Ok(queries)
}

/// Writes the slots that a first search could choose from; returns the rows.
pub(super) fn write_advertised(
    connection: &Connection,
    simulation: i64,
    outcome: &ProvisioningOutcome,
) -> rusqlite::Result<u64> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO workflow_advertised VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    for (place, offered) in outcome.advertised.iter().enumerate() {
        let slot = offered.slot;
        insert.execute(params![
            simulation,
            outcome.submission,
            place as i64,
            offered.site as i64,
            slot.nodes.0,
            after(outcome, slot.start),
            after(outcome, slot.end),
            slot.unit_price,
            slot.fixed_price,
            slot.divisible
        ])?;
    }
    Ok(outcome.advertised.len() as u64)
}

/// Writes jobs of others; returns the rows. Starts are seconds after the submission of the job.
pub(super) fn write_site_jobs(
    connection: &Connection,
    simulation: i64,
    jobs: &[SiteJob],
) -> rusqlite::Result<u64> {
    let rows = jobs.iter().map(|met| {
        let job = &met.job;
        let waited = |start: Option<Seconds>| start.map(|start| (start - job.submit).0);
        [
            Some(simulation),
            Some(met.site as i64),
            Some(i64::from(job.id.0)),
            Some(job.trace_number),
            Some(job.submit.0),
            Some(job.estimate.0),
            Some(job.runtime.0),
            Some(i64::from(job.nodes.0)),
            job.user,
            job.application,
            waited(met.start),
            waited(met.undisturbed_start),
        ]
    });
    write_many(connection, "workflow_site_job", rows)
}
