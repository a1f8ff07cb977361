//! Brokers over several clusters: one co-reserves parts at several of them, one delegates single
//! jobs, and one buys slots for applications.

pub mod co_reservation;
pub mod market;
pub mod provisioning;
