//! Acceptance tests of overbooked slots: by the probability of failure, or by the time that the job
//! may need.
//!
//! The tests of the dissertation compare a probability of failure with a threshold (Birkenheuer
//! 2012, §3.1.3, §5.1.4). The others are rules by which clouds overcommit memory and processors,
//! applied to time: the N-sigma rule, a percentile of the sum, and the larger of both (the peak
//! predictors of Bashir et al., "Take It to the Limit", EuroSys 2021). There the demands of tasks
//! are summed and must fit into a machine. Here the remaining time of the jobs in front and the
//! job's own run time are summed and must fit into a gap.

use serde::{Deserialize, Serialize};

use crate::estimates::{Moments, RatioDistribution};

/// When an overbooked slot is acceptable (Birkenheuer 2012, §3.1.3; docs/model.md, "Acceptance
/// tests").
///
/// In the rules of time, T is the time from the job's earliest start to its end: the wait for its
/// predecessors, as far as the strategy counts on them, plus its own run time. T must fit between
/// that start and the end of the slot. Node failures are not considered.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "test")]
pub enum Acceptance {
    /// Accept iff PoF < `maximum`.
    Pof {
        /// PoF_max, in `[0, 1]`.
        maximum: f64,
    },
    /// Accept iff PoS · fee > PoF · (`penalty_ratio` · fee) · `security_factor`.
    Risk {
        /// Penalty ÷ fee, ρ ≥ 0.
        penalty_ratio: f64,
        /// S ≥ 0.
        security_factor: f64,
    },
    /// Accept iff the mean of T plus `sigmas` standard deviations fits.
    MeanSigma {
        /// N ≥ 0.
        sigmas: f64,
    },
    /// Accept iff this percentile of T fits: the smallest time within which T ends with that
    /// probability.
    Percentile {
        /// In percent, from 0 to 100.
        percentile: f64,
    },
    /// Accept iff both fit, that is, the larger of both.
    Maximum {
        /// As of [`Acceptance::MeanSigma`].
        sigmas: f64,
        /// As of [`Acceptance::Percentile`].
        percentile: f64,
    },
}

impl Default for Acceptance {
    fn default() -> Self {
        Self::Pof { maximum: 0.2 }
    }
}

/// The margin of strict comparisons of probabilities, so that `1 − 0.8` does not pass
/// `< 0.2`.
pub const PROBABILITY_TOLERANCE: f64 = 1e-12;

/// A time that exceeds the room by this share of a second or of an estimate still fits, so that the
/// rounding of square roots decides nothing.
const TIME_TOLERANCE: f64 = 1e-9;

/// What is known of a slot that is tested.
pub struct Tested<M: FnOnce() -> Moments> {
    /// The probability of failure that would be promised, node failures included.
    pub pof: f64,
    /// The probability that T fits.
    pub executable: f64,
    /// Mean and variance of T; called only by rules that need them.
    pub time: M,
    /// The time that T must fit into, in the unit of `time`.
    pub room: f64,
}

impl Acceptance {
    /// The PoF below which a slot is accepted: PoF_max, or 1 / (1 + ρ·S) (docs/model.md,
    /// "Acceptance tests").
    ///
    /// For a rule of time it is the highest allowed probability that T does not fit. For a
    /// percentile that is 1 − p; for N standard deviations 1 / (1 + N²), by Cantelli's inequality,
    /// which holds for any distribution; for both rules together the smaller of the two.
    #[must_use]
    pub fn threshold(self) -> f64 {
        match self {
            Self::Pof { maximum } => maximum,
            Self::Risk {
                penalty_ratio,
                security_factor,
            } => 1.0 / (1.0 + penalty_ratio * security_factor),
            Self::MeanSigma { sigmas } => 1.0 / (1.0 + sigmas * sigmas),
            Self::Percentile { percentile } => 1.0 - percentile / 100.0,
            Self::Maximum { sigmas, percentile } => {
                let mean_sigma = Self::MeanSigma { sigmas }.threshold();
                mean_sigma.min(Self::Percentile { percentile }.threshold())
            }
        }
    }

