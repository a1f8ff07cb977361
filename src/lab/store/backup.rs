//! A copy of a store at one instant, while programs may be writing to it.

use std::fs::File;
use std::path::Path;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::{Store, StoreError, Verification};

impl Store {
    /// Copies the store as it is at this instant; others may go on writing. The copy is looked
    /// through as [`Store::verify`] does before it gets its name. Nothing is overwritten.
    ///
    /// # Errors
    ///
    /// When there is something at `to`, when the copy cannot be written, or when it is not as it
    /// was written.
    pub fn back_up(&self, to: &Path) -> Result<Verification, StoreError> {
        let refuse = |reason: String| StoreError::Copy {
            path: to.to_owned(),
            reason,
        };
        let taken = || {
            refuse("there is something of this name already, and nothing is overwritten: name another file".to_owned())
        };
        if to.symlink_metadata().is_ok() {
            return Err(taken());
        }
        let folder = match to.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let copy = tempfile::Builder::new()
            .prefix(".bookahead-")
            .suffix(".part")
            .tempfile_in(folder)
            .map_err(|error| {
                refuse(format!(
                    "{error}; name a file in a folder that is there and that you may write to"
                ))
            })?;
        self.copy_into(copy.path())?;
        let verification = Self::open_read_only(self.studies, copy.path())?.verify()?;
        if let Some((first, others)) = verification.findings.split_first() {
            return Err(StoreError::Unsound {
                path: self.path.clone(),
                first: first.to_string(),
                others: others.len(),
            });
        }
        let synced = copy.as_file().sync_all();
        synced.map_err(|error| refuse(error.to_string()))?;
        copy.persist_noclobber(to)
            .map_err(|error| match error.error.kind() {
                std::io::ErrorKind::AlreadyExists => taken(),
                _ => refuse(error.error.to_string()),
            })?;
        // The name is on the disk when the folder is; where folders cannot be synced, the system
        // does it in its time.
        if let Ok(folder) = File::open(folder) {
            let _ = folder.sync_all();
        }
        Ok(verification)
    }

    /// All pages in one step, which is one instant of the store whatever others write.
    fn copy_into(&self, path: &Path) -> Result<(), StoreError> {
        let sql = |error| StoreError::from_sql(path, "copying a store into it", error);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut copy = Connection::open_with_flags(path, flags).map_err(sql)?;
        let backup = Backup::new(&self.connection, &mut copy).map_err(sql)?;
        if backup.step(-1).map_err(sql)? != StepResult::Done {
            return Err(StoreError::Busy {
                path: self.path.clone(),
            });
        }
        drop(backup);
        // A journal of its own would have to be moved, too.
        copy.execute_batch("PRAGMA journal_mode = DELETE;")
            .map_err(sql)?;
        copy.close().map_err(|(_, error)| sql(error))
    }
}
