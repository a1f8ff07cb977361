//! The job: a rigid parallel request with an execution window, as every other module sees it.

use serde::{Deserialize, Serialize};

use super::RequestId;
use crate::units::{Megabytes, NodeSeconds, Nodes, Seconds};

/// The position of a job in the workload of one simulation, from 0.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct JobId(pub u32);

impl JobId {
    /// From here on a cluster counts the windows that were requested. Jobs of workloads and tasks
    /// of applications have lower ids.
    const FIRST_REQUEST: u32 = 3 << 30;

    /// From here on, up to twice that, a cluster counts the copies of jobs that run twice. Jobs of
    /// workloads have lower ids, tasks of applications higher ones.
    const FIRST_COPY: u32 = 1 << 30;

    /// The window of a request.
    #[must_use]
    pub fn of_request(request: RequestId) -> Self {
        debug_assert!(request.0 < 1 << 30, "ids of requests are small");
        Self(Self::FIRST_REQUEST + request.0)
    }

    /// Whose window it is, if it is one that was requested.
    #[must_use]
    pub fn request(self) -> Option<RequestId> {
        let place = self.0.checked_sub(Self::FIRST_REQUEST)?;
        Some(RequestId(place))
    }

    /// What stands in a plan for the `number`-th absence of nodes; no job has this id.
    #[must_use]
    pub fn of_absence(number: u32) -> Self {
        Self(u32::MAX - number)
    }

    /// The second run of a job on other nodes; `None` of what has none: copies, tasks, and windows
    /// of requests.
    #[must_use]
    pub fn copy(self) -> Option<Self> {
        (self.0 < Self::FIRST_COPY).then(|| Self(self.0 + Self::FIRST_COPY))
    }

    /// The job whose copy this is, if it is one.
    #[must_use]
    pub fn original(self) -> Option<Self> {
        let place = self.0.checked_sub(Self::FIRST_COPY)?;
        (place < Self::FIRST_COPY).then_some(Self(place))
    }
}

/// What a request leaves to the planner.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum JobKind {
    /// May start anywhere in its window, and may be overbooked.
    #[default]
    Flexible,
    /// A fixed reservation: its execution window is exactly as long as its estimate, so that it
    /// starts exactly at its release with its full length or is rejected at its submission. It can
    /// be neither moved nor overbooked (Birkenheuer 2008, §3; Heine 2005, §3, option reject).
    Reservation,
}

impl JobKind {
    /// Whether this is the kind that is not written down.
    #[must_use]
    pub fn is_flexible(&self) -> bool {
        *self == Self::Flexible
    }
}

/// A rigid parallel job: `nodes` nodes held exclusively for one contiguous interval within
/// `[release, deadline]` (Birkenheuer 2012, Table 3.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Position in this simulation's workload.
    pub id: JobId,
    /// The job number in the trace it came from (0 for jobs that were never in a trace).
    pub trace_number: i64,
    /// Occurrence time `o`: when the job is submitted and the accept-or-reject decision is taken.
    pub submit: Seconds,
    /// Release time `e`: the earliest permitted start.
    pub release: Seconds,
    /// User-estimated runtime `x`: what is booked and paid; the job never gets more.
    pub estimate: Seconds,
    /// Real runtime `ω`: known to the simulator only, never to a policy.
    pub runtime: Seconds,
    /// Deadline `d`: the latest permitted completion.
    pub deadline: Seconds,
    /// Requested nodes `n`.
    pub nodes: Nodes,
    /// The submitting user's number in the trace, where known.
    pub user: Option<i64>,
    /// The application's (executable's, or worker's) number in the trace, where known.
    pub application: Option<i64>,
    /// What the request leaves to the planner. Flexible jobs are written without it, as before
    /// there were reservations.
    #[serde(default, skip_serializing_if = "JobKind::is_flexible")]
    pub kind: JobKind,
    /// Memory of all its nodes together, where its machine counts it; 0 else.
    #[serde(default, skip_serializing_if = "Megabytes::is_none")]
    pub memory: Megabytes,
}

