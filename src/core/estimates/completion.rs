//! When a planned job ends: a cumulative distribution on a grid of time steps, cut at the end of
//! its window.

use crate::units::Seconds;

/// The completion time of a planned or running job, as a CDF on the grid `origin + k·Δ`.
///
/// The job is killed at its window's end, so the CDF is 1 from there on. Between grid points
/// it keeps the value of the last one.
#[derive(Clone, Debug, PartialEq)]
pub struct CompletionDistribution {
    origin: Seconds,
    step: Seconds,
    window_end: Seconds,
    cdf: Vec<f64>,
}

impl CompletionDistribution {
    /// The CDF at `origin`, `origin + Δ`, …; what lies at or after the window's end is cut off and
    /// replaced by 1, and the last value is kept where the slice ends earlier. `step` is taken as
    /// at least 1 s.
    ///
    /// The values must be probabilities in ascending order; rounding errors are evened out (a value
    /// below its predecessor takes the predecessor's, a value outside `[0, 1]` the nearer bound).
    #[must_use]
    pub fn new(origin: Seconds, step: Seconds, window_end: Seconds, values: &[f64]) -> Self {
        let step = Seconds(step.0.max(1));
        let points = grid_points(origin, window_end, step);
        let mut cdf = Vec::with_capacity(points + 1);
        let mut last = 0.0_f64;
        for &value in values.iter().take(points) {
            last = last.max(value.min(1.0));
            cdf.push(last);
        }
        cdf.resize(points, last);
        cdf.push(1.0);
        Self {
            origin,
            step,
            window_end,
            cdf,
        }
    }

    /// As [`CompletionDistribution::new`] for at most as many values as there are grid points
    /// before the window's end, which are probabilities and ascend, and a step of at least 1 s; in
    /// the memory of the values.
    pub(super) fn ascending(
        origin: Seconds,
        step: Seconds,
        window_end: Seconds,
        mut cdf: Vec<f64>,
    ) -> Self {
        let points = grid_points(origin, window_end, step);
        debug_assert!(cdf.len() <= points && cdf.is_sorted());
        cdf.resize(points, cdf.last().copied().unwrap_or(0.0));
        cdf.push(1.0);
        Self {
            origin,
            step,
            window_end,
            cdf,
        }
    }

    /// A job that certainly ends at `time`, such as a full-length reservation without statistics or
    /// early release.
    #[must_use]
    pub fn certain(time: Seconds, step: Seconds) -> Self {
        Self::new(time, step, time, &[])
    }

    /// Probability that the job has ended at `time`: 0 before the origin, 1 from the window's end
    /// on.
    #[must_use]
    pub fn cdf_at(&self, time: Seconds) -> f64 {
        if time >= self.window_end {
            1.0
        } else if time < self.origin {
            0.0
        } else {
            self.cdf[((time - self.origin).0 / self.step.0) as usize]
        }
    }

    /// The first grid point: the earliest possible completion.
    #[must_use]
    pub fn origin(&self) -> Seconds {
        self.origin
    }

    /// When the job is killed at the latest.
    #[must_use]
    pub fn window_end(&self) -> Seconds {
        self.window_end
    }

    /// Width Δ of a step.
    #[must_use]
    pub fn step(&self) -> Seconds {
        self.step
    }

    /// The CDF at `origin + k·Δ` for every grid point before the window's end, and a final 1 for
    /// the first grid point at or after it; never empty, never descending.
    #[must_use]
    pub fn cdf(&self) -> &[f64] {
        &self.cdf
    }

    /// The distribution of a job that is still running at `now`: `P(end ≤ t | end > now)`.
    ///
    /// A job that has outlived every runtime its statistics know of is taken to run until its
    /// window's end.
    #[must_use]
    pub fn conditioned_on_running_at(&self, now: Seconds) -> Self {
        if now < self.origin || now >= self.window_end {
            return self.clone();
        }
        let passed = ((now - self.origin).0 / self.step.0) as usize;
        let ended = self.cdf[passed];
        let remaining = 1.0 - ended;
        let conditioned = |&value: &f64| {
            if remaining > 0.0 {
                (value - ended) / remaining
            } else {
                0.0
            }
        };
        let points = self.cdf.len() - 1;
        let values: Vec<f64> = self.cdf[passed..points].iter().map(conditioned).collect();
        let origin = self.origin + self.step * passed as i64;
        Self::new(origin, self.step, self.window_end, &values)
    }
}

