//! Clients: who submits jobs.

use std::sync::Arc;

use kameo::Actor;
use kameo::message::{Context, Message};

use super::messages::{Arrivals, HandOverArrivals, NextEvent, WhenNext};
use crate::workload::Job;

/// A client that replays a list of jobs and waits for no answer (an open loop).
#[derive(Debug, Actor)]
pub struct TraceClient {
    jobs: Arc<[Job]>,
    next: usize,
}

impl TraceClient {
    /// A client for jobs in order of (submission, id).
    #[must_use]
    pub fn new(jobs: Arc<[Job]>) -> Self {
        Self { jobs, next: 0 }
    }
}

impl Message<WhenNext> for TraceClient {
    type Reply = NextEvent;

    async fn handle(&mut self, _: WhenNext, _: &mut Context<Self, NextEvent>) -> NextEvent {
        NextEvent(self.jobs.get(self.next).map(|job| job.submit))
    }
}

impl Message<HandOverArrivals> for TraceClient {
    type Reply = Arrivals;

    async fn handle(&mut self, ask: HandOverArrivals, _: &mut Context<Self, Arrivals>) -> Arrivals {
        let rest = &self.jobs[self.next..];
        let count = rest.partition_point(|job| job.submit < ask.until);
        self.next += count;
        Arrivals(rest[..count].to_vec())
    }
}
