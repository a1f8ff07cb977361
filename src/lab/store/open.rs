//! Opening a store for writing or for reading.

mod schema_check;
mod waiting;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

use self::waiting::BUSY_TIMEOUT;
use super::StoreError;
use super::durability::{self, make_folder};
use super::journal::{JOURNAL_BOUND, beside};
use super::processes::file_identity;
use super::versions::VERSIONS;
use crate::study::Studies;
use crate::sweep::Durability;
use crate::workload::input_file;

/// An open store. One file holds any number of runs; several programs may have it open.
#[derive(Debug)]
pub struct Store {
    pub(super) studies: Studies,
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
    pub(super) durability: Durability,
    /// The identity of the file as it was opened: its path may name another one by now.
    file: Option<String>,
    /// The folder of the private copy that is read in place of the file; it goes with the store.
    pub(super) copy: Option<TempDir>,
}

/// The longest file that is copied, with its journal, to read what stands in the journal: 4 GiB.
const LONGEST_COPY: u64 = 4 << 30;

impl Store {
    /// Opens a store for writing; makes its folder and the file where they are missing and brings
    /// an older one up to date.
    ///
    /// # Errors
    ///
    /// When the folder or file cannot be made or written, when the file is not a database, belongs
    /// to another program, or was written by a newer version or by one of before the first release.
    pub fn open(studies: Studies, path: &Path) -> Result<Self, StoreError> {
        Self::open_for_writing(studies, path, false)
    }

