//! Several clusters: their measures, requests for co-reservations with parts and probes, time
//! lines.

mod exports;

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use self::exports::EXPORTS;
use super::measures::{CLUSTER_MEASURES, ClusterMeasureName};
use crate::co_reservation::measures::{ClusterSummary, ClusterValue};
use crate::co_reservation::{AttemptFate, CoOutcome, CoReservationRun, CoVerdict, TimeLine};
use bookahead_core::scheduling::measures::Measure;
use bookahead_core::units::Seconds;
use bookahead_lab::tables::{Definition, Outcomes, RowWriter, Rows, View};

/// The tables.
pub(super) const TABLES: Definition = Definition {
    sql: SQL,
    results: &[
        "time_line",
        "co_probe",
        "co_attempt",
        "co_part",
        "co_request",
        "cluster_measure",
        "cluster",
    ],
    views: VIEWS,
    exports: EXPORTS,
    outcomes: OUTCOMES,
    quantity: |name| ClusterMeasureName::parse(name).map(ClusterMeasureName::stored),
    enter_lookups,
    ..Definition::NONE
};

/// The clusters of a simulation, what was measured at them, and what became of the requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoReservationRows {
    /// The clusters.
    pub clusters: Vec<ClusterSummary>,
    /// What was measured at each of them.
    pub values: Vec<ClusterValue>,
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
        for outcome in self.run.iter_mut().flat_map(|run| &mut run.requests) {
            outcome.attempts = Vec::new();
            if replication > 0 {
                outcome.probes = Vec::new();
            }
        }
    }

    fn write(&self, writer: &RowWriter<'_>, replication: u32) -> rusqlite::Result<u64> {
        let mut rows = write_clusters(writer, &self.clusters, &self.values)?;
        if let Some(run) = &self.run {
            rows += write_co_requests(writer, run)?;
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

const SQL: &str = "
CREATE TABLE cluster (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    cluster INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    first_job INTEGER NOT NULL,
    jobs INTEGER NOT NULL,
    window_start INTEGER NOT NULL,
    accuracy REAL NOT NULL,
    stop INTEGER NOT NULL,
    PRIMARY KEY (simulation, cluster)
) STRICT, WITHOUT ROWID;

CREATE TABLE cluster_measure (
    simulation INTEGER NOT NULL,
    cluster INTEGER NOT NULL,
    measure INTEGER NOT NULL REFERENCES measure (code),
    class TEXT NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (simulation, measure, cluster, class),
    FOREIGN KEY (simulation, cluster) REFERENCES cluster (simulation, cluster)
) STRICT, WITHOUT ROWID;

CREATE TABLE co_verdict (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    granted INTEGER NOT NULL CHECK (granted IN (0, 1))
) STRICT;

CREATE TABLE co_request (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    request INTEGER NOT NULL,
    trace_number INTEGER NOT NULL,
    submit INTEGER NOT NULL,
    earliest INTEGER NOT NULL,
    deadline INTEGER NOT NULL,
    duration INTEGER NOT NULL,
    parts INTEGER NOT NULL,
    verdict INTEGER NOT NULL REFERENCES co_verdict (code),
    answered INTEGER NOT NULL,
    start INTEGER,
    cost REAL,
    pof REAL NOT NULL,
    probes INTEGER NOT NULL,
    reserved INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    cancelled INTEGER NOT NULL,
    timed_out INTEGER NOT NULL,
    repeated INTEGER NOT NULL,
    starts INTEGER NOT NULL,
    candidates REAL NOT NULL,
    worst_case REAL NOT NULL,
    first_start INTEGER,
    last_start INTEGER,
    cheapest REAL,
    dearest REAL,
    waiting_before INTEGER NOT NULL,
    waiting_after INTEGER NOT NULL,
    lost_parts INTEGER NOT NULL,
    replaced_parts INTEGER NOT NULL,
    user INTEGER,
    PRIMARY KEY (simulation, request)
) STRICT, WITHOUT ROWID;

CREATE TABLE co_part (
    simulation INTEGER NOT NULL,
    request INTEGER NOT NULL,
    part INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    cluster INTEGER,
    lost INTEGER NOT NULL,
    PRIMARY KEY (simulation, request, part),
    FOREIGN KEY (simulation, request) REFERENCES co_request (simulation, request)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempt_fate (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE co_attempt (
    simulation INTEGER NOT NULL,
    request INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    part INTEGER NOT NULL,
    cluster INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    start INTEGER NOT NULL,
    duration INTEGER NOT NULL,
    sent INTEGER NOT NULL,
    answered INTEGER,
    given_up INTEGER,
    fate INTEGER NOT NULL REFERENCES attempt_fate (code),
    PRIMARY KEY (simulation, request, attempt),
    FOREIGN KEY (simulation, request) REFERENCES co_request (simulation, request)
) STRICT, WITHOUT ROWID;

CREATE TABLE co_probe (
    simulation INTEGER NOT NULL,
    request INTEGER NOT NULL,
    cluster INTEGER NOT NULL,
    unfiltered INTEGER NOT NULL,
    counting INTEGER NOT NULL,
    backlog INTEGER NOT NULL,
    quota INTEGER NOT NULL,
    exempt INTEGER NOT NULL,
    backlog_now INTEGER NOT NULL,
    backlog_earliest INTEGER NOT NULL,
    PRIMARY KEY (simulation, request, cluster),
    FOREIGN KEY (simulation, request) REFERENCES co_request (simulation, request)
) STRICT, WITHOUT ROWID;

CREATE TABLE time_line (
    simulation INTEGER NOT NULL,
    cluster INTEGER NOT NULL,
    time INTEGER NOT NULL,
    jobs INTEGER NOT NULL,
    parts INTEGER NOT NULL,
    PRIMARY KEY (simulation, cluster, time),
    FOREIGN KEY (simulation, cluster) REFERENCES cluster (simulation, cluster)
) STRICT, WITHOUT ROWID;
";

const VIEWS: &[View] = &[
    (
        "v_cluster",
        "SELECT c.simulation, c.cluster, c.nodes, c.first_job, c.jobs, c.window_start, c.accuracy, c.stop FROM cluster c",
    ),
    (
        "v_cluster_measure",
        "SELECT rp.run, rp.place,
            (SELECT json_group_object(x.key, x.value) FROM (
                SELECT key, value FROM v_point_axis va WHERE va.run = rp.run AND va.place = rp.place ORDER BY axis
            ) x) AS axes,
            p.replication, p.simulation, d.cluster, q.name AS measure, d.class, q.unit, q.title, d.value
         FROM run_point rp
         JOIN point p ON p.id = rp.point
         JOIN cluster_measure d ON d.simulation = p.simulation
         JOIN measure q ON q.code = d.measure",
    ),
    (
        "v_co_request",
        "SELECT o.simulation, o.request, o.trace_number, o.user, o.submit, o.submit + o.earliest AS earliest,
            o.submit + o.deadline AS deadline, o.duration, o.deadline - o.earliest - o.duration AS slack, o.parts,
            v.name AS verdict, v.granted, o.submit + o.answered AS answered, o.submit + o.start AS start, o.start AS lead,
            CASE WHEN o.start IS NULL THEN NULL WHEN o.last_start > o.first_start
                THEN CAST(o.start - o.first_start AS REAL) / (o.last_start - o.first_start)
                WHEN o.first_start IS NOT NULL THEN 0.0 END AS relative_start,
            CASE WHEN o.cost IS NULL THEN NULL WHEN o.dearest > o.cheapest
                THEN (o.cost - o.cheapest) / (o.dearest - o.cheapest)
                WHEN o.cheapest IS NOT NULL THEN 0.0 END AS relative_cost,
            o.cost, o.pof, o.reserved + o.refused + o.cancelled AS messages, o.probes, o.reserved, o.refused, o.cancelled,
            o.timed_out, o.repeated, o.starts, o.candidates, o.worst_case,
            1.0 - coalesce((o.reserved + o.refused + o.cancelled) / nullif(o.worst_case, 0.0), 0.0) AS efficiency,
            o.submit + o.first_start AS first_start, o.submit + o.last_start AS last_start, o.cheapest, o.dearest,
            o.waiting_before, o.waiting_after,
            CASE WHEN v.granted THEN coalesce(CAST(o.waiting_after AS REAL) / nullif(o.waiting_before, 0), 0.0) END
                AS unfairness,
            o.lost_parts, o.replaced_parts
         FROM co_request o JOIN co_verdict v ON v.code = o.verdict",
    ),
    (
        "v_co_part",
        "SELECT p.simulation, p.request, p.part, p.nodes, p.cluster, o.submit + o.start AS start,
            o.submit + o.start + o.duration AS \"end\", o.duration, p.lost
         FROM co_part p JOIN co_request o ON o.simulation = p.simulation AND o.request = p.request",
    ),
    (
        "v_co_attempt",
        "SELECT a.simulation, a.request, a.attempt, a.part, a.cluster, a.nodes, o.submit + a.start AS start,
            o.submit + a.start + a.duration AS \"end\", a.duration, o.submit + a.sent AS sent,
            o.submit + a.answered AS answered, o.submit + a.given_up AS given_up, f.name AS fate
         FROM co_attempt a
         JOIN co_request o ON o.simulation = a.simulation AND o.request = a.request
         JOIN attempt_fate f ON f.code = a.fate",
    ),
    (
        "v_co_probe",
        "SELECT b.simulation, b.request, b.cluster, o.submit, b.unfiltered, b.counting, b.backlog, b.quota, b.exempt,
            CAST(b.counting + b.backlog + b.quota AS REAL) / nullif(b.unfiltered, 0) AS filtering_degree,
            b.backlog_now, b.backlog_earliest
         FROM co_probe b JOIN co_request o ON o.simulation = b.simulation AND o.request = b.request",
    ),
];

/// What the views about all studies show of them.
const OUTCOMES: Outcomes = Outcomes {
    algorithm: Some(
        "m.spec ->> '$.study.search.algorithm'",
    ),
    clusters: Some(
        "(SELECT count(*) FROM cluster c WHERE c.simulation = m.id)",
    ),
    cluster_of_job: Some(
        "(SELECT c.cluster FROM cluster c
          WHERE c.simulation = j.simulation AND j.job >= c.first_job AND j.job < c.first_job + c.jobs)",
    ),
    jobs: None,
    reservations: Some(
        "SELECT q.simulation, q.request, NULL, q.parts,
            CASE q.parts WHEN 1 THEN (SELECT p.cluster FROM co_part p WHERE p.simulation = q.simulation AND p.request = q.request) END,
            q.trace_number, q.user,
            (SELECT sum(p.nodes) FROM co_part p WHERE p.simulation = q.simulation AND p.request = q.request),
            q.submit, q.earliest, q.deadline, q.duration, NULL,
            CASE WHEN NOT q.granted THEN 'rejected' WHEN q.lost_parts > q.replaced_parts THEN 'lost' ELSE 'granted' END,
            q.verdict, CASE WHEN q.granted THEN q.pof END, q.start, q.start + q.duration, q.cost, NULL
         FROM v_co_request q",
    ),
};

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
        rows += write_probes(writer, outcome)?;
    }
    Ok(rows)
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
    Ok(request.parts.len() as u64)
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
    Ok(outcome.probes.len() as u64)
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
