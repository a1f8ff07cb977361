//! The penalty of a job that ends late: all or nothing, or growing with its lateness.

use serde::{Deserialize, Serialize};

use super::measures::Measured;
use crate::units::{NodeSeconds, Seconds};

/// `[penalty]`: a penalty that grows with the lateness. Without it a job that misses its deadline
/// has failed and owes all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PenaltySettings {
    /// Which share of the penalty is owed.
    pub function: PenaltyFunction,
    /// Which share of the fee is paid back where the full penalty is owed; of the fee of a late job
    /// this times the share of the penalty is. From 0 to 1.
    pub refund: f64,
}

/// The share of the penalty that is owed by how late a job ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PenaltyFunction {
    /// `lateness / full_after`, at most 1.
    Linear {
        /// The lateness at which all is owed, above 0.
        full_after: Seconds,
    },
    /// By steps: the share of the first whose lateness is not exceeded, 1 beyond the last.
    Stepwise {
        /// Ascending latenesses above 0, and ascending shares from 0 to below 1.
        steps: Vec<(Seconds, f64)>,
    },
}

/// How late a job ended that ended after its deadline, and what that costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Late {
    /// The lateness.
    pub by: Seconds,
    /// The share of the penalty that is owed, from 0 to 1.
    pub penalty: f64,
    /// The share of the fee that is paid back, from 0 to 1.
    pub refund: f64,
}

impl PenaltySettings {
    /// The share of the penalty that a job owes which ends so late, in `[0, 1]`.
    #[must_use]
    pub fn share(&self, lateness: Seconds) -> f64 {
        if lateness <= Seconds::ZERO {
            return 0.0;
        }
        match &self.function {
            PenaltyFunction::Linear { full_after } => {
                (lateness.0 as f64 / full_after.0 as f64).min(1.0)
            }
            PenaltyFunction::Stepwise { steps } => steps
                .iter()
                .find(|(bound, _)| lateness <= *bound)
                .map_or(1.0, |&(_, share)| share),
        }
    }

    /// The longest lateness at which less than all is owed: it is worth it to end a job until then,
    /// and not afterwards.
    #[must_use]
    pub fn longest(&self) -> Seconds {
        match &self.function {
            PenaltyFunction::Linear { full_after } => *full_after - Seconds(1),
            PenaltyFunction::Stepwise { steps } => {
                steps.last().map_or(Seconds::ZERO, |&(bound, _)| bound)
            }
        }
    }

    /// What a job owes that ends so late; `None` for one that is in time.
    #[must_use]
    pub fn late(&self, lateness: Seconds) -> Option<Late> {
        (lateness > Seconds::ZERO).then(|| {
            let penalty = self.share(lateness);
            Late {
                by: lateness,
                penalty,
                refund: self.refund * penalty,
            }
        })
    }
}

/// Late jobs of a simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateTotals {
    /// Jobs that ended late.
    pub jobs: u64,
    /// Sum of their latenesses.
    pub lateness: Seconds,
    /// Their penalties at penalty ratio 1.
    pub penalties: NodeSeconds,
    /// What of their fees was paid back.
    pub refunds: NodeSeconds,
}

impl LateTotals {
    /// The totals of two clusters together.
    #[must_use]
    pub fn beside(&self, other: &Self) -> Self {
        Self {
            jobs: self.jobs + other.jobs,
            lateness: self.lateness + other.lateness,
            penalties: self.penalties + other.penalties,
            refunds: self.refunds + other.refunds,
        }
    }

    /// Counts a late job with this fee; what of it is owed at penalty ratio 1 and what is paid
    /// back, each rounded to node-seconds.
    pub(super) fn count(&mut self, late: &Late, fee: NodeSeconds) -> (NodeSeconds, NodeSeconds) {
        let part = |share: f64| NodeSeconds(libm::round(fee.0 as f64 * share) as i64);
        let (owed, returned) = (part(late.penalty), part(late.refund));
        self.jobs += 1;
        self.lateness += late.by;
        self.penalties += owed;
        self.refunds += returned;
        (owed, returned)
    }

    /// The measures of the study; none where no job ended late.
    #[must_use]
    pub fn measures(&self) -> Measured {
        let mut measured = Measured::default();
        if self.jobs > 0 {
            measured.add("late_jobs", self.jobs as f64);
            measured.add("lateness_hours", self.lateness.hours() / self.jobs as f64);
            measured.add("late_forfeited_vc", self.penalties.coins().0);
            measured.add("refunds_vc", self.refunds.coins().0);
        }
        measured
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_penalty_is_the_quotient_of_the_latenesses() {
        let linear = PenaltySettings {
            function: PenaltyFunction::Linear {
                full_after: Seconds(400),
            },
            refund: 0.5,
        };
        let shares = [-5, 0, 1, 100, 399, 400, 4_000].map(|late| linear.share(Seconds(late)));
        assert_eq!(shares, [0.0, 0.0, 0.0025, 0.25, 0.9975, 1.0, 1.0]);
        assert_eq!(linear.longest(), Seconds(399));
        assert_eq!(linear.late(Seconds::ZERO), None);
        let late = linear.late(Seconds(100)).unwrap();
        assert_eq!((late.penalty, late.refund), (0.25, 0.125));
        // 0.25 and 0.125 of 1,002 node-seconds: 250.5 and 125.25.
        let mut totals = LateTotals::default();
        assert_eq!(
            totals.count(&late, NodeSeconds(1_002)),
            (NodeSeconds(251), NodeSeconds(125))
        );
    }

    #[test]
    fn steps_include_their_bounds_and_all_is_owed_beyond_the_last() {
        let steps = PenaltySettings {
            function: PenaltyFunction::Stepwise {
                steps: vec![(Seconds(60), 0.1), (Seconds(3_600), 0.5)],
            },
            refund: 1.0,
        };
        let shares = [0, 1, 60, 61, 3_600, 3_601].map(|late| steps.share(Seconds(late)));
        assert_eq!(shares, [0.0, 0.1, 0.1, 0.5, 0.5, 1.0]);
        assert_eq!(steps.longest(), Seconds(3_600));
    }
}