    /// The same for a store that is there already.
    ///
    /// # Errors
    ///
    /// [`StoreError::Missing`] where there is none, and those of [`Store::open`].
    pub fn open_existing(studies: Studies, path: &Path) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::Missing {
                path: path.to_owned(),
            });
        }
        Self::open(studies, path)
    }

    /// The same, for a writer that reads other stores through the same connection.
    pub(super) fn open_to_join(studies: Studies, path: &Path) -> Result<Self, StoreError> {
        Self::open_for_writing(studies, path, true)
    }

    fn open_for_writing(studies: Studies, path: &Path, joins: bool) -> Result<Self, StoreError> {
        if path.as_os_str().is_empty() || path == Path::new(":memory:") {
            return Err(StoreError::NoFile {
                path: path.to_owned(),
            });
        }
        if let Some(folder) = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            make_folder(folder).map_err(|source| StoreError::Folder {
                path: folder.to_owned(),
                source,
            })?;
        }
        if fs::metadata(path).is_ok_and(|file| file.permissions().readonly()) {
            return Err(StoreError::ReadOnly {
                path: path.to_owned(),
            });
        }
        require_file(path)?;
        // While two programs make the same new file, SQLite refuses the journal mode at once
        // instead of waiting.
        let begun = Instant::now();
        let mut said = false;
        let mut beginning = durability::Beginning::default();
        loop {
            match Self::open_existing_folder(studies, path, joins) {
                Err(StoreError::Busy { .. }) if begun.elapsed() < BUSY_TIMEOUT => {
                    waiting::say_once(&mut said, begun.elapsed(), path);
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(error) if beginning.tries_again(&error) => {}
                result => return result,
            }
        }
    }

    fn open_existing_folder(
        studies: Studies,
        path: &Path,
        joins: bool,
    ) -> Result<Self, StoreError> {
        let sql = |error| StoreError::from_sql(path, "opening it", error);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        // Only a connection that was opened by a URI attaches others by URIs, and so for reading
        // alone.
        let opened = if joins {
            let flags = flags | OpenFlags::SQLITE_OPEN_URI;
            Connection::open_with_flags(uri(path, "mode=rwc"), flags)
        } else {
            Connection::open_with_flags(path, flags)
        };
        let mut connection = opened.map_err(|error| {
            if folder_refuses(path) {
                StoreError::ReadOnly {
                    path: path.to_owned(),
                }
            } else {
                sql(error)
            }
        })?;
        waiting::wait_for_others(&mut connection, path).map_err(sql)?;
        keep_plans(&connection).map_err(sql)?;
        schema_check::distrust(&connection).map_err(sql)?;
        // More than a writer uses, so that none is prepared twice.
        connection.set_prepared_statement_cache_capacity(128);
        // Looked at before the journal mode is changed, which would write to somebody else's file.
        let is_new = VERSIONS.inspect(&connection, path)?.is_none();
        durability::begin_journal(&connection, path, is_new)?;
        connection
            .execute_batch(&format!(
                "PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 2000;
                 PRAGMA checkpoint_fullfsync = ON; PRAGMA journal_size_limit = {JOURNAL_BOUND};
                 PRAGMA cache_size = -32768; PRAGMA temp_store = MEMORY;"
            ))
            .map_err(sql)?;
        VERSIONS.bring_forward(studies, &mut connection, path)?;
        schema_check::check(studies, &connection, path)?;
        Ok(Self {
            studies,
            connection,
            path: path.to_owned(),
            durability: Durability::default(),
            file: file_identity(path),
            copy: None,
        })
    }

    /// Opens a store for reading; the file is never changed, not even to bring it up to date.
    ///
    /// # Errors
    ///
    /// When there is no such file, when it is not a store, or when its version is not this
    /// program's.
    pub fn open_read_only(studies: Studies, path: &Path) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::Missing {
                path: path.to_owned(),
            });
        }
        require_file(path)?;
        let open =
            |file: &Path, immutable: bool, copy: Option<TempDir>| -> Result<Self, StoreError> {
                let sql = |error| StoreError::from_sql(path, "opening it", error);
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                let connection = if immutable {
                    Connection::open_with_flags(
                        uri(file, "immutable=1"),
                        flags | OpenFlags::SQLITE_OPEN_URI,
                    )
                } else {
                    Connection::open_with_flags(file, flags)
                }
                .map_err(sql)?;
                connection.busy_timeout(BUSY_TIMEOUT).map_err(sql)?;
                keep_plans(&connection).map_err(sql)?;
                schema_check::distrust(&connection).map_err(sql)?;
                connection
                    .execute_batch("PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY;")
                    .map_err(sql)?;
                VERSIONS.require_current(&connection, path)?;
                schema_check::check(studies, &connection, path)?;
                Ok(Self {
                    studies,
                    connection,
                    path: path.to_owned(),
                    durability: Durability::default(),
                    file: file_identity(path),
                    copy,
                })
            };
        match open(path, false, None) {
            // In a read-only folder SQLite cannot make the shared-memory file that a WAL database
            // needs. Without that file nobody can be writing to the store: it may be read as it
            // stands, or as a copy where a writer that was killed left a journal.
            Err(StoreError::CannotOpen { .. } | StoreError::ReadOnly { .. }) => {
                if has_journal(path) {
                    let (folder, copy) = private_copy(path)?;
                    open(&copy, false, Some(folder))
                } else {
                    open(path, true, None)
                }
            }
            result => result,
        }
    }

    /// The studies of the program that opened it.
    #[must_use]
    pub fn studies(&self) -> Studies {
        self.studies
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the path still names the file that is open. A file that was deleted or moved takes
    /// whatever is written, and nobody finds it again.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        self.path.exists() && file_identity(&self.path) == self.file
    }

    /// Rows of a query, for studies that read tables of their own. `reading` says in errors what
    /// was read.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn rows<T>(
        &self,
        reading: &'static str,
        sql: &str,
        parameters: impl rusqlite::Params,
        read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_map(parameters, read)?.collect())
            .map_err(|error| self.error(reading, error))
    }

    pub(super) fn error(&self, action: &'static str, error: rusqlite::Error) -> StoreError {
        StoreError::from_sql(&self.path, action, error)
    }
}

pub(super) fn has_journal(path: &Path) -> bool {
    fs::metadata(beside(path, "-wal")).is_ok_and(|file| file.len() > 0)
}

