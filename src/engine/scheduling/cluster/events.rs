//! What happens to a cluster, and the order of it in one instant.

use crate::units::NodeIndex;
use crate::workload::JobId;

/// What can happen; the numbers are the versions that [`super::jobs::JobRecord::version`] makes stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    End(JobId, u32),
    Repair(NodeIndex),
    Failure(NodeIndex),
    Start(JobId, u32),
    GiveUp(JobId, u32),
    Cancellation(JobId),
    Arrival(JobId),
}

impl Event {
    /// The order of events at equal times (spec §3.14.1; A-34: an end comes before a failure).
    pub(super) fn class(self) -> u8 {
        match self {
            Self::End(..) => 0,
            Self::Repair(_) => 1,
            Self::Failure(_) => 2,
            Self::Start(..) => 3,
            Self::GiveUp(..) => 4,
            Self::Cancellation(_) => 5,
            Self::Arrival(_) => 6,
        }
    }
}
