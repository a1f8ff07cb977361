//! The coordinator: an actor that supervises the workers and whoever watches, hands work out and
//! counts what became of it. Which task is next is decided by [`Order`].
//!
//! What is *not* here: how a simulation works, and how results are kept. The order in which results
//! arrive differs from run to run; the results do not.

use std::ops::{AddAssign, ControlFlow};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kameo::actor::{Actor, ActorId, ActorRef, Spawn, WeakActorRef};
use kameo::error::{ActorStopReason, Infallible};
use kameo::mailbox;
use kameo::message::{Context, Message};
use kameo::supervision::RestartPolicy;

use super::messages::{Ended, How, Panicked, Piece, Report, Watch, Work};
use super::roles::SweepWork;
use super::shift::SLICE;
use super::watcher::Watcher;
use super::worker::{Place, Worker, name_of};
use crate::sweep::order::Order;
use crate::sweep::results::SinkError;

/// Until a simulation that another program has under way is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// What the workers did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Simulations that came to their end.
    pub simulations: usize,
    /// Points read off them.
    pub points: usize,
    /// Simulations that failed.
    pub failed_simulations: usize,
    /// Points missing for them.
    pub failed_points: usize,
    /// Points of simulations that another program did meanwhile.
    pub adopted_points: usize,
    /// Simulations not begun, because of an interruption.
    pub left_out: usize,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.simulations += other.simulations;
        self.points += other.points;
        self.failed_simulations += other.failed_simulations;
        self.failed_points += other.failed_points;
        self.adopted_points += other.adopted_points;
        self.left_out += other.left_out;
    }
}

/// The actor at the root of a sweep.
pub struct Coordinator {
    work: Arc<SweepWork>,
    begun: Instant,
    order: Order,
    members: Vec<Member>,
    watcher: ActorRef<Watcher>,
    /// Tasks that another program has under way: looked at again when nothing else is left.
    waiting: Vec<usize>,
    /// Whether the last look found nothing but those.
    looked_in_vain: bool,
    said_that_it_waits: bool,
    said_that_threads_lack: bool,
    /// Simulations that panicked, until they are entered as failed.
    panicked: Vec<Panicked>,
    tally: Tally,
    /// Simulations that another program did meanwhile.
    adopted: usize,
    stopped: Option<SinkError>,
    messages: u64,
}

/// A worker as its coordinator sees it.
struct Member {
    actor: ActorRef<Worker>,
    is_busy: bool,
    /// The system gives it no thread.
    is_gone: bool,
    messages: u64,
    simulations: usize,
    restarts: usize,
    last_begun: Duration,
}

impl Coordinator {
    /// What the workers did, or why they had to stop.
    pub(super) fn into_tally(self) -> Result<Tally, SinkError> {
        if let Some(stopped) = self.stopped {
            return Err(stopped);
        }
        let Tally {
            simulations,
            failed_simulations,
            ..
        } = self.tally;
        let left_out = self.work.tasks.len() - simulations - failed_simulations - self.adopted;
        Ok(Tally {
            left_out,
            ..self.tally
        })
    }

