//! Across clusters: a broker that co-reserves parts at several of them (spec `co-reservation.md`).
//!
//! A client's [`CoRequest`](crate::workload::CoRequest) becomes candidate starts, probes to every cluster, a lazy tree of
//! candidates and a search that reserves part after part. [`Algorithm`] says which of this an algorithm of the thesis does.

mod algorithm;
mod assignment;
mod counting;
mod grid;
mod listed;
pub mod measures;
mod outcome;
mod outlook;
mod ranked;
mod search;
mod settings;
mod starts;
mod study;
mod table;
mod worst_case;

pub use algorithm::{Accuracy, Algorithm, AlgorithmRow, Order, Repair};
pub use grid::{ClusterWorkload, GridInputs, GridRun};
pub use outcome::{
    CoOutcome, CoVerdict, MessageCounts, OfferBounds, ProbeCounts, TimeLine, TimeLineSample,
};
pub use search::{Search, SearchCounts, SearchRules, Step};
pub use settings::{
    CoReservationSettings, GridFailureSettings, MessageSettings, RiskChoice, RiskSettings,
    SearchSettings, StartCap,
};
pub use starts::{candidate_starts, rigid_candidates, unprobed_candidates};
pub use study::StudySettings;
pub use table::Candidate;
pub use worst_case::{variations, worst_case};
