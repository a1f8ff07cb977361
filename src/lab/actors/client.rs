//! Clients: who submits jobs and requests.

use std::sync::Arc;

use kameo::Actor;
use kameo::message::{Context, Message};

use super::old_messages::{HandOver, NextEvent, WhenNext};
use crate::units::Seconds;
use crate::workload::{CoRequest, Job, ReservationRequest};

/// What a client submits.
pub trait Submission: Clone + Send + Sync + 'static {
    /// When.
    fn submit(&self) -> Seconds;
}

impl Submission for Job {
    fn submit(&self) -> Seconds {
        self.submit
    }
}

impl Submission for ReservationRequest {
    fn submit(&self) -> Seconds {
        self.submit
    }
}

impl Submission for CoRequest {
    fn submit(&self) -> Seconds {
        self.submit
    }
}

/// A client that submits what is on a list and waits for no answer (an open loop): a request carries what its owner will choose
/// by, and what is done with a granted one is no part of the simulation.
#[derive(Debug, Actor)]
pub struct Client<T: Submission> {
    list: Arc<[T]>,
    next: usize,
}

impl<T: Submission> Client<T> {
    /// A client for a list in order of (submission, id).
    #[must_use]
    pub fn new(list: Arc<[T]>) -> Self {
        Self { list, next: 0 }
    }
}

impl<T: Submission> Message<WhenNext> for Client<T> {
    type Reply = NextEvent;

    async fn handle(&mut self, _: WhenNext, _: &mut Context<Self, NextEvent>) -> NextEvent {
        NextEvent(self.list.get(self.next).map(T::submit))
    }
}

impl<T: Submission> Message<HandOver> for Client<T> {
    type Reply = Vec<T>;

    async fn handle(&mut self, ask: HandOver, _: &mut Context<Self, Vec<T>>) -> Vec<T> {
        let rest = &self.list[self.next..];
        let count = rest.partition_point(|submission| submission.submit() < ask.until);
        self.next += count;
        rest[..count].to_vec()
    }
}
