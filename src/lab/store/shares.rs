//! How far one share of an experiment is, from its store.

use rusqlite::OptionalExtension;

use super::processes::{Process, host};
use super::{OutcomeDetail, RunId, RunSelector, RunSummary, Store, StoreError};

/// The newest run of a store that holds one share.
#[derive(Clone, Debug, PartialEq)]
pub struct ShareProgress {
    /// The run; its points are those of the whole experiment.
    pub run: RunSummary,
    /// Points of the share.
    pub points: u64,
    /// `done`, `interrupted`, `failed` or `running`. A process on another machine counts as running
    /// until it says otherwise: when it wrote its last result tells more.
    pub state: String,
    /// When the last result was written, milliseconds since 1970 (UTC).
    pub last_result: Option<i64>,
    /// The least that is kept of any of its simulations that are done; `None` where none is.
    pub detail: Option<OutcomeDetail>,
}

impl ShareProgress {
    /// Whether every point of the share was tried.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.state == "done" && self.run.points_done + self.run.points_failed >= self.points
    }

    /// Whether at least this much is kept of everything that is done.
    #[must_use]
    pub fn keeps(&self, detail: OutcomeDetail) -> bool {
        self.detail.is_none_or(|kept| kept >= detail)
    }
}

impl Store {
    /// How far the newest run is; `None` where there is none.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn share_progress(&self) -> Result<Option<ShareProgress>, StoreError> {
        let sql = |error| self.error("looking how far it is", error);
        let newest = self
            .connection
            .query_row(
                &format!(
                    "SELECT r.id, r.state, r.last_commit, (SELECT count(*) FROM run_point WHERE run = r.id), {}
                     FROM run r ORDER BY r.id DESC LIMIT 1",
                    Process::COLUMNS
                ),
                [],
                |row| {
                    Ok((
                        RunId(row.get(0)?),
                        row.get::<_, i64>(1)?,
                        row.get(2)?,
                        row.get::<_, i64>(3)?.unsigned_abs(),
                        Process::read(row, 4)?,
                    ))
                },
            )
            .optional()
            .map_err(sql)?;
        let Some((id, state, last_result, points, process)) = newest else {
            return Ok(None);
        };
        let run = self.run(&RunSelector::Id(id.0))?;
        let here = process.host.is_none() || process.host == host();
        let state = if state == 0 && (!here || process.is_alive(&self.path)) {
            "running".to_owned()
        } else {
            run.state.clone()
        };
        let detail: Option<i64> = self
            .connection
            .query_row(
                "SELECT min(m.detail) FROM run_point rp JOIN point p ON p.id = rp.point
                 JOIN simulation m ON m.id = p.simulation WHERE rp.run = ?1 AND m.state = 2",
                [id.0],
                |row| row.get(0),
            )
            .map_err(sql)?;
        let detail = detail.map(|code| match code {
            0 => OutcomeDetail::None,
            1 => OutcomeDetail::Metrics,
            _ => OutcomeDetail::All,
        });
        Ok(Some(ShareProgress {
            detail,
            run,
            points,
            state,
            last_result,
        }))
    }
}