/// How many grid points `from + k·step` lie before `until`.
pub(super) fn grid_points(from: Seconds, until: Seconds, step: Seconds) -> usize {
    if until <= from {
        0
    } else {
        (((until - from).0 - 1) / step.0 + 1) as usize
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn example() -> CompletionDistribution {
        CompletionDistribution::new(
            Seconds(100),
            Seconds(10),
            Seconds(135),
            &[0.0, 0.25, 0.5, 0.6, 0.9, 1.0],
        )
    }

    #[test]
    fn the_cdf_steps_on_its_grid_and_is_certain_from_the_window_end() {
        let job = example();
        assert_eq!(job.cdf(), [0.0, 0.25, 0.5, 0.6, 1.0]);
        for (time, expected) in [
            (99, 0.0),
            (109, 0.0),
            (110, 0.25),
            (119, 0.25),
            (134, 0.6),
            (135, 1.0),
            (999, 1.0),
        ] {
            assert_eq!(job.cdf_at(Seconds(time)), expected, "at {time}");
        }
    }

    #[test]
    fn a_short_slice_keeps_its_last_value_until_the_window_end() {
        let job = CompletionDistribution::new(Seconds(0), Seconds(10), Seconds(40), &[0.0, 0.5]);
        assert_eq!(job.cdf(), [0.0, 0.5, 0.5, 0.5, 1.0]);
    }

    #[test]
    fn a_certain_end_is_a_step() {
        let job = CompletionDistribution::certain(Seconds(50), Seconds(60));
        assert_eq!([49, 50].map(|time| job.cdf_at(Seconds(time))), [0.0, 1.0]);
    }

    #[test]
    fn running_at_now_rules_out_what_has_passed() {
        let job = example().conditioned_on_running_at(Seconds(117));
        // Ended by 110: 0.25. Left: (0.5 − 0.25) / 0.75 at 120, (0.6 − 0.25) / 0.75 at 130, certain
        // at 135.
        assert_eq!(job.cdf_at(Seconds(117)), 0.0);
        assert!((job.cdf_at(Seconds(120)) - 1.0 / 3.0).abs() < 1e-15);
        assert!((job.cdf_at(Seconds(130)) - 0.35 / 0.75).abs() < 1e-15);
        assert_eq!(job.cdf_at(Seconds(135)), 1.0);
        assert_eq!(example().conditioned_on_running_at(Seconds(99)), example());
        assert_eq!(example().conditioned_on_running_at(Seconds(135)), example());
    }

    #[test]
    fn a_job_that_outlived_its_statistics_runs_until_its_window_end() {
        let job = CompletionDistribution::new(Seconds(0), Seconds(10), Seconds(50), &[0.0, 1.0]);
        let job = job.conditioned_on_running_at(Seconds(20));
        assert_eq!(job.cdf_at(Seconds(49)), 0.0);
        assert_eq!(job.cdf_at(Seconds(50)), 1.0);
    }

    proptest! {
        #[test]
        fn a_conditioned_cdf_is_a_cdf_and_no_earlier_than_the_unconditioned(
            weights in prop::collection::vec(0.0_f64..1.0, 1..40), now in 0_i64..500, extra in 0_i64..100,
        ) {
            let total: f64 = weights.iter().sum::<f64>() + 1e-3;
            let values: Vec<f64> = weights.iter().scan(0.0, |sum, weight| { *sum += weight / total; Some(*sum) }).collect();
            let window_end = Seconds(10 * weights.len() as i64 + extra);
            let job = CompletionDistribution::new(Seconds(0), Seconds(10), window_end, &values);
            let conditioned = job.conditioned_on_running_at(Seconds(now));
            prop_assert!(conditioned.cdf().windows(2).all(|pair| pair[0] <= pair[1]));
            prop_assert!(conditioned.cdf().iter().all(|value| (0.0..=1.0).contains(value)));
            for time in 0..600 {
                prop_assert!(conditioned.cdf_at(Seconds(time)) <= job.cdf_at(Seconds(time)) + 1e-15);
            }
        }
    }
}
