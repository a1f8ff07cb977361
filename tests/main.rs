//! Tests that cross rooms, in one binary.

mod real_traces;
