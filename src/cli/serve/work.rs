//! What computes: on threads of its own, a few at a time, and a question in SQL not for longer than somebody waits for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::pages::Trouble;
use crate::store::Store;

/// Pages that are computed at once: more would take the processors away from a sweep.
const AT_ONCE: usize = 2;

/// How long a page waits for its turn.
const TURN: Duration = Duration::from_secs(20);

/// Between two tries to end a question: it may not have begun when the first one comes.
const PAUSE: Duration = Duration::from_millis(20);

/// Where pages are computed.
#[derive(Debug)]
pub(super) struct Work {
    turns: Arc<Semaphore>,
    /// How long a question in SQL may take.
    limit: Duration,
}

impl Work {
    pub(super) fn new(limit: Duration) -> Self {
        Self {
            turns: Arc::new(Semaphore::new(AT_ONCE)),
            limit,
        }
    }

    async fn turn(&self) -> Result<OwnedSemaphorePermit, Trouble> {
        let turn = Arc::clone(&self.turns).acquire_owned();
        match tokio::time::timeout(TURN, turn).await {
            Ok(Ok(turn)) => Ok(turn),
            _ => Err(Trouble::busy()),
        }
    }

    /// Computes a page when it is its turn, which lasts until it is done even if nobody waits any more.
    ///
    /// # Errors
    ///
    /// When too much is under way, and those of `work`.
    pub(super) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, Trouble> {
        let turn = self.turn().await?;
        in_background(move || {
            let _turn = turn;
            work()
        })
        .await
    }

    /// Asks a store something that ends when its time is over, or when nobody waits for the answer any more.
    ///
    /// # Errors
    ///
    /// As [`Work::compute`], and when it takes too long.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        open: impl FnOnce() -> Result<Store, Trouble> + Send + 'static,
        question: impl FnOnce(&Store) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, Trouble> {
        let turn = self.turn().await?;
        let leash = Leash::default();
        let held = Arc::clone(&leash.0);
        let work = in_background(move || {
            let _turn = turn;
            let store = open()?;
            let handle = store.interrupt_handle();
            held.set(Some(Box::new(move || handle.interrupt())));
            let result = match held.is_let_go.load(Ordering::SeqCst) {
                true => Err(Trouble::fault()),
                false => question(&store),
            };
            held.is_done.store(true, Ordering::SeqCst);
            held.set(None);
            result
        });
        // A page that is closed drops this, and the leash with it.
        match tokio::time::timeout(self.limit, work).await {
            Ok(result) => result,
            Err(_) => Err(Trouble::late(self.limit)),
        }
    }
}

/// Does something that may block, away from the thread that answers.
pub(super) async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Trouble> + Send + 'static,
) -> Result<T, Trouble> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(Trouble::fault()))
}

/// What ends a question when it is let go.
#[derive(Default)]
struct Leash(Arc<Held>);

#[derive(Default)]
struct Held {
    end: Mutex<Option<Box<dyn Fn() + Send>>>,
    is_let_go: AtomicBool,
    is_done: AtomicBool,
}

impl Held {
    fn set(&self, end: Option<Box<dyn Fn() + Send>>) {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = end;
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        let held = Arc::clone(&self.0);
        held.is_let_go.store(true, Ordering::SeqCst);
        if held.is_done.load(Ordering::SeqCst) {
            return;
        }
        // Without a runtime the program ends.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        runtime.spawn(async move {
            while !held.is_done.load(Ordering::SeqCst) && Arc::strong_count(&held) > 1 {
                if let Some(end) = &*held.end.lock().unwrap_or_else(PoisonError::into_inner) {
                    end();
                }
                tokio::time::sleep(PAUSE).await;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    /// Never ends by itself.
    const ENDLESS: &str =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

    fn endless(store: &Store) -> Result<(), Trouble> {
        store
            .query(ENDLESS, &mut |_| Ok(()), &mut |_| Ok(true))
            .map_err(Trouble::from)
    }

    #[test]
    fn a_question_ends_when_its_time_is_over_or_nobody_waits_and_makes_room_for_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        drop(Store::open(&path).unwrap());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let work = Work::new(Duration::from_millis(200));
            let open = || {
                let path = path.clone();
                move || Ok(Store::open_read_only(&path)?)
            };
            let began = Instant::now();
            let late = work.ask(open(), endless).await.unwrap_err();
            assert!(late.to_string().contains("more than"), "{late}");
            // Nobody waits for these two, which take all turns.
            let work = Work::new(Duration::from_secs(600));
            for _ in 0..AT_ONCE {
                let asked = work.ask(open(), endless);
                assert!(
                    tokio::time::timeout(Duration::from_millis(100), asked)
                        .await
                        .is_err()
                );
            }
            assert_eq!(work.compute(|| Ok(1)).await.unwrap(), 1);
            assert!(began.elapsed() < Duration::from_secs(10));
        });
    }
}
