//! Tests that cross rooms, one module a subject.

mod golden_scenarios;
mod oracles;
mod support;
