//! Several clusters: their measures, requests for co-reservations with parts and probes, time
//! lines.

mod exports;
mod schema;

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use self::exports::EXPORTS;
use self::schema::{OUTCOMES, SQL, VIEWS};
use super::measures::{CLUSTER_MEASURES, ClusterMeasureName};
use crate::co_reservation::local::OutageEvent;
use crate::co_reservation::measures::{ClusterSummary, ClusterValue};
use crate::co_reservation::{
    AttemptFate, ClusterOutage, CoOutcome, CoReservationRun, CoVerdict, RequestClass, TimeLine,
};
use bookahead_core::scheduling::measures::Measure;
use bookahead_core::units::Seconds;
use bookahead_core::workload::FurtherResource;
use bookahead_lab::tables::{Definition, RowWriter, Rows};

/// The tables.
pub(super) const TABLES: Definition = Definition {
    sql: SQL,
    results: &[
        "time_line",
        "co_free_cpus",
        "co_licence_lack",
        "co_licences",
        "co_storage_lack",
        "co_storage",
        "co_information",
        "co_class",
        "co_probe",
        "co_attempt",
        "co_task_order",
        "co_task",
        "co_part",
        "co_request",
        "cluster_measure",
        "cluster_event",
        "cluster",
    ],
    views: VIEWS,
    exports: EXPORTS,
    outcomes: OUTCOMES,
    quantity: |name| ClusterMeasureName::parse(name).map(ClusterMeasureName::stored),
    enter_lookups,
    ..Definition::NONE
};

/// The tables of what parts need beside CPUs, and of candidates that lacked it.
const FURTHER: [(FurtherResource, &str, &str); 2] = [
    (FurtherResource::Licences, "co_licences", "co_licence_lack"),
    (FurtherResource::Storage, "co_storage", "co_storage_lack"),
];

/// The clusters of a simulation, what was measured at them, and what became of the requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoReservationRows {
    /// The clusters.
    pub clusters: Vec<ClusterSummary>,
    /// What was measured at each of them.
    pub values: Vec<ClusterValue>,
    /// The outages that were drawn; empty unless outcomes were asked for.
    pub outages: Vec<ClusterOutage>,
    /// How many clusters each request knew of; `None` where all of them are known and asked.
    pub known_clusters: Option<u32>,
    /// The run without its jobs, which are among the outcomes; `None` unless outcomes were asked
    /// for.
    pub run: Option<CoReservationRun>,
}

impl Rows for CoReservationRows {
    fn problem(&self) -> Option<String> {
        problem(self.run.as_ref()?)
    }

    /// Requests are few, and pairs of runs are compared by them; of their probes one replication is
    /// enough to look at.
    fn strip(&mut self, replication: u32) {
        self.outages = Vec::new();
        for outcome in self.run.iter_mut().flat_map(|run| &mut run.requests) {
            outcome.attempts = Vec::new();
            if replication > 0 {
                outcome.probes = Vec::new();
                outcome.free_cpus = Vec::new();
            }
        }
    }

    fn write(&self, writer: &RowWriter<'_>, replication: u32) -> rusqlite::Result<u64> {
        let mut rows = write_clusters(writer, &self.clusters, &self.values)?;
        rows += write_outages(writer, &self.outages)?;
        if let Some(run) = &self.run {
            rows += write_co_requests(writer, run)?;
            rows += write_information(writer, run, self.known_clusters)?;
            // Time lines are kept of the first replication only, which bounds the file.
            if replication == 0 {
                rows += write_time_lines(writer, &run.time_lines)?;
            }
        }
        Ok(rows)
    }
}

