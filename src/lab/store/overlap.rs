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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::RunSelector;
    use crate::store::fixtures::{finished, point, record, result, write_run};
    use crate::studies::STUDIES;

    #[test]
    fn jobs_of_several_replications_are_shared_and_those_of_other_settings_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        // Records 40,000 to 40,003; 40,002 to 40,005; none kept; and of another setting all of
        // them.
        let excerpts: [&[u32]; 4] = [&[0, 1, 2, 3], &[2, 3, 4, 5], &[], &[0, 1, 2, 3, 4, 5]];
        let simulations = (0..).zip(excerpts).map(|(place, records): (u32, &[u32])| {
            let id = format!("excerpt {place}");
            let mut excerpt = result(6);
            excerpt
                .outcomes
                .retain(|outcome| records.contains(&outcome.job.id.0));
            let mut own = point(&id, &[], place % 3, 1.0);
            own.place = place;
            finished(&id, "fcfs", place % 3, excerpt, vec![own])
        });
        write_run(
            &path,
            &record("excerpts", Vec::new(), 4),
            simulations.collect(),
        );
        let store = Store::open_read_only(STUDIES, &path).unwrap();
        let run = store.run(&RunSelector::Latest).unwrap();
        let shared = store.shared_jobs(run.id, 3).unwrap();
        let expected = SharedJobs {
            replications: 2,
            jobs: 8,
            shared: 4,
        };
        assert_eq!(shared, expected);
    }
}
