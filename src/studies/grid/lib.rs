//! Brokers that stand between users and several clusters.
//!
//! * *Co-reservation*: a request has several parts that must start together, each on a cluster of
//!   its own. A broker probes clusters, searches an assignment and reserves part after part
//!   ([`co_reservation`]); an [`Algorithm`](co_reservation::Algorithm) says how.
//! * *Market*: providers quote a price and a probability of failure for single jobs; a broker
//!   delegates to the best quote, as far as it believes it ([`market`]).
//!
//! The clusters behind a broker plan with any registered policy.
//!
//! ```
//! use bookahead_core::kernel::drive;
//! use bookahead_core::random::stream;
//! use bookahead_core::scheduling::PolicySpec;
//! use bookahead_core::units::{Nodes, Seconds};
//! use bookahead_core::workload::{Job, JobId};
//! use bookahead_grid::market::{
//!     DelegationRule, MarketInputs, MarketRun, MarketSettings, market_scene,
//! };
//!
//! // Two clusters of four nodes; each job needs one of them as a whole.
//! let settings = MarketSettings {
//!     clusters: 2,
//!     policy: PolicySpec::named("heuristic-planning"),
//!     rule: DelegationRule::Promised,
//!     value: 1.5,
//!     damage: 2.0,
//!     penalty: 1.0,
//!     discount: 0.5,
//!     optimists: 0.0,
//!     optimism: 1.0,
//!     prior_failures: 1.0,
//!     half_life_jobs: 0.0,
//!     migration: None,
//!     home: None,
//!     load_pricing: None,
//!     auction: None,
//!     cluster_failures: None,
//!     speeds: Vec::new(),
//!     prices: Vec::new(),
//!     budget: None,
//! };
//! let job = |id, due| {
//!     Job::rigid(JobId(id), Seconds(0), Nodes(4), Seconds(600)).due_by(Seconds(due))
//! };
//! let inputs = MarketInputs {
//!     nodes: Nodes(4),
//!     jobs: [job(0, 900), job(1, 900), job(2, 900)].into(),
//!     estimates: None,
//!     failures: Vec::new(),
//!     ties: stream(1, "market", 0, "ties"),
//!     homes: stream(1, "market", 0, "homes"),
//!     bids: stream(1, "market", 0, "bids"),
//! };
//! let scene = market_scene(&settings, &inputs, false).expect("a registered strategy");
//! let run = MarketRun::of(drive(scene, false));
//! // One each; nobody can take the third, which could only start when another one has ended.
//! let promises: Vec<_> = run.providers.iter().map(|provider| provider.jobs).collect();
//! assert_eq!(promises, [1, 1]);
//! ```

#[cfg(test)]
mod by_actors;

// Requests with parts on several clusters.
pub mod co_reservation;

// Single jobs, delegated to the best quote.
pub mod market;

// What studies of both have in common.
mod study;
