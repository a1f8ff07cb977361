//! Distribution-free bounds of quantiles from order statistics: the binomial method (AMB-25).
//!
//! All sums are built from the ratios of neighbouring binomial terms, from the mode outwards, and
//! divided by their total. So there is neither a factorial nor an exponential to lose digits in,
//! and only `+ × ÷`: the same bits on every machine. A sum visits some twenty standard deviations'
//! worth of terms, about 300 of the thousand at m = 1000 and q = 0.5.

/// Terms below this share of the greatest one are left out: far less than the sums' own rounding.
const NEGLIGIBLE: f64 = 1e-20;

/// A sum that misses the confidence by less than this has reached it, so that exact ties are not
/// decided by rounding.
const TOLERANCE: f64 = 1e-12;

/// The smallest k in `1..=samples` with `Σ_{i<k} C(m,i) q^i (1−q)^(m−i) ≥ confidence`, m being
/// `samples`: the k-th smallest of m independent samples is an upper bound of the quantile `q` with
/// that confidence (AMB-25).
///
/// `None` if m samples are too few (`1 − q^m` is below the confidence), if there are none, or if
/// `q` is 1, more, or no number.
pub(super) fn bound_rank(samples: usize, q: f64, confidence: f64) -> Option<usize> {
    if samples == 0 || q.is_nan() || q >= 1.0 {
        return None;
    }
    if q <= 0.0 {
        return Some(1);
    }
    let terms = Terms::new(samples, q);
    let (mut lowest, mut least) = (terms.mode, 1.0);
    while lowest > 0 && least >= NEGLIGIBLE {
        least *= terms.down(lowest);
        lowest -= 1;
    }
    let (mut total, mut index, mut term) = (least, lowest, least);
    while index < samples && (index < terms.mode || term >= NEGLIGIBLE) {
        term *= terms.up(index);
        index += 1;
        total += term;
    }
    let enough = (confidence - TOLERANCE) * total;
    let (mut below, mut term) = (0.0, least);
    for index in lowest..samples {
        below += term;
        if below >= enough {
            return Some(index + 1);
        }
        term *= terms.up(index);
    }
    None
}

