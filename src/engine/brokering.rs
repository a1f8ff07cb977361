//! Across clusters: a broker that co-reserves parts at several of them (spec `co-reservation.md`).
//!
//! A client's [`CoRequest`](crate::workload::CoRequest) becomes candidate starts, probes to every cluster, a lazy tree of
//! candidates and a search that reserves part after part. [`Algorithm`] says which of this an algorithm of the thesis does.

mod algorithm;
mod assignment;
pub mod broker;
mod counting;
#[cfg(test)]
mod drawn_grid;
pub mod evaluation;
mod exchange;
mod failures;
mod grid;
mod grid_machine;
mod grid_scene;
#[cfg(test)]
mod interleaving_tests;
mod listed;
pub mod market;
pub mod measures;
pub mod messages;
mod network;
mod outcome;

mod cluster_setup;
mod outlook;
pub mod provisioning;
mod ranked;
mod search;
mod settings;
mod site;
mod starts;
mod table;
#[cfg(test)]
mod watched_cluster;
#[cfg(test)]
mod whole_run_tests;
mod worst_case;

pub use algorithm::{Accuracy, Algorithm, AlgorithmRow, Order, Repair};
pub use cluster_setup::clusters;
pub use exchange::{Exchange, Task};
pub use failures::OutageEvents;
pub use grid::{ClusterWorkload, GridInputs, GridRun};
pub use grid_machine::{
    ClusterAnswer, ClusterProgress, ClusterQuestion, Grid, GridInput, GridOutput,
    MAXIMUM_IDLE_WINDOWS, WINDOW,
};
pub use grid_scene::grid_scene;
pub use network::Network;
pub use outcome::{
    AttemptFate, CoAttempt, CoOutcome, CoVerdict, MessageCounts, OfferBounds, ProbeCounts,
    TimeLine, TimeLineSample,
};
pub use search::{Search, SearchCounts, SearchRules, Step};
pub use settings::{
    CoReservationSettings, GridFailureSettings, MessageSettings, RiskChoice, RiskSettings,
    SearchSettings, SecondThoughts, SortBy, StartCap,
};
pub use site::Site;
pub use starts::{candidate_starts, rigid_candidates, unprobed_candidates};
pub use table::Candidate;
pub use worst_case::{variations, worst_case};
