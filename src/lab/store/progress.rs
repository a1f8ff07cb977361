//! How far the runs of a store are, so cheaply that it can be looked at every second: nothing is
//! counted that is done.

use std::time::SystemTime;

use super::labels::RunLabels;
use super::processes::Process;
use super::{RunId, Store, StoreError};

/// How far a run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunProgress {
    /// Its number.
    pub id: RunId,
    /// The experiment's name.
    pub name: String,
    /// `running`, `done`, `interrupted` or `failed`.
    pub state: String,
    /// Points of the sweep.
    pub points: u64,
    /// Of those, done.
    pub points_done: u64,
    /// Of those, failed.
    pub points_failed: u64,
    /// When it began, milliseconds since 1970 (UTC).
    pub started: i64,
    /// When it ended, or for a run whose process died, when it wrote last.
    pub ended: Option<i64>,
    /// What people say of it.
    pub labels: RunLabels,
}

impl RunProgress {
    /// Whether its process is at work.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.state == "running"
    }
}

/// What a look at the files of a store tells without opening it: whoever sees the same twice has
/// missed no transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreStamp([Option<(u64, SystemTime)>; 2]);

impl Store {
    /// How far every run is, in the order in which they began. Points that are done are not looked
    /// at: a new sweep makes it slower, an old store does not.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn run_progress(&self) -> Result<Vec<RunProgress>, StoreError> {
        let sql = |error| self.error("looking how far its runs are", error);
        let mut statement = self
            .connection
            .prepare(&format!(
                "WITH open AS MATERIALIZED (
                    SELECT rp.run AS run, count(*) AS points, total(m.state = 3) AS failed
                    FROM simulation m CROSS JOIN point p ON p.simulation = m.id CROSS JOIN run_point rp ON rp.point = p.id
                    WHERE m.state <> 2 GROUP BY rp.run)
                 SELECT r.id, r.name, s.name, r.points, r.started, r.ended, r.last_commit,
                    (SELECT count(*) FROM run_point rp WHERE rp.run = r.id) - coalesce(o.points, 0),
                    CAST(coalesce(o.failed, 0) AS INTEGER), {}, {}
                 FROM run r JOIN run_state s ON s.code = r.state LEFT JOIN open o ON o.run = r.id ORDER BY r.id",
                Process::COLUMNS,
                RunLabels::COLUMNS
            ))
            .map_err(sql)?;
        let runs = statement.query_map([], |row| {
            let mut state: String = row.get(2)?;
            let mut ended = row.get(5)?;
            // A process that died must not look running, although nobody has written down its end.
            if state == "running" && !Process::read(row, 9)?.is_alive(&self.path) {
                "interrupted".clone_into(&mut state);
                ended = row.get(6)?;
            }
            Ok(RunProgress {
                id: RunId(row.get(0)?),
                name: row.get(1)?,
                state,
                points: row.get::<_, i64>(3)?.unsigned_abs(),
                points_done: row.get::<_, i64>(7)?.unsigned_abs(),
                points_failed: row.get::<_, i64>(8)?.unsigned_abs(),
                started: row.get(4)?,
                ended,
                labels: RunLabels::read(row, 14)?,
            })
        });
        runs.and_then(Iterator::collect).map_err(sql)
    }

    /// The stamp of the files at a path; everything is missing where there is no store.
    #[must_use]
    pub fn stamp(path: &std::path::Path) -> StoreStamp {
        let mut journal = path.as_os_str().to_owned();
        journal.push("-wal");
        let of = |path: &std::path::Path| {
            let file = std::fs::metadata(path).ok()?;
            Some((file.len(), file.modified().ok()?))
        };
        StoreStamp([of(path), of(journal.as_ref())])
    }
}
