//! A cluster behind its local reservation service: a batch queue, and parts of co-reservations that it promises to a broker
//! (spec `co-reservation.md` §2.4, §4).
//!
//! [`LocalService`] is what a broker talks to; [`LocalMachine`] is the cluster of the thesis;
//! [`OverbookingMachine`] one that overbooks, and answers with a price and a risk.

mod backlog;
mod filters;
mod machine;
mod overbooking;
mod service;
mod settings;
mod tariff;

pub use machine::LocalMachine;
pub use overbooking::{Overbooking, OverbookingError, OverbookingMachine};
pub use service::{
    ClusterId, FilterCounts, LocalService, LocalTotals, LostPart, OfferedPart, OutageEvent,
    PartOrder, PartOutcome, Probe, ProbeAnswer, Refusal, TimeLinePoint,
};
pub use settings::{
    AccuracySource, BacklogWork, HourEdge, LocalSettings, NextEventSource, ProbeFilters, Tariff,
    TariffRow, WEEK,
};
pub use tariff::TariffError;
