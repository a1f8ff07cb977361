//! Tests that cross rooms, one module a subject.

mod convolution;
mod golden_scenarios;
mod real_traces;
mod support;
mod sweeps;
