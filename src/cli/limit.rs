//! When a command that reads a store gives up: at Ctrl-C, or when its time is over. Printing
//! counts, too.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::screen::LookError;
use crate::store::{QueryError, Store, StoreError};

/// How long a command may take.
#[derive(Clone, Debug)]
pub(super) struct Limit {
    seconds: u32,
    /// `None`: for ever.
    until: Option<Instant>,
    interrupted: Arc<AtomicBool>,
}

impl Limit {
    /// So many seconds from now on (0: for ever), and no longer than until Ctrl-C, so that half a
    /// file can be taken away; a second Ctrl-C ends the process. Where no thread or signal handler
    /// can be had, Ctrl-C ends the process at once, as without this.
    pub(super) fn new(seconds: u32) -> Self {
        let limit = Self {
            seconds,
            until: (seconds > 0).then(|| Instant::now() + Duration::from_secs(seconds.into())),
            interrupted: Arc::default(),
        };
        let interrupted = Arc::clone(&limit.interrupted);
        if let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
        {
            // Not joined: it ends with the program.
            let _ = std::thread::Builder::new()
                .name("signals".to_owned())
                .spawn(move || {
                    runtime.block_on(async {
                        if tokio::signal::ctrl_c().await.is_ok() {
                            interrupted.store(true, Ordering::Relaxed);
                            if tokio::signal::ctrl_c().await.is_ok() {
                                std::process::exit(crate::sweep::INTERRUPTED);
                            }
                        }
                    });
                });
        }
        limit
    }

    /// Ends whatever the store is asked from the limit on.
    ///
    /// # Errors
    ///
    /// Those of [`Store::stop_when`].
    pub(super) fn hold(&self, store: &mut Store) -> Result<(), StoreError> {
        let limit = self.clone();
        store.stop_when(move || limit.is_interrupted() || limit.is_late())
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    fn is_late(&self) -> bool {
        self.until.is_some_and(|until| until <= Instant::now())
    }

    /// Nothing, or why a command has to end that waits for somebody to read what it prints.
    pub(super) fn unread(&self) -> Option<LookError> {
        if self.is_interrupted() {
            return Some(QueryError::Interrupted.into());
        }
        self.is_late().then(|| {
            LookError::Use(format!(
                "after {} s the rows are not read to their end: read them faster, write them to a file with --out, or give it more with \
                 --timeout",
                self.seconds
            ))
        })
    }

    /// An error of the question, which says so where it is that its time was over.
    pub(super) fn explained(&self, error: LookError) -> LookError {
        match error {
            LookError::Query(QueryError::Interrupted) if !self.is_interrupted() => {
                LookError::Use(format!(
                    "the question takes more than {} s: narrow it, or give it more with --timeout",
                    self.seconds
                ))
            }
            error => error,
        }
    }
}
