//! Brokers over several clusters.

pub mod co_reservation;
pub mod market;
