//! What can go wrong with a store, and what to do about it.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Every way in which a store can refuse, with the file and the remedy in the message.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder of the store cannot be created.
    #[error(
        "cannot create the folder `{path}` for the store: {source}; choose another file with --store"
    )]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is no such file.
    #[error("there is no store at `{path}`; `bookahead run` makes one, --store names another file")]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file or its folder cannot be opened.
    #[error(
        "cannot open the store `{path}`: {reason}; check that it is a file in a folder that you may write to, \
         or choose another with --store"
    )]
    CannotOpen {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        reason: String,
    },
    /// The file or its folder may not be written.
    #[error(
        "the store `{path}` cannot be written: the file or its folder is read-only; change its permissions, \
         or choose another file with --store"
    )]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// A writer that was killed left a journal in a folder that is read-only, and it cannot be read
    /// there.
    #[error(
        "the store `{path}` cannot be read with its journal (-wal) in a folder that is read-only: {reason}; copy both into a \
         folder that you may write to, and name that one with --store"
    )]
    JournalUnread {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The file is not an SQLite database.
    #[error("`{path}` is not a database; it is left as it is: choose another file with --store")]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The file is the SQLite database of another program.
    #[error(
        "`{path}` is the database of another program (application id {found:#x}); it is left as it is: \
         choose another file with --store"
    )]
    NotOurs {
        /// The file.
        path: PathBuf,
        /// Its application id.
        found: i32,
    },
    /// The path names no file.
    #[error(
        "`{path}` is no file, and what is not in a file is lost at the end: name a file with --store"
    )]
    NoFile {
        /// What was named.
        path: PathBuf,
    },
    /// The file was deleted, renamed or replaced while it was open.
    #[error(
        "the store `{path}` is not at its place any more: somebody deleted, renamed or replaced it while it was written to; \
         what was written since is lost unless the file was renamed: look for it, and run the same command again"
    )]
    Gone {
        /// Where it was.
        path: PathBuf,
    },
    /// Its tables or views are not those that this program makes.
    #[error(
        "the store `{path}` was changed by another program: {what}; nothing is read from it, because its numbers could be \
         anything: use the store as bookahead wrote it, or run the experiment again into a new one with --store"
    )]
    ChangedSchema {
        /// The file.
        path: PathBuf,
        /// What is not as it should be.
        what: String,
    },
    /// What stands in the place of the store is no file.
    #[error("the store `{path}` cannot be used: {source}; name another one with --store")]
    NoRegularFile {
        /// The place.
        path: PathBuf,
        /// What stands there.
        source: std::io::Error,
    },
    /// A bookahead of before the first release wrote the store.
    #[error(
        "the store `{path}` has schema version {found}, this program writes version {supported}: it is a store of an earlier \
         development version, which is left as it is; keep the program that wrote it to read it, or run the experiment again \
         into a new store with --store"
    )]
    DevelopmentVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i32,
        /// The version of this program.
        supported: i32,
    },
    /// A newer bookahead wrote the store.
    #[error(
        "the store `{path}` has schema version {found}, this program writes version {supported}: it is a store of a newer \
         version, perhaps one under development, and is left as it is; use the program that wrote it, or run the experiment \
         again into a new store with --store"
    )]
    NewerVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i32,
        /// The version of this program.
        supported: i32,
    },
    /// An older store was opened for reading only, so that it cannot be brought up to date.
    #[error(
        "the store `{path}` has the older schema version {found} (now {supported}) and was opened for reading only: \
         `bookahead run` with this --store brings it up to date"
    )]
    OlderVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i32,
        /// The version of this program.
        supported: i32,
    },
    /// Another program holds the store's write lock.
    #[error(
        "another program has been writing to the store `{path}` for too long: wait until it is done, \
         or choose another file with --store; nothing that was committed is lost"
    )]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The disk is full.
    #[error(
        "the disk of the store `{path}` is full: make room and run the same command again; everything that was \
         committed is kept, only simulations that are missing will run"
    )]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// The system refused to read or write the file.
    #[error(
        "the system refused to read or write the store `{path}` while {action}: {reason}; is it at a size limit \
         (`ulimit -f`, a quota), or is its disk failing or gone? Everything that was committed is kept: put that right \
         and run the same command again, only simulations that are missing will run"
    )]
    InputOutput {
        /// The file.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// What SQLite said.
        reason: String,
    },
    /// Memory was refused.
    #[error(
        "the store `{path}` failed while {action}: there is no memory left; everything that was committed is kept: make \
         room (fewer --workers need less) and run the same command again"
    )]
    OutOfMemory {
        /// The file.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
    },
    /// The file is damaged.
    #[error(
        "the store `{path}` is damaged: {reason}; keep a copy, try `sqlite3 {path} .recover`, or start a new one with --store"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        reason: String,
    },
    /// Its rows are not those that were written.
    #[error(
        "the store `{path}` is not as it was written: {first}{}; use a copy of it, or run the experiment again into a new \
         store with --store; `bookahead check --store {path}` names everything that was found",
        more(*.others)
    )]
    Unsound {
        /// The file.
        path: PathBuf,
        /// What was found first.
        first: String,
        /// How much more was found.
        others: usize,
    },
    /// A copy cannot be made, or not put in its place.
    #[error("cannot copy the store to `{path}`: {reason}")]
    Copy {
        /// Where the copy should be.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Anything else that SQLite reports.
    #[error("the store `{path}` failed while {action}: {source}")]
    Sql {
        /// The file.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The writer has stopped, because of an earlier error or because it was finished.
    #[error("the writer of the store has stopped: {reason}")]
    WriterStopped {
        /// Why.
        reason: String,
    },
    /// A result cannot be stored without changing its meaning.
    #[error(
        "simulation {simulation} cannot be stored: {reason}; this is a fault of the engine, please report it"
    )]
    InvalidResult {
        /// The simulation's identity.
        simulation: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A program is at work on a run.
    #[error(
        "a program is writing run {run} into the store `{path}`: wait until it is done (`bookahead runs --watch` shows it), or end it, \
         and run the same command again"
    )]
    RunUnderWay {
        /// The file.
        path: PathBuf,
        /// The run.
        run: i64,
    },
    /// The run was archived or deleted.
    #[error("the store `{path}` has run {run} no more: {what}")]
    RunGone {
        /// The file.
        path: PathBuf,
        /// Its number.
        run: i64,
        /// What became of it.
        what: String,
    },
    /// No such run.
    #[error("the store `{path}` has no run {wanted}; it has {available}")]
    NoRun {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        wanted: String,
        /// What there is.
        available: String,
    },
}

