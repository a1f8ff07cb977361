//! The actors of a sweep: a coordinator that supervises workers and whoever watches, and is linked
//! to the writer of the store.
//!
//! ```text
//! coordinator ─ Work ─▶ worker ─▶ its thread: simulations ─ results ─▶ writer (bounded mailbox)
//!      ▲   └─── Watch ─▶ watcher    │
//!      └────────── Report ──────────┘
//! ```
//!
//! A simulation that panics ends the thread and with it the worker, which its supervisor begins
//! anew; the points are entered as failed. A writer that dies stops the sweep with its reason. A
//! writer that is behind has a full mailbox, where the threads of the workers wait. Actors hold
//! state and speak the protocol of [`messages`]: which task is next is decided by [`super::order`],
//! and what a thread does with one is in [`shift`].

mod coordinator;
mod messages;
mod roles;
mod shift;
#[cfg(test)]
mod tests;
mod watcher;
mod worker;

use std::sync::Arc;

use kameo::actor::Spawn;
use kameo::error::ActorStopReason;
use kameo::mailbox;

pub use coordinator::{Coordinator, Tally};
pub use roles::{Observer, ResultSink, Simulate, SweepWork};

use super::results::SinkError;

/// Works off all tasks; stops early when somebody wishes it.
///
/// # Errors
///
/// When the sink is broken, or when the system gives not even one thread; simulations under way end
/// first.
pub fn work_off(work: SweepWork) -> Result<Tally, SinkError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .map_err(|error| {
            SinkError::Stopped(format!("no runtime for the actors of a sweep: {error}"))
        })?;
    // Not bounded: a worker says nothing more before it has an answer.
    let prepared = Coordinator::prepare_with_mailbox(mailbox::unbounded());
    work.sink.link(prepared.actor_ref());
    runtime.block_on(async {
        let ended = prepared.run(Arc::new(work)).await;
        all_end().await;
        match ended {
            Ok((_, ActorStopReason::Panicked(panic))) | Err(panic) => Err(SinkError::Stopped(
                format!("the coordinator stopped: {panic}"),
            )),
            Ok((coordinator, _)) => coordinator.into_tally(),
        }
    })
}

/// Waits for the last words of the actors of this runtime, and of those that kameo spends on them.
pub(crate) async fn all_end() {
    let metrics = tokio::runtime::Handle::current().metrics();
    while metrics.num_alive_tasks() > 0 {
        tokio::task::yield_now().await;
    }
}
