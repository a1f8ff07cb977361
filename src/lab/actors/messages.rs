//! What the actors of one simulation say to each other. Every exchange inside simulated time is ask and reply.

use kameo::Reply;

use crate::failures::NodeEvent;
use crate::scheduling::SlotStudyRun;
use crate::scheduling::measures::Measured;
use crate::scheduling::reserving::{ReservationOutcome, ReservationTotals};
use crate::scheduling::{JobOutcome, SimulationMetrics};
use crate::units::Seconds;
use crate::workload::{Job, JobId, ReservationRequest};

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

/// To a cluster: take these arrivals and node events and work off everything before `until`.
#[derive(Clone, Debug)]
pub struct Advance {
    /// Jobs submitted before `until`.
    pub arrivals: Vec<Job>,
    /// Node failures and repairs before `until`.
    pub node_events: Vec<NodeEvent>,
    /// Jobs that their users take back before `until` if they have not started, and when.
    pub cancellations: Vec<(Seconds, JobId)>,
    /// End of the granted window, exclusive.
    pub until: Seconds,
}

/// Reply of a cluster to [`Advance`].
#[derive(Clone, Debug, Reply)]
pub struct Progress {
    /// Outcomes that became final in the window.
    pub outcomes: Vec<JobOutcome>,
    /// Jobs that were taken back in the window, and when.
    pub cancelled: Vec<(Seconds, JobId)>,
    /// The cluster's own next event.
    pub next_event: Option<Seconds>,
    /// Whether every job handed over so far has its outcome.
    pub idle: bool,
}

/// To a cluster: your totals, please.
#[derive(Clone, Copy, Debug)]
pub struct ReportTotals;

/// Reply of a cluster to [`ReportTotals`].
#[derive(Clone, Copy, Debug, Reply)]
pub struct Totals(pub SimulationMetrics);

/// To a machine that takes reservations: take these arrivals and requests and work off everything before `until`.
#[derive(Clone, Debug)]
pub struct AdvanceReserving {
    /// Jobs submitted before `until`.
    pub arrivals: Vec<Job>,
    /// Requests submitted before `until`.
    pub requests: Vec<ReservationRequest>,
    /// Failures and repairs of nodes before `until`.
    pub node_events: Vec<NodeEvent>,
    /// End of the granted window, exclusive.
    pub until: Seconds,
}

/// Reply of that machine to [`AdvanceReserving`].
#[derive(Clone, Debug, Reply)]
pub struct ReservingProgress {
    /// Outcomes of jobs that became final in the window.
    pub jobs: Vec<JobOutcome>,
    /// Outcomes of requests that became final in the window.
    pub reservations: Vec<ReservationOutcome>,
    /// The machine's own next event.
    pub next_event: Option<Seconds>,
    /// Whether everything handed over so far has its outcome.
    pub idle: bool,
}

/// To a machine that takes reservations: your totals, please.
#[derive(Clone, Copy, Debug)]
pub struct ReportReserving;

/// Reply to [`ReportReserving`].
#[derive(Clone, Copy, Debug, Reply)]
pub struct ReservingTotals {
    /// Of the jobs.
    pub jobs: SimulationMetrics,
    /// Of the requests.
    pub reservations: ReservationTotals,
}

/// To a machine that is watched from outside: take these arrivals and work off everything before `until`.
#[derive(Clone, Debug)]
pub struct AdvanceWatched {
    /// Jobs submitted before `until`.
    pub arrivals: Vec<Job>,
    /// End of the granted window, exclusive.
    pub until: Seconds,
}

/// Reply of that machine to [`AdvanceWatched`].
#[derive(Clone, Copy, Debug, Reply)]
pub struct WatchedProgress {
    /// The machine's own next event.
    pub next_event: Option<Seconds>,
    /// Whether everything that is asked of it was seen, whatever else is to happen.
    pub done: bool,
}

/// To a machine that advertises slots: what was seen?
#[derive(Clone, Copy, Debug)]
pub struct ReportSlots;

/// Reply to [`ReportSlots`].
#[derive(Clone, Debug, Reply)]
pub struct SlotsSeen(pub SlotStudyRun);

/// To clients: what did they do?
#[derive(Clone, Copy, Debug)]
pub struct ReportMeasures;

/// Reply to [`ReportMeasures`].
#[derive(Clone, Debug, Reply)]
pub struct Measures(pub Measured);
