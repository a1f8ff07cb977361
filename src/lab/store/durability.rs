//! What a power failure may cost: when the store's journal is written through to the disk.
//!
//! A commit of SQLite under `synchronous = NORMAL` is safe from a crash of the program at once,
//! from a power failure only at the next checkpoint, that is, megabytes later. SQLite has no call
//! that writes the journal through in between. A commit under `synchronous = FULL` does, but a
//! writer whose last commit is seconds old has nothing to commit, and other programs wait for the
//! lock meanwhile; a checkpoint does, but not past what a reader holds. So the file of the journal
//! is synced directly, which needs no lock.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::journal::beside;
use super::{Store, StoreError};
use crate::sweep::Durability;

/// The age of a commit at which the journal is synced under [`Durability::Normal`]. Ten seconds are
/// promised: two of them are for the transaction under way and for the disk.
const SYNC_AFTER: Duration = Duration::from_secs(8);

/// How often a journal is begun before the disk counts as failing, and how long to wait in between.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(10);

/// Syncs the journal of a store in time, where its durability asks for that.
#[derive(Debug, Default)]
pub(super) struct JournalSync {
    /// When the oldest commit was made that may not be on the disk.
    since: Option<Instant>,
}

impl JournalSync {
    /// Something was committed.
    pub(super) fn committed(&mut self, store: &Store) {
        if store.durability == Durability::Normal {
            self.since.get_or_insert_with(Instant::now);
        }
    }

    /// When the journal is to be synced; `None` while there is nothing to sync.
    pub(super) fn due(&self) -> Option<Instant> {
        self.since.map(|since| since + SYNC_AFTER)
    }

    /// Syncs the journal if it is time.
    pub(super) fn sync_if_due(&mut self, store: &Store) -> Result<(), StoreError> {
        if self.due().is_some_and(|due| due <= Instant::now()) {
            return self.sync(store);
        }
        Ok(())
    }

    /// Syncs the journal if anything was committed since the last time.
    pub(super) fn sync(&mut self, store: &Store) -> Result<(), StoreError> {
        if self.since.take().is_some() {
            store.sync_journal()?;
        }
        Ok(())
    }
}

impl Store {
    /// Sets what a power failure may cost from now on ([`Durability::Normal`] unless set).
    ///
    /// # Errors
    ///
    /// When SQLite refuses, or when the folder of the store cannot be synced.
    pub fn with_durability(mut self, durability: Durability) -> Result<Self, StoreError> {
        if durability == Durability::Full {
            self.connection
                .execute_batch("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;")
                .map_err(|error| self.error("setting its durability", error))?;
        }
        if durability != Durability::Fast {
            // The file and its journal are there by now: a new name is on the disk when its folder
            // is.
            sync_folder(folder_of(&self.path)).map_err(|source| self.unsynced(&source))?;
        }
        self.durability = durability;
        Ok(self)
    }

    fn sync_journal(&self) -> Result<(), StoreError> {
        // A handle of its own is enough: a system syncs a file, whoever wrote into it. SQLite has
        // no lock on the journal, so closing this handle releases none.
        let journal = OpenOptions::new()
            .write(true)
            .open(beside(&self.path, "-wal"));
        match journal.and_then(|file| file.sync_data()) {
            // A checkpoint that took all of it syncs the store before the journal goes.
            Err(source) if source.kind() == io::ErrorKind::NotFound && self.is_in_place() => Ok(()),
            synced => synced.map_err(|source| self.unsynced(&source)),
        }
    }

    fn unsynced(&self, source: &io::Error) -> StoreError {
        let path = self.path.clone();
        if !self.is_in_place() {
            return StoreError::Gone { path };
        }
        match source.kind() {
            io::ErrorKind::StorageFull => StoreError::DiskFull { path },
            _ => StoreError::InputOutput {
                path,
                action: "writing its journal through to the disk",
                reason: source.to_string(),
            },
        }
    }
}

/// Makes SQLite keep a write-ahead log. It says nothing where it cannot: another program that makes
/// the same file at this moment, or the disk, then leaves the store with the journal that it had. A
/// connection that met a fault there may even call the journal begun, so the file of the journal is
/// looked for as well; whoever tries again opens the store anew ([`Beginning`]).
///
/// A new file has large pages (a third more rows a second than with 4 KiB) and gives the room of
/// what is removed back; an existing one keeps its own size and its ways.
pub(super) fn begin_journal(
    connection: &Connection,
    path: &Path,
    is_new: bool,
) -> Result<(), StoreError> {
    let failed = |error| StoreError::from_sql(path, BEGINNING, error);
    if is_new {
        connection
            .execute_batch("PRAGMA page_size = 16384; PRAGMA auto_vacuum = INCREMENTAL;")
            .map_err(failed)?;
    }
    let mode: String = connection
        .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
        .map_err(failed)?;
    // The file of the journal is made when the store is next read.
    let _: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(failed)?;
    if mode == "wal" && beside(path, "-wal").exists() {
        return Ok(());
    }
    Err(StoreError::InputOutput {
        path: path.to_owned(),
        action: BEGINNING,
        reason: "SQLite cannot begin a write-ahead log".to_owned(),
    })
}

/// What [`begin_journal`] does, in its errors.
const BEGINNING: &str = "beginning its journal";

/// How often a journal was begun in vain.
#[derive(Debug, Default)]
pub(super) struct Beginning(u32);

impl Beginning {
    /// Whether to try again after this error; waits a little before.
    pub(super) fn tries_again(&mut self, error: &StoreError) -> bool {
        let is_journal =
            matches!(error, StoreError::InputOutput { action, .. } if *action == BEGINNING);
        self.0 += 1;
        let tries = is_journal && self.0 < TRIES;
        if tries {
            std::thread::sleep(PAUSE);
        }
        tries
    }
}

/// Makes the folder of a store where it is missing, so that its name outlasts a power failure.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
    let missing: Vec<PathBuf> = folder
        .ancestors()
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        .map(Path::to_owned)
        .collect();
    fs::create_dir_all(folder)?;
    missing
        .iter()
        .try_for_each(|made| sync_folder(folder_of(made)))
}

/// Writes a file with its name through to the disk, as far as it may be opened.
pub(super) fn sync_file_and_name(path: &Path) -> io::Result<()> {
    match File::open(path)?.sync_all() {
        Err(error) if error.kind() != io::ErrorKind::PermissionDenied => Err(error),
        _ => sync_folder(folder_of(path)),
    }
}

/// The folder that a path is in.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Writes the names in a folder through to the disk. Where a folder cannot be opened as a file (no
/// right to list it, not a Unix) or the file system knows no such thing, nobody can do more.
fn sync_folder(folder: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, IsADirectory, PermissionDenied, Unsupported};
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error)
            if matches!(
                error.kind(),
                InvalidInput | IsADirectory | PermissionDenied | Unsupported
            ) =>
        {
            Ok(())
        }
        result => result,
    }
}
