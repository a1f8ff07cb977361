//! Giving the room of removed rows back to the disk.

use super::processes::Process;
use super::{Store, StoreError};

/// Pages that are given back in one transaction, so that other writers get their turn: 32 MB.
const PAGES_AT_ONCE: u32 = 2_000;

/// `PRAGMA auto_vacuum` of a file that gives its room back page by page.
const INCREMENTAL: i64 = 2;

impl Store {
    /// Whether the file must be written anew once, as a whole, before it can give room back: it was
    /// made by a version before 14.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn is_written_anew_for_room(&self) -> Result<bool, StoreError> {
        Ok(self.pragma("auto_vacuum")? == 0 && self.pragma("freelist_count")? > 0)
    }

    /// Gives the room of rows that were removed back to the disk; returns the bytes by which the
    /// file is smaller. Others may read and write meanwhile; where somebody reads, the file shrinks
    /// when they are done.
    ///
    /// # Errors
    ///
    /// When the store cannot be written, when there is no room to write an old one anew, or when a
    /// program writes a run into an old one. Nothing is lost in any case.
    pub fn give_room_back(&self) -> Result<u64, StoreError> {
        let before = self.pragma("page_count")?;
        match self.pragma("auto_vacuum")? {
            INCREMENTAL => self.give_free_pages_back()?,
            0 if self.pragma("freelist_count")? > 0 => self.write_anew()?,
            // Nothing is free, or SQLite gives room back by itself.
            _ => {}
        }
        // The file is cut when the journal is brought into it; where a reader is in the way, that
        // happens later.
        self.run_to_end("PRAGMA wal_checkpoint(TRUNCATE)")?;
        let pages = before - self.pragma("page_count")?;
        Ok(u64::try_from(pages * self.pragma("page_size")?).unwrap_or(0))
    }

    fn give_free_pages_back(&self) -> Result<(), StoreError> {
        let mut free = self.pragma("freelist_count")?;
        while free > 0 {
            self.run_to_end(&format!("PRAGMA incremental_vacuum({PAGES_AT_ONCE})"))?;
            let now = self.pragma("freelist_count")?;
            if now >= free {
                break;
            }
            free = now;
        }
        Ok(())
    }

    /// All rows into a temporary file and back, once: then the store gives room back page by page.
    fn write_anew(&self) -> Result<(), StoreError> {
        self.refuse_writers()?;
        self.run_to_end("PRAGMA temp_store = FILE")?;
        let written = self
            .run_to_end("PRAGMA auto_vacuum = INCREMENTAL")
            .and_then(|()| self.run_to_end("VACUUM"));
        self.run_to_end("PRAGMA temp_store = MEMORY")?;
        written
    }

    /// A program that writes a run would wait too long.
    fn refuse_writers(&self) -> Result<(), StoreError> {
        let sql = |error| self.error("looking who writes", error);
        let columns = Process::COLUMNS;
        let running: Vec<(i64, Process)> = self
            .connection
            .prepare(&format!(
                "SELECT r.id, {columns} FROM run r WHERE r.state = 0"
            ))
            .and_then(|mut statement| {
                statement
                    .query_map([], |row| Ok((row.get(0)?, Process::read(row, 1)?)))?
                    .collect()
            })
            .map_err(sql)?;
        let mut alive = running
            .into_iter()
            .filter(|(_, process)| process.is_alive(&self.path));
        match alive.next() {
            None => Ok(()),
            Some((run, _)) => Err(StoreError::RunUnderWay {
                path: self.path.clone(),
                run,
            }),
        }
    }

    fn pragma(&self, name: &str) -> Result<i64, StoreError> {
        self.connection
            .query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))
            .map_err(|error| self.error("looking for room", error))
    }

    /// Runs a statement until it has no further row: one step of `incremental_vacuum` gives one
    /// page back.
    fn run_to_end(&self, sql: &str) -> Result<(), StoreError> {
        let run = || {
            let mut statement = self.connection.prepare(sql)?;
            let mut rows = statement.query([])?;
            while rows.next()?.is_some() {}
            Ok(())
        };
        run().map_err(|error| self.error("giving room back", error))
    }
}
