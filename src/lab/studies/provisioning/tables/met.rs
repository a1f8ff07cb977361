//! What a broker met at the sites: offers, advertised slots, jobs of others.

use rusqlite::{Connection, params};

use super::after;
use crate::brokering::provisioning::{ProvisioningOutcome, SiteJob};
use crate::tables::write_many;
use crate::units::Seconds;

/// Writes what sites offered for tasks; returns the rows.
pub(super) fn write_offers(
    connection: &Connection,
    simulation: i64,
    outcome: &ProvisioningOutcome,
) -> rusqlite::Result<u64> {
    let offers = outcome.prices.iter().map(|offer| {
        [
            simulation,
            i64::from(outcome.submission),
            i64::from(offer.query),
            after(outcome, offer.start),
            i64::from(offer.task),
            offer.site as i64,
            i64::from(offer.nodes.0),
            offer.duration.0,
            offer.price.0,
        ]
    });
    write_many(connection, "workflow_offer", offers)
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
