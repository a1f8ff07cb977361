//! The one writer of a run, as everybody else sees it: results are handed over through a bounded
//! mailbox.
//!
//! Senders wait when the mailbox is full, so memory stays bounded by its length (by twice its
//! length while the actor begins: what came before that is kept beside the mailbox).

#[cfg(test)]
mod tests;

use std::io;
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use kameo::actor::{Actor, ActorRef, PreparedActor, Spawn};
use kameo::mailbox;

use super::processes::ProgressReader;
use super::record::{FailedSimulation, FinishedSimulation, OutcomeDetail};
use super::rows::{Prepared, spec_json};
use super::writer_actor::{AskedValues, Entered, Fault, Write, WriterActor};
use super::{RunId, RunState, Store, StoreError, WriteSummary};
use crate::sweep::{Decision, Identity, Point, SimulationProgress, all_end};

/// Owns the thread of the actor that writes. Dropped without [`Writer::finish`], it commits what it
/// was given and leaves the run in the state "running", as a program that died would.
#[derive(Debug)]
pub struct Writer {
    handle: WriterHandle,
    /// `None` where the system gave no thread.
    thread: Option<JoinHandle<Result<WriteSummary, StoreError>>>,
}

/// Hands results to the writer; cheap to clone.
#[derive(Clone)]
pub struct WriterHandle {
    actor: ActorRef<WriterActor>,
    detail: OutcomeDetail,
    fault: Fault,
    reader: Arc<ProgressReader>,
}

impl std::fmt::Debug for WriterHandle {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("WriterHandle")
            .field("actor", &self.actor.id())
            .field("detail", &self.detail)
            .finish_non_exhaustive()
    }
}

impl Writer {
    /// Starts the writer. `queue` is the number of simulations that may wait; at least one. Where
    /// the system gives no thread for it, whatever is handed to it is refused with that reason.
    #[must_use]
    pub fn start(store: Store, run: RunId, detail: OutcomeDetail, queue: usize) -> Self {
        let prepared = WriterActor::prepare_with_mailbox(mailbox::bounded(queue.max(1)));
        let handle = WriterHandle {
            actor: prepared.actor_ref().clone(),
            detail,
            fault: Arc::new(OnceLock::new()),
            reader: Arc::new(ProgressReader::new(&store.path, run)),
        };
        let fault = Arc::clone(&handle.fault);
        let thread = std::thread::Builder::new()
            .name(<WriterActor as Actor>::name().to_owned())
            .spawn(move || {
                let writer = WriterActor::new(store, run, detail, Arc::clone(&fault)).inspect_err(
                    |error| {
                        let _ = fault.set(error.to_string());
                    },
                )?;
                act(prepared, writer).unwrap_or_else(|error| {
                    let reason = format!("no runtime for its actor: {error}");
                    let _ = fault.set(reason.clone());
                    Err(StoreError::WriterStopped { reason })
                })
            })
            .inspect_err(|error| {
                let _ = handle
                    .fault
                    .set(format!("the system gives no thread for it: {error}"));
            });
        Self {
            handle,
            thread: thread.ok(),
        }
    }

    /// A handle for a worker.
    #[must_use]
    pub fn handle(&self) -> WriterHandle {
        self.handle.clone()
    }

    /// Writes what is left, marks the end of the run, and closes the store.
    ///
    /// # Errors
    ///
    /// When the store could not be written, now or earlier.
    pub fn finish(self, state: RunState) -> Result<WriteSummary, StoreError> {
        let Self { handle, thread } = self;
        // The last connection to close brings the journal into the file, which one for reading
        // cannot.
        handle.reader.close();
        let Some(thread) = thread else {
            return Err(handle.stopped());
        };
        // A writer that stopped says why when it is joined.
        let _ = handle.send(Write::End(state));
        thread.join().unwrap_or_else(|_| {
            Err(StoreError::WriterStopped {
                reason: "its thread panicked".to_owned(),
            })
        })
    }
}