impl Job {
    /// A job that asks for `nodes` nodes for `estimate`, may start at once, uses all that it asks
    /// for and may wait for ever.
    #[must_use]
    pub fn rigid(id: JobId, submit: Seconds, nodes: Nodes, estimate: Seconds) -> Self {
        Self {
            id,
            trace_number: 0,
            submit,
            release: submit,
            estimate,
            runtime: estimate,
            deadline: Seconds::FAR,
            nodes,
            user: None,
            application: None,
            kind: JobKind::Flexible,
            memory: Megabytes(0),
        }
    }

    /// The same job, which in truth runs for `runtime`.
    #[must_use]
    pub fn running_for(self, runtime: Seconds) -> Self {
        Self { runtime, ..self }
    }

    /// The same job, which is to be over by `deadline`.
    #[must_use]
    pub fn due_by(self, deadline: Seconds) -> Self {
        Self { deadline, ..self }
    }

    /// The same job, which must not start before `release`.
    #[must_use]
    pub fn released_at(self, release: Seconds) -> Self {
        Self { release, ..self }
    }

    /// The same job, which needs so much memory.
    #[must_use]
    pub fn with_memory(self, memory: Megabytes) -> Self {
        Self { memory, ..self }
    }

    /// The same job, which had this number in its trace.
    #[must_use]
    pub fn numbered(self, trace_number: i64) -> Self {
        Self {
            trace_number,
            ..self
        }
    }

    /// The same job, submitted by the user of this number, where known.
    #[must_use]
    pub fn of_user(self, user: impl Into<Option<i64>>) -> Self {
        Self {
            user: user.into(),
            ..self
        }
    }

    /// The same job, which runs the application of this number, where known.
    #[must_use]
    pub fn of_application(self, application: impl Into<Option<i64>>) -> Self {
        Self {
            application: application.into(),
            ..self
        }
    }

    /// The fee `n · x`, always of the booked estimate and not of the time used (A-41).
    #[must_use]
    pub fn fee(&self) -> NodeSeconds {
        self.nodes.for_span(self.estimate)
    }

    /// The same request as a fixed reservation that starts at `start`: its window is
    /// `[start, start + estimate)`.
    #[must_use]
    pub fn into_reservation(self, start: Seconds) -> Self {
        Self {
            release: start,
            deadline: start + self.estimate,
            kind: JobKind::Reservation,
            ..self
        }
    }

    /// Whether this is a fixed reservation.
    #[must_use]
    pub fn is_reservation(&self) -> bool {
        self.kind == JobKind::Reservation
    }

    /// First second held and first second no longer held of a fixed reservation,
    /// `[release, release + estimate)`; `None` for a flexible job.
    #[must_use]
    pub fn fixed_window(&self) -> Option<(Seconds, Seconds)> {
        self.is_reservation()
            .then(|| (self.release, self.release + self.estimate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Job {
        Job::rigid(JobId(3), Seconds(10), Nodes(4), Seconds(100))
            .running_for(Seconds(60))
            .due_by(Seconds(210))
            .numbered(7)
            .of_user(1)
    }

    #[test]
    fn a_flexible_job_is_written_as_before_there_were_reservations() {
        let written = serde_json::to_string(&job()).unwrap();
        assert_eq!(
            written,
            r#"{"id":3,"trace_number":7,"submit":10,"release":10,"estimate":100,"runtime":60,"deadline":210,"nodes":4,"user":1,"application":null}"#
        );
        assert_eq!(serde_json::from_str::<Job>(&written).unwrap(), job());
    }

    #[test]
    fn a_reservation_is_written_as_one_and_comes_back() {
        let reservation = job().into_reservation(Seconds(500));
        let written = serde_json::to_string(&reservation).unwrap();
        assert!(written.ends_with(r#""kind":"reservation"}"#), "{written}");
        assert_eq!(serde_json::from_str::<Job>(&written).unwrap(), reservation);
    }

    #[test]
    fn the_window_of_a_reservation_is_exactly_its_estimate() {
        let reservation = job().into_reservation(Seconds(500));
        let window = (Seconds(500), Seconds(600));
        assert_eq!(reservation.fixed_window(), Some(window));
        assert_eq!((reservation.release, reservation.deadline), window);
        assert_eq!(reservation.submit, Seconds(10));
        assert_eq!(job().fixed_window(), None);
        assert_eq!(reservation.fee(), job().fee());
    }
}
