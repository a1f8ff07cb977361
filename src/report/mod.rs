//! The report room.

pub mod claims;
pub mod reproduction;
