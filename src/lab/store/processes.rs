//! Which programs that said they were running still are, and how far others are with a simulation.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};

use super::runs::SHOWN_BY_RUN;
use super::{OutcomeDetail, RunId};
use crate::sweep::SimulationProgress;

/// A process so that no other one can be taken for it: its number may be given again, its start may
/// not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) number: Option<u32>,
    /// Clock ticks from the boot of the machine to its start.
    pub(super) started: Option<i64>,
    /// The boot of the machine.
    pub(super) boot: Option<String>,
    pub(super) host: Option<String>,
    /// The store's file that it had open: a copy of the store is not what it writes to.
    pub(super) store_file: Option<String>,
}

impl Process {
    /// The columns that [`Process::read`] wants.
    pub(super) const COLUMNS: &'static str =
        "r.process, r.process_started, r.boot, r.machine_host, r.store_file";

    /// This process, with the store that it has open.
    pub(super) fn this(store: &Path) -> Self {
        let number = std::process::id();
        Self {
            number: Some(number),
            started: started(number),
            boot: boot(),
            host: host(),
            store_file: file_identity(store),
        }
    }

    pub(super) fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        Ok(Self {
            number: row.get(first)?,
            started: row.get(first + 1)?,
            boot: row.get(first + 2)?,
            host: row.get(first + 3)?,
            store_file: row.get(first + 4)?,
        })
    }

    /// Whether it still runs and writes to this store. Where nothing can be found out (a system
    /// without `/proc`), it counts as alive.
    pub(super) fn is_alive(&self, store: &Path) -> bool {
        let Some(number) = self.number else {
            return false;
        };
        let other = |then: &Option<String>, now: Option<String>| {
            then.is_some() && now.is_some() && *then != now
        };
        if other(&self.store_file, file_identity(store)) {
            return false;
        }
        // A store is on a disk of its machine (a write-ahead log allows nothing else), so another
        // boot is an earlier one of the same machine, whatever that was called then.
        if other(&self.boot, boot()) {
            return false;
        }
        if !Path::new("/proc/self").exists() {
            return true;
        }
        match (self.started, started(number)) {
            (_, None) => false,
            (Some(then), Some(now)) => then == now,
            (None, Some(_)) => true,
        }
    }
}

/// Field 22 of `/proc/PID/stat`; the name in field 2 may contain anything, so it is counted from
/// its closing bracket.
fn started(process: u32) -> Option<i64> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, after_name) = text.rsplit_once(')')?;
    // A process that ended and was not waited for is no longer running.
    let mut fields = after_name.split_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

fn boot() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .ok()
        .map(|text| text.trim().to_owned())
}

pub(super) fn host() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/hostname")
        .ok()
        .map(|text| text.trim().to_owned())
        .or_else(|| std::env::var("HOSTNAME").ok())
}

/// Which file a path names, told without opening it: whoever closes a file of a store gives up all
/// of SQLite's locks on it that this process holds. `None` where it cannot be told.
#[cfg(unix)]
pub(super) fn file_identity(store: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    let file = fs::metadata(store).ok()?;
    Some(format!("{}:{}", file.dev(), file.ino()))
}

#[cfg(not(unix))]
pub(super) fn file_identity(_: &Path) -> Option<String> {
    None
}

/// Looks into the store while the writer writes: what other programs have committed, through a
/// connection of its own.
#[derive(Debug)]
pub(super) struct ProgressReader {
    connection: Mutex<Option<Connection>>,
    path: PathBuf,
    run: RunId,
}

impl ProgressReader {
    /// Without a connection where it cannot be made: then nothing is known of others, and work may
    /// be done twice.
    pub(super) fn new(path: &Path, run: RunId) -> Self {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Self {
            connection: Mutex::new(Connection::open_with_flags(path, flags).ok()),
            path: path.to_owned(),
            run,
        }
    }

    /// Looks no more: everything counts as open from now on.
    pub(super) fn close(&self) {
        *self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub(super) fn progress(&self, id: &str, detail: OutcomeDetail) -> SimulationProgress {
        let connection = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let Some(connection) = connection.as_ref() else {
            return SimulationProgress::Open;
        };
        let found = connection
            .prepare_cached(&format!(
                "SELECT m.state, m.detail, m.running_in, {} FROM simulation m LEFT JOIN run r ON r.id = m.running_in
                 WHERE m.identity = ?1
                 ORDER BY {SHOWN_BY_RUN} DESC, m.generation DESC LIMIT 1",
                Process::COLUMNS
            ))
            .and_then(|mut statement| {
                statement
                    .query_row(params![id, self.run.0], |row| {
                        Ok((
                            row.get::<_, i64>(0)?,
                            row.get::<_, i64>(1)?,
                            row.get::<_, Option<i64>>(2)?,
                            Process::read(row, 3)?,
                        ))
                    })
                    .optional()
            });
        match found {
            Ok(Some((2, kept, _, _))) if kept >= detail.code() => SimulationProgress::Done,
            Ok(Some((1, _, Some(run), process)))
                if run != self.run.0 && process.is_alive(&self.path) =>
            {
                SimulationProgress::Elsewhere
            }
            _ => SimulationProgress::Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_and_a_process_of_the_same_number_that_started_at_another_time_is_not()
    {
        let store = tempfile::NamedTempFile::new().unwrap();
        let this = Process::this(store.path());
        assert!(this.is_alive(store.path()));
        if this.started.is_some() {
            let earlier = Process {
                started: this.started.map(|ticks| ticks - 1),
                ..this.clone()
            };
            assert!(!earlier.is_alive(store.path()));
        }
        let another_boot = Process {
            boot: this.boot.as_ref().map(|_| "another".to_owned()),
            ..this.clone()
        };
        assert_eq!(another_boot.is_alive(store.path()), this.boot.is_none());
        // The name of the machine decides nothing: it may change while a store waits.
        let renamed = Process {
            host: Some("another".to_owned()),
            ..this.clone()
        };
        assert!(renamed.is_alive(store.path()));
        let renamed_and_restarted = Process {
            host: Some("another".to_owned()),
            ..another_boot
        };
        assert_eq!(
            renamed_and_restarted.is_alive(store.path()),
            this.boot.is_none()
        );
    }

    #[test]
    fn a_process_does_not_write_to_the_copy_of_its_store() {
        let store = tempfile::NamedTempFile::new().unwrap();
        let copy = tempfile::NamedTempFile::new().unwrap();
        let this = Process::this(store.path());
        assert_eq!(this.is_alive(copy.path()), this.store_file.is_none());
    }
}
