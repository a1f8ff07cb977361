//! Rows on their way to a reader that may be slow or stop reading. A query is never held up by its
//! reader, because a query under way keeps the journal of a store from shrinking: unread rows wait
//! in memory, then in unnamed files.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::limit::Limit;
use super::screen::{LookError, about, fill};
use crate::output::OutputFile;

/// Bytes that wait in memory.
const IN_MEMORY: usize = 16 << 20;

/// Bytes that wait in files.
const IN_FILES: u64 = 8 << 30;

/// Bytes of one file: its room is free again when they are read.
const IN_ONE_FILE: u64 = 256 << 20;

/// Bytes that are handed over at once.
const PIECE: usize = 1 << 16;

/// Between two looks at whether the time is over.
const PAUSE: Duration = Duration::from_millis(50);

/// Prints what `work` writes, within the limit.
///
/// # Errors
///
/// Those of `work`, when the output cannot be written, and when the limit is reached.
pub(super) fn print<T>(
    limit: &Limit,
    work: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, LookError>,
) -> Result<T, LookError> {
    handed_over(super::output::data(), limit, work)
}

/// Writes a whole file with `work`. A stream or a device gets it as standard output does.
///
/// # Errors
///
/// As [`print`], and when there can be no such file.
pub(super) fn write_file<T>(
    path: &Path,
    limit: &Limit,
    work: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, LookError>,
) -> Result<T, LookError> {
    let result = (|| {
        let file = OutputFile::create(path)?;
        match file.stream()? {
            Some(stream) => handed_over(stream, limit, work),
            None => fill(file, work),
        }
    })();
    about(path, result)
}

fn handed_over<T>(
    target: impl Write + Send + 'static,
    limit: &Limit,
    work: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, LookError>,
) -> Result<T, LookError> {
    let mut spool = Spool::new(target)?;
    let result = work(&mut spool);
    // After an error, too, what there was before it is read.
    let read = spool.finish(limit);
    result.and_then(|result| read.map(|()| result))
}

/// Rows on their way. Without [`Spool::finish`], what is not read yet may be lost.
#[derive(Debug)]
struct Spool {
    shared: Arc<Shared>,
    piece: Vec<u8>,
}

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

/// What waits to be read, and how it stands with its reader.
#[derive(Debug, Default)]
struct Waiting {
    /// The first bytes; none are added while a file holds later ones.
    memory: VecDeque<Vec<u8>>,
    in_memory: usize,
    files: VecDeque<Part>,
    in_files: u64,
    /// No more will come.
    is_whole: bool,
    /// No more will be read: all has been, or it went wrong.
    is_over: bool,
    failed: Option<io::Error>,
}

/// A file with bytes that wait.
#[derive(Debug)]
struct Part {
    file: File,
    written: u64,
    read: u64,
}

impl Spool {
    /// Begins to hand over what it gets.
    ///
    /// # Errors
    ///
    /// When the system gives no thread.
    fn new(target: impl Write + Send + 'static) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let handed = Arc::clone(&shared);
        // Not joined: nothing ends a thread whose output blocks but the end of the program.
        std::thread::Builder::new()
            .name("output".to_owned())
            .spawn(move || {
                let result = handed.hand_over(target);
                let mut waiting = handed.waiting();
                waiting.is_over = true;
                waiting.failed = result.err();
                handed.changed.notify_all();
            })?;
        Ok(Self {
            shared,
            piece: Vec::with_capacity(PIECE),
        })
    }

