//! How many jobs the workloads of replications share, by their numbers in the log.

use rusqlite::params;

use super::{RunId, Store, StoreError};

/// Jobs of the replications of one setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedJobs {
    /// Replications whose jobs the store has.
    pub replications: u32,
    /// Their jobs; a record of the log that several have counts in each of them.
    pub jobs: u64,
    /// Those of the jobs that another of the replications has, too.
    pub shared: u64,
}

impl Store {
    /// How many jobs replications share at the first setting of a run, whose replications come
    /// first in its sweep. The number of the record in the log says which job is the same one.
    /// Replications whose jobs were not kept do not count.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn shared_jobs(&self, run: RunId, replications: u32) -> Result<SharedJobs, StoreError> {
        let sql = "WITH own AS (
                SELECT DISTINCT p.replication, j.trace_number
                FROM run_point rp
                JOIN point p ON p.id = rp.point
                JOIN simulation m ON m.id = p.simulation AND m.state = 2
                JOIN job j ON j.workload = m.workload
                WHERE rp.run = ?1 AND rp.place < ?2
            ), records AS (SELECT count(*) AS times FROM own GROUP BY trace_number)
            SELECT (SELECT count(DISTINCT replication) FROM own), coalesce(sum(times), 0),
                coalesce(sum(times) FILTER (WHERE times > 1), 0)
            FROM records";
        self.connection
            .query_row(sql, params![run.0, replications], |row| {
                Ok(SharedJobs {
                    replications: row.get(0)?,
                    jobs: row.get::<_, i64>(1)?.unsigned_abs(),
                    shared: row.get::<_, i64>(2)?.unsigned_abs(),
                })
            })
            .map_err(|error| self.error("reading the jobs that replications share", error))
    }
}
