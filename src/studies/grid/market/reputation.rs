//! The reputation of a provider: how often its promises are broken, compared with how often it says
//! they would be.

/// Aged Beta counts of one provider's decided promises.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reputation {
    prior: f64,
    /// What counts remain of at the next decided promise.
    keep: f64,
    broken: f64,
    promised: f64,
    decided: f64,
}

impl Reputation {
    /// Nothing known. `prior_failures` imaginary promises were broken as said; counts halve in
    /// `half_life_jobs` decided promises, or never, where that is 0.
    #[must_use]
    pub fn new(prior_failures: f64, half_life_jobs: f64) -> Self {
        let keep = if half_life_jobs > 0.0 {
            libm::exp2(-1.0 / half_life_jobs)
        } else {
            1.0
        };
        Self {
            prior: prior_failures,
            keep,
            broken: 0.0,
            promised: 0.0,
            decided: 0.0,
        }
    }

    /// A promise with this PoF was kept or broken.
    pub fn decided(&mut self, promised: f64, is_broken: bool) {
        self.broken = self.broken * self.keep + f64::from(u8::from(is_broken));
        self.promised = self.promised * self.keep + promised;
        self.decided = self.decided * self.keep + 1.0;
    }

    /// By what the provider's word is multiplied: `(k + F) / (k + Q)`.
    #[must_use]
    pub fn factor(&self) -> f64 {
        (self.prior + self.broken) / (self.prior + self.promised)
    }

    /// The PoF that is believed where the provider says `promised`.
    #[must_use]
    pub fn believed(&self, promised: f64) -> f64 {
        (promised * self.factor()).min(1.0)
    }

    /// The failure rate that is believed of promises like those that were decided: their mean PoF
    /// times the factor.
    #[must_use]
    pub fn failure_rate(&self) -> f64 {
        if self.decided > 0.0 {
            (self.promised / self.decided * self.factor()).min(1.0)
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::RngExt;

    use bookahead_core::random;

    use super::*;

    #[test]
    fn counts_give_the_factor_by_hand() {
        let mut reputation = Reputation::new(1.0, 0.0);
        assert_eq!(reputation.believed(0.2), 0.2);
        reputation.decided(0.1, true);
        reputation.decided(0.1, false);
        // One of two broken where a fifth was promised: (1 + 1) / (1 + 0.2).
        assert!((reputation.factor() - 2.0 / 1.2).abs() < 1e-12);
        assert!((reputation.failure_rate() - 0.1 * 2.0 / 1.2).abs() < 1e-12);
        assert_eq!(reputation.believed(0.9), 1.0);
    }

    #[test]
    fn a_liar_is_found_out_and_a_reformed_one_is_forgiven_where_counts_age() {
        let mut stream = random::stream(1, "reputation", 0, "promises");
        let (mut aged, mut kept) = (Reputation::new(1.0, 50.0), Reputation::new(1.0, 0.0));
        for job in 0..4_000 {
            // It says 0.1 and breaks 0.4, and from job 2,000 on it keeps its word.
            let truth = if job < 2_000 { 0.4 } else { 0.1 };
            let is_broken = stream.random::<f64>() < truth;
            aged.decided(0.1, is_broken);
            kept.decided(0.1, is_broken);
            if job == 1_999 {
                assert!((kept.factor() - 4.0).abs() < 0.4, "{}", kept.factor());
            }
        }
        assert!((kept.factor() - 2.5).abs() < 0.3, "{}", kept.factor());
        assert!(aged.factor() < 2.2, "{}", aged.factor());
    }

    proptest! {
        #[test]
        fn an_honest_provider_is_believed(seed in 0_u64..200, pof in 0.02..0.5_f64) {
            let mut stream = random::stream(seed, "reputation", 0, "honest");
            let mut reputation = Reputation::new(1.0, 0.0);
            let jobs = 5_000;
            for _ in 0..jobs {
                reputation.decided(pof, stream.random::<f64>() < pof);
            }
            // Five standard errors of the rate.
            let error = 5.0 * libm::sqrt(pof * (1.0 - pof) / f64::from(jobs)) + 0.001;
            prop_assert!((reputation.failure_rate() - pof).abs() < error);
            prop_assert!((0.0..=1.0).contains(&reputation.believed(pof)));
        }
    }
}
