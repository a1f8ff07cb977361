//! A failure rate that changes: by hour of the day, at weekends and with the age of the machine.
//!
//! One function for the failures that happen and for what a planner believes of them. Both run a
//! model's clock at this speed: the injector until an up-time is over, the planner from the planned
//! start of a job to its end (Birkenheuer 2012, §3.3.1).

use serde::{Deserialize, Serialize};

use super::FailureError;
use super::survival::check;

/// How fast the clock of a failure model runs: `f(h) · w(d) · (1 + e · exp(−a / s))` times as fast
/// as time, at hour h of day d of the week and at age a (Birkenheuer 2012, §3.3.1). Time 0 is the
/// midnight at which a Monday begins, and age 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RateFactors {
    /// f by hour of the day, 24 factors with the mean 1; empty: all 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hour_factors: Vec<f64>,
    /// How fast the clock runs on Saturdays and Sundays, for 1 on working days; both are scaled so
    /// that the mean of a week is 1. `None`: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weekend_factor: Option<f64>,
    /// The excess of a young machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early: Option<EarlyFailures>,
}

/// A rate that falls with age: `1 + excess · exp(−age / decay)` times the model's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EarlyFailures {
    /// e: how much more a new machine fails, as a share of the rate that remains.
    pub excess: f64,
    /// s, in hours.
    pub decay_hours: f64,
}

impl RateFactors {
    /// Whether the clock runs with time.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        *self == Self::default()
    }

    /// Checks ranges.
    ///
    /// # Errors
    ///
    /// Factors that are not 24 numbers of 0 or more with a positive sum, a negative weekend factor
    /// or excess, a decay that is not positive.
    pub fn validate(&self) -> Result<(), FailureError> {
        if let Some(early) = &self.early {
            check("early_excess", early.excess, true)?;
            check("early_decay_hours", early.decay_hours, false)?;
        }
        check("weekend_factor", self.weekend_factor.unwrap_or(1.0), true)?;
        let factors = &self.hour_factors;
        let is_profile = factors.len() == 24
            && factors
                .iter()
                .all(|factor| factor.is_finite() && *factor >= 0.0)
            && factors.iter().any(|factor| *factor > 0.0);
        if factors.is_empty() || is_profile {
            return Ok(());
        }
        Err(FailureError::Parameter {
            key: "hour_factors",
            allowed: "24 numbers of 0 or more, not all 0",
            found: format!("{factors:?}"),
        })
    }

    /// What the model's clock runs from `from` to `to`, in hours after time 0. Before time 0 the
    /// hours and days go on, and the machine is new.
    #[must_use]
    pub fn run(&self, from: f64, to: f64) -> f64 {
        if self.hour_factors.is_empty() && self.weekend_factor.is_none() {
            return self.run_of_age(from, to);
        }
        let (mut now, mut run) = (from, 0.0);
        while now < to {
            let next = (libm::floor(now) + 1.0).min(to);
            run += self.run_within_hour(now, next);
            now = next;
        }
        run
    }

    /// The same within one hour of the day.
    pub(super) fn run_within_hour(&self, from: f64, to: f64) -> f64 {
        let of_hour = self.hour_factors.get(from.rem_euclid(24.0) as usize);
        let of_day = self.weekend_factor.map_or(1.0, |weekend| {
            let is_weekend = from.rem_euclid(7.0 * 24.0) >= 5.0 * 24.0;
            let scale = 7.0 / (5.0 + 2.0 * weekend);
            if is_weekend { weekend * scale } else { scale }
        });
        of_hour.copied().unwrap_or(1.0) * of_day * self.run_of_age(from, to)
    }

    fn run_of_age(&self, from: f64, to: f64) -> f64 {
        self.early.map_or(to - from, |early| {
            let left = |hours: f64| libm::exp(-hours.max(0.0) / early.decay_hours);
            let new = early.excess * (to.min(0.0) - from.min(0.0));
            to - from + new + early.excess * early.decay_hours * (left(from) - left(to))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The factors of the specification: 0.5 from 0 to 8 h, 1.5 to 20 h, 0.75 to 24 h, scaled.
    fn of_the_day() -> RateFactors {
        let mut hour_factors = vec![0.48; 24];
        hour_factors[8..20].fill(1.44);
        hour_factors[20..].fill(0.72);
        RateFactors {
            hour_factors,
            ..RateFactors::default()
        }
    }

    #[test]
    fn six_hours_from_8_h_and_from_22_h_run_the_clock_as_the_factors_say() {
        let day = of_the_day();
        assert!((day.run(8.0, 14.0) - 8.64).abs() < 1e-12);
        assert!((day.run(22.0, 28.0) - 3.36).abs() < 1e-12);
        assert!((day.run(0.0, 24.0) - 24.0).abs() < 1e-12);
        assert!((day.run(-16.0, -10.0) - 8.64).abs() < 1e-12);
    }

    #[test]
    fn a_week_has_the_mean_1_and_its_weekend_is_the_last_two_days() {
        let quiet = RateFactors {
            weekend_factor: Some(0.5),
            ..of_the_day()
        };
        assert!((quiet.run(0.0, 168.0) - 168.0).abs() < 1e-9);
        let (working, weekend) = (quiet.run(0.0, 24.0), quiet.run(120.0, 144.0));
        assert!((working - 28.0).abs() < 1e-9 && (weekend - 14.0).abs() < 1e-9);
        assert!((quiet.run(-24.0, 0.0) - 14.0).abs() < 1e-9);
    }

    #[test]
    fn a_machine_is_new_before_time_0_and_ages_from_then_on() {
        let early = RateFactors {
            early: Some(EarlyFailures {
                excess: 3.0,
                decay_hours: 10.0,
            }),
            ..RateFactors::default()
        };
        assert!((early.run(-5.0, 0.0) - 20.0).abs() < 1e-12);
        let first_ten = 10.0 + 30.0 * (1.0 - libm::exp(-1.0));
        assert!((early.run(0.0, 10.0) - first_ten).abs() < 1e-12);
        assert!((early.run(-5.0, 10.0) - 20.0 - first_ten).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn spans_that_follow_each_other_sum_up(
            weekend in 0.0..3.0_f64, excess in 0.0..5.0_f64,
            from in -100.0..400.0_f64, first in 0.0..60.0_f64, second in 0.0..60.0_f64,
        ) {
            let factors = RateFactors {
                weekend_factor: Some(weekend),
                early: Some(EarlyFailures { excess, decay_hours: 50.0 }),
                ..of_the_day()
            };
            let whole = factors.run(from, from + first + second);
            let parts = factors.run(from, from + first)
                + factors.run(from + first, from + first + second);
            prop_assert!((whole - parts).abs() < 1e-9 * whole.max(1.0));
        }
    }
}
