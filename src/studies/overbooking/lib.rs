//! Overbooked plans on one cluster.

mod client;
mod direct;
pub mod policies;
pub mod registry;
pub mod stream;

pub use client::{ClientSettings, ClientTies, ClosedLoop, Dependencies, Follows};
pub use direct::{ClusterRun, Replay, Work, cluster_scene, learn_from_batteries, replay, simulate};
