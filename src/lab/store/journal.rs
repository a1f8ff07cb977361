//! The size of a store's journal, and who keeps it from shrinking.
//!
//! A checkpoint cannot pass what a reader still sees, so a reader that never ends makes the journal
//! grow for as long as something is written. The writer cannot change that; it says whom to end.

#[cfg(target_os = "linux")]
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use bookahead_core::printable::printable;

/// What a checkpoint cuts the journal back to, bytes.
pub(super) const JOURNAL_BOUND: u64 = 32 << 20;

/// The file beside a store whose name ends so: `-wal` is its journal.
pub(super) fn beside(store: &Path, ending: &str) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Looks at the journal after each transaction and says when it is too large.
#[derive(Debug)]
pub(super) struct JournalWatch {
    journal: PathBuf,
    shared_memory: PathBuf,
    /// The size that is worth a word, which doubles with each one.
    worth_a_word: u64,
}

impl JournalWatch {
    pub(super) fn new(store: &Path) -> Self {
        Self {
            journal: beside(store, "-wal"),
            shared_memory: beside(store, "-shm"),
            worth_a_word: 2 * JOURNAL_BOUND,
        }
    }

    /// Warns where the journal is above twice its bound because somebody reads.
    pub(super) fn look(&mut self) {
        let size = fs::metadata(&self.journal).map_or(0, |journal| journal.len());
        if size <= self.worth_a_word {
            return;
        }
        let who = match readers(&self.shared_memory) {
            // One large transaction: the next checkpoint takes it.
            Some(readers) if readers.is_empty() => return,
            Some(readers) => readers.join(", "),
            None => "another program".to_owned(),
        };
        self.worth_a_word = 2 * size;
        tracing::warn!(
            "the journal {} has grown to {} MB, as {who} has not come to the end of what it reads; nothing is lost, but the disk may fill \
             up: let it finish, or end it, and the journal is cut back to {} MB",
            self.journal.display(),
            size >> 20,
            JOURNAL_BOUND >> 20
        );
    }
}

/// The other processes that read the store at this moment, in words; `None` where the system does
/// not tell.
#[cfg(target_os = "linux")]
fn readers(shared_memory: &Path) -> Option<Vec<String>> {
    use std::os::unix::fs::MetadataExt as _;
    let file = fs::metadata(shared_memory).ok()?.ino();
    let mut processes = reading(&fs::read_to_string("/proc/locks").ok()?, file);
    processes.retain(|process| *process != i64::from(std::process::id()));
    Some(processes.into_iter().map(in_words).collect())
}

#[cfg(not(target_os = "linux"))]
fn readers(_: &Path) -> Option<Vec<String>> {
    None
}

/// The processes with a lock on one of the places of SQLite's shared memory that stand for a
/// reader, but for those that write at this moment, which soon come to an end. A line of
/// `/proc/locks`: `1: POSIX  ADVISORY  READ 4711 08:01:1234 124 124`. The process is -1 or 0 where
/// it is none of this container.
#[cfg(target_os = "linux")]
fn reading(locks: &str, file: u64) -> Vec<i64> {
    /// WAL_WRITE_LOCK and WAL_READ_LOCK(0) to WAL_READ_LOCK(4) in SQLite's `wal.c`, behind
    /// UNIX_SHM_BASE.
    const WRITER: std::ops::RangeInclusive<u64> = 120..=120;
    const READERS: std::ops::RangeInclusive<u64> = 123..=127;
    let holders = |kind: &str, places: std::ops::RangeInclusive<u64>| -> BTreeSet<i64> {
        let holder = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [_, "POSIX", _, held, process, place, from, to] = words[..] else {
                return None;
            };
            let is_file = place.rsplit(':').next()?.parse() == Ok(file);
            let (from, to): (u64, u64) = (from.parse().ok()?, to.parse().ok()?);
            let is_there = from <= *places.end() && to >= *places.start();
            (held == kind && is_file && is_there).then(|| process.parse().ok())?
        };
        locks.lines().filter_map(holder).collect()
    };
    let writers = holders("WRITE", WRITER);
    let readers = holders("READ", READERS);
    readers.difference(&writers).copied().collect()
}

/// A process with its command, where it can be seen.
#[cfg(target_os = "linux")]
fn in_words(process: i64) -> String {
    if process <= 0 {
        return "a process of another container".to_owned();
    }
    let command = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let words: Vec<_> = command
        .split(|byte| *byte == 0)
        .filter(|word| !word.is_empty())
        .map(String::from_utf8_lossy)
        .collect();
    let command: String = words.join(" ").chars().take(60).collect();
    match command.as_str() {
        "" => format!("process {process}"),
        command => format!("process {process} (`{}`)", printable(command)),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::store::Store;

    #[test]
    fn readers_are_told_from_writers_and_from_readers_of_other_files() {
        let locks = "\
1: POSIX  ADVISORY  READ 71 08:01:1234 124 124
2: POSIX  ADVISORY  READ 72 08:01:999 124 124
3: POSIX  ADVISORY  WRITE 73 08:01:1234 120 120
4: POSIX  ADVISORY  READ 74 08:01:1234 128 128
5: FLOCK  ADVISORY  READ 75 08:01:1234 124 124
6: -> POSIX  ADVISORY  READ 76 08:01:1234 124 124
7: POSIX  ADVISORY  READ 71 08:01:1234 123 123
8: POSIX  ADVISORY  READ 70 08:01:1234 127 127
9: POSIX  ADVISORY  READ 73 08:01:1234 125 125
";
        assert_eq!(reading(locks, 1234), [70, 71]);
    }

    #[test]
    fn a_process_in_the_middle_of_a_question_is_named_until_it_has_its_answer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let store = Store::open(crate::study::Studies::default(), &path).unwrap();
        let watch = JournalWatch::new(&path);
        // This process has the locks, so it is looked for without leaving it out.
        let found = || {
            use std::os::unix::fs::MetadataExt as _;
            let file = fs::metadata(&watch.shared_memory).unwrap().ino();
            reading(&fs::read_to_string("/proc/locks").unwrap(), file)
        };
        let reader = Connection::open(&path).unwrap();
        assert!(found().is_empty());
        reader
            .execute_batch("BEGIN; SELECT count(*) FROM run")
            .unwrap();
        assert_eq!(found(), [i64::from(std::process::id())]);
        assert!(in_words(std::process::id().into()).contains(&std::process::id().to_string()));
        reader.execute_batch("COMMIT").unwrap();
        assert!(found().is_empty());
        drop(store);
    }
}
