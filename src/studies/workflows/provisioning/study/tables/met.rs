//! What a broker met at the sites: offers, advertised slots, jobs of others.

use rusqlite::params;

use super::after;
use crate::provisioning::{ProvisioningOutcome, SiteJob};
use bookahead_core::units::Seconds;
use bookahead_lab::tables::{RowWriter, json_rows};

/// Writes what sites offered for tasks; returns the rows.
pub(super) fn write_offers(
    writer: &RowWriter<'_>,
    outcome: &ProvisioningOutcome,
) -> rusqlite::Result<u64> {
    let mut insert = writer.table("workflow_query")?;
    let mut queries = 0;
    // The offers of a query are one JSON text: there are dozens, and rows of their own would double
    // the time of a simulation.
    for offers in outcome
        .prices
        .chunk_by(|one, other| one.query == other.query)
    {
        let asked = offers[0];
        let texts = offers
            .iter()
            .map(|offer| [after(outcome, offer.start), offer.price.0]);
        insert.insert(params![
            writer.simulation(),
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
    writer: &RowWriter<'_>,
    outcome: &ProvisioningOutcome,
) -> rusqlite::Result<u64> {
    let mut insert = writer.table("workflow_advertised")?;
    for (place, offered) in outcome.advertised.iter().enumerate() {
        let slot = offered.slot;
        insert.insert(params![
            writer.simulation(),
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
pub(super) fn write_site_jobs(writer: &RowWriter<'_>, jobs: &[SiteJob]) -> rusqlite::Result<u64> {
    let rows = jobs.iter().map(|met| {
        let job = &met.job;
        let waited = |start: Option<Seconds>| start.map(|start| (start - job.submit).0);
        [
            Some(writer.simulation()),
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
    writer.write_many("workflow_site_job", rows)
}
