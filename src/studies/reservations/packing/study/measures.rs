//! The packing of lists of jobs (`src/studies/reservations/packing.rs`).

use bookahead_core::scheduling::measures::{Measure, Topic, measure};

/// What it measures, in the order of tables.
#[rustfmt::skip]
pub const MEASURES: &[Measure] = &[
    measure("packing_ratio", "", "Height of the packing ÷ lower bound", 3, Topic::Machine),
    measure("packing_height_hours", "h", "Height of the packing (h)", 1, Topic::Machine),
    measure("packing_bound_hours", "h", "Lower bound of that height (h)", 1, Topic::Detail),
    measure("packing_idle_percent", "%", "Unused part of the packing (%)", 1, Topic::Machine),
];
