//! The store's writer: an actor that owns the connection. It runs on a thread of its own, because
//! SQLite blocks, and nothing restarts it: what could not be written once ends the run.
//!
//! A transaction takes in whole simulations until it has enough rows or is old enough; everything
//! of one simulation is in one transaction.

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use kameo::actor::{Actor, ActorId, ActorRef, WeakActorRef};
use kameo::error::{ActorStopReason, PanicError};
use kameo::mailbox::{MailboxReceiver, Signal};
use kameo::message::{Context, Message};
use rusqlite::{Connection, params};

use super::durability::JournalSync;
use super::journal::JournalWatch;
use super::record::{FailedSimulation, OutcomeDetail};
use super::rows::{Prepared, Rows};
use super::rules;
use super::runs::end_run;
use super::{PendingSimulation, RunId, RunState, Store, StoreError, WriteSummary};
use crate::sweep::{Decision, Identity, Point, SimulationSpec, SinkError};

/// A transaction is committed when it has this many rows …
const BATCH_ROWS: u64 = 20_000;
/// … or is this old: what a kill can cost.
const BATCH_TIME: Duration = Duration::from_millis(200);

/// What the writer is told.
pub(super) enum Write {
    /// A simulation came to its end.
    Finished(Box<Prepared>),
    /// A simulation failed; with its specification as JSON.
    Failed(Box<FailedSimulation>, String),
    /// A simulation begins.
    Started(String),
    /// Another program has done a simulation; these are points that are read off it.
    Adopted(String, Vec<Point>),
    /// A rule decided.
    Decided(Vec<Decision>),
    /// The run is over.
    End(RunState),
}

/// Becomes part of the run, which has begun.
pub(super) struct Entered {
    /// Points that are done.
    pub(super) done: Vec<Point>,
    /// Simulations that are to be done, each with its points.
    pub(super) pending: Vec<(Identity, SimulationSpec, Vec<Point>)>,
    /// Whether they begin a new generation.
    pub(super) fresh: bool,
}

/// Asks for the values of a quantity at points, in their order.
pub(super) struct AskedValues {
    pub(super) quantity: String,
    pub(super) points: Vec<Identity>,
}

/// Why the writer stopped, for those who find it gone: set before its mailbox closes.
pub(super) type Fault = Arc<OnceLock<String>>;

/// The writer of one run.
pub(super) struct WriterActor {
    store: Store,
    run: RunId,
    rows: Rows,
    batch: Batch,
    /// Transactions that the journal knows of.
    settled: u64,
    watch: JournalWatch,
    journal: JournalSync,
    is_closed: bool,
    error: Option<StoreError>,
    fault: Fault,
    begun: Instant,
    messages: u64,
}

impl WriterActor {
    /// The writer of a run that has begun.
    pub(super) fn new(
        store: Store,
        run: RunId,
        detail: OutcomeDetail,
        fault: Fault,
    ) -> Result<Self, StoreError> {
        let rows = Rows::new(store.studies, &store.connection, run, detail, false)
            .map_err(|error| store.error(WRITING, error))?;
        Ok(Self {
            rows,
            run,
            batch: Batch::default(),
            settled: 0,
            watch: JournalWatch::new(&store.path),
            journal: JournalSync::default(),
            is_closed: false,
            error: None,
            fault,
            begun: Instant::now(),
            messages: 0,
            store,
        })
    }

