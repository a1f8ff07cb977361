//! Classes of jobs and parts, as figures 16, 18, 24, 26 and 28 group them. The bounds of the thesis
//! are lost with its figures. Those by duration follow its text as far as it names them (1 h, 5 h,
//! 12 to 24 h); those by size are powers of two from 16 on.

use bookahead_core::units::{Nodes, Seconds};

/// Classes by CPUs, with the most CPUs of each; the last one has no bound.
pub const SIZE_CLASSES: [(&str, Nodes); 8] = [
    ("1-8", Nodes(8)),
    ("9-16", Nodes(16)),
    ("17-32", Nodes(32)),
    ("33-64", Nodes(64)),
    ("65-128", Nodes(128)),
    ("129-256", Nodes(256)),
    ("257-512", Nodes(512)),
    (">512", Nodes(u32::MAX)),
];

/// Classes by duration, with where each ends: what lasts exactly so long is in the next. The last
/// one also holds 24 h.
pub const DURATION_CLASSES: [(&str, Seconds); 5] = [
    ("<1h", Seconds(3_600)),
    ("1-5h", Seconds(5 * 3_600)),
    ("5-12h", Seconds(12 * 3_600)),
    ("12-24h", Seconds(24 * 3_600)),
    (">24h", Seconds(i64::MAX)),
];

/// The place of the class of this many CPUs in [`SIZE_CLASSES`].
#[must_use]
pub fn size_class(nodes: Nodes) -> usize {
    SIZE_CLASSES
        .iter()
        .position(|(_, most)| nodes <= *most)
        .unwrap_or(SIZE_CLASSES.len() - 1)
}

/// The place of the class of a duration in [`DURATION_CLASSES`].
#[must_use]
pub fn duration_class(duration: Seconds) -> usize {
    DURATION_CLASSES
        .iter()
        .position(|(_, end)| duration < *end)
        .unwrap_or(DURATION_CLASSES.len() - 1)
}
