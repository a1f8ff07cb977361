//! How tight estimates are: jobs whose users estimate better than those of the log (Birkenheuer
//! 2012, §4.3 and §8.2: paying users would).
//!
//! Here stand the rule, and which estimates deadlines and loads follow. `estimated` applies it to
//! the usable jobs of a workload, before they are split into learning and evaluation.

use serde::{Deserialize, Serialize};

use crate::units::Seconds;

/// Which estimate of a job something follows, where estimates are tightened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhichEstimate {
    /// The one that the job asks for.
    #[default]
    Tightened,
    /// The one that the log or the model has.
    Recorded,
}

impl WhichEstimate {
    /// Whether it is the one of the log or the model.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        *self == Self::Recorded
    }

    fn is_tightened(&self) -> bool {
        *self == Self::Tightened
    }
}

/// How far estimates are drawn towards run times, and what follows them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tightness {
    /// β, the share of an overestimate that is left: 0 for estimates that are run times, below 1
    /// (estimates that are as recorded have no tightness).
    pub share: f64,
    /// Which estimate deadlines follow.
    #[serde(default, skip_serializing_if = "WhichEstimate::is_tightened")]
    pub deadline: WhichEstimate,
    /// Which estimates a wanted load by estimates counts: by the recorded ones, arrivals are
    /// compressed as those of the log are, and the jobs ask for less than that load.
    #[serde(default, skip_serializing_if = "WhichEstimate::is_tightened")]
    pub load: WhichEstimate,
}

impl Tightness {
    /// The share β, with deadlines and load by the tightened estimates.
    #[must_use]
    pub const fn of(share: f64) -> Self {
        Self {
            share,
            deadline: WhichEstimate::Tightened,
            load: WhichEstimate::Tightened,
        }
    }

    /// The tightened estimate `max(1, ⌈ω + β (x − ω)⌉)` of a job that asks for x = `recorded` and
    /// runs for ω = `runtime`. A job that outlasts its estimate keeps it, and no estimate grows.
    #[must_use]
    pub fn estimate(&self, recorded: Seconds, runtime: Seconds) -> Seconds {
        let over = (recorded - runtime).0;
        if over <= 0 {
            return recorded;
        }
        // Products that are whole numbers but for rounding are whole numbers.
        let left = libm::ceil(self.share * over as f64 - 1e-6).max(0.0) as i64;
        (runtime + Seconds(left.min(over))).max(Seconds(1))
    }

    /// What distinguishes a workload with these estimates from one with the recorded ones, for
    /// [`WorkloadSettings::key`](super::WorkloadSettings::key).
    pub(super) fn key(&self) -> String {
        let by = |what: &str, which: WhichEstimate| match which {
            WhichEstimate::Tightened => String::new(),
            WhichEstimate::Recorded => format!(",{what}:recorded"),
        };
        format!(
            ";tightness={}{}{}",
            self.share,
            by("deadline", self.deadline),
            by("load", self.load)
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tightened(share: f64, estimate: i64, runtime: i64) -> i64 {
        Tightness::of(share)
            .estimate(Seconds(estimate), Seconds(runtime))
            .0
    }

    /// §15 of the addendum to Birkenheuer 2012: x = 10 h, ω = 4 h.
    #[test]
    fn an_overestimate_of_six_hours_shrinks_to_its_share() {
        const HOUR: i64 = 3_600;
        // 4 + β · 6 h; 4 h of it are 40, 57 (4 / 7), 73 (4 / 5.5) and 100 %.
        let expected = [
            (1.0, 10 * HOUR, 40.0),
            (0.5, 7 * HOUR, 57.0),
            (0.25, 5 * HOUR + HOUR / 2, 73.0),
            (0.0, 4 * HOUR, 100.0),
        ];
        for (share, estimate, used) in expected {
            let found = tightened(share, 10 * HOUR, 4 * HOUR);
            assert_eq!(found, estimate);
            assert_eq!((400.0 * HOUR as f64 / found as f64).round(), used);
        }
    }

    #[test]
    fn what_is_left_of_an_overestimate_is_rounded_up_but_not_by_errors_of_rounding() {
        // 10 + 0.25 · 3 = 10.75.
        assert_eq!(tightened(0.25, 13, 10), 11);
        // 0.1 · 3 = 0.30000000000000004 in floating point, a hundred times that is 30.
        assert_eq!(tightened(0.1, 310, 10), 40);
        assert_eq!(tightened(0.7, 20, 10), 17);
        assert_eq!(tightened(0.0, 100, 0), 1, "no estimate is shorter than 1 s");
        assert_eq!(tightened(0.0, -1, -1), -1, "no request is no overestimate");
    }

    proptest! {
        #[test]
        fn a_job_that_outlasts_its_estimate_keeps_it(
            share in 0.0_f64..=1.0, estimate in 1_i64..1_000_000, over in 0_i64..1_000_000,
        ) {
            prop_assert_eq!(tightened(share, estimate, estimate + over), estimate);
        }

        #[test]
        fn estimates_grow_with_the_share_between_the_run_time_and_what_is_recorded(
            shares in (0.0_f64..=1.0, 0.0_f64..=1.0),
            estimate in 1_i64..10_000_000,
            runtime in 0_i64..10_000_000,
        ) {
            let (less, more) = (shares.0.min(shares.1), shares.0.max(shares.1));
            let (tight, loose) = (tightened(less, estimate, runtime), tightened(more, estimate, runtime));
            prop_assert!(tight <= loose && loose <= estimate);
            prop_assert!(tight >= runtime.min(estimate) && tight >= 1);
        }

        #[test]
        fn the_whole_overestimate_is_the_recorded_estimate(
            estimate in 1_i64..10_000_000, runtime in 0_i64..10_000_000,
        ) {
            prop_assert_eq!(tightened(1.0, estimate, runtime), estimate);
        }
    }
}