    /// What was written, or why it could not be.
    pub(super) fn into_summary(self) -> Result<WriteSummary, StoreError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.rows.summary),
        }
    }

    /// Makes more part of the run, in transactions of its own.
    fn enter(&mut self, entered: &Entered) -> Result<(), StoreError> {
        self.commit()?;
        let Entered {
            done,
            pending,
            fresh,
        } = entered;
        self.store.link_done_points(self.run, done)?;
        let simulations = pending.iter().map(|(id, spec, points)| PendingSimulation {
            id: *id,
            spec: spec.clone(),
            points: points.iter().collect(),
        });
        self.store.enter_pending(self.run, simulations, *fresh)?;
        let added = done.len()
            + pending
                .iter()
                .map(|(.., points)| points.len())
                .sum::<usize>();
        self.store
            .connection
            .execute(
                "UPDATE run SET points = points + ?2 WHERE id = ?1",
                params![self.run.0, added as i64],
            )
            .map(drop)
            .map_err(|error| self.store.error(WRITING, error))
    }

    fn values(&mut self, asked: &AskedValues) -> Result<Vec<Option<f64>>, StoreError> {
        self.commit()?;
        let Store {
            studies,
            connection,
            ..
        } = &self.store;
        rules::values(*studies, connection, &asked.quantity, &asked.points)
            .map_err(|error| self.store.error("reading what a rule decides by", error))
    }

    fn write(&mut self, message: &Write) -> Result<(), StoreError> {
        let (connection, rows) = (&self.store.connection, &mut self.rows);
        let written = self
            .batch
            .begin(connection)
            .and_then(|()| match message {
                Write::Finished(prepared) => rows.finished(connection, prepared),
                Write::Failed(failed, spec) => rows.failed(connection, failed, spec),
                Write::Started(id) => rows.started(connection, id),
                Write::Adopted(id, points) => rows.adopted(connection, id, points),
                Write::Decided(decisions) => rules::write(connection, self.run, decisions),
                Write::End(state) => {
                    end_run(self.store.studies, connection, self.run, *state).map(|()| 0)
                }
            })
            .and_then(|count| self.batch.wrote(connection, count));
        written.map_err(|error| self.store.error(WRITING, error))?;
        match message {
            Write::End(_) => self.close(),
            _ => self.settle(),
        }
    }

    /// Commits what waits for company no longer, and syncs the journal if it is time.
    fn catch_up(&mut self) -> Result<(), StoreError> {
        self.commit()?;
        self.journal.sync_if_due(&self.store)?;
        self.settle()
    }

    /// Commits what is left and brings the journal to the disk.
    fn close(&mut self) -> Result<(), StoreError> {
        self.commit()?;
        self.journal.committed(&self.store);
        self.journal.sync(&self.store)?;
        self.is_closed = true;
        self.rows.summary.transactions = self.batch.transactions;
        self.look_for_file()
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.batch
            .commit(&self.store.connection)
            .map_err(|error| self.store.error(WRITING, error))
    }

    /// What follows a commit.
    fn settle(&mut self) -> Result<(), StoreError> {
        if self.batch.transactions == self.settled {
            return Ok(());
        }
        self.settled = self.batch.transactions;
        self.journal.committed(&self.store);
        self.journal.sync_if_due(&self.store)?;
        self.look_for_file()?;
        self.watch.look();
        Ok(())
    }

    fn look_for_file(&self) -> Result<(), StoreError> {
        if self.store.is_in_place() {
            return Ok(());
        }
        let path = self.store.path.clone();
        Err(StoreError::Gone { path })
    }

    /// Keeps the reason of a failure and gives up the transaction: half a simulation is never kept.
    fn checked(&mut self, written: Result<(), StoreError>) -> Result<(), SinkError> {
        written.map_err(|error| {
            self.batch.abandon(&self.store.connection);
            let reason = error.to_string();
            self.error.get_or_insert(error);
            SinkError::Stopped(self.fault.get_or_init(|| reason).clone())
        })
    }
}

/// What the writer does, in its errors.
const WRITING: &str = "writing results";

impl Actor for WriterActor {
    type Args = Self;
    type Error = SinkError;

