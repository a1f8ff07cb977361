//! How far an interrupted run came, and which runs did the remainder. A run shows what became of
//! its points, whoever computed them, so its own counts do not tell.

use rusqlite::{Connection, params};

use super::RunSummary;
use crate::store::RunId;

/// The end of a run that did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interruption {
    /// Points of it that were done when it ended.
    pub points_done: u64,
    /// The runs that computed points of it afterwards, in their order.
    pub continued_by: Vec<RunId>,
}

impl Interruption {
    /// What the store knows of an interrupted run; `None` for every other one.
    pub(super) fn of(connection: &Connection, run: &RunSummary) -> rusqlite::Result<Option<Self>> {
        if run.state != "interrupted" {
            return Ok(None);
        }
        let of_run = "FROM run_point rp JOIN point p ON p.id = rp.point JOIN simulation m ON m.id = p.simulation
            JOIN simulation_timing t ON t.simulation = m.id WHERE rp.run = ?1 AND m.state = 2";
        let ended = params![run.id.0, run.ended.unwrap_or(run.started)];
        let points_done: i64 = connection
            .prepare_cached(&format!("SELECT count(*) {of_run} AND t.finished <= ?2"))?
            .query_row(ended, |row| row.get(0))?;
        let continued_by = connection
            .prepare_cached(&format!(
                "SELECT DISTINCT m.computed_by {of_run} AND t.finished > ?2 AND m.computed_by <> ?1 ORDER BY 1"
            ))?
            .query_map(ended, |row| row.get(0).map(RunId))?
            .collect::<Result<_, _>>()?;
        Ok(Some(Self {
            points_done: points_done.unsigned_abs(),
            continued_by,
        }))
    }
}

impl RunSummary {
    /// Its state in words: `done`, or `interrupted at 352; finished by run 7`.
    #[must_use]
    pub fn state_in_words(&self) -> String {
        let later = |interruption: &&Interruption| {
            interruption.points_done < self.points_done || !interruption.continued_by.is_empty()
        };
        let Some(Interruption {
            points_done,
            continued_by,
        }) = self.interruption.as_ref().filter(later)
        else {
            return self.state.clone();
        };
        let is_finished = self.points_done + self.points_failed >= self.points;
        let verb = if is_finished { "finished" } else { "continued" };
        let runs: Vec<String> = continued_by.iter().map(|run| run.0.to_string()).collect();
        let by = match runs.as_slice() {
            // The run that did it was archived or deleted.
            [] => "later".to_owned(),
            [run] => format!("by run {run}"),
            runs => format!("by runs {}", runs.join(", ")),
        };
        format!("{} at {points_done}; {verb} {by}", self.state)
    }
}
