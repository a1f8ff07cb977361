//! What the actors of a simulation of several clusters say to each other.

use kameo::Reply;

use crate::actors::Silent;
use crate::brokering::messages::Report;
use crate::brokering::{CoOutcome, Task, TimeLine};
use crate::scheduling::local::{ClusterId, LocalTotals, OutageEvent, PartOutcome};
use crate::scheduling::{JobOutcome, SimulationMetrics};
use crate::units::Seconds;
use crate::workload::{CoRequest, Job};

/// To the broker: a window begins, with these requests and outages in it.
#[derive(Clone, Debug)]
pub struct BeginWindow {
    /// Requests that are submitted in it.
    pub requests: Vec<CoRequest>,
    /// OutageEvents that fall in it.
    pub outages: Vec<(Seconds, ClusterId, OutageEvent)>,
}

/// To the broker: have clusters do what is to be done before `until`, one task after the other.
#[derive(Clone, Copy, Debug)]
pub struct WorkOff {
    /// End of the granted window, exclusive.
    pub until: Seconds,
}

/// Reply of the broker to [`WorkOff`]: whether every request has its verdict and nothing is under way.
#[derive(Clone, Copy, Debug, Reply)]
pub struct WorkedOff(pub Result<bool, Silent>);

/// To a cluster: do this.
#[derive(Clone, Debug)]
pub struct CarryOut(pub Task);

/// Reply of a cluster to [`CarryOut`].
#[derive(Clone, Debug, Reply)]
pub struct Done {
    /// The task that was done.
    pub task: Task,
    /// What came of it.
    pub report: Report,
}

/// To a cluster: these jobs are submitted in the window that begins.
#[derive(Clone, Debug)]
pub struct TakeJobs(pub Vec<Job>);

/// To a cluster: the window is over, work off what is left of it.
#[derive(Clone, Copy, Debug)]
pub struct EndWindow {
    /// Its end, exclusive.
    pub until: Seconds,
}

/// Reply of a cluster to [`EndWindow`].
#[derive(Clone, Debug, Reply)]
pub struct LocalProgress {
    /// Outcomes of jobs that became final.
    pub jobs: Vec<JobOutcome>,
    /// Outcomes of parts that became final.
    pub parts: Vec<PartOutcome>,
    /// Whether something will happen by itself.
    pub has_events: bool,
    /// Whether no job and no part is left.
    pub idle: bool,
}

/// To a cluster: your totals, please.
#[derive(Clone, Copy, Debug)]
pub struct ReportLocal;

/// Reply of a cluster to [`ReportLocal`].
#[derive(Clone, Debug, Reply)]
pub struct LocalReport {
    /// Of its jobs.
    pub metrics: SimulationMetrics,
    /// Of jobs and parts.
    pub totals: LocalTotals,
    /// How its CPUs were used.
    pub line: TimeLine,
}

/// To the broker: what became of the requests?
#[derive(Clone, Copy, Debug)]
pub struct ReportRequests;

/// Reply of the broker to [`ReportRequests`].
#[derive(Clone, Debug, Reply)]
pub struct RequestReport {
    /// One outcome a request, in order.
    pub requests: Vec<CoOutcome>,
}
