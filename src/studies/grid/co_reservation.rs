//! A broker that co-reserves parts at several clusters (Meltzer 2005).
//!
//! A client's [`CoRequest`](bookahead_core::workload::CoRequest) becomes candidate starts, probes
//! to every cluster, a lazy tree of candidates, and a search that reserves part after part.
//! [`Algorithm`] says which of these steps an algorithm of the thesis takes.

mod algorithm;
mod assignment;
pub mod broker;
mod counting;
pub mod evaluation;
mod exchange;
mod failures;
mod information;
mod inputs;
mod listed;
pub mod local;
mod machine;
mod matching;
pub mod measures;
pub mod messages;
mod network;
mod outcome;
mod scene;

mod cluster_setup;
mod open_candidates;
mod ranked;
mod search;
mod settings;
mod site;
mod starts;
pub mod study;
mod table;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod testutils;
mod waiting;
#[cfg(test)]
mod watched_cluster;
mod worst_case;

pub use algorithm::{Accuracy, Algorithm, AlgorithmRow, Order, Repair, Valuation};
pub use cluster_setup::clusters;
pub(crate) use cluster_setup::drawn_reliability;
pub use exchange::{Exchange, Task};
pub use failures::{ClusterOutage, OutageEvents};
pub use information::InformationSettings;
pub use inputs::{ClusterWorkload, CoReservationInputs, CoReservationRun};
pub use machine::{
    ClusterAnswer, ClusterProgress, ClusterQuestion, CoReservationInput, CoReservationOutput,
    CoReservations, MAXIMUM_IDLE_WINDOWS, WINDOW,
};
pub use network::Network;
pub use outcome::{
    AttemptFate, CoAttempt, CoOutcome, CoVerdict, FreeCpus, MessageCounts, OfferBounds,
    ProbeCounts, TimeLine, TimeLineSample,
};
pub use scene::co_reservation_scene;
pub use search::{Search, SearchCounts, SearchRules, Step};
pub use settings::{
    ClusterFailureSettings, CoReservationSettings, MessageSettings, Patience, RequestClass,
    RiskChoice, RiskSettings, SearchSettings, SecondThoughts, SortBy, StartCap, WatchSettings,
};
pub use site::Site;
pub use starts::{candidate_starts, rigid_candidates, unprobed_candidates};
pub use table::Candidate;
pub use worst_case::{variations, worst_case};
