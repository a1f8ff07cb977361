//! Across clusters: a broker that co-reserves parts at several of them (spec `co-reservation.md`).
//!
//! A client's [`CoRequest`](crate::workload::CoRequest) becomes candidate starts, probes to every cluster, a lazy tree of
//! candidates and a search that reserves part after part. [`Algorithm`] says which of this an algorithm of the thesis does.

mod algorithm;
mod grid;
pub mod measured;
pub mod measures;
mod outcome;
mod settings;
mod study;

pub use algorithm::{Accuracy, Algorithm, AlgorithmRow, Order, Repair};
pub use grid::{ClusterWorkload, GridInputs, GridRun};
pub use outcome::{
    CoOutcome, CoVerdict, MessageCounts, OfferBounds, ProbeCounts, TimeLine, TimeLineSample,
};
pub use settings::{
    CoReservationSettings, GridFailureSettings, MessageSettings, RiskChoice, RiskSettings,
    SearchSettings, StartCap,
};
pub use study::StudySettings;
