//! Overbooking on one cluster: policies that promise start times, and sell more than there is.
//!
//! * A *strategy* is a policy by its name ([`registry::STRATEGIES`]): queues that promise nothing,
//!   plans that book what users ask for, and plans that overbook.
//! * *Overbooking* gives a job a slot shorter than its estimate. The *probability of success* says
//!   how likely it ends in time on nodes that stay up; the *acceptance* says how likely is enough
//!   ([`Acceptance`](bookahead_core::scheduling::Acceptance)).
//! * Plans name the nodes ([`Comprehensive`](policies::Comprehensive)), count them
//!   ([`Heuristic`](policies::Heuristic)), or shorten what is booked
//!   ([`Shortening`](policies::Shortening)).
//! * Clients may wait for answers before they submit again ([`ClosedLoop`]).
//!
//! A whole simulation is one call:
//!
//! ```
//! use bookahead_core::failures::FailureTrace;
//! use bookahead_core::scheduling::simulate_policy;
//! use bookahead_core::units::{Nodes, Seconds};
//! use bookahead_core::workload::{Job, JobId};
//! use bookahead_overbooking::policies::{Heuristic, HeuristicSettings};
//!
//! // Both want the whole machine of two nodes for eight hours; the first is done after two.
//! let hour = Seconds::HOUR;
//! let jobs = [
//!     Job::rigid(JobId(0), Seconds(0), Nodes(2), hour * 8).running_for(hour * 2),
//!     Job::rigid(JobId(1), hour, Nodes(2), hour * 8),
//! ];
//! let planning = Heuristic::planning(Nodes(2), HeuristicSettings::default());
//! let failures = FailureTrace::default();
//! let (_, outcomes) = simulate_policy(Nodes(2), Box::new(planning), &jobs, &failures);
//! assert_eq!(outcomes[1].promise.expect("accepted").start, hour * 8);
//! assert_eq!(outcomes[1].start, Some(hour * 2));
//! ```

pub mod best_effort;
mod client;
mod direct;
pub mod policies;
pub mod registry;
pub mod stream;
pub mod study;

pub use client::{ClientSettings, ClientTies, ClosedLoop, Dependencies, Follows, Lengthening};
pub use direct::{
    ClusterRun, Replay, Work, best_effort_scene, cluster_scene, learn_from_batteries, replay,
    replay_beside_best_effort, simulate, with_learned,
};
