//! Workflows that buy slots.

pub mod provisioning;
