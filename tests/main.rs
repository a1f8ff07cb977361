//! Tests that cross rooms, one module a subject.

mod golden_scenarios;
mod real_traces;
mod support;
mod sweeps;
