//! The failure injector: when nodes go down and come back.

use std::sync::Arc;

use kameo::Actor;
use kameo::message::{Context, Message};

use super::messages::{HandOver, NextEvent, WhenNext};
use crate::failures::{FailureTrace, NodeEvent};

/// Replays a failure trace: the same one for every strategy of a comparison.
#[derive(Debug, Actor)]
pub struct FailureInjector {
    trace: Arc<FailureTrace>,
    next: usize,
}

impl FailureInjector {
    /// An injector at the start of its trace.
    #[must_use]
    pub fn new(trace: Arc<FailureTrace>) -> Self {
        Self { trace, next: 0 }
    }
}

impl Message<WhenNext> for FailureInjector {
    type Reply = NextEvent;

    async fn handle(&mut self, _: WhenNext, _: &mut Context<Self, NextEvent>) -> NextEvent {
        NextEvent(self.trace.events.get(self.next).map(|event| event.time))
    }
}

impl Message<HandOver> for FailureInjector {
    type Reply = Vec<NodeEvent>;

    async fn handle(
        &mut self,
        ask: HandOver,
        _: &mut Context<Self, Vec<NodeEvent>>,
    ) -> Vec<NodeEvent> {
        let rest = &self.trace.events[self.next..];
        let count = rest.partition_point(|event| event.time < ask.until);
        self.next += count;
        rest[..count].to_vec()
    }
}
