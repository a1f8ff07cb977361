//! Random variates with the same bits on every machine: only IEEE basic operations and `libm`.
//!
//! `rand_distr` would do, but its mathematics follows a feature that other crates of the build
//! switch to the platform's own library.

use rand::RngExt;

use crate::random::Stream;

/// Uniform on [0, 1), 53 random bits.
pub(super) fn uniform(stream: &mut Stream) -> f64 {
    stream.random::<f64>()
}

/// Uniform on `0..bound`; 0 for a bound of 0.
pub(super) fn below(stream: &mut Stream, bound: usize) -> usize {
    match u32::try_from(bound) {
        Ok(0) => 0,
        Ok(bound) => stream.random_range(0..bound) as usize,
        Err(_) => stream.random_range(0..bound as u64) as usize,
    }
}

/// Fisher–Yates.
pub(super) fn shuffle<T>(items: &mut [T], stream: &mut Stream) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(stream, last + 1));
    }
}

/// Exponential with mean 1.
pub(super) fn exponential(stream: &mut Stream) -> f64 {
    -libm::log(1.0 - uniform(stream))
}

/// Standard normal, by the polar method of Marsaglia (one of the pair is used).
pub(super) fn normal(stream: &mut Stream) -> f64 {
    loop {
        let x = 2.0 * uniform(stream) - 1.0;
        let y = 2.0 * uniform(stream) - 1.0;
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            return x * (-2.0 * libm::log(square) / square).sqrt();
        }
    }
}

/// Log-normal of mean 1 with this coefficient of variation; of equal draws the one with more
/// variation lies on the same side of its median.
pub fn log_normal(variation: f64, stream: &mut Stream) -> f64 {
    let variance = libm::log1p(variation * variation);
    libm::exp(variance.sqrt() * normal(stream) - variance / 2.0)
}

/// A gamma distribution with density proportional to `x^(shape−1) · e^(−x/scale)`, mean
/// `shape · scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gamma {
    /// Shape α > 0.
    pub shape: f64,
    /// Scale β > 0.
    pub scale: f64,
}

impl Gamma {
    /// Draws a value: Marsaglia and Tsang, "A simple method for generating gamma variables", 2000.
    pub(super) fn sample(self, stream: &mut Stream) -> f64 {
        if self.shape < 1.0 {
            let boosted = Self {
                shape: self.shape + 1.0,
                ..self
            };
            let value = boosted.sample(stream);
            return value * libm::pow(1.0 - uniform(stream), 1.0 / self.shape);
        }
        let d = self.shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = normal(stream);
            let v = 1.0 + c * x;
            if v <= 0.0 {
                continue;
            }
            let v = v * v * v;
            let u = 1.0 - uniform(stream);
            if libm::log(u) < 0.5 * x * x + d * (1.0 - v + libm::log(v)) {
                return d * v * self.scale;
            }
        }
    }

    /// The cumulative distribution, by the series of the lower incomplete gamma function. All of
    /// its terms are positive, so it is accurate as long as it converges: meant for `x` up to some
    /// hundreds of `scale`.
    pub(super) fn cumulative(self, x: f64) -> f64 {
        let z = x / self.scale;
        if z <= 0.0 {
            return 0.0;
        }
        let mut term = 1.0 / self.shape;
        let mut sum = term;
        let mut denominator = self.shape;
        while term > sum * 1e-17 {
            denominator += 1.0;
            term *= z / denominator;
            sum += term;
        }
        (sum * libm::exp(self.shape * libm::log(z) - z - libm::lgamma(self.shape))).min(1.0)
    }
}

/// Draws an index with probability proportional to its weight, given the running sums of the
/// weights.
pub(super) fn weighted(running_sums: &[f64], stream: &mut Stream) -> usize {
    weighted_at(running_sums, uniform(stream))
}

/// The index below which `share` of the weights lie, given their running sums.
pub(super) fn weighted_at(running_sums: &[f64], share: f64) -> usize {
    let total = running_sums.last().copied().unwrap_or(0.0);
    let point = share * total;
    running_sums
        .partition_point(|sum| *sum <= point)
        .min(running_sums.len().saturating_sub(1))
}

/// The running sums of weights.
pub(super) fn running_sums(weights: impl IntoIterator<Item = f64>) -> Vec<f64> {
    weights
        .into_iter()
        .scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    /// Kolmogorov–Smirnov distance of a sample to a distribution.
    fn distance(mut sample: Vec<f64>, cumulative: impl Fn(f64) -> f64) -> f64 {
        sample.sort_by(f64::total_cmp);
        let n = sample.len() as f64;
        (0..)
            .zip(&sample)
            .map(|(index, &x)| {
                let theory = cumulative(x);
                let below = f64::from(index) / n;
                (theory - below).abs().max((theory - below - 1.0 / n).abs())
            })
            .fold(0.0, f64::max)
    }

    #[test]
    fn gamma_samples_follow_the_gamma_distribution() {
        for (shape, scale) in [(0.4, 2.0), (1.0, 1.0), (4.2, 0.94), (312.0, 0.03)] {
            let gamma = Gamma { shape, scale };
            let mut stream = stream(1, "gamma", 0, "test");
            let sample: Vec<f64> = (0..20_000).map(|_| gamma.sample(&mut stream)).collect();
            // The 0.1 % point of the Kolmogorov–Smirnov distance is 1.95 / √20,000 = 0.0138.
            let found = distance(sample, |x| gamma.cumulative(x));
            assert!(found < 0.0138, "{shape} {scale}: {found}");
        }
    }

    #[test]
    fn the_cumulative_gamma_distribution_has_its_closed_forms() {
        // Shape 1: 1 − e^(−x). Shape 2: 1 − (1 + x) e^(−x).
        let one = Gamma {
            shape: 1.0,
            scale: 1.0,
        };
        let two = Gamma {
            shape: 2.0,
            scale: 3.0,
        };
        for x in [0.1_f64, 1.0, 5.0, 30.0] {
            assert!((one.cumulative(x) - (1.0 - (-x).exp())).abs() < 1e-13);
            let z = x / 3.0;
            assert!((two.cumulative(x) - (1.0 - (1.0 + z) * (-z).exp())).abs() < 1e-13);
        }
        assert_eq!(one.cumulative(-1.0), 0.0);
    }

    #[test]
    fn weighted_draws_follow_their_weights() {
        let sums = running_sums([1.0, 0.0, 3.0]);
        let mut stream = stream(1, "weights", 0, "test");
        let mut counts = [0; 3];
        for _ in 0..40_000 {
            counts[weighted(&sums, &mut stream)] += 1;
        }
        // 10,000 expected; four standard deviations of √(40,000 · ¼ · ¾) = 87 are 346.
        assert!((counts[0] - 10_000_i32).abs() < 346 && counts[1] == 0);
    }
}