    /// Waits until everything is read, but no longer than the limit allows.
    ///
    /// # Errors
    ///
    /// When the output cannot be written, or the limit is reached.
    fn finish(mut self, limit: &Limit) -> Result<(), LookError> {
        let piece = std::mem::take(&mut self.piece);
        let mut waiting = self.shared.waiting();
        if !waiting.is_over {
            waiting.add(piece)?;
        }
        waiting.is_whole = true;
        self.shared.changed.notify_all();
        while !waiting.is_over {
            if let Some(reason) = limit.unread() {
                return Err(reason);
            }
            waiting = self
                .shared
                .changed
                .wait_timeout(waiting, PAUSE)
                .map_or_else(|poisoned| poisoned.into_inner().0, |(waiting, _)| waiting);
        }
        waiting
            .failed
            .take()
            .map_or(Ok(()), |error| Err(error.into()))
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(PIECE - self.piece.len());
        self.piece.extend_from_slice(&bytes[..taken]);
        if self.piece.len() == PIECE {
            let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE));
            self.shared.waiting().add(piece)?;
            self.shared.changed.notify_all();
        }
        Ok(taken)
    }

    /// Everything is handed over at the end.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hand_over(&self, mut target: impl Write) -> io::Result<()> {
        while let Some(piece) = self.next()? {
            target.write_all(&piece)?;
            target.flush()?;
        }
        Ok(())
    }

    /// The next bytes; waits for them. `None` at the end.
    fn next(&self) -> io::Result<Option<Vec<u8>>> {
        let mut waiting = self.waiting();
        loop {
            if let Some(piece) = waiting.take()? {
                return Ok(Some(piece));
            }
            if waiting.is_whole {
                return Ok(None);
            }
            waiting = self
                .changed
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Waiting {
    fn add(&mut self, piece: Vec<u8>) -> io::Result<()> {
        if self.is_over {
            let gone = || io::ErrorKind::BrokenPipe.into();
            return Err(self.failed.take().unwrap_or_else(gone));
        }
        if self.files.is_empty() && self.in_memory + piece.len() <= IN_MEMORY {
            self.in_memory += piece.len();
            self.memory.push_back(piece);
            return Ok(());
        }
        let length = piece.len() as u64;
        if self.in_files + length > IN_FILES {
            self.is_over = true;
            return Err(io::Error::other(format!(
                "more than {} GB of rows wait to be read: read them faster, or write them to a file with --out",
                IN_FILES >> 30
            )));
        }
        if self
            .files
            .back()
            .is_none_or(|part| part.written >= IN_ONE_FILE)
        {
            self.files.push_back(Part {
                file: tempfile::tempfile()?,
                written: 0,
                read: 0,
            });
        }
        if let Some(part) = self.files.back_mut() {
            part.file.seek(SeekFrom::Start(part.written))?;
            part.file.write_all(&piece)?;
            part.written += length;
            self.in_files += length;
        }
        Ok(())
    }

    /// The first bytes that wait.
    fn take(&mut self) -> io::Result<Option<Vec<u8>>> {
        if let Some(piece) = self.memory.pop_front() {
            self.in_memory -= piece.len();
            return Ok(Some(piece));
        }
        let Some(part) = self.files.front_mut() else {
            return Ok(None);
        };
        let length = (part.written - part.read).min(PIECE as u64);
        let mut piece = vec![0; usize::try_from(length).unwrap_or(PIECE)];
        part.file.seek(SeekFrom::Start(part.read))?;
        part.file.read_exact(&mut piece)?;
        part.read += length;
        if part.read == part.written {
            // What waits in memory again comes after all that was in files.
            self.in_files -= part.written;
            self.files.pop_front();
        }
        Ok(Some(piece))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
    use std::time::Instant;

    use super::*;

    /// A reader that takes as many pieces as it is allowed to.
    struct Slow {
        allowed: Receiver<()>,
        read: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.allowed.recv().is_err() {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            self.read.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn slow() -> (Spool, SyncSender<()>, Arc<Mutex<Vec<u8>>>) {
        let (allow, allowed) = sync_channel(10_000);
        let read = Arc::default();
        let slow = Slow {
            allowed,
            read: Arc::clone(&read),
        };
        (Spool::new(slow).unwrap(), allow, read)
    }

    /// A text of so many bytes, no two stretches of which are the same.
    fn numbered(bytes: usize) -> Vec<u8> {
        let numbers = (0_u64..).flat_map(|number| number.to_le_bytes());
        numbers.take(bytes).collect()
    }

    #[test]
    fn what_a_slow_reader_gets_is_in_order_through_memory_and_files() {
        let (mut spool, allow, read) = slow();
        let text = numbered(3 * IN_MEMORY / 2);
        // Nobody reads yet, and writing does not wait for it.
        // One piece is in the hands of the reader.
        let (first, rest) = text.split_at(IN_MEMORY + 4 * PIECE + 12_345);
        spool.write_all(first).unwrap();
        assert!(spool.shared.waiting().in_files > 0);
        // All of that is read before the rest comes, which so waits in memory again.
        for _ in 0..first.len() / PIECE {
            allow.send(()).unwrap();
        }
        let began = Instant::now();
        while spool.shared.waiting().in_files > 0 {
            assert!(began.elapsed() < Duration::from_secs(20));
            std::thread::yield_now();
        }
        spool.write_all(rest).unwrap();
        for _ in 0..rest.len() / PIECE + 2 {
            allow.send(()).unwrap();
        }
        spool.finish(&Limit::new(20)).unwrap();
        assert!(*read.lock().unwrap() == text);
    }

    #[test]
    fn nobody_reads_and_the_end_comes_with_the_limit() {
        let (mut spool, _allow, _) = slow();
        spool.write_all(b"a row").unwrap();
        let began = Instant::now();
        let error = spool.finish(&Limit::new(1)).unwrap_err();
        assert!(error.to_string().contains("after 1 s"), "{error}");
        assert!(began.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn a_reader_who_has_seen_enough_ends_the_rows_with_a_broken_pipe() {
        let (mut spool, allow, _) = slow();
        drop(allow);
        let began = Instant::now();
        let error = loop {
            assert!(began.elapsed() < Duration::from_secs(20));
            if let Err(error) = spool.write_all(&[0; PIECE]) {
                break error;
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        assert!(spool.finish(&Limit::new(20)).is_ok());
    }

    #[test]
    fn what_waits_is_bounded() {
        let mut waiting = Waiting {
            in_files: IN_FILES,
            in_memory: IN_MEMORY,
            ..Waiting::default()
        };
        let error = waiting.add(vec![0]).unwrap_err();
        assert!(error.to_string().contains("--out"), "{error}");
        assert!(waiting.is_over);
    }
}
