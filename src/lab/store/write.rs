//! The one writer: a thread that owns the connection, fed through a bounded queue.
//!
//! Senders wait when the queue is full, so memory stays bounded by its length. A transaction takes in whole simulations
//! until it has enough rows or is old enough; everything of one simulation is in one transaction.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::durability::JournalSync;
use super::journal::JournalWatch;
use super::processes::ProgressReader;
use super::record::{FailedSimulation, FinishedSimulation, OutcomeDetail};
use super::rows::{Prepared, Rows, spec_json};
use super::runs::end_run;
use super::{RunId, RunState, Store, StoreError, WriteSummary};
use crate::sweep::{Point, SimulationProgress};

/// A transaction is committed when it has this many rows …
const BATCH_ROWS: u64 = 20_000;
/// … or is this old: what a kill can cost.
const BATCH_TIME: Duration = Duration::from_millis(200);

enum Message {
    Finished(Box<Prepared>),
    Failed(Box<FailedSimulation>, String),
    Started(String),
    Adopted(String, Vec<Point>),
    End(RunState),
}

/// The reason why the writer stopped, for the senders.
type Fault = Arc<Mutex<Option<String>>>;

/// Owns the thread that writes. Dropped without [`Writer::finish`], it commits what it was given and leaves the run in
/// the state "running", as a program that died would.
#[derive(Debug)]
pub struct Writer {
    sender: Option<SyncSender<Message>>,
    thread: Option<JoinHandle<Result<WriteSummary, StoreError>>>,
    detail: OutcomeDetail,
    fault: Fault,
    reader: Arc<ProgressReader>,
}

/// Hands results to the writer; cheap to clone, one for every worker.
#[derive(Clone, Debug)]
pub struct WriterHandle {
    sender: SyncSender<Message>,
    detail: OutcomeDetail,
    fault: Fault,
    reader: Arc<ProgressReader>,
}

impl std::fmt::Debug for Message {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Finished(_) => "Finished",
            Self::Failed(..) => "Failed",
            Self::Started(_) => "Started",
            Self::Adopted(..) => "Adopted",
            Self::End(_) => "End",
        })
    }
}

impl Writer {
    /// Starts the thread. `queue` is the number of simulations that may wait; at least one.
    #[must_use]
    pub fn start(store: Store, run: RunId, detail: OutcomeDetail, queue: usize) -> Self {
        let (sender, receiver) = sync_channel(queue.max(1));
        let fault = Fault::default();
        let reader = Arc::new(ProgressReader::new(&store.path, run));
        let shared = Arc::clone(&fault);
        let thread = std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || {
                let result = write_all(&store, run, detail, &receiver);
                if let Err(error) = &result {
                    // Set before the receiver goes, so that no sender finds the queue closed without a reason.
                    *shared.lock().unwrap_or_else(PoisonError::into_inner) =
                        Some(error.to_string());
                }
                drop(receiver);
                result
            })
            .expect("the system lets a program start one more thread");
        Self {
            sender: Some(sender),
            thread: Some(thread),
            detail,
            fault,
            reader,
        }
    }

    /// A handle for a worker.
    #[must_use]
    pub fn handle(&self) -> WriterHandle {
        WriterHandle {
            sender: self
                .sender
                .clone()
                .expect("the sender goes only when the writer is finished or dropped"),
            detail: self.detail,
            fault: Arc::clone(&self.fault),
            reader: Arc::clone(&self.reader),
        }
    }

    /// Writes what is left, marks the end of the run, and closes the store.
    ///
    /// # Errors
    ///
    /// When the store could not be written, now or earlier.
    pub fn finish(mut self, state: RunState) -> Result<WriteSummary, StoreError> {
        // The last connection to close brings the journal into the file, which one for reading cannot.
        self.reader.close();
        if let Some(sender) = self.sender.take() {
            // A writer that stopped says why when it is joined.
            let _ = sender.send(Message::End(state));
        }
        self.join()
    }

    fn join(&mut self) -> Result<WriteSummary, StoreError> {
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(StoreError::WriterStopped {
                reason: "its thread panicked".to_owned(),
            }),
            None => Err(StoreError::WriterStopped {
                reason: "it was finished before".to_owned(),
            }),
        }
    }
}

impl WriterHandle {
    /// Hands over a finished simulation; waits while the queue is full.
    ///
    /// # Errors
    ///
    /// [`StoreError::InvalidResult`] when this result cannot be stored (the writer goes on);
    /// [`StoreError::WriterStopped`] when the writer has stopped, with its reason.
    pub fn write(&self, finished: FinishedSimulation) -> Result<(), StoreError> {
        let prepared = Prepared::new(finished, self.detail)?;
        self.send(Message::Finished(Box::new(prepared)))
    }

    /// Hands over a simulation that failed; waits while the queue is full.
    ///
    /// # Errors
    ///
    /// [`StoreError::WriterStopped`] when the writer has stopped, with its reason.
    pub fn fail(&self, failed: FailedSimulation) -> Result<(), StoreError> {
        let spec = spec_json(&failed.id, &failed.spec)?;
        self.send(Message::Failed(Box::new(failed), spec))
    }

    /// Says that a simulation is under way in this run.
    ///
    /// # Errors
    ///
    /// [`StoreError::WriterStopped`] when the writer has stopped, with its reason.
    pub fn started(&self, id: &str) -> Result<(), StoreError> {
        self.send(Message::Started(id.to_owned()))
    }