/// The largest q whose [`bound_rank`] is at most `rank`: with `rank` of the `samples` waits within
/// a deadline, the share of all waits that are within it, as a lower bound with this confidence
/// (AMB-25).
///
/// This is the lower end of Clopper and Pearson's one-sided interval, true to 1e-12 and rounded
/// down; 0 for a rank of 0.
pub(super) fn largest_quantile(samples: usize, rank: usize, confidence: f64) -> f64 {
    if rank == 0 || rank > samples {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    let mut q = rank as f64 / (samples + 1) as f64;
    for _ in 0..100 {
        let (below, at) = Terms::new(samples, q).split(rank);
        if below >= confidence {
            low = q;
        } else {
            high = q;
        }
        let newton = q + (below - confidence) * q / (at * rank as f64);
        if (newton - q).abs() <= 1e-14 * q {
            break;
        }
        q = if low < newton && newton < high {
            newton
        } else {
            0.5 * (low + high)
        };
    }
    let mut step = 1e-14;
    while step < 1.0 && bound_rank(samples, q, confidence).is_none_or(|needed| needed > rank) {
        q *= 1.0 - step;
        step *= 2.0;
    }
    q
}

/// The terms of a binomial distribution with `0 < q < 1`, in units of the one at the mode.
struct Terms {
    samples: usize,
    odds: f64,
    mode: usize,
}

impl Terms {
    fn new(samples: usize, q: f64) -> Self {
        Self {
            samples,
            odds: q / (1.0 - q),
            mode: (((samples + 1) as f64 * q) as usize).min(samples),
        }
    }

    /// The term after that of `index`, divided by it.
    fn up(&self, index: usize) -> f64 {
        self.odds * (self.samples - index) as f64 / (index + 1) as f64
    }

    /// The term before that of `index`, divided by it; `index` is above 0.
    fn down(&self, index: usize) -> f64 {
        index as f64 / ((self.samples - index + 1) as f64 * self.odds)
    }

    /// The probability of less than `rank`, and that of exactly `rank`.
    fn split(&self, rank: usize) -> (f64, f64) {
        let (mut below, mut at, mut above) = (0.0, 0.0, 0.0);
        let mut add = |index: usize, term: f64| match index.cmp(&rank) {
            std::cmp::Ordering::Less => below += term,
            std::cmp::Ordering::Equal => at += term,
            std::cmp::Ordering::Greater => above += term,
        };
        add(self.mode, 1.0);
        let (mut index, mut term) = (self.mode, 1.0);
        while index > 0 && term >= NEGLIGIBLE {
            term *= self.down(index);
            index -= 1;
            add(index, term);
        }
        let (mut index, mut term) = (self.mode, 1.0);
        while index < self.samples && term >= NEGLIGIBLE {
            term *= self.up(index);
            index += 1;
            add(index, term);
        }
        let total = below + at + above;
        (below / total, at / total)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition, term by term, in whole numbers: q is `eighths / 8`, the confidence
    /// `parts / 1024`.
    fn exact_rank(samples: u32, eighths: u128, parts: u128) -> Option<usize> {
        let mut choose = 1_u128;
        let mut sum = 0_u128;
        for index in 0..samples {
            sum += choose * eighths.pow(index) * (8 - eighths).pow(samples - index);
            if sum * 1_024 >= parts * 8_u128.pow(samples) {
                return Some(index as usize + 1);
            }
            choose = choose * u128::from(samples - index) / u128::from(index + 1);
        }
        None
    }

    /// The definition by logarithms of factorials, for many samples.
    fn probability_below(samples: usize, q: f64, rank: usize) -> f64 {
        let log_factorial = |n: usize| libm::lgamma(n as f64 + 1.0);
        let term = |index: usize| {
            let choose =
                log_factorial(samples) - log_factorial(index) - log_factorial(samples - index);
            let rest = (samples - index) as f64;
            libm::exp(choose + index as f64 * libm::log(q) + rest * libm::log1p(-q))
        };
        (0..rank).map(term).sum()
    }

    #[test]
    fn ranks_of_well_known_sample_sizes() {
        // From exact rational sums.
        for (samples, q, confidence, rank) in [
            (58, 0.95, 0.95, None),
            (59, 0.95, 0.95, Some(59)),
            (298, 0.99, 0.95, None),
            (299, 0.99, 0.95, Some(299)),
            (100, 0.9, 0.95, Some(96)),
            (1_000, 0.001, 0.95, Some(4)),
            (1_000, 0.5, 0.95, Some(527)),
            (1_000, 0.75, 0.99, Some(782)),
            (1_000, 0.95, 0.95, Some(962)),
            (1_000, 0.99, 0.95, Some(996)),
        ] {
            let found = bound_rank(samples, q, confidence);
            assert_eq!(found, rank, "{samples} samples, quantile {q}");
        }
    }

    #[test]
    fn sums_are_true_to_thirteen_digits_for_a_thousand_samples() {
        // From exact rational sums.
        for (samples, q, rank, exact) in [
            (1_000, 0.95, 962, 0.956_651_809_393_090_1),
            (1_000, 0.5, 527, 0.953_156_354_262_251_6),
            (1_000, 0.75, 720, 0.013_731_535_369_554_78),
            (1_000, 0.99, 996, 0.971_313_600_000_995_3),
            (1_000, 0.001, 3, 0.919_790_657_159_798_9),
            (60, 0.3, 25, 0.963_762_480_532_683_9),
        ] {
            let (below, _) = Terms::new(samples, q).split(rank);
            assert!((below - exact).abs() < 1e-13, "{below} against {exact}");
        }
    }

    #[test]
    fn lower_shares_are_those_of_clopper_and_pearson() {
        // From bisection with exact rational sums.
        for (samples, rank, confidence, exact) in [
            (59, 59, 0.95, 0.950_492_390_111_773),
            (59, 40, 0.95, 0.564_192_818_763_614_6),
            (100, 1, 0.95, 0.000_512_801_416_262_292),
            (100, 50, 0.95, 0.413_621_714_630_911_74),
            (200, 190, 0.99, 0.901_818_083_396_702_2),
        ] {
            let found = largest_quantile(samples, rank, confidence);
            assert!((found - exact).abs() < 1e-12, "{found} against {exact}");
        }
        assert_eq!(largest_quantile(100, 0, 0.95), 0.0);
        assert_eq!(largest_quantile(0, 0, 0.95), 0.0);
    }

    #[test]
    fn quantiles_at_and_beyond_the_ends() {
        assert_eq!(bound_rank(0, 0.5, 0.95), None);
        assert_eq!(bound_rank(10, 0.0, 0.95), Some(1));
        assert_eq!(bound_rank(10, 1.0, 0.95), None);
        assert_eq!(bound_rank(10, f64::NAN, 0.95), None);
        assert_eq!(bound_rank(10, f64::MIN_POSITIVE, 0.95), Some(1));
        assert_eq!(bound_rank(10, 1.0 - f64::EPSILON, 0.95), None);
    }

    proptest! {
        #[test]
        fn ranks_agree_with_exact_sums_of_whole_numbers(
            samples in 1_u32..=34, eighths in 1_u128..=7, parts in 1_u128..=1_023,
        ) {
            let found = bound_rank(samples as usize, eighths as f64 / 8.0, parts as f64 / 1_024.0);
            prop_assert_eq!(found, exact_rank(samples, eighths, parts));
        }

        #[test]
        fn ranks_are_the_smallest_that_reach_the_confidence(
            samples in 1_usize..=1_500, q in 0.001_f64..0.999, confidence in 0.01_f64..0.9999,
        ) {
            let reached = |rank| probability_below(samples, q, rank);
            match bound_rank(samples, q, confidence) {
                Some(rank) => {
                    prop_assert!(reached(rank) > confidence - 1e-10);
                    prop_assert!(reached(rank - 1) < confidence + 1e-10);
                }
                None => prop_assert!(reached(samples) < confidence + 1e-10),
            }
        }

        #[test]
        fn the_largest_quantile_is_bounded_by_its_rank_and_no_greater_one_is(
            samples in 1_usize..=1_500, share in 0.0_f64..=1.0, confidence in 0.01_f64..0.9999,
        ) {
            let rank = ((samples as f64 * share) as usize).max(1);
            let q = largest_quantile(samples, rank, confidence);
            prop_assert!(bound_rank(samples, q, confidence).is_some_and(|found| found <= rank));
            let greater = q + 1e-7 * q * (1.0 - q);
            prop_assert!(bound_rank(samples, greater, confidence).is_none_or(|found| found > rank));
        }
    }
}
