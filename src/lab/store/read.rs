//! Reading runs: their axes, their points as column vectors, and what failed.

mod filter;
mod interruption;
mod points;
mod run_summary;

use rusqlite::{Row, params};

use super::runs::axis_value;
use super::{RunId, Store, StoreError};
use crate::sweep::{Axis, HashDigits, Seen};

pub use filter::RunFilter;
pub use interruption::Interruption;
pub use points::{AxisColumn, PointColumns};
pub use run_summary::{RunSelector, RunSummary};

/// A point of a run that has no result.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedPoint {
    /// Identity of the point.
    pub identity: String,
    /// Strategy.
    pub strategy: String,
    /// Replication.
    pub replication: u32,
    /// Its axes as JSON.
    pub axes: String,
    /// How often it was tried.
    pub attempts: u32,
    /// What went wrong the last time.
    pub error: String,
}

impl Store {
    /// The axes of a run with their values, in the order of the file.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn axes(&self, run: RunId) -> Result<Vec<Axis>, StoreError> {
        let sql = |error| self.error("reading the axes of a run", error);
        let mut statement = self
            .connection
            .prepare(
                "SELECT a.key, v.kind, v.value FROM v_axis a
                 LEFT JOIN axis_value v ON v.run = a.run AND v.axis = a.position
                 WHERE a.run = ?1 ORDER BY a.position, v.position",
            )
            .map_err(sql)?;
        let mut axes: Vec<Axis> = Vec::new();
        let mut rows = statement.query([run.0]).map_err(sql)?;
        while let Some(row) = rows.next().map_err(sql)? {
            let key: String = row.get(0).map_err(sql)?;
            if axes.last().is_none_or(|axis| axis.key != key) {
                axes.push(Axis {
                    key,
                    values: Vec::new(),
                });
            }
            let kind: Option<String> = row.get(1).map_err(sql)?;
            if let (Some(kind), Some(axis)) = (kind, axes.last_mut()) {
                axis.values
                    .push(axis_value(&kind, row.get(2).map_err(sql)?));
            }
        }
        Ok(axes)
    }

    /// The points of a run that failed, in order of strategy, axes and replication.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn failed_points(&self, run: RunId) -> Result<Vec<FailedPoint>, StoreError> {
        let sql = |error| self.error("reading failed points", error);
        let mut statement = self
            .connection
            .prepare(
                "SELECT v.identity, v.strategy, v.replication, v.axes, m.attempts, coalesce(v.error, '')
                 FROM v_point v JOIN simulation m ON m.id = v.simulation
                 WHERE v.run = ?1 AND v.state = 'failed'
                 ORDER BY v.strategy, v.axes, v.replication, v.identity",
            )
            .map_err(sql)?;
        statement
            .query_map(params![run.0], |row| {
                Ok(FailedPoint {
                    identity: row.get(0)?,
                    strategy: row.get(1)?,
                    replication: row.get(2)?,
                    axes: row.get(3)?,
                    attempts: row.get(4)?,
                    error: row.get(5)?,
                })
            })
            .and_then(Iterator::collect)
            .map_err(sql)
    }
}

/// What a simulation saw, from its hashes of jobs in this column and of failures in the next one.
pub(super) fn seen(row: &Row<'_>, column: usize) -> rusqlite::Result<Seen> {
    let digits = |column| -> rusqlite::Result<Option<HashDigits>> {
        let text = row.get_ref(column)?.as_str_or_null()?;
        Ok(text.and_then(|text| HashDigits::from(text).ok()))
    };
    Ok(Seen {
        jobs: digits(column)?,
        failures: digits(column + 1)?,
    })
}