    fn account(&mut self, report: &mut Report) {
        let member = &mut self.members[report.worker];
        member.is_busy = false;
        if let Some(stopped) = report.stopped.take() {
            self.stopped.get_or_insert(stopped);
        }
        if let Some(error) = report.no_thread.take() {
            member.is_gone = true;
            if self.members.iter().all(|member| member.is_gone) {
                self.stopped.get_or_insert(SinkError::Stopped(format!(
                    "the system gives no thread to simulate on: {error}; allow this user more \
                     processes (`ulimit -u`) or end some"
                )));
            } else if !self.said_that_threads_lack {
                self.said_that_threads_lack = true;
                tracing::warn!(
                    %error,
                    "the system does not give every worker a thread: going on with those that have one"
                );
            }
        } else if let Some(panicked) = report.panicked.take() {
            member.restarts += 1;
            self.panicked.push(panicked);
        }
        self.looked_in_vain = !report.ended.is_empty()
            && (report.ended.iter()).all(|ended| matches!(ended.how, How::Elsewhere));
        // From the last one on: what was left is put back in front, in its order.
        for Ended { place, how, wall } in report.ended.iter().rev() {
            let points = self.work.tasks[*place].points.len();
            match how {
                How::Finished => {
                    self.order.took(*place, *wall);
                    self.tally.simulations += 1;
                    self.tally.points += points;
                    self.members[report.worker].simulations += 1;
                }
                How::Failed(_) => {
                    self.order.took(*place, *wall);
                    self.tally.failed_simulations += 1;
                    self.tally.failed_points += points;
                    self.members[report.worker].simulations += 1;
                }
                How::Adopted => {
                    self.order.left_to_others(*place);
                    self.adopted += 1;
                    self.tally.adopted_points += points;
                }
                How::Elsewhere => {
                    self.order.left_to_others(*place);
                    self.waiting.push(*place);
                }
                How::Left => self.order.put_back(*place),
            }
        }
    }

    /// Hands work to every worker that has none.
    async fn hand_out(&mut self, own: &ActorRef<Self>) {
        for number in 0..self.members.len() {
            if self.members[number].is_busy || self.members[number].is_gone {
                continue;
            }
            let Some((pieces, pause)) = self.next_work() else {
                return;
            };
            if let Some(Piece::Simulate(place)) = pieces.first() {
                // The sweep goes on where nobody watches.
                let _ = self.watcher.tell(Watch::Begun(*place)).await;
            }
            let member = &mut self.members[number];
            member.is_busy = true;
            member.messages += 1;
            member.last_begun = self.begun.elapsed();
            // It has a mailbox for as long as this actor lives.
            let work = Work {
                pieces,
                pause,
                answer_to: own.clone(),
            };
            let _ = member.actor.tell(work).await;
        }
    }

    /// What a worker does next, and how long it waits before; `None` where nothing is left that may
    /// be begun.
    fn next_work(&mut self) -> Option<(Vec<Piece>, Duration)> {
        if self.stopped.is_some() {
            return None;
        }
        if !self.panicked.is_empty() {
            let entries = self.panicked.drain(..).map(|panicked| Piece::EnterFailure {
                place: panicked.place,
                error: panicked.error,
                wall: panicked.wall,
            });
            return Some((entries.collect(), Duration::ZERO));
        }
        if self.work.interrupt.is_requested() {
            return None;
        }
        let workers = self.members.len();
        let batch = self.order.batch(self.begun.elapsed(), SLICE, workers);
        if !batch.is_empty() {
            let pieces = batch.into_iter().map(Piece::Simulate).collect();
            return Some((pieces, Duration::ZERO));
        }
        let share = self.waiting.len().div_ceil(workers);
        if share == 0 {
            return None;
        }
        if self.looked_in_vain && !self.said_that_it_waits {
            self.said_that_it_waits = true;
            tracing::info!(
                "waiting for simulations that another program has under way in this store \
                 (`bookahead runs` shows it); Ctrl-C stops waiting, and what is done is kept"
            );
        }
        let pause = if self.looked_in_vain {
            LOOK_AGAIN
        } else {
            Duration::ZERO
        };
        let pieces = self.waiting.drain(..share).map(Piece::Simulate).collect();
        Some((pieces, pause))
    }

    fn is_idle(&self) -> bool {
        self.members.iter().all(|member| !member.is_busy)
    }
}

impl Actor for Coordinator {
    type Args = Arc<SweepWork>;
    type Error = Infallible;

