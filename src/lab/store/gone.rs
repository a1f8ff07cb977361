//! Runs that were archived or deleted: what the store still knows of them.

use std::fmt;

use rusqlite::{OptionalExtension, Row};

use super::{RunId, RunSelector, Store, StoreError};

/// A run that is not in the store any more. Its number is not given again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoneRun {
    /// The number that it had.
    pub id: RunId,
    /// The experiment's name.
    pub name: String,
    /// When it began, milliseconds since 1970 (UTC).
    pub started: i64,
    /// When it was archived or deleted.
    pub gone: i64,
    /// The store that it was archived into; `None` where it was deleted.
    pub archive: Option<String>,
    gone_utc: String,
}

impl fmt::Display for GoneRun {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, gone_utc, .. } = self;
        match &self.archive {
            Some(archive) => write!(
                formatter,
                "`{name}` was archived to `{archive}` on {gone_utc} UTC: name that store with --store"
            ),
            None => write!(formatter, "`{name}` was deleted on {gone_utc} UTC"),
        }
    }
}

const GONE: &str =
    "SELECT id, name, started, gone, archive, datetime(gone / 1000, 'unixepoch') FROM run_gone";

fn gone_run(row: &Row<'_>) -> rusqlite::Result<GoneRun> {
    let gone_utc: Option<String> = row.get(5)?;
    Ok(GoneRun {
        id: RunId(row.get(0)?),
        name: row.get(1)?,
        started: row.get(2)?,
        gone: row.get(3)?,
        archive: row.get(4)?,
        gone_utc: gone_utc.unwrap_or_default(),
    })
}

impl Store {
    /// Every run that was archived or deleted, in the order in which they began.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn gone_runs(&self) -> Result<Vec<GoneRun>, StoreError> {
        self.connection
            .prepare(&format!("{GONE} ORDER BY id"))
            .and_then(|mut statement| statement.query_map([], gone_run)?.collect())
            .map_err(|error| self.error("looking for runs that are gone", error))
    }

    /// The last run of these that is gone.
    pub(super) fn gone_run(&self, selector: &RunSelector) -> Result<Option<GoneRun>, StoreError> {
        let found = |condition: &str, value: &dyn rusqlite::ToSql| {
            self.connection
                .query_row(
                    &format!("{GONE} WHERE {condition} ORDER BY id DESC LIMIT 1"),
                    [value],
                    gone_run,
                )
                .optional()
                .map_err(|error| self.error("looking for runs that are gone", error))
        };
        match selector {
            RunSelector::Latest => Ok(None),
            RunSelector::Id(id) => found("id = ?1", id),
            RunSelector::Name(name) => found("name = ?1", name),
        }
    }

    /// The number of the next run: no run has it, and none ever had.
    pub(super) fn next_run(&self) -> rusqlite::Result<i64> {
        self.connection.query_row(
            "SELECT 1 + max(coalesce((SELECT max(id) FROM run), 0), coalesce((SELECT max(id) FROM run_gone), 0))",
            [],
            |row| row.get(0),
        )
    }
}
