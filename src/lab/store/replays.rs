//! What a simulation was, so that it can be carried out once more.

use rusqlite::{OptionalExtension, params};

use super::{RunId, Store, StoreError};
pub use crate::sweep::ReplaySource;

const SOURCE: &str = "SELECT v.place, m.identity, m.spec, v.strategy, v.axes, v.replication, c.program_version,
        c.program_commit, k.accepted, k.successful, k.failed, k.dropped, k.fees, k.forfeited, k.makespan, m.id, m.detail = 2
    FROM v_point v JOIN simulation m ON m.id = v.simulation JOIN simulation_metrics k ON k.simulation = m.id
    LEFT JOIN run c ON c.id = m.computed_by";

fn source(row: &rusqlite::Row<'_>) -> rusqlite::Result<ReplaySource> {
    let (version, commit): (Option<String>, Option<String>) = (row.get(6)?, row.get(7)?);
    let mut totals = [0; 7];
    for (index, total) in totals.iter_mut().enumerate() {
        *total = row.get(8 + index)?;
    }
    Ok(ReplaySource {
        place: row.get(0)?,
        simulation: row.get(15)?,
        has_outcomes: row.get(16)?,
        identity: row.get(1)?,
        spec: row.get(2)?,
        strategy: row.get(3)?,
        axes: row.get(4)?,
        replication: row.get(5)?,
        program: version.map(|version| match commit {
            Some(commit) => format!("{version} ({commit})"),
            None => version,
        }),
        totals,
    })
}

/// A done point of a run, as lists name it.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedPoint {
    /// Its place in the sweep, from 0.
    pub place: u32,
    /// Its strategy.
    pub strategy: String,
    /// The values of its axes as JSON, by key.
    pub axes: String,
    /// Its replication.
    pub replication: u32,
}

impl Store {
    /// Hands over every done point of a run in the order of the sweep.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn list_done_points(
        &self,
        run: RunId,
        mut take: impl FnMut(ListedPoint),
    ) -> Result<(), StoreError> {
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare(
                "SELECT place, strategy, axes, replication FROM v_point WHERE run = ?1 AND state = 'done' \
                 ORDER BY place",
            )?;
            let mut rows = statement.query([run.0])?;
            while let Some(row) = rows.next()? {
                take(ListedPoint {
                    place: row.get(0)?,
                    strategy: row.get(1)?,
                    axes: row.get(2)?,
                    replication: row.get(3)?,
                });
            }
            Ok(())
        };
        read().map_err(|error| self.error("listing its points", error))
    }

    /// The done point at a place of a run; `None` where there is none.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn replay_source(
        &self,
        run: RunId,
        place: u32,
    ) -> Result<Option<ReplaySource>, StoreError> {
        self.connection
            .prepare(&format!(
                "{SOURCE} WHERE v.run = ?1 AND v.place = ?2 AND v.state = 'done'"
            ))
            .and_then(|mut statement| {
                statement
                    .query_row(params![run.0, place], source)
                    .optional()
            })
            .map_err(|error| self.error("reading a point", error))
    }

    /// Of every strategy the point with the highest gain of the replication that the first done
    /// point has: place and strategy, in the order in which the sweep has the strategies.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn best_places(&self, run: RunId) -> Result<Vec<(u32, String)>, StoreError> {
        self.connection
            .prepare(
                "SELECT place, strategy FROM (
                    SELECT place, strategy, min(place) OVER (PARTITION BY strategy) AS first,
                        row_number() OVER (PARTITION BY strategy ORDER BY gain DESC, place) AS rank
                    FROM v_point WHERE run = ?1 AND replication =
                        (SELECT replication FROM v_point WHERE run = ?1 AND state = 'done' ORDER BY place LIMIT 1)
                        AND state = 'done')
                 WHERE rank = 1 ORDER BY first",
            )
            .and_then(|mut statement| {
                statement
                    .query_map([run.0], |row| Ok((row.get(0)?, row.get(1)?)))
                    .and_then(Iterator::collect)
            })
            .map_err(|error| self.error("looking for the best points", error))
    }
}
