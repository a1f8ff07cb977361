//! Buffers of answers. Each answer is kept, in memory or in an unnamed file, until its reader has
//! received it. So the store is free before a reader with a slow line has read the answer, and an
//! error is a page and not half an answer. The total size of all answers is bounded.

use std::io::{self, Read as _, Seek as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use tempfile::SpooledTempFile;

use super::pages::PageFailure;
use super::work::in_background;

/// What of one answer stays in memory.
const IN_MEMORY: usize = 256 << 10;

/// Bytes that are read and sent at once.
const PIECE: usize = 256 << 10;

/// A reader must take so many bytes a second …
const SLOWEST: u64 = 64 << 10;

/// … but has so long for its begin.
const BEGIN: Duration = Duration::from_secs(60);

/// What answers may take until they are read.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    /// One of them.
    largest: u64,
    all: u64,
    free: Arc<AtomicU64>,
}

impl Budget {
    /// So many bytes for one answer, and for all together.
    pub(super) fn new(largest: u64, all: u64) -> Self {
        Self {
            largest,
            all,
            free: Arc::new(AtomicU64::new(all)),
        }
    }
}

/// A part of a budget, given back when it is dropped.
#[derive(Debug)]
struct Share {
    budget: Budget,
    bytes: u64,
}

impl Share {
    fn grow(&mut self, bytes: u64) -> Result<(), PageFailure> {
        if self.bytes + bytes > self.budget.largest {
            return Err(PageFailure::wrong(format!(
                "The answer has more than {} MB: ask for less; `bookahead sql --format csv` writes any number of rows.",
                self.budget.largest >> 20
            )));
        }
        let free = &self.budget.free;
        let taken = free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |free| {
            free.checked_sub(bytes)
        });
        if taken.is_err() {
            return Err(PageFailure::busy(format!(
                "Others have not read their answers yet, which take {} MB together, and there is no room for another one: try again later; \
                 `bookahead sql --format csv` writes any number of rows.",
                self.budget.all >> 20
            )));
        }
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.free.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

/// An answer that is being made, or read.
#[derive(Debug)]
pub(super) struct Answer {
    spooled: SpooledTempFile,
    share: Share,
}

impl Answer {
    /// An empty one.
    pub(super) fn new(budget: &Budget) -> Self {
        Self {
            spooled: SpooledTempFile::new(IN_MEMORY),
            share: Share {
                budget: budget.clone(),
                bytes: 0,
            },
        }
    }

    /// Reads it from its source to the end.
    ///
    /// # Errors
    ///
    /// When there is no room for it, or the source fails.
    pub(super) fn read(&mut self, source: &mut impl io::Read) -> Result<(), PageFailure> {
        let mut piece = vec![0; PIECE];
        loop {
            let length = match source.read(&mut piece) {
                Ok(0) => return Ok(()),
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return Err(PageFailure::fault()),
            };
            self.share.grow(length as u64)?;
            self.spooled.write_all(&piece[..length]).map_err(|error| {
                PageFailure::busy(format!(
                    "The answer cannot be kept while it is sent: {error}. Make room in the folder for temporary files (TMPDIR)."
                ))
            })?;
        }
    }

    /// Sends it as a page.
    pub(super) fn page(self) -> Response {
        self.sent([(header::CONTENT_TYPE, "text/html; charset=utf-8")])
    }

    /// Sends it as a file of rows.
    pub(super) fn rows(self) -> Response {
        let headers = [
            (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
            (
                header::CONTENT_DISPOSITION,
                "attachment; filename=\"rows.csv\"",
            ),
        ];
        self.sent(headers)
    }

    fn sent<const N: usize>(mut self, headers: [(HeaderName, &'static str); N]) -> Response {
        let length = self.share.bytes;
        if let Err(error) = self.spooled.rewind() {
            return PageFailure::busy(format!("The answer cannot be read again: {error}"))
                .into_response();
        }
        let begun = Instant::now();
        let pieces = stream::unfold((Some(self), 0), move |(answer, sent)| async move {
            let mut answer = answer?;
            if begun.elapsed() > BEGIN + Duration::from_secs(sent / SLOWEST) {
                return Some((Err(io::ErrorKind::TimedOut.into()), (None, sent)));
            }
            let read = in_background(move || {
                let mut piece = vec![0; PIECE];
                let read = answer.spooled.read(&mut piece).map(|length| {
                    piece.truncate(length);
                    Bytes::from(piece)
                });
                Ok((read, answer))
            });
            match read.await {
                Ok((Ok(piece), _)) if piece.is_empty() => None,
                Ok((Ok(piece), answer)) => {
                    let sent = sent + piece.len() as u64;
                    Some((Ok(piece), (Some(answer), sent)))
                }
                Ok((Err(error), _)) => Some((Err(error), (None, sent))),
                Err(_) => Some((Err(io::Error::other("reading ended")), (None, sent))),
            }
        });
        let length = [(header::CONTENT_LENGTH, length.to_string())];
        (headers, length, Body::from_stream(pieces)).into_response()
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;

    use super::*;

    #[test]
    fn answers_share_their_room_and_give_it_back() {
        let budget = Budget::new(600, 1_000);
        let share = || Share {
            budget: budget.clone(),
            bytes: 0,
        };
        let mut first = share();
        first.grow(600).unwrap();
        let large = first.grow(1).unwrap_err();
        assert_eq!(large.status(), StatusCode::BAD_REQUEST);
        let mut second = share();
        second.grow(400).unwrap();
        let full = second.grow(1).unwrap_err();
        assert_eq!(full.status(), StatusCode::SERVICE_UNAVAILABLE);
        drop(first);
        second.grow(200).unwrap();
        drop(second);
        assert_eq!(budget.free.load(Ordering::Relaxed), 1_000);
    }
}