/// Runs the writer on this thread until it ends.
fn act(
    prepared: PreparedActor<WriterActor>,
    writer: WriterActor,
) -> io::Result<Result<WriteSummary, StoreError>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    Ok(runtime.block_on(async {
        let ended = prepared.run(writer).await;
        all_end().await;
        match ended {
            Ok((writer, _)) => writer.into_summary(),
            Err(panic) => Err(StoreError::WriterStopped {
                reason: panic.to_string(),
            }),
        }
    }))
}

impl WriterHandle {
    /// Hands over a finished simulation; waits while the mailbox is full.
    ///
    /// # Errors
    ///
    /// [`StoreError::InvalidResult`] when this result cannot be stored (the writer goes on);
    /// [`StoreError::WriterStopped`] when the writer has stopped, with its reason.
    pub fn write(&self, finished: FinishedSimulation) -> Result<(), StoreError> {
        let prepared = Prepared::new(finished, self.detail)?;
        self.send(Write::Finished(Box::new(prepared)))
    }

    /// Hands over a simulation that failed; waits while the mailbox is full.
    ///
    /// # Errors
    ///
    /// [`StoreError::WriterStopped`] when the writer has stopped, with its reason.
    pub fn fail(&self, failed: FailedSimulation) -> Result<(), StoreError> {
        let spec = spec_json(&failed.id, &failed.spec)?;
        self.send(Write::Failed(Box::new(failed), spec))
    }

    /// Says that a simulation is under way in this run.
    ///
    /// # Errors
    ///
    /// [`StoreError::WriterStopped`] when the writer has stopped, with its reason.
    pub fn started(&self, id: &str) -> Result<(), StoreError> {
        self.send(Write::Started(id.to_owned()))
    }

    /// Makes points whose simulation another program has done part of this run.
    ///
    /// # Errors
    ///
    /// [`StoreError::WriterStopped`] when the writer has stopped, with its reason.
    pub fn adopt(&self, id: &str, points: Vec<Point>) -> Result<(), StoreError> {
        self.send(Write::Adopted(id.to_owned(), points))
    }

    /// Makes more part of the run.
    ///
    /// # Errors
    ///
    /// [`StoreError::WriterStopped`] when the writer has stopped, with its reason.
    pub(super) fn enter(&self, entered: Entered) -> Result<(), StoreError> {
        let done = self.actor.ask(entered).blocking_send();
        done.map_err(|_| self.stopped())
    }

    /// Keeps what a rule decided.
    ///
    /// # Errors
    ///
    /// [`StoreError::WriterStopped`] when the writer has stopped, with its reason.
    pub fn decide(&self, decisions: Vec<Decision>) -> Result<(), StoreError> {
        self.send(Write::Decided(decisions))
    }

    /// The values of a quantity at points, in their order, after everything that was handed over
    /// before; `None` where a point failed or has none.
    ///
    /// # Errors
    ///
    /// [`StoreError::WriterStopped`] when the writer has stopped, with its reason.
    pub fn values(
        &self,
        quantity: &str,
        points: &[Identity],
    ) -> Result<Vec<Option<f64>>, StoreError> {
        let asked = AskedValues {
            quantity: quantity.to_owned(),
            points: points.to_vec(),
        };
        let answered = self.actor.ask(asked).blocking_send();
        answered.map_err(|_| self.stopped())
    }

    /// How far the simulation is in the store, whoever works on it: a look that does not wait for
    /// the writer.
    #[must_use]
    pub fn progress(&self, id: &str) -> SimulationProgress {
        self.reader.progress(id, self.detail)
    }

    /// Links an actor to the writer, so that it is told when the writer stops.
    pub fn link<A: Actor>(&self, actor: &ActorRef<A>) {
        self.actor.blocking_link(actor);
    }

    fn send(&self, message: Write) -> Result<(), StoreError> {
        let sent = self.actor.tell(message).blocking_send();
        sent.map_err(|_| self.stopped())
    }

    /// The error of whoever finds the writer gone.
    fn stopped(&self) -> StoreError {
        let reason = self.fault.get().cloned();
        StoreError::WriterStopped {
            reason: reason.unwrap_or_else(|| "it was finished before".to_owned()),
        }
    }
}
