//! Across clusters: a broker that co-reserves parts at several of them, one that delegates single
//! jobs, and one that buys slots for applications.

pub mod co_reservation;
pub mod market;
pub mod provisioning;