    fn name() -> &'static str {
        "coordinator"
    }

    async fn on_start(work: Arc<SweepWork>, own: ActorRef<Self>) -> Result<Self, Infallible> {
        // Not bounded: waiting for a watcher that waits for its restart by this actor would never
        // end.
        let watcher = Watcher::supervise(&own, Watcher(Arc::clone(&work)))
            .spawn_with_mailbox(mailbox::unbounded())
            .await;
        let mut members = Vec::new();
        for number in 0..work.workers.clamp(1, work.tasks.len().max(1)) {
            let place = Place {
                number,
                work: Arc::clone(&work),
            };
            // Every simulation of a sweep may panic: there is no number of restarts that is too
            // many.
            let actor = Worker::supervise_with(&own, move || place.clone())
                .restart_policy(RestartPolicy::Transient)
                .restart_limit(u32::MAX, Duration::MAX)
                .spawn_with_mailbox(mailbox::bounded(4))
                .await;
            members.push(Member {
                actor,
                is_busy: false,
                is_gone: false,
                messages: 0,
                simulations: 0,
                restarts: 0,
                last_begun: Duration::ZERO,
            });
        }
        let mut coordinator = Self {
            begun: Instant::now(),
            order: Order::new(&work.sweep, &work.tasks),
            work,
            members,
            watcher,
            waiting: Vec::new(),
            looked_in_vain: false,
            said_that_it_waits: false,
            said_that_threads_lack: false,
            panicked: Vec::new(),
            tally: Tally::default(),
            adopted: 0,
            stopped: None,
            messages: 0,
        };
        coordinator.hand_out(&own).await;
        if coordinator.is_idle() {
            // Whoever wished to stop did so before anything began.
            let _ = own.stop_gracefully().await;
        }
        Ok(coordinator)
    }

    /// Workers are restarted without a word to this actor. The death of the sink's actor stops the
    /// sweep with its reason; that of whoever watches does not.
    async fn on_link_died(
        &mut self,
        _: WeakActorRef<Self>,
        id: ActorId,
        reason: ActorStopReason,
    ) -> Result<ControlFlow<ActorStopReason>, Infallible> {
        if id == self.watcher.id() {
            tracing::warn!("the progress of the sweep is shown no longer: {reason}");
            return Ok(ControlFlow::Continue(()));
        }
        let reason = match &reason {
            ActorStopReason::Panicked(panic) => panic
                .with_downcast_ref(|stopped: &SinkError| stopped.to_string())
                .unwrap_or_else(|| panic.to_string()),
            other => format!("whoever keeps the results has ended: {other}"),
        };
        self.stopped.get_or_insert(SinkError::Stopped(reason));
        Ok(if self.is_idle() {
            ControlFlow::Break(ActorStopReason::Normal)
        } else {
            // Simulations under way end first.
            ControlFlow::Continue(())
        })
    }

    async fn on_stop(
        &mut self,
        _: WeakActorRef<Self>,
        _: ActorStopReason,
    ) -> Result<(), Infallible> {
        for (number, member) in self.members.iter().enumerate() {
            tracing::debug!(
                actor = name_of(number),
                messages = member.messages,
                simulations = member.simulations,
                restarts = member.restarts,
                last_begun_after_seconds = member.last_begun.as_secs_f64(),
                "a worker has ended"
            );
        }
        tracing::debug!(
            actor = <Self as Actor>::name(),
            messages = self.messages,
            workers = self.members.len(),
            simulations = self.tally.simulations,
            failed = self.tally.failed_simulations,
            adopted = self.adopted,
            seconds = self.begun.elapsed().as_secs_f64(),
            "the coordinator has ended"
        );
        Ok(())
    }
}

impl Message<Report> for Coordinator {
    type Reply = ();

    async fn handle(&mut self, mut report: Report, context: &mut Context<Self, ()>) {
        self.messages += 1;
        self.account(&mut report);
        let _ = self.watcher.tell(Watch::Ended(report.ended)).await;
        self.hand_out(context.actor_ref()).await;
        if self.is_idle() {
            context.stop();
        }
    }
}
