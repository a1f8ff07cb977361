//! Files that are not whole yet, and what killed writers left of them.

use std::ffi::OsStr;
use std::fs::TryLockError;
use std::io;
use std::time::Duration;

use super::folder::OutputFolder;

/// How the names of files begin and end that are not whole yet; between the two stand [`RANDOM`]
/// letters and digits.
const UNFINISHED: (&str, &str) = (".bookahead-", ".part");

/// The same of files in reports until version 0.2.
const UNFINISHED_BEFORE: (&str, &str) = (".writing-", "");

/// How many letters and digits; version 0.2 took six.
const RANDOM: std::ops::RangeInclusive<usize> = 6..=12;

/// How old a file must be to be a leftover where the file system has no locks.
const OLD: Duration = Duration::from_secs(3_600);

/// A new name for a file that is not whole yet.
pub(super) fn name() -> io::Result<String> {
    let (begin, end) = UNFINISHED;
    let random = getrandom::u64().map_err(io::Error::other)? & 0xffff_ffff_ffff;
    Ok(format!("{begin}{random:012x}{end}"))
}

fn is_name(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    [UNFINISHED, UNFINISHED_BEFORE]
        .into_iter()
        .filter_map(|(begin, end)| name.strip_prefix(begin)?.strip_suffix(end))
        .any(|random| {
            RANDOM.contains(&random.len())
                && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

impl OutputFolder {
    /// Deletes what killed writers left here.
    pub fn remove_leftovers(&self) {
        remove(self);
    }
}

/// Deletes regular files of such names that no writer holds.
fn remove(folder: &OutputFolder) {
    for entry in folder.dir.entries().into_iter().flatten().flatten() {
        let name = entry.file_name();
        if !is_name(&name) {
            continue;
        }
        // Held until the file is gone: a writer that has just made it waits for the lock, and then
        // makes another.
        if let Ok(Some(file)) = folder.open(&name) {
            let is_left = match file.try_lock() {
                Ok(()) => true,
                Err(TryLockError::WouldBlock) => false,
                // A file system without locks.
                Err(TryLockError::Error(_)) => file
                    .metadata()
                    .and_then(|file| file.modified())
                    .is_ok_and(|moment| moment.elapsed().is_ok_and(|age| age > OLD)),
            };
            if is_left {
                // Somebody may have taken it away already.
                let _ = folder.remove(&name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_this_program_makes_are_leftovers() {
        assert!(is_name(OsStr::new(&name().unwrap())));
        for ours in [".bookahead-a1B2c3.part", ".writing-a1B2c3"] {
            assert!(is_name(OsStr::new(ours)), "{ours}");
        }
        for other in [
            ".bookahead-.part",
            ".bookahead-a1b2c3",
            ".bookahead-my-own-text.part",
            ".writing-letters-to-her",
            ".writing-",
            "bookahead-a1b2c3.part",
        ] {
            assert!(!is_name(OsStr::new(other)), "{other}");
        }
    }
}
