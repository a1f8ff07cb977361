//! Waiting for another program that writes to the same store: for how long, and what a person is
//! told meanwhile.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

/// How long a writer waits for another program's transaction, which lasts a fraction of a second.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// A transaction of another program lasts a fraction of a second: who waits longer wants to know
/// for whom.
const WORTH_A_WORD: Duration = Duration::from_secs(1);

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(10);

/// The store that was opened for writing last, for messages: SQLite calls back a function that
/// knows nothing else.
static WRITTEN: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Makes a connection wait for other programs up to [`BUSY_TIMEOUT`], and say so when that takes
/// longer than a second.
pub(super) fn wait_for_others(connection: &mut Connection, path: &Path) -> rusqlite::Result<()> {
    *WRITTEN.lock().unwrap_or_else(PoisonError::into_inner) = Some(path.to_owned());
    connection.busy_handler(Some(|tries| {
        let waited = PAUSE * u32::try_from(tries).unwrap_or(u32::MAX);
        if waited >= BUSY_TIMEOUT {
            return false;
        }
        if waited == WORTH_A_WORD
            && let Some(path) = &*WRITTEN.lock().unwrap_or_else(PoisonError::into_inner)
        {
            say(path);
        }
        std::thread::sleep(PAUSE);
        true
    }))
}

/// Says after a second, and once, what is waited for.
pub(super) fn say_once(said: &mut bool, waited: Duration, path: &Path) {
    if !*said && waited >= WORTH_A_WORD {
        say(path);
        *said = true;
    }
}

fn say(path: &Path) {
    let who = writer(path).map_or_else(String::new, |who| format!(" ({who})"));
    tracing::warn!(
        "waiting for another program{who} that writes to the store {}; is it stopped? After {} s this one gives up, and nothing \
         that was committed is lost",
        path.display(),
        BUSY_TIMEOUT.as_secs()
    );
}

/// Which process the newest run under way belongs to, where the store can be read.
fn writer(path: &Path) -> Option<String> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags)
        .and_then(|connection| {
            connection.query_row(
                "SELECT process, machine_host FROM run WHERE state = 0 AND process IS NOT NULL ORDER BY id DESC LIMIT 1",
                [],
                |row| {
                    let (process, host): (i64, Option<String>) = (row.get(0)?, row.get(1)?);
                    Ok(match host {
                        Some(host) => format!("process {process} on {host}"),
                        None => format!("process {process}"),
                    })
                },
            )
        })
        .ok()
}
