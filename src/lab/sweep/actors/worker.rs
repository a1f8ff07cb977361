//! A worker: an actor that has its simulations done by a thread of its own.
//!
//! The actor itself runs on the thread of the coordinator, so that its supervisor can restart it
//! there. kameo's `spawn_in_thread` would panic where the system gives no thread. A simulation
//! starts a runtime for its own actors, which tokio does not allow inside of another one.

use std::any::Any;
use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use kameo::actor::{Actor, ActorRef, WeakActorRef};
use kameo::error::{ActorStopReason, Infallible};
use kameo::message::{Context, Message};
use tokio::sync::oneshot;

use super::messages::{Ended, How, Report, Work};
use super::roles::SweepWork;
use super::shift::Shift;
use crate::sweep::results::SinkError;

/// The place of a worker, which outlives it. It does not know the coordinator, which keeps it for
/// restarts: neither would ever be freed.
#[derive(Clone)]
pub(super) struct Place {
    /// From 0.
    pub(super) number: usize,
    pub(super) work: Arc<SweepWork>,
}

/// A worker at its place.
pub(super) struct Worker {
    place: Place,
    /// Begun with the first message.
    hands: Option<Hands>,
}

/// The thread of a worker and the way to it.
struct Hands {
    orders: Sender<(Work, oneshot::Sender<Report>)>,
    thread: JoinHandle<()>,
}

impl Hands {
    fn start(place: &Place) -> io::Result<Self> {
        let (orders, received) = channel::<(Work, oneshot::Sender<Report>)>();
        let work = Arc::clone(&place.work);
        let thread = std::thread::Builder::new()
            .name(name_of(place.number))
            .spawn(move || {
                for (order, reply) in received {
                    Shift::work_off(&work, order, reply);
                }
            })?;
        Ok(Self { orders, thread })
    }

    /// Ends the thread, which has nothing to do; what it panicked with, if it did.
    fn rest(self) -> Result<(), Box<dyn Any + Send>> {
        drop(self.orders);
        self.thread.join()
    }
}

/// What a worker is called in the log and by the system.
pub(super) fn name_of(number: usize) -> String {
    format!("worker-{}", number + 1)
}

impl Worker {
    /// Has the work done, and says what became of it; also what the thread panicked with, which is
    /// gone then.
    async fn have_done(&mut self, work: Work) -> (Report, Option<Box<dyn Any + Send>>) {
        let hands = match self
            .hands
            .take()
            .map_or_else(|| Hands::start(&self.place), Ok)
        {
            Ok(hands) => hands,
            Err(error) => return (nothing_done(&work, &error), None),
        };
        let (reply, answer) = oneshot::channel();
        // A thread that is gone drops the reply, too.
        let _ = hands.orders.send((work, reply));
        let (mut report, is_alive) = match answer.await {
            Ok(report) => {
                let is_alive = report.panicked.is_none();
                (report, is_alive)
            }
            Err(_) => (Report::default(), false),
        };
        if is_alive {
            self.hands = Some(hands);
            return (report, None);
        }
        let panic = hands.rest().err();
        let text = panic.as_deref().map_or_else(
            || "its thread is gone".to_owned(),
            |panic| panic_text(panic).to_owned(),
        );
        match &mut report.panicked {
            Some(panicked) => panicked.error = format!("the simulation panicked: {text}"),
            None => {
                let reason = format!("a worker stopped outside of a simulation: {text}");
                report.stopped = Some(SinkError::Stopped(reason));
            }
        }
        (report, panic)
    }
}

fn nothing_done(work: &Work, error: &io::Error) -> Report {
    let left = work.pieces.iter().map(|piece| Ended {
        place: piece.place(),
        how: How::Left,
        wall: Duration::ZERO,
    });
    Report {
        ended: left.collect(),
        no_thread: Some(error.to_string()),
        ..Report::default()
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}

impl Actor for Worker {
    type Args = Place;
    type Error = Infallible;

    fn name() -> &'static str {
        "worker"
    }

    async fn on_start(place: Place, _: ActorRef<Self>) -> Result<Self, Infallible> {
        Ok(Self { place, hands: None })
    }

    async fn on_stop(
        &mut self,
        _: WeakActorRef<Self>,
        _: ActorStopReason,
    ) -> Result<(), Infallible> {
        if let Some(hands) = self.hands.take() {
            // A panic of it was reported with the work that it was doing.
            let _ = hands.rest();
        }
        Ok(())
    }
}

impl Message<Work> for Worker {
    type Reply = ();

    async fn handle(&mut self, work: Work, _: &mut Context<Self, ()>) {
        let coordinator = work.answer_to.clone();
        let (mut report, panic) = self.have_done(work).await;
        report.worker = self.place.number;
        // A coordinator that is gone wants no reports.
        let _ = coordinator.tell(report).await;
        if let Some(panic) = panic {
            // This worker ends as its thread did; its supervisor begins a new one.
            resume_unwind(panic);
        }
    }
}