impl StoreError {
    /// Turns an SQLite error into the sentence for a person.
    pub(super) fn from_sql(path: &Path, action: &'static str, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        let reason = source.to_string();
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::NotADatabase { path },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            Some(ErrorCode::DiskFull) => Self::DiskFull { path },
            Some(ErrorCode::SystemIoFailure) => Self::InputOutput {
                path,
                action,
                reason,
            },
            Some(ErrorCode::OutOfMemory) => Self::OutOfMemory { path, action },
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged { path, reason },
            Some(ErrorCode::CannotOpen) => Self::CannotOpen { path, reason },
            _ => Self::Sql {
                path,
                action,
                source,
            },
        }
    }

    /// The same for reading rows as the program writes them: the tables say what each column holds
    /// and that nothing refers to what is not there, so a value of another kind is damage.
    pub(super) fn from_reading(path: &Path, action: &'static str, source: rusqlite::Error) -> Self {
        use rusqlite::Error::{
            FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType,
            QueryReturnedNoRows, Utf8Error,
        };
        match source {
            FromSqlConversionFailure(..)
            | IntegralValueOutOfRange(..)
            | InvalidColumnType(..)
            | QueryReturnedNoRows
            | Utf8Error(..) => Self::Damaged {
                path: path.to_owned(),
                reason: source.to_string(),
            },
            source => Self::from_sql(path, action, source),
        }
    }
}

fn more(others: usize) -> String {
    match others {
        0 => String::new(),
        others => format!(" (and {others} more)"),
    }
}
