//! What the tests of several crates share: made-up runs of every study, as a store holds them.

// A test says what it needs, and panics where that is not so.
#![allow(clippy::unwrap_used)]

pub mod runs;
