//! Users who lengthen the estimate of a job while it runs (Birkenheuer 2012, §4.2).
//!
//! The users of the machine of the thesis did so before their jobs were killed. How often and how
//! early is not printed, and no public log says when an estimate was changed. Here the user of a
//! job that needs more time than it has asks for just that, some time before its end. Who asks is
//! drawn beforehand, so that all policies meet the same users.

use std::sync::Arc;

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::measures::Measured;
use crate::random::Stream;
use crate::units::{NodeSeconds, Seconds};
use crate::workload::JobId;

/// The users of a list of jobs who ask for more time where a job needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct LongerEstimates {
    asks: Arc<[bool]>,
    before: Seconds,
}

impl LongerEstimates {
    /// The random stream that they are drawn from: one number a job, in their order.
    pub const STREAM: &str = "longer-estimates";

    /// The users of so many jobs, with ids from 0, of whom this share asks so long before the end.
    /// A larger share contains the smaller one.
    #[must_use]
    pub fn drawn(jobs: usize, percent: f64, before: Seconds, stream: &mut Stream) -> Self {
        let asks = |_| {
            let draw: f64 = stream.random();
            100.0 * draw < percent
        };
        Self::of((0..jobs).map(asks).collect(), before)
    }

    /// Users as they are given: whether each asks, by the id of the job.
    #[must_use]
    pub fn of(asks: Vec<bool>, before: Seconds) -> Self {
        Self {
            asks: asks.into(),
            before,
        }
    }

    /// How long before the end of its job a user asks who does; `None` for the others, and where
    /// nobody was drawn.
    #[must_use]
    pub fn before(&self, job: JobId) -> Option<Seconds> {
        let asks = self.asks.get(job.0 as usize).copied();
        asks.unwrap_or(false).then_some(self.before)
    }
}

/// What users of running jobs asked for, in a simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongerTotals {
    /// How often one asked for more time.
    pub asked: u64,
    /// Of these, how often all of it was granted.
    pub in_full: u64,
    /// And how often a part.
    pub in_part: u64,
    /// Node-time that was granted beyond what the jobs had.
    pub granted: NodeSeconds,
}

impl LongerTotals {
    /// The totals of two clusters together.
    #[must_use]
    pub fn beside(&self, other: &Self) -> Self {
        Self {
            asked: self.asked + other.asked,
            in_full: self.in_full + other.in_full,
            in_part: self.in_part + other.in_part,
            granted: self.granted + other.granted,
        }
    }

    /// The measures of the study.
    #[must_use]
    pub fn measures(&self) -> Measured {
        let mut measured = Measured::default();
        let asked = self.asked as f64;
        measured.add("longer_asked", asked);
        measured.add_ratio("longer_in_full_percent", 100.0 * self.in_full as f64, asked);
        measured.add_ratio("longer_in_part_percent", 100.0 * self.in_part as f64, asked);
        measured.add("longer_granted_node_hours", self.granted.coins().0);
        measured
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    #[test]
    fn a_larger_share_contains_the_smaller_one_and_who_was_not_drawn_does_not_ask() {
        let drawn = |percent| {
            let mut draws = stream(1, "w", 0, LongerEstimates::STREAM);
            LongerEstimates::drawn(1_000, percent, Seconds(60), &mut draws)
        };
        let (few, more) = (drawn(25.0), drawn(75.0));
        let asks = |users: &LongerEstimates| -> Vec<u32> {
            (0..1_001)
                .filter(|&job| users.before(JobId(job)).is_some())
                .collect()
        };
        let (few, more) = (asks(&few), asks(&more));
        assert!(few.iter().all(|job| more.contains(job)));
        // Four standard deviations of 1,000 draws are 55.
        assert!(few.len().abs_diff(250) < 55 && more.len().abs_diff(750) < 55);
        assert_eq!(asks(&drawn(100.0)).len(), 1_000);
        assert_eq!(asks(&drawn(0.0)), [0; 0]);
    }
}
