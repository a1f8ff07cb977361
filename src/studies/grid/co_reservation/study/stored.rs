//! Reading studies of several clusters: values of clusters over a run, requests and time lines of
//! one simulation.

use std::collections::HashMap;

use rusqlite::params;

use bookahead_lab::store::{CalibrationRow, OF_RUN, PofKind, RunId, Store, StoreError};

/// Values of clusters by measure, cluster and class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterValues(HashMap<(i64, u16), Vec<ClusterRow>>);

#[derive(Clone, Debug, PartialEq)]
struct ClusterRow {
    measure: String,
    class: String,
    value: f64,
}

impl ClusterValues {
    /// Whether the run has any.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether any cluster has a value of a measure.
    #[must_use]
    pub fn has(&self, measure: &str) -> bool {
        let mut rows = self.0.values().flatten();
        rows.any(|row| row.measure == measure)
    }

    /// How many clusters the widest of its simulations has.
    #[must_use]
    pub fn clusters(&self) -> u16 {
        let clusters = self.0.keys().map(|(_, cluster)| cluster + 1);
        clusters.max().unwrap_or(0)
    }

    /// A value of one cluster of a simulation (by its number in the store); the class is empty for
    /// a value about all.
    #[must_use]
    pub fn get(&self, simulation: i64, cluster: u16, measure: &str, class: &str) -> Option<f64> {
        self.0
            .get(&(simulation, cluster))?
            .iter()
            .find(|row| row.measure == measure && row.class == class)
            .map(|row| row.value)
    }
}

/// One co-reservation request, as figures over time show it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoRequestRow {
    /// When it was asked, seconds.
    pub submit: i64,
    /// Start − submission, seconds; `None` where it was not granted.
    pub lead: Option<i64>,
    /// Parts that were refused, and parts that were given back.
    pub wasted: i64,
    /// Share of the jobs waiting at its submission that still wait at its start; `None` where it
    /// was not granted.
    pub unfairness: Option<f64>,
    /// With r parts, the r-th smallest backlog time of the clusters for its earliest start,
    /// seconds; `None` where fewer were probed.
    pub bound: Option<i64>,
}

/// CPUs in use at one cluster at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UseRow {
    /// The cluster.
    pub cluster: u16,
    /// Seconds.
    pub time: i64,
    /// CPUs that run jobs.
    pub jobs: i64,
    /// CPUs that parts hold.
    pub parts: i64,
}

/// When submissions end, and what second of the week (from Monday 00:00) second 0 is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterCalendar {
    /// End of submissions, seconds.
    pub stop: i64,
    /// Second of the week.
    pub origin: i64,
}

/// The values of clusters of every simulation of a study with `cluster_measure`.
pub const CLUSTER_VALUES: &str = "(
        SELECT d.simulation, d.cluster, q.name AS measure, d.class, d.value
        FROM cluster_measure d JOIN measure q ON q.code = d.measure
    )";

/// The values of the clusters of every simulation of a run. The source is a query in brackets with
/// the columns of [`CLUSTER_VALUES`].
///
/// # Errors
///
/// When the store cannot be read.
pub fn cluster_values(
    store: &Store,
    run: RunId,
    source: &str,
) -> Result<ClusterValues, StoreError> {
    let query = format!(
        "SELECT d.simulation, d.cluster, d.measure, d.class, d.value FROM {source} d
         WHERE d.simulation IN {OF_RUN}"
    );
    let rows = store.rows("reading values of clusters", &query, [run.0], |row| {
        let value = ClusterRow {
            measure: row.get(2)?,
            class: row.get(3)?,
            value: row.get(4)?,
        };
        Ok(((row.get(0)?, row.get(1)?), value))
    })?;
    let mut values = ClusterValues::default();
    for (key, value) in rows {
        values.0.entry(key).or_default().push(value);
    }
    Ok(values)
}

