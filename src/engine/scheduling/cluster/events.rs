//! What happens to a cluster, and the order of it in one instant.

use crate::scheduling::replanning::SameInstant;
use crate::units::NodeIndex;
use crate::workload::JobId;

/// What can happen; the numbers are the versions that [`super::jobs::JobRecord::version`] makes stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A checkpoint is written that shared its bandwidth; the number is that of [`crate::scheduling::bandwidth::SharedBandwidth::version`].
    Written(u32),
    End(JobId, u32),
    Repair(NodeIndex),
    Failure(NodeIndex),
    Start(JobId, u32),
    /// A job begins to write with shared bandwidth.
    Write(JobId, u32),
    GiveUp(JobId, u32),
    Cancellation(JobId),
    Arrival(JobId),
    /// The policy wants to be asked again.
    WakeUp,
}

impl Event {
    /// The order of events at equal times (spec §3.14.1; A-34: an end comes before a failure).
    pub(super) fn class(self) -> u8 {
        match self {
            Self::Written(_) => 0,
            Self::End(..) => 1,
            Self::Repair(_) => 2,
            Self::Failure(_) => 3,
            Self::Start(..) | Self::WakeUp => 4,
            Self::Write(..) => 5,
            Self::GiveUp(..) => 6,
            Self::Cancellation(_) => 7,
            Self::Arrival(_) => 9,
        }
    }

    /// The same of the arrival of a request, beside those of jobs (A4 of spec `grid-reservations.md`).
    pub(super) fn request_class(order: SameInstant) -> u8 {
        match order {
            SameInstant::RequestFirst => 8,
            SameInstant::JobFirst => 10,
        }
    }
}