    fn name() -> &'static str {
        "store"
    }

    async fn on_start(writer: Self, _: ActorRef<Self>) -> Result<Self, SinkError> {
        Ok(writer)
    }

    /// Waits for a message, no longer than until the open transaction is due, or the journal.
    async fn next(
        &mut self,
        _: WeakActorRef<Self>,
        mailbox: &mut MailboxReceiver<Self>,
    ) -> Result<Option<Signal<Self>>, SinkError> {
        loop {
            let due = self.batch.due().into_iter().chain(self.journal.due()).min();
            let Some(due) = due else {
                return Ok(mailbox.recv().await);
            };
            match tokio::time::timeout_at(due.into(), mailbox.recv()).await {
                Ok(signal) => return Ok(signal),
                Err(_) => {
                    let late = self.catch_up();
                    self.checked(late)?;
                }
            }
        }
    }

    async fn on_panic(
        &mut self,
        _: WeakActorRef<Self>,
        panic: PanicError,
    ) -> Result<ControlFlow<ActorStopReason>, SinkError> {
        if self.error.is_none() {
            let reason = format!("it panicked: {panic}");
            // Kept by `checked`; kameo has the reason of the stop already.
            let _ = self.checked(Err(StoreError::WriterStopped { reason }));
        }
        Ok(ControlFlow::Break(ActorStopReason::Panicked(panic)))
    }

    /// Whoever is linked learns of the end of this actor, which does not depend on theirs.
    async fn on_link_died(
        &mut self,
        _: WeakActorRef<Self>,
        _: ActorId,
        _: ActorStopReason,
    ) -> Result<ControlFlow<ActorStopReason>, SinkError> {
        Ok(ControlFlow::Continue(()))
    }

    /// A writer that was left alone commits what it was given.
    async fn on_stop(
        &mut self,
        _: WeakActorRef<Self>,
        _: ActorStopReason,
    ) -> Result<(), SinkError> {
        if self.error.is_none() && !self.is_closed {
            let closed = self.close();
            // The error is found in `into_summary`.
            let _ = self.checked(closed);
        }
        let summary = &self.rows.summary;
        tracing::debug!(
            actor = <Self as Actor>::name(),
            messages = self.messages,
            simulations = summary.simulations,
            failed = summary.failed,
            points = summary.points,
            transactions = self.batch.transactions,
            seconds = self.begun.elapsed().as_secs_f64(),
            error = self.fault.get().map(String::as_str),
            "the writer of the store has ended"
        );
        Ok(())
    }
}

impl Message<Write> for WriterActor {
    type Reply = Result<(), SinkError>;

    async fn handle(
        &mut self,
        message: Write,
        context: &mut Context<Self, Self::Reply>,
    ) -> Self::Reply {
        self.messages += 1;
        let written = self.write(&message);
        self.checked(written)?;
        if self.is_closed {
            context.stop();
        }
        Ok(())
    }
}

impl Message<Entered> for WriterActor {
    type Reply = Result<(), SinkError>;

    async fn handle(
        &mut self,
        entered: Entered,
        _: &mut Context<Self, Self::Reply>,
    ) -> Self::Reply {
        self.messages += 1;
        let done = self.enter(&entered);
        self.checked(done)
    }
}

impl Message<AskedValues> for WriterActor {
    type Reply = Result<Vec<Option<f64>>, SinkError>;

    async fn handle(
        &mut self,
        asked: AskedValues,
        _: &mut Context<Self, Self::Reply>,
    ) -> Self::Reply {
        self.messages += 1;
        match self.values(&asked) {
            Ok(values) => Ok(values),
            Err(error) => self.checked(Err(error)).map(|()| Vec::new()),
        }
    }
}

/// The transaction under way.
#[derive(Default)]
struct Batch {
    since: Option<Instant>,
    rows: u64,
    transactions: u64,
}

impl Batch {
    /// When the transaction is to be committed; `None` where none is open.
    fn due(&self) -> Option<Instant> {
        self.since.map(|since| since + BATCH_TIME)
    }

    fn begin(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        if self.since.is_none() {
            connection
                .prepare_cached("BEGIN IMMEDIATE")?
                .raw_execute()?;
            self.since = Some(Instant::now());
        }
        Ok(())
    }

    fn wrote(&mut self, connection: &Connection, rows: u64) -> rusqlite::Result<()> {
        self.rows += rows;
        if self.rows >= BATCH_ROWS || self.due().is_some_and(|due| due <= Instant::now()) {
            return self.commit(connection);
        }
        Ok(())
    }

    fn commit(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        if self.since.is_some() {
            connection.prepare_cached("COMMIT")?.raw_execute()?;
            self.since = None;
            self.rows = 0;
            self.transactions += 1;
        }
        Ok(())
    }

    fn abandon(&mut self, connection: &Connection) {
        if !connection.is_autocommit() {
            // SQLite rolls back by itself when the connection closes, should even this fail.
            let _ = connection.execute_batch("ROLLBACK");
        }
        self.since = None;
    }
}
