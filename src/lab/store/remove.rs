//! Taking runs out of a store, in one transaction: a kill leaves them whole or gone.

use std::path::Path;

use rusqlite::{Connection, params};

use super::holdings::Holdings;
use super::processes::Process;
use super::runs::{immediate, mark_dead_runs, unix_milliseconds};
use super::tables::layout;
use super::{RunId, RunSelector, Store, StoreError};

/// What runs have, and who else uses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunUse {
    /// Points that the runs show.
    pub points: u64,
    /// Of those, points that no other run shows.
    pub own_points: u64,
    /// Simulations behind them.
    pub simulations: u64,
    /// Of those, simulations that no other run shows.
    pub own_simulations: u64,
    /// Other runs that show some of these simulations, and how many.
    pub others: Vec<(RunId, u64)>,
}

impl RunUse {
    fn of(holdings: &Holdings<'_>) -> rusqlite::Result<Self> {
        let (points, own_points) = holdings.count("point")?;
        let (simulations, own_simulations) = holdings.count("simulation")?;
        Ok(Self {
            points,
            own_points,
            simulations,
            own_simulations,
            others: holdings.other_users()?,
        })
    }
}

/// What a removal checks before it removes, in its transaction.
pub(super) type Check<'a> = &'a dyn Fn(&Connection) -> Result<(), StoreError>;

impl Store {
    /// What these runs have, and which other runs use some of it.
    ///
    /// # Errors
    ///
    /// When the store cannot be read, does not have one of the runs, or when one of them is being
    /// written.
    pub fn use_of(&self, runs: &[RunId]) -> Result<RunUse, StoreError> {
        self.require_idle(runs)?;
        self.with_holdings(runs, RunUse::of)
    }

    /// Deletes runs with everything that only they use; what other runs use stays theirs. The room
    /// stays the file's until [`Store::give_room_back`].
    ///
    /// # Errors
    ///
    /// When the store cannot be written, does not have one of the runs, or when one of them is
    /// being written. In that case nothing is deleted.
    pub fn delete_runs(&self, runs: &[RunId]) -> Result<RunUse, StoreError> {
        self.remove_runs(runs, None, &|_| Ok(()))
    }

    /// The same for runs that are in another store, too.
    pub(super) fn remove_runs(
        &self,
        runs: &[RunId],
        archive: Option<&Path>,
        check: Check<'_>,
    ) -> Result<RunUse, StoreError> {
        let switch = |on: &str| {
            self.connection
                .execute_batch(&format!("PRAGMA foreign_keys = {on}"))
                .map_err(|error| self.error("removing runs", error))
        };
        // Looking for rows that refer to each row that goes would read the simulations again and
        // again; nothing refers to what goes, by the way in which it is found.
        switch("OFF")?;
        let removed = self.remove_in_one_transaction(runs, archive, check);
        switch("ON")?;
        removed
    }

    fn remove_in_one_transaction(
        &self,
        runs: &[RunId],
        archive: Option<&Path>,
        check: Check<'_>,
    ) -> Result<RunUse, StoreError> {
        let sql = |error| self.error("removing runs", error);
        let transaction = immediate(&self.connection).map_err(sql)?;
        mark_dead_runs(&transaction, &self.path).map_err(sql)?;
        self.require_idle(runs)?;
        check(&transaction)?;
        let used = self.with_holdings(runs, |holdings| {
            let used = RunUse::of(holdings)?;
            let mut remember = transaction.prepare(
                "INSERT INTO run_gone (id, name, started, gone, archive)
                 SELECT id, name, started, ?2, ?3 FROM run WHERE id = ?1",
            )?;
            let archive = archive.map(|path| path.to_string_lossy());
            for run in runs {
                remember.execute(params![run.0, unix_milliseconds(), archive])?;
            }
            holdings.remove()?;
            Ok(used)
        })?;
        transaction.commit().map_err(sql)?;
        Ok(used)
    }

    fn with_holdings<T>(
        &self,
        runs: &[RunId],
        work: impl FnOnce(&Holdings<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let answer = || {
            let tables = &layout(self.studies)?.tables;
            let holdings = Holdings::of(&self.connection, "main", self.studies, tables, runs)?;
            let result = work(&holdings)?;
            holdings.forget()?;
            Ok(result)
        };
        answer().map_err(|error| self.error("looking for what runs have", error))
    }

    /// Refuses runs that the store does not have, and runs that a living process writes.
    pub(super) fn require_idle(&self, runs: &[RunId]) -> Result<(), StoreError> {
        for run in runs {
            self.require_run(*run)?;
            let columns = Process::COLUMNS;
            let (is_running, process) = self
                .connection
                .query_row(
                    &format!("SELECT r.state = 0, {columns} FROM run r WHERE r.id = ?1"),
                    [run.0],
                    |row| Ok((row.get::<_, bool>(0)?, Process::read(row, 1)?)),
                )
                .map_err(|error| self.error("looking who writes a run", error))?;
            if is_running && process.is_alive(&self.path) {
                return Err(StoreError::RunUnderWay {
                    path: self.path.clone(),
                    run: run.0,
                });
            }
        }
        Ok(())
    }

    /// The numbers of the runs that are meant, each once, in their order.
    ///
    /// # Errors
    ///
    /// When one of them is none of the store's.
    pub fn run_ids(&self, selectors: &[RunSelector]) -> Result<Vec<RunId>, StoreError> {
        let found = selectors.iter().map(|selector| Ok(self.run(selector)?.id));
        let mut runs: Vec<RunId> = found.collect::<Result<_, StoreError>>()?;
        runs.sort_unstable();
        runs.dedup();
        Ok(runs)
    }
}