/// The co-reservation requests of a simulation, in order; empty where outcomes were not kept.
///
/// # Errors
///
/// When the store cannot be read.
pub fn co_requests(store: &Store, simulation: i64) -> Result<Vec<CoRequestRow>, StoreError> {
    store.rows(
        "reading co-reservation requests",
        "SELECT o.submit, o.lead, o.refused + o.cancelled, o.unfairness, b.backlog_earliest
         FROM v_co_request o
         LEFT JOIN (SELECT request, backlog_earliest,
                row_number() OVER (PARTITION BY request ORDER BY backlog_earliest) AS rank
             FROM co_probe WHERE simulation = ?1) b ON b.request = o.request AND b.rank = o.parts
         WHERE o.simulation = ?1 ORDER BY o.request",
        [simulation],
        |row| {
            Ok(CoRequestRow {
                submit: row.get(0)?,
                lead: row.get(1)?,
                wasted: row.get(2)?,
                unfairness: row.get(3)?,
                bound: row.get(4)?,
            })
        },
    )
}

/// What co-reservations were promised, as counts by simulation and bin: one counts as failed when a
/// part of it was not there, and as lost when that part was not replaced either.
pub const CO_PROMISES: &str = "(
        SELECT q.simulation, s.name AS strategy, min(20, max(1, CAST(20 * q.pof AS INTEGER)
            + (20 * q.pof > CAST(20 * q.pof AS INTEGER)))) AS bin, count(*) AS jobs, sum(q.lost_parts > 0) AS failed,
            sum(q.lost_parts > q.replaced_parts) AS failed_overbooked, sum(q.pof) AS pof_sum,
            sum((q.pof - (q.lost_parts > 0)) * (q.pof - (q.lost_parts > 0))) AS brier_sum
        FROM v_co_request q JOIN simulation m ON m.id = q.simulation JOIN strategy s ON s.code = m.strategy
        WHERE q.granted AND q.pof > 0 GROUP BY q.simulation, bin
    )";

/// The counts of [`CO_PROMISES`] of a run, in order of the simulations' identities.
///
/// # Errors
///
/// When the store cannot be read.
pub fn co_promises(store: &Store, run: RunId) -> Result<Vec<CalibrationRow>, StoreError> {
    let query = format!(
        "SELECT c.simulation, c.bin, c.jobs, c.failed, c.failed_overbooked, c.pof_sum, c.brier_sum
         FROM {CO_PROMISES} c JOIN simulation m ON m.id = c.simulation
         WHERE c.simulation IN {OF_RUN} ORDER BY m.identity, m.generation, c.bin"
    );
    store.rows(
        "reading promises to co-reservations",
        &query,
        [run.0],
        |row| {
            let whole = |column| row.get::<_, i64>(column).map(i64::unsigned_abs);
            Ok(CalibrationRow {
                simulation: row.get(0)?,
                kind: PofKind::Promised,
                bin: row.get(1)?,
                jobs: whole(2)?,
                failed: whole(3)?,
                failed_overbooked: whole(4)?,
                pof_sum: row.get(5)?,
                brier_sum: row.get(6)?,
            })
        },
    )
}

/// How the clusters of a simulation were used from one instant up to, but without, another; in
/// order of cluster and time. Empty where it was not kept.
///
/// # Errors
///
/// When the store cannot be read.
pub fn time_line(
    store: &Store,
    simulation: i64,
    from: i64,
    until: i64,
) -> Result<Vec<UseRow>, StoreError> {
    store.rows(
        "reading time lines",
        "SELECT cluster, time, jobs, parts FROM time_line
         WHERE simulation = ?1 AND time >= ?2 AND time < ?3 ORDER BY cluster, time",
        params![simulation, from, until],
        |row| {
            Ok(UseRow {
                cluster: row.get(0)?,
                time: row.get(1)?,
                jobs: row.get(2)?,
                parts: row.get(3)?,
            })
        },
    )
}

/// The calendar of a simulation of several clusters; `None` of any other. Where its specification
/// does not say when the week begins, it is the default, Wednesday 18:00.
///
/// # Errors
///
/// When the store cannot be read.
pub fn calendar(store: &Store, simulation: i64) -> Result<Option<ClusterCalendar>, StoreError> {
    let rows = store.rows(
        "reading the calendar of a simulation",
        "SELECT c.stop, coalesce(m.spec ->> '$.study.local.calendar_origin', 237600)
         FROM simulation m JOIN cluster c ON c.simulation = m.id AND c.cluster = 0 WHERE m.id = ?1",
        [simulation],
        |row| {
            Ok(ClusterCalendar {
                stop: row.get(0)?,
                origin: row.get(1)?,
            })
        },
    )?;
    Ok(rows.into_iter().next())
}
