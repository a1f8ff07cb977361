//! Means over replications and their intervals: the one place that makes an interval.
//!
//! The unit is the independent replication. Which method makes the interval of a mean follows from
//! the kind of the quantity ([`QuantityKind`](bookahead_core::scheduling::measures::QuantityKind)):
//! Student's t for means and for paired differences, Student's t on the logit scale for shares and
//! on the logarithmic scale for counts of rare events and for whatever would reach below 0 and
//! cannot, Hall's transformation for skewed sums, Welch's t for two independent sets of
//! replications, blocks for neighbouring stretches of one log, the jackknife for statistics that
//! are no means. Where one long simulation stands in for replications, blocks of its weeks are the
//! units ([`Weekly`]). Nothing here knows what a quantity means; docs/statistics.md says where
//! which method is used.

mod choice;
mod estimate;
mod interval;
mod jackknife;
mod neighbours;
mod weeks;
mod welch;

pub use self::choice::{Choice, distinct};
pub use self::estimate::{Estimate, Moments};
pub use self::interval::{Interval, Method, student_t_95};
pub use self::neighbours::{FEWEST_NEIGHBOURS, Neighbours, Replicated};
pub use self::weeks::{Blocks, FEWEST_BLOCKS, LARGEST_LAG, Weekly};
pub use self::welch::Welch;

/// The page that explains intervals and marks to readers of every report.
pub const EXPLAINED: &str =
    "Units, pairs, intervals and marks are explained in docs/statistics.md.";

/// What a reader of a table must know of the intervals beside its means.
pub const INTERVALS: &str = "A 95 % interval over replications is ± its half width by Student's t; of shares (logit scale), \
    counts of rare events and what would reach below 0 and cannot (logarithmic scale) and, from 20 replications on, sums of \
    few large amounts such as penalties (Hall's correction for skewness) it is [from, to]. 0 (< x): never seen, and below x \
    a replication with 95 %. There is none where the replications do not differ. (n 4): only 4 replications have a value.";

/// Fewer replications than this carry no interval of a skewed sum. With ten, Student's t contains
/// the truth of a lognormal sum in 85 of 100 cases and Hall's correction in 90; with twenty, 87
/// and 93.
pub const FEWEST_FOR_SKEWED: u32 = 20;

/// The level of every test.
const LEVEL: f64 = 0.05;

/// Whether a p-value, after its correction, shows a difference.
#[must_use]
pub fn is_shown(p_value: f64) -> bool {
    p_value <= LEVEL
}

/// These p-values after Holm's correction: where those of at most 5 % are called differences, the
/// chance of any false alarm among all of them is 5 %.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|one, two| p_values[*one].total_cmp(&p_values[*two]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut least: f64 = 0.0;
    for (rank, at) in order.iter().enumerate() {
        least = least.max(p_values[*at] * (p_values.len() - rank) as f64);
        adjusted[*at] = least.min(1.0);
    }
    adjusted
}

#[cfg(test)]
mod tests;
