//! The clock: the only actor that moves virtual time.

use kameo::Actor;
use kameo::message::{Context, Message};

use super::old_messages::{AskGrant, Grant};
use crate::units::Seconds;

/// Grants windows of virtual time, one after the other.
///
/// Within a window each participant works off its own events, in the order (time, event class, sequence number). A window begins at the
/// earliest pending event, so empty stretches cost nothing, and has a fixed length, so that an open-loop client never hands over
/// more than a window's arrivals. The closed loop of a broker runs within a window: its tasks come one after another, each at its instant.
#[derive(Debug, Actor)]
pub struct Clock {
    now: Seconds,
    window: Seconds,
}

impl Clock {
    /// A clock at time 0 that grants windows of this length.
    #[must_use]
    pub fn new(window: Seconds) -> Self {
        Self {
            now: Seconds::ZERO,
            window,
        }
    }
}

impl Message<AskGrant> for Clock {
    type Reply = Grant;

    async fn handle(&mut self, ask: AskGrant, _: &mut Context<Self, Grant>) -> Grant {
        let next = ask.next_events.into_iter().flatten().min();
        let until = next.map(|next| self.now.max(next) + self.window);
        if let Some(until) = until {
            self.now = until;
        }
        Grant { until }
    }
}
