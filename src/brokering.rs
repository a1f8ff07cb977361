//! Across clusters: a broker that co-reserves parts at several of them (spec `co-reservation.md`).
//!
//! A client's [`CoRequest`](crate::workload::CoRequest) becomes candidate starts, probes to every cluster, a lazy tree of
//! candidates and a search that reserves part after part. [`Algorithm`] says which of this an algorithm of the thesis does.

mod algorithm;
pub mod broker;
mod direct;
mod exchange;
mod failures;
mod grid;
pub mod letters;
pub mod measures;
mod network;
mod outcome;
pub mod search;
mod settings;
mod study;
#[cfg(test)]
mod interleaving_tests;
#[cfg(test)]
mod watched_cluster;

pub use algorithm::{Accuracy, Algorithm, AlgorithmRow, Order, Repair};
pub use direct::{PATIENCE, WINDOW, clusters, finish, simulate_grid};
pub use exchange::{Exchange, Task};
pub use failures::Blows;
pub use grid::{ClusterWorkload, GridInputs, GridRun, GridSeed};
pub use network::Network;
pub use outcome::{
    CoOutcome, CoVerdict, MessageCounts, OfferBounds, ProbeCounts, TimeLine, TimeLineSample,
};
pub use settings::{
    CoReservationSettings, GridFailureSettings, MessageSettings, RiskChoice, RiskSettings,
    SearchSettings, StartCap,
};
pub use study::StudySettings;