fn enter_lookups(connection: &Connection, _: &[&'static Measure]) -> rusqlite::Result<()> {
    for measure in CLUSTER_MEASURES {
        connection.execute(
            "INSERT INTO measure (name, unit, title) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO NOTHING",
            params![measure.name, measure.unit, measure.title],
        )?;
    }
    for (code, fate) in AttemptFate::ALL.into_iter().enumerate() {
        connection.execute(
            "INSERT OR REPLACE INTO attempt_fate VALUES (?1, ?2)",
            params![code as i64, fate.name()],
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

/// Why outcomes would not come back from the store as they are; `None` where they would.
fn problem(run: &CoReservationRun) -> Option<String> {
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
fn write_clusters(
    writer: &RowWriter<'_>,
    clusters: &[ClusterSummary],
    values: &[ClusterValue],
) -> rusqlite::Result<u64> {
    let mut insert = writer.table("cluster")?;
    for (place, cluster) in clusters.iter().enumerate() {
        insert.insert(params![
            writer.simulation(),
            place as i64,
            cluster.nodes.0,
            cluster.first_job,
            cluster.jobs,
            cluster.window_start.0,
            cluster.accuracy,
            cluster.stop.0
        ])?;
    }
    let mut insert = writer.table("cluster_measure")?;
    for value in values {
        let known = (CLUSTER_MEASURES.iter()).find(|known| known.name == value.measure);
        insert.insert(params![
            writer.simulation(),
            value.cluster.0,
            writer.measure(value.measure, known)?,
            value.class,
            value.value
        ])?;
    }
    Ok((clusters.len() + values.len()) as u64)
}

/// Writes what failed and was repaired at clusters; returns the rows.
fn write_outages(writer: &RowWriter<'_>, outages: &[ClusterOutage]) -> rusqlite::Result<u64> {
    let rows = (0_i64..).zip(outages).map(|(sequence, outage)| {
        let (time, cluster, event) = outage;
        let (nodes, up) = match *event {
            OutageEvent::ClusterDown => (None, false),
            OutageEvent::ClusterUp => (None, true),
            OutageEvent::NodesDown { first, count } => (Some((first, count)), false),
            OutageEvent::NodesUp { first, count } => (Some((first, count)), true),
        };
        [
            Some(writer.simulation()),
            Some(sequence),
            Some(time.0),
            Some(i64::from(cluster.0)),
            nodes.map(|(first, _)| i64::from(first)),
            nodes.map(|(_, count)| i64::from(count)),
            Some(i64::from(up)),
        ]
    });
    writer.write_many("cluster_event", rows)
}

/// Writes what became of every request; returns the rows. Times but the first are seconds after it,
/// as they are small then.
fn write_co_requests(writer: &RowWriter<'_>, run: &CoReservationRun) -> rusqlite::Result<u64> {
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
    let mut insert = writer.table("co_request")?;
    for outcome in &run.requests {
        let request = &outcome.request;
        let after = |time: Seconds| (time - request.submit).0;
        let bounds = outcome.bounds;
        let messages = outcome.messages;
        insert.insert(params![
            writer.simulation(),
            request.id.0,
            request.trace_number,
            request.submit.0,
            after(request.earliest),
            after(request.deadline),
            request.duration.0,
            request.parts.len() as i64,
            outcome.verdict as i64,
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
            request.user,
        ])?;
        rows += 1 + write_parts(writer, outcome, &lost)?;
        rows += write_attempts(writer, outcome)?;
        rows += write_task(writer, outcome)?;
        rows += write_class(writer, outcome)?;
        rows += write_probes(writer, outcome)?;
    }
    Ok(rows)
}

/// Writes what the broker knew when it answered each request; returns the rows.
fn write_information(
    writer: &RowWriter<'_>,
    run: &CoReservationRun,
    known_clusters: Option<u32>,
) -> rusqlite::Result<u64> {
    let Some(known) = known_clusters else {
        return Ok(0);
    };
    let mut insert = writer.table("co_information")?;
    for outcome in &run.requests {
        let messages = outcome.messages;
        insert.insert(params![
            writer.simulation(),
            outcome.request.id.0,
            known,
            messages.probed_clusters,
            messages.second_rounds
        ])?;
    }
    Ok(run.requests.len() as u64)
}

/// Writes whose CPUs a request takes or to whom it gives its own; of one that does neither nothing.
fn write_class(writer: &RowWriter<'_>, outcome: &CoOutcome) -> rusqlite::Result<u64> {
    let class = match outcome.class {
        RequestClass::Fixed => return Ok(0),
        RequestClass::Renegotiable => "renegotiable",
        RequestClass::Priority => "priority",
    };
    let mut insert = writer.table("co_class")?;
    insert.insert(params![writer.simulation(), outcome.request.id.0, class])?;
    Ok(1)
}

/// Writes the place of a request in its workflow, if it has one.
fn write_task(writer: &RowWriter<'_>, outcome: &CoOutcome) -> rusqlite::Result<u64> {
    let request = &outcome.request;
    let Some(task) = &request.task else {
        return Ok(0);
    };
    let (simulation, id) = (writer.simulation(), request.id.0);
    let mut insert = writer.table("co_task")?;
    insert.insert(params![simulation, id, task.workflow.0])?;
    let mut insert = writer.table("co_task_order")?;
    for before in &task.after {
        insert.insert(params![simulation, id, before.0])?;
    }
    Ok(1 + task.after.len() as u64)
}

fn fate_code(fate: AttemptFate) -> i64 {
    let place = AttemptFate::ALL.iter().position(|known| *known == fate);
    place.map_or(-1, |place| place as i64)
}

fn write_attempts(writer: &RowWriter<'_>, outcome: &CoOutcome) -> rusqlite::Result<u64> {
    let after = |time: Seconds| (time - outcome.request.submit).0;
    let attempts = outcome.attempts.iter().zip(0_i64..);
    let rows = attempts.map(|(attempt, number)| {
        [
            Some(writer.simulation()),
            Some(i64::from(outcome.request.id.0)),
            Some(number),
            Some(i64::from(attempt.part)),
            Some(i64::from(attempt.cluster.0)),
            Some(i64::from(attempt.nodes.0)),
            Some(after(attempt.start)),
            Some(attempt.duration.0),
            Some(after(attempt.sent)),
            attempt.answered.map(after),
            attempt.given_up.map(after),
            Some(fate_code(attempt.fate)),
        ]
    });
    writer.write_many("co_attempt", rows)
}

fn write_parts(
    writer: &RowWriter<'_>,
    outcome: &CoOutcome,
    lost: &BTreeMap<(u32, usize), i64>,
) -> rusqlite::Result<u64> {
    let mut insert = writer.table("co_part")?;
    let request = &outcome.request;
    for (part, nodes) in request.parts.iter().enumerate() {
        insert.insert(params![
            writer.simulation(),
            request.id.0,
            part as i64,
            nodes.0,
            outcome.clusters.get(part).map(|cluster| cluster.0),
            lost.get(&(request.id.0, part)).copied().unwrap_or(0)
        ])?;
    }
    let mut rows = request.parts.len() as u64;
    for (resource, needs, _) in FURTHER {
        let needed = (0_i64..).zip(&request.further);
        let needed = needed.map(|(part, counts)| (part, counts.of(resource)));
        let needed = needed.filter(|(_, amount)| *amount > 0);
        let needed = needed.map(|(part, amount)| {
            [
                Some(writer.simulation()),
                Some(i64::from(request.id.0)),
                Some(part),
                Some(i64::from(amount)),
            ]
        });
        rows += writer.write_many(needs, needed)?;
    }
    Ok(rows)
}

fn write_probes(writer: &RowWriter<'_>, outcome: &CoOutcome) -> rusqlite::Result<u64> {
    let mut insert = writer.table("co_probe")?;
    for probe in &outcome.probes {
        let counts = probe.counts;
        insert.insert(params![
            writer.simulation(),
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
    let after = |time: Seconds| (time - outcome.request.submit).0;
    let free = outcome.free_cpus.iter().map(|it| {
        [
            Some(writer.simulation()),
            Some(i64::from(outcome.request.id.0)),
            Some(i64::from(it.cluster.0)),
            Some(after(it.start)),
            Some(i64::from(it.free.0)),
        ]
    });
    let mut rows = writer.write_many("co_free_cpus", free)?;
    for (resource, _, lacks) in FURTHER {
        let lacking = outcome.probes.iter();
        let lacking = lacking.map(|probe| (probe.cluster, probe.counts.lacking(resource)));
        let lacking = lacking.filter(|(_, candidates)| *candidates > 0);
        let lacking = lacking.map(|(cluster, candidates)| {
            [
                Some(writer.simulation()),
                Some(i64::from(outcome.request.id.0)),
                Some(i64::from(cluster.0)),
                Some(i64::from(candidates)),
            ]
        });
        rows += writer.write_many(lacks, lacking)?;
    }
    Ok(rows + outcome.probes.len() as u64)
}

/// Writes how the CPUs of each cluster were used over time; returns the rows.
fn write_time_lines(writer: &RowWriter<'_>, lines: &[TimeLine]) -> rusqlite::Result<u64> {
    let mut rows = 0;
    let mut insert = writer.table("time_line")?;
    for line in lines {
        for sample in &line.samples {
            insert.insert(params![
                writer.simulation(),
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
    fn every_fate_of_an_order_has_its_code() {
        for (code, fate) in AttemptFate::ALL.into_iter().enumerate() {
            assert_eq!(fate_code(fate), code as i64);
        }
    }

    #[test]
    fn every_verdict_of_a_co_reservation_has_its_code() {
        for (code, verdict) in CoVerdict::ALL.into_iter().enumerate() {
            assert_eq!(verdict as i64, code as i64);
        }
    }
}
