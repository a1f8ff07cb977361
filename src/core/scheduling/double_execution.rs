//! Double execution: a risky job runs on two disjoint sets of nodes, so that it fails by its nodes
//! only where both fail (Birkenheuer 2012, §2.2.4).
//!
//! The thesis names it without saying when it pays. Here it does where the expected profit rises by
//! more than the nodes of the second run would earn otherwise.

use serde::{Deserialize, Serialize};

use super::measures::Measured;
use crate::units::NodeSeconds;

/// When a job is given a second run on other nodes in the same window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DoubleExecution {
    /// By how much the probability of success must rise, at full length: c / (1 + ρ), where c is
    /// what a node-hour earns elsewhere in coins, and ρ is penalty ÷ fee. Rules that agree on it
    /// give one schedule.
    pub least_rise: f64,
}

impl DoubleExecution {
    /// The rule for what a node-hour earns elsewhere, in coins, and for penalty ÷ fee.
    #[must_use]
    pub fn at(node_hour_price: f64, penalty_ratio: f64) -> Self {
        Self {
            least_rise: node_hour_price / (1.0 + penalty_ratio),
        }
    }

    /// Whether a second run pays that raises the probability of success from `single` to `double`
    /// and lasts this share of the estimate: the rise times (1 + ρ) and the fee n·x is more than c
    /// times the node-hours of the second run. For a slot of full length that is
    /// q(1 − q)(1 + ρ) > c, q being the probability that one set of nodes fails.
    #[must_use]
    pub fn pays(&self, single: f64, double: f64, share: f64) -> bool {
        double - single > self.least_rise * share
    }
}

/// Jobs with a second run, in a simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoubleTotals {
    /// Jobs that were given one.
    pub jobs: u64,
    /// Of those, jobs that succeeded in their second run after the first had been lost.
    pub rescued: u64,
    /// Node-time of runs that ended because the other one had done the work.
    pub spare: NodeSeconds,
}

impl DoubleTotals {
    /// The totals of two clusters together.
    #[must_use]
    pub fn beside(&self, other: &Self) -> Self {
        Self {
            jobs: self.jobs + other.jobs,
            rescued: self.rescued + other.rescued,
            spare: self.spare + other.spare,
        }
    }

    /// The measures of the study; none where no job has a second run.
    #[must_use]
    pub fn measures(&self) -> Measured {
        let mut measured = Measured::default();
        if self.jobs > 0 {
            measured.add("double_jobs", self.jobs as f64);
            measured.add("double_rescued", self.rescued as f64);
            measured.add("double_spare_node_hours", self.spare.coins().0);
        }
        measured
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scheduling::{Exposure, Hardware, Reliability, SuccessFactors};
    use crate::units::{Nodes, Seconds};

    /// The factors of `nodes` nodes for so many hours at the rates of the thesis.
    fn factors(nodes: u32, hours: i64, executable: f64) -> SuccessFactors {
        let hardware = Hardware::new(Reliability::default());
        hardware.window(
            Nodes(nodes),
            &Exposure::within(Seconds::ZERO, Seconds::HOUR * hours),
            executable,
        )
    }

    fn close(one: f64, other: f64, within: f64) -> bool {
        (one - other).abs() < within
    }

    #[test]
    fn two_runs_fail_by_their_nodes_with_the_square_of_the_probability_of_one() {
        // Birkenheuer 2012, §2.2.4: 0.0170058² and 0.195281².
        for (nodes, hours, single, double) in [
            (16, 6, 0.017_005_8, 0.000_289_20),
            (64, 24, 0.195_281, 0.038_135),
        ] {
            let one = factors(nodes, hours, 1.0);
            assert!(close(one.pof(), single, 5e-7), "{}", one.pof());
            let both = one.doubled();
            assert!(close(both.pof(), double, 5e-7), "{}", both.pof());
            let square = one.pof() * one.pof();
            assert!(close(both.pof(), square, 1e-12));
        }
    }

    #[test]
    fn both_runs_need_the_same_time_so_that_only_the_nodes_are_independent() {
        // F = 0.8, 16 nodes for 6 hours: 1 − 0.8 · 0.9829942 and 1 − 0.8 · (1 − 0.0170058²).
        let one = factors(16, 6, 0.8);
        assert!(close(one.pof(), 0.213_605, 5e-7));
        assert!(close(one.doubled().pof(), 0.200_231, 5e-7));
    }

    #[test]
    fn a_second_run_pays_up_to_the_price_at_which_it_costs_what_it_saves() {
        // q(1 − q)(1 + ρ): 0.0170058 · 0.9829942 · 2 = 0.0334, 0.195281 · 0.804719 · 5 = 0.7857.
        for (nodes, hours, ratio, price) in [(16, 6, 1.0, 0.0334), (64, 24, 4.0, 0.7857)] {
            let one = factors(nodes, hours, 1.0);
            let pays =
                |price| DoubleExecution::at(price, ratio).pays(one.pos(), one.doubled().pos(), 1.0);
            assert!(pays(price - 0.0001) && !pays(price + 0.0001));
        }
    }

    #[test]
    fn the_expected_profit_of_a_wide_long_job_rises_from_36_to_1243_coins_less_what_its_nodes_cost()
    {
        // Birkenheuer 2012, §1.2.1: 64 nodes, 24 h, ρ = 4, fee 1,536.
        let one = factors(64, 24, 1.0);
        let profit = |pof: f64| 1_536.0 * (1.0 - pof - 4.0 * pof);
        assert!(close(profit(one.pof()), 36.24, 0.01));
        assert!(close(profit(one.doubled().pof()), 1_243.13, 0.01));
    }

    #[test]
    fn a_job_with_a_shorter_slot_costs_as_much_less() {
        let one = factors(16, 6, 0.8);
        let rise = one.doubled().pos() - one.pos();
        let rule = DoubleExecution::at(rise * 4.0, 1.0);
        assert!(!rule.pays(one.pos(), one.doubled().pos(), 1.0));
        assert!(rule.pays(one.pos(), one.doubled().pos(), 0.4));
    }

    #[test]
    fn a_second_run_with_less_time_counts_where_the_first_fails_by_its_nodes() {
        // F₁ = 0.8, h₁ = 0.9829942 and F₂ = 0.5, h₂ the same: 0.7863954 + 0.4914971 · 0.0170058.
        let (one, other) = (factors(16, 6, 0.8), factors(16, 6, 0.5));
        assert!(close(one.beside(&other).pos(), 0.794_754, 1e-6));
    }

    proptest! {
        #[test]
        fn two_runs_are_never_worse_than_one_and_never_surer_than_the_time(
            available in 0.0..=1.0, executable in 0.0..=1.0, survives in 0.0..=1.0,
        ) {
            let one = SuccessFactors { available, executable, survives };
            let both = one.doubled();
            for factor in [both.available, both.executable, both.survives] {
                prop_assert!((0.0..=1.0 + 1e-12).contains(&factor));
            }
            prop_assert!(both.pos() >= one.pos() - 1e-12 && both.pos() <= executable + 1e-12);
            let beside = one.beside(&one);
            prop_assert!((beside.pos() - both.pos()).abs() < 1e-12);
            prop_assert!((beside.available - both.available).abs() < 1e-12);
            // F·h(1 − h) is the rise.
            let up = available * survives;
            prop_assert!((both.pos() - one.pos() - executable * up * (1.0 - up)).abs() < 1e-12);
        }
    }
}
