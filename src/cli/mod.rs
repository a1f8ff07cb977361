//! The cli room.

pub mod report;
