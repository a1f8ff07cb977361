//! A cluster behind its local reservation service: a batch queue, and parts of co-reservations that
//! it promises to a broker (Meltzer 2005, §4.1).
//!
//! [`LocalService`] is the interface that a broker uses, [`ReservationService`] the cluster behind
//! it.

mod accuracy;
mod backlog;
mod filters;
mod job_mix;
mod partition;
mod quota;
mod reservation_service;
mod service;
mod settings;
mod tariff;

pub use job_mix::JobMixSettings;
pub use partition::Partition;
pub use quota::{QuotaPeriod, QuotaPeriodError, QuotaPeriods};
pub use reservation_service::{ReservationService, RiskPolicy, RiskPolicyError};
pub use service::{
    BegunPart, ClusterId, FilterCounts, LocalService, LocalTotals, LostPart, OfferedPart,
    OutageEvent, PartOrder, PartOutcome, Precedence, Probe, ProbeAnswer, QueuedPart, Refusal,
    TimeLinePoint,
};
pub use settings::{
    AccuracySource, AccuracyWindow, BacklogWork, HourEdge, LocalSettings, LookAhead,
    NextEventSource, ProbeFilters, Tariff, TariffRow, WEEK,
};
pub use tariff::TariffError;