    /// Whether this is a rule of time, and not a test of the probability of failure.
    #[must_use]
    pub fn is_of_time(self) -> bool {
        match self {
            Self::Pof { .. } | Self::Risk { .. } => false,
            Self::MeanSigma { .. } | Self::Percentile { .. } | Self::Maximum { .. } => true,
        }
    }

    /// The form in which a specification holds it, for a strategy that overbooks: a risk test
    /// becomes the PoF test with the same threshold.
    #[must_use]
    pub fn normalised(self) -> Self {
        match self {
            Self::Pof { .. } | Self::Risk { .. } => Self::Pof {
                maximum: self.threshold(),
            },
            Self::MeanSigma { .. } | Self::Percentile { .. } | Self::Maximum { .. } => self,
        }
    }

    /// The same test with the security factor S multiplied by `factor`. The PoF test is the risk
    /// test with ρ·S = 1 ÷ PoF_max − 1 (docs/model.md, "Acceptance tests"), so it becomes PoF <
    /// PoF_max ÷ (PoF_max + (1 − PoF_max) · `factor`). A rule of time has no security factor and
    /// does not change.
    #[must_use]
    pub fn with_security_times(self, factor: f64) -> Self {
        match self {
            Self::Pof { maximum } => Self::Pof {
                maximum: maximum / (maximum + (1.0 - maximum) * factor),
            },
            Self::Risk {
                penalty_ratio,
                security_factor,
            } => Self::Risk {
                penalty_ratio,
                security_factor: security_factor * factor,
            },
            Self::MeanSigma { .. } | Self::Percentile { .. } | Self::Maximum { .. } => self,
        }
    }

    /// Whether a slot with this probability of failure is accepted: strictly below the threshold,
    /// by 1e-12.
    #[must_use]
    pub fn accepts(self, pof: f64) -> bool {
        pof < self.threshold() - PROBABILITY_TOLERANCE
    }

    /// Whether an overbooked slot is accepted.
    pub fn passes<M: FnOnce() -> Moments>(self, tested: Tested<M>) -> bool {
        let likely = |percentile: f64| {
            // The percentile is the smallest time with at least this probability, so equal is
            // enough.
            tested.executable >= percentile / 100.0 - PROBABILITY_TOLERANCE
        };
        let fits = |time: Moments, sigmas: f64| time.upper(sigmas) <= tested.room + TIME_TOLERANCE;
        match self {
            Self::Pof { .. } | Self::Risk { .. } => self.accepts(tested.pof),
            Self::MeanSigma { sigmas } => fits((tested.time)(), sigmas),
            Self::Percentile { percentile } => likely(percentile),
            Self::Maximum { sigmas, percentile } => {
                likely(percentile) && fits((tested.time)(), sigmas)
            }
        }
    }

    /// Whether a slot of full length is accepted, where such slots are tested too. A rule of
    /// time accepts it: no job gets more than its estimate, so none can outlast the slot.
    #[must_use]
    pub fn accepts_full_length(self, pof: f64) -> bool {
        self.is_of_time() || self.accepts(pof)
    }

