//! Promised against realised failures: by how much the security factor of the risk test is to be
//! larger than planned.
//!
//! Over the overbooked jobs that were decided, N of them with promised probabilities of failure
//! that sum to P, R failed. If all was promised right, R is about P. The share that fails is
//! estimated as the mean of a Beta distribution that begins with m jobs which failed as often as is
//! promised on average, p̄ = P ÷ N:
//!
//! ```text
//! factor = (R + m·p̄) ÷ (N + m) ÷ p̄ = (R + m·p̄) ÷ (P + m·p̄),   in [1/4, 4]
//! ```
//!
//! and the security factor is S · factor. N, P and R age: each submitted job, accepted or not,
//! halves them by its part of a half-life. So a machine that stopped overbooking because it was
//! wrong returns to its planned S, and tries again.

/// m: before anything is seen, so many jobs failed as was promised.
const PRIOR_JOBS: f64 = 20.0;

/// The factor lies between 1 / this and this.
const LARGEST_FACTOR: f64 = 4.0;

/// Aged sums over overbooked jobs that were decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PromiseBalance {
    /// What is left of a count after one more submitted job.
    ageing: f64,
    jobs: f64,
    promised: f64,
    failed: f64,
}

impl PromiseBalance {
    /// One that has seen nothing; counts weigh half after `half_life_jobs` submitted jobs.
    #[must_use]
    pub fn new(half_life_jobs: f64) -> Self {
        Self {
            ageing: libm::exp2(-1.0 / half_life_jobs.max(1.0)),
            jobs: 0.0,
            promised: 0.0,
            failed: 0.0,
        }
    }

    /// A job was submitted: counts age.
    pub fn submitted(&mut self) {
        for sum in [&mut self.jobs, &mut self.promised, &mut self.failed] {
            *sum *= self.ageing;
        }
    }

    /// An overbooked job that was promised to fail with this probability was decided.
    pub fn decided(&mut self, promised: f64, failed: bool) {
        self.jobs += 1.0;
        self.promised += promised;
        self.failed += f64::from(u8::from(failed));
    }

    /// By how much the security factor is to be larger than planned: 1 where nothing was seen.
    #[must_use]
    pub fn factor(&self) -> f64 {
        if self.jobs <= 0.0 {
            return 1.0;
        }
        let prior = PRIOR_JOBS * self.promised / self.jobs;
        let factor = (self.failed + prior) / (self.promised + prior);
        // Where nothing was promised to fail, 0 ÷ 0 is as promised.
        if factor.is_nan() {
            return 1.0;
        }
        factor.clamp(1.0 / LARGEST_FACTOR, LARGEST_FACTOR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(promised: f64, jobs: u32, failed: u32) -> PromiseBalance {
        let mut balance = PromiseBalance::new(1_000.0);
        for job in 0..jobs {
            balance.decided(promised, job < failed);
        }
        balance
    }

    #[test]
    fn the_factor_is_what_failed_over_what_was_promised_with_twenty_jobs_as_promised() {
        assert_eq!(seen(0.1, 0, 0).factor(), 1.0);
        // 80 jobs at 0.1, 16 failed: (16 + 20 · 0.1) / (8 + 20 · 0.1) = 18 / 10.
        assert!((seen(0.1, 80, 16).factor() - 1.8).abs() < 1e-12);
        // None failed: 2 / 10, which is less than a quarter.
        assert_eq!(seen(0.1, 80, 0).factor(), 0.25);
        // As promised: (8 + 2) / (8 + 2).
        assert!((seen(0.1, 80, 8).factor() - 1.0).abs() < 1e-12);
        // 30 of 30 at 0.01 failed: far more than four times.
        assert_eq!(seen(0.01, 30, 30).factor(), 4.0);
    }

    #[test]
    fn promises_of_no_failure_are_kept_or_broken() {
        assert_eq!(seen(0.0, 10, 0).factor(), 1.0);
        assert_eq!(seen(0.0, 10, 1).factor(), 4.0);
    }

    #[test]
    fn without_new_jobs_the_factor_returns_to_one() {
        let mut balance = seen(0.1, 80, 24);
        let mut last = balance.factor();
        assert!(last > 2.0);
        for _ in 0..20 {
            for _ in 0..1_000 {
                balance.submitted();
            }
            assert!(balance.factor() < last);
            last = balance.factor();
        }
        assert!(last < 1.001, "{last}");
    }
}