    /// Makes points whose simulation another program has done part of this run.
    ///
    /// # Errors
    ///
    /// [`StoreError::WriterStopped`] when the writer has stopped, with its reason.
    pub fn adopt(&self, id: &str, points: Vec<Point>) -> Result<(), StoreError> {
        self.send(Message::Adopted(id.to_owned(), points))
    }

    /// How far the simulation is in the store, whoever works on it: a look that does not wait for the writer.
    #[must_use]
    pub fn progress(&self, id: &str) -> SimulationProgress {
        self.reader.progress(id, self.detail)
    }

    fn send(&self, message: Message) -> Result<(), StoreError> {
        self.sender
            .send(message)
            .map_err(|_| StoreError::WriterStopped {
                reason: self
                    .fault
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .clone()
                    .unwrap_or_else(|| "it was finished before".to_owned()),
            })
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Not joined: handles of workers that are still alive would keep the thread waiting for ever.
        self.sender = None;
    }
}

fn write_all(
    store: &Store,
    run: RunId,
    detail: OutcomeDetail,
    receiver: &Receiver<Message>,
) -> Result<WriteSummary, StoreError> {
    let connection = &store.connection;
    let sql = |error| store.error("writing results", error);
    let gone = || StoreError::Gone {
        path: store.path.clone(),
    };
    let mut rows = Rows::new(connection, run, detail, false).map_err(sql)?;
    let mut batch = Batch::new(connection);
    let mut watch = JournalWatch::new(&store.path);
    let mut transactions = 0;
    let mut journal = JournalSync::new(store);
    let result = loop {
        if batch.transactions > transactions {
            transactions = batch.transactions;
            journal.committed();
            journal.sync_if_due()?;
            if !store.is_in_place() {
                return Err(gone());
            }
            watch.look();
        }
        match batch.next(receiver, journal.due()) {
            Next::Message(Message::Finished(prepared)) => {
                let written = batch.begin().and_then(|()| rows.finished(&prepared));
                match written.and_then(|count| batch.wrote(count)) {
                    Ok(()) => {}
                    Err(error) => break Err(error),
                }
            }
            Next::Message(Message::Failed(failed, spec)) => {
                let written = batch.begin().and_then(|()| rows.failed(&failed, &spec));
                match written.and_then(|count| batch.wrote(count)) {
                    Ok(()) => {}
                    Err(error) => break Err(error),
                }
            }
            Next::Message(Message::Started(id)) => {
                let written = batch.begin().and_then(|()| rows.started(&id));
                if let Err(error) = written.and_then(|count| batch.wrote(count)) {
                    break Err(error);
                }
            }
            Next::Message(Message::Adopted(id, points)) => {
                let written = batch.begin().and_then(|()| rows.adopted(&id, &points));
                if let Err(error) = written.and_then(|count| batch.wrote(count)) {
                    break Err(error);
                }
            }
            Next::Message(Message::End(state)) => {
                break batch
                    .begin()
                    .and_then(|()| end_run(connection, run, state))
                    .and_then(|()| batch.commit());
            }
            Next::Late => {
                if let Err(error) = batch.commit() {
                    break Err(error);
                }
                journal.sync_if_due()?;
            }
            Next::Abandoned => break batch.commit(),
        }
    };
    if let Err(error) = result {
        batch.abandon();
        return Err(sql(error));
    }
    journal.committed();
    journal.sync()?;
    if !store.is_in_place() {
        return Err(gone());
    }
    rows.summary.transactions = batch.transactions;
    Ok(rows.summary)
}

enum Next {
    Message(Message),
    Late,
    Abandoned,
}

/// The transaction under way.
struct Batch<'c> {
    connection: &'c Connection,
    since: Option<Instant>,
    rows: u64,
    transactions: u64,
}

impl<'c> Batch<'c> {
    fn new(connection: &'c Connection) -> Self {
        Self {
            connection,
            since: None,
            rows: 0,
            transactions: 0,
        }
    }

    /// The next message; no longer than until the open transaction is due, or the journal.
    fn next(&self, receiver: &Receiver<Message>, journal: Option<Instant>) -> Next {
        let due = self.since.map(|since| since + BATCH_TIME);
        match due.into_iter().chain(journal).min() {
            None => receiver.recv().map_or(Next::Abandoned, Next::Message),
            Some(due) => {
                match receiver.recv_timeout(due.saturating_duration_since(Instant::now())) {
                    Ok(message) => Next::Message(message),
                    Err(RecvTimeoutError::Timeout) => Next::Late,
                    Err(RecvTimeoutError::Disconnected) => Next::Abandoned,
                }
            }
        }
    }

    fn begin(&mut self) -> rusqlite::Result<()> {
        if self.since.is_none() {
            self.connection
                .prepare_cached("BEGIN IMMEDIATE")?
                .raw_execute()?;
            self.since = Some(Instant::now());
        }
        Ok(())
    }

    fn wrote(&mut self, rows: u64) -> rusqlite::Result<()> {
        self.rows += rows;
        if self.rows >= BATCH_ROWS
            || self
                .since
                .is_some_and(|since| since.elapsed() >= BATCH_TIME)
        {
            return self.commit();
        }
        Ok(())
    }

    fn commit(&mut self) -> rusqlite::Result<()> {
        if self.since.is_some() {
            self.connection.prepare_cached("COMMIT")?.raw_execute()?;
            self.since = None;
            self.rows = 0;
            self.transactions += 1;
        }
        Ok(())
    }

    /// Gives up the transaction: half a simulation is never kept.
    fn abandon(&mut self) {
        if !self.connection.is_autocommit() {
            // SQLite rolls back by itself when the connection closes, should even this fail.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        self.since = None;
    }
}
