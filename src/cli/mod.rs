//! The cli room.

pub mod reproduce;