    /// How much the algorithm of 2008 shortens an estimate of a class with these ratios: maxPoF in
    /// `x' = x / (1 + maxPoF)`.
    ///
    /// For a rule of time `x'` is the time that the rule gives for the class's own ratio
    /// distribution, between 1 % and 100 % of the estimate.
    #[must_use]
    pub fn shortening(self, ratios: &RatioDistribution) -> f64 {
        let by_moments = |sigmas| ratios.moments().upper(sigmas);
        let by_percentile = |percentile: f64| {
            let reached =
                |&bin: &usize| ratios.cdf(bin) >= percentile / 100.0 - PROBABILITY_TOLERANCE;
            (0..=100).find(reached).unwrap_or(100) as f64 / 100.0
        };
        let share = match self {
            Self::Pof { .. } | Self::Risk { .. } => return self.threshold(),
            Self::MeanSigma { sigmas } => by_moments(sigmas),
            Self::Percentile { percentile } => by_percentile(percentile),
            Self::Maximum { sigmas, percentile } => {
                by_moments(sigmas).max(by_percentile(percentile))
            }
        };
        1.0 / share.clamp(0.01, 1.0) - 1.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::estimates::{RATIO_BINS, RuntimeSteps};
    use crate::units::Seconds;

    #[test]
    fn one_minus_four_fifths_is_not_below_a_fifth() {
        assert!(!Acceptance::Pof { maximum: 0.2 }.accepts(1.0 - 0.8));
        assert!(Acceptance::Pof { maximum: 0.2 }.accepts(0.199));
    }

    #[test]
    fn a_security_factor_of_two_in_a_pof_test_is_that_of_the_risk_test_with_the_same_threshold() {
        // PoF_max 0.2 is ρ·S = 4; twice that is 8, so 1 / 9.
        let twice = Acceptance::Pof { maximum: 0.2 }.with_security_times(2.0);
        assert!((twice.threshold() - 1.0 / 9.0).abs() < 1e-15);
        let risk = Acceptance::Risk {
            penalty_ratio: 2.0,
            security_factor: 2.0,
        };
        let twice = risk.with_security_times(2.0);
        assert!((twice.threshold() - 1.0 / 9.0).abs() < 1e-15);
        let none = Acceptance::Pof { maximum: 0.0 }.with_security_times(3.0);
        assert_eq!(none.threshold(), 0.0);
    }

    #[test]
    fn risk_thresholds_are_those_of_section_3_4_4() {
        for (security_factor, ratio, expected) in [
            (1.0, 0.5, 0.666_667),
            (1.0, 4.0, 0.2),
            (2.0, 0.5, 0.5),
            (2.0, 1.0, 0.333_333),
            (2.0, 4.0, 0.111_111),
            (4.0, 1.0, 0.2),
            (4.0, 2.0, 0.111_111),
            (4.0, 4.0, 0.058_824),
        ] {
            let test = Acceptance::Risk {
                penalty_ratio: ratio,
                security_factor,
            };
            assert!((test.threshold() - expected).abs() < 5e-7);
        }
    }

    /// 1 h (0.5), 2 h (0.2) or 4 h (0.3): mean 2.1 h, variance 0.5 · 1.21 + 0.2 · 0.01 + 0.3 ·
    /// 3.61 = 1.69 h², so 1.3 h.
    fn hours() -> RuntimeSteps {
        RuntimeSteps::from_weights(&[(1, 5.0), (2, 2.0), (4, 3.0)], Seconds::HOUR).unwrap()
    }

    fn passes(rule: Acceptance, runtime: &RuntimeSteps, steps: u32) -> bool {
        let executable = runtime.cdf_at_steps(steps);
        rule.passes(Tested {
            pof: 1.0 - executable,
            executable,
            time: || runtime.moments(),
            room: f64::from(steps) * runtime.step().0 as f64,
        })
    }

    #[test]
    fn each_rule_keeps_the_time_that_it_is_named_for() {
        let first_room = |rule| (0..=9).find(|&room| passes(rule, &hours(), room));
        let mean_sigma = |sigmas| first_room(Acceptance::MeanSigma { sigmas });
        // 2.1 + N · 1.3 hours: 2.1, 3.4, 4.0 (N = 1.4615…) and 4.7.
        assert_eq!(mean_sigma(0.0), Some(3));
        assert_eq!(mean_sigma(1.0), Some(4));
        assert_eq!(mean_sigma(1.9 / 1.3), Some(4));
        assert_eq!(mean_sigma(2.0), Some(5));
        let percentile = |percentile| first_room(Acceptance::Percentile { percentile });
        assert_eq!(percentile(0.0), Some(0));
        assert_eq!(percentile(50.0), Some(1));
        assert_eq!(percentile(50.1), Some(2));
        assert_eq!(percentile(70.0), Some(2));
        assert_eq!(percentile(71.0), Some(4));
        assert_eq!(percentile(100.0), Some(4));
        let both = |sigmas, percentile| first_room(Acceptance::Maximum { sigmas, percentile });
        assert_eq!(both(0.0, 50.0), Some(3));
        assert_eq!(both(0.0, 71.0), Some(4));
        assert_eq!(both(2.0, 71.0), Some(5));
    }

    fn ratios(bins: &[(usize, u64)]) -> RatioDistribution {
        let mut counts = [0; RATIO_BINS];
        for &(bin, count) in bins {
            counts[bin] = count;
        }
        RatioDistribution::from_counts(counts).unwrap()
    }

    #[test]
    fn the_algorithm_of_2008_keeps_the_time_of_the_rule() {
        // Mean 0.525, variance 0.5 · 0.275² + 0.2 · 0.025² + 0.3 · 0.475² = 0.105625, deviation
        // 0.325.
        let class = ratios(&[(25, 5), (50, 2), (100, 3)]);
        let kept = |rule: Acceptance| 1.0 / (1.0 + rule.shortening(&class));
        for (rule, expected) in [
            (Acceptance::Pof { maximum: 0.25 }, 0.8),
            (Acceptance::MeanSigma { sigmas: 0.0 }, 0.525),
            (Acceptance::MeanSigma { sigmas: 1.0 }, 0.85),
            (Acceptance::MeanSigma { sigmas: 3.0 }, 1.0),
            (Acceptance::Percentile { percentile: 70.0 }, 0.5),
            (Acceptance::Percentile { percentile: 0.0 }, 0.01),
            (
                Acceptance::Maximum {
                    sigmas: 1.0,
                    percentile: 70.0,
                },
                0.85,
            ),
        ] {
            assert!((kept(rule) - expected).abs() < 1e-12, "{rule:?}");
        }
    }

    fn runtime() -> impl Strategy<Value = RuntimeSteps> {
        prop::collection::vec((1_u32..8, 1_u32..20), 1..12).prop_map(|parts| {
            let mut end = 0;
            let parts: Vec<(u32, f64)> = parts
                .into_iter()
                .map(|(steps, weight)| {
                    end += steps;
                    (end, f64::from(weight))
                })
                .collect();
            RuntimeSteps::from_weights(&parts, Seconds(60)).unwrap()
        })
    }

    proptest! {
        #[test]
        fn a_stricter_parameter_accepts_nothing_that_a_laxer_one_rejects(
            runtime in runtime(), room in 0_u32..100, sigmas in 0.0_f64..4.0, more in 0.0_f64..2.0, percentile in 0.0_f64..100.0,
        ) {
            let stricter = (percentile + 20.0 * more).min(100.0);
            let accepts = |rule| passes(rule, &runtime, room);
            let by_sigmas = |sigmas| accepts(Acceptance::MeanSigma { sigmas });
            let by_percentile = |percentile| accepts(Acceptance::Percentile { percentile });
            prop_assert!(by_sigmas(sigmas) || !by_sigmas(sigmas + more));
            prop_assert!(by_percentile(percentile) || !by_percentile(stricter));
            prop_assert_eq!(
                accepts(Acceptance::Maximum { sigmas, percentile }),
                by_sigmas(sigmas) && by_percentile(percentile)
            );
            // And more room is never worse.
            for rule in [Acceptance::MeanSigma { sigmas }, Acceptance::Percentile { percentile }] {
                prop_assert!(!accepts(rule) || passes(rule, &runtime, room + 1));
            }
        }

        #[test]
        fn what_a_rule_of_time_accepts_is_late_no_more_often_than_its_threshold_says(
            runtime in runtime(), room in 0_u32..100, sigmas in 0.0_f64..4.0, percentile in 0.0_f64..100.0,
        ) {
            for rule in [
                Acceptance::MeanSigma { sigmas },
                Acceptance::Percentile { percentile },
                Acceptance::Maximum { sigmas, percentile },
            ] {
                if passes(rule, &runtime, room) {
                    let late = 1.0 - runtime.cdf_at_steps(room);
                    prop_assert!(late <= rule.threshold() + 1e-9, "{rule:?}: {late}");
                }
            }
        }

        #[test]
        fn a_percentile_is_the_pof_test_of_a_machine_without_failures_up_to_ties(
            runtime in runtime(), room in 0_u32..100, percentile in 0.0_f64..100.0,
        ) {
            let executable = runtime.cdf_at_steps(room);
            prop_assume!((executable - percentile / 100.0).abs() > 1e-9);
            let maximum = 1.0 - percentile / 100.0;
            prop_assert_eq!(
                passes(Acceptance::Percentile { percentile }, &runtime, room),
                passes(Acceptance::Pof { maximum }, &runtime, room)
            );
        }
    }
}
