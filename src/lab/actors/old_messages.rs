//! What the actors of one simulation say to each other. Every exchange inside simulated time is ask and reply.

use kameo::Reply;

use crate::units::Seconds;

/// To a client, the failure injector or a cluster: when is your next event?
#[derive(Clone, Copy, Debug)]
pub struct WhenNext;

/// Reply to [`WhenNext`]: the time of the next event, or `None` when there will be none.
#[derive(Clone, Copy, Debug, Reply)]
pub struct NextEvent(pub Option<Seconds>);

/// To the clock: the next events of everybody; grant the next window.
#[derive(Clone, Debug)]
pub struct AskGrant {
    /// What everybody answered to [`WhenNext`].
    pub next_events: Vec<Option<Seconds>>,
}

/// Reply of the clock: everybody may work off what happens before `until`; `None` when nothing is left to happen.
#[derive(Clone, Copy, Debug, Reply)]
pub struct Grant {
    /// End of the granted window, exclusive.
    pub until: Option<Seconds>,
}

/// To a client or a failure injector: hand over everything before `until`, in order of time; of one instant by id. The reply is the list.
#[derive(Clone, Copy, Debug)]
pub struct HandOver {
    /// End of the granted window, exclusive.
    pub until: Seconds,
}