/// Copies a store and its journal into a temporary folder of their own.
fn private_copy(path: &Path) -> Result<(TempDir, PathBuf), StoreError> {
    let refuse = |reason: String| StoreError::JournalUnread {
        path: path.to_owned(),
        reason,
    };
    let unread = |error: io::Error| refuse(error.to_string());
    if beside(path, "-shm").exists() {
        return Err(refuse("another program may be writing to it".to_owned()));
    }
    let files = [path.to_owned(), beside(path, "-wal")];
    let mut bytes = 0;
    for file in &files {
        bytes += fs::metadata(file).map_err(unread)?.len();
    }
    if bytes > LONGEST_COPY {
        return Err(refuse(format!(
            "both have {bytes} bytes, and at most {LONGEST_COPY} are copied"
        )));
    }
    let folder = tempfile::Builder::new()
        .prefix("bookahead-")
        .tempdir()
        .map_err(unread)?;
    let copy = folder.path().join("store.db");
    for (file, ending) in files.iter().zip(["", "-wal"]) {
        let to = beside(&copy, ending);
        fs::copy(file, &to).map_err(unread)?;
        // The copy of a read-only file is read-only, and could not be taken away on every system.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&to, fs::Permissions::from_mode(0o600)).map_err(unread)?;
        }
    }
    Ok((folder, copy))
}

/// A statement keeps its plan whatever values it is given. SQLite would plan most cached statements
/// anew each time that they are used, because a value of 0 or 1 might call for another plan: a
/// quarter of the time of joining many small simulations.
fn keep_plans(connection: &Connection) -> rusqlite::Result<()> {
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .map(drop)
}

/// A path as SQLite's URIs have it, with what follows the question mark.
pub(super) fn uri(path: &Path, query: &str) -> String {
    let mut uri = String::from(if path.is_absolute() {
        "file://"
    } else {
        "file:"
    });
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-~".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            uri.push_str(&format!("%{byte:02x}"));
        }
    }
    format!("{uri}?{query}")
}

/// Refuses a named pipe, on which opening would wait, a device and a folder; what is not there yet
/// is no fault.
fn require_file(path: &Path) -> Result<(), StoreError> {
    match input_file::require_file(path) {
        Err(source) if source.kind() == io::ErrorKind::InvalidInput => {
            Err(StoreError::NoRegularFile {
                path: path.to_owned(),
                source,
            })
        }
        _ => Ok(()),
    }
}

/// Whether a new file in the folder is refused for lack of permission (and not because the path is
/// no file at all).
fn folder_refuses(path: &Path) -> bool {
    if path.is_dir() {
        return false;
    }
    match fs::OpenOptions::new()
        .append(true)
        .create(true)
        .truncate(false)
        .open(path)
    {
        Ok(_) => false,
        Err(error) => matches!(
            error.kind(),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_copy_holds_what_a_killed_writer_left_in_the_journal() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let store = Store::open(Studies::default(), &path).unwrap();
        store
            .connection
            .execute_batch("CREATE TABLE left_over (x); INSERT INTO left_over VALUES (7)")
            .unwrap();
        // What a killed writer leaves: the file and its journal.
        let left = tempfile::tempdir().unwrap();
        let killed = left.path().join("store.db");
        for ending in ["", "-wal"] {
            fs::copy(beside(&path, ending), beside(&killed, ending)).unwrap();
        }
        drop(store);
        let (kept, copy) = private_copy(&killed).unwrap();
        let value: i64 = Connection::open(&copy)
            .unwrap()
            .query_row("SELECT x FROM left_over", [], |row| row.get(0))
            .unwrap();
        assert_eq!(value, 7);
        let place = kept.path().to_owned();
        drop(kept);
        assert!(!place.exists());
        fs::write(beside(&killed, "-shm"), "").unwrap();
        let error = private_copy(&killed).unwrap_err().to_string();
        assert!(error.contains("may be writing"), "{error}");
    }

    #[test]
    fn a_store_refuses_rows_that_refer_to_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(Studies::default(), &folder.path().join("a.db")).unwrap();
        let on = (store.connection).query_row("PRAGMA foreign_keys", [], |row| row.get(0));
        assert_eq!(on, Ok(true));
    }
}
