//! Run times of tasks that are not those that plans are made with: the outlook of the thesis (Singh
//! 2008, §8.1).

use serde::{Deserialize, Serialize};

use crate::random::Stream;
use crate::units::Seconds;
use crate::workload::variates::{log_normal, uniform};

/// How run times of tasks spread around those that plans are made with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RealRuntimes {
    /// They are the same.
    #[default]
    Exact,
    /// Uniformly, from `1 - √3 · variation` to `1 + √3 · variation` of the estimate.
    Uniform,
    /// Log-normally.
    LogNormal,
}

/// How long tasks really run, compared with the estimates of the workflow, and for how long they
/// are booked.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuntimeUncertainty {
    /// How real run times spread; their mean is the estimate.
    pub real: RealRuntimes,
    /// Their coefficient of variation.
    pub variation: f64,
    /// A task is booked for this multiple of its estimate.
    pub booking_factor: f64,
}

impl Default for RuntimeUncertainty {
    fn default() -> Self {
        Self {
            real: RealRuntimes::Exact,
            variation: 0.3,
            booking_factor: 1.0,
        }
    }
}

impl RuntimeUncertainty {
    /// The largest variation of uniform run times: above it some would be negative.
    pub const MOST_UNIFORM: f64 = 0.577;

    /// Whether tasks run as long as estimated and are booked for that long.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// For how long a task of this estimate is booked: rounded up to whole seconds.
    #[must_use]
    pub fn booked(&self, estimate: Seconds) -> Seconds {
        // 1.1 · 10 s are 11 s, though the product of the nearest fractions is a little more.
        Seconds((estimate.0 as f64 * self.booking_factor - 1e-6).ceil() as i64)
    }

    /// Real run times as multiples of the estimates, for so many tasks. A task that is drawn from
    /// the same stream is above its estimate whatever the variation is, or below it whatever it is
    /// (log-normal ones: of the median).
    #[must_use]
    pub fn draw(&self, tasks: usize, stream: &mut Stream) -> Vec<f64> {
        let one = |_| match self.real {
            RealRuntimes::Exact => 1.0,
            RealRuntimes::Uniform => {
                1.0 + 3.0_f64.sqrt() * self.variation * (2.0 * uniform(stream) - 1.0)
            }
            RealRuntimes::LogNormal => log_normal(self.variation, stream),
        };
        (0..tasks).map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    fn drawn(real: RealRuntimes, variation: f64) -> Vec<f64> {
        let uncertainty = RuntimeUncertainty {
            real,
            variation,
            ..RuntimeUncertainty::default()
        };
        uncertainty.draw(40_000, &mut stream(1, "test", 0, "run times"))
    }

    #[test]
    fn multiples_have_mean_one_and_the_variation_that_was_asked_for() {
        for (real, variation) in [
            (RealRuntimes::Uniform, 0.3),
            (RealRuntimes::Uniform, RuntimeUncertainty::MOST_UNIFORM),
            (RealRuntimes::LogNormal, 0.1),
            (RealRuntimes::LogNormal, 0.6),
        ] {
            let drawn = drawn(real, variation);
            let count = drawn.len() as f64;
            let mean = drawn.iter().sum::<f64>() / count;
            let squares = drawn.iter().map(|one| (one - mean) * (one - mean));
            let deviation = (squares.sum::<f64>() / count).sqrt();
            // Four standard errors of the mean; the deviation of a log-normal sample spreads more.
            assert!(
                (mean - 1.0).abs() < 4.0 * variation / count.sqrt(),
                "{mean}"
            );
            assert!((deviation / variation - 1.0).abs() < 0.04, "{deviation}");
            assert!(drawn.iter().all(|one| *one > 0.0));
        }
    }

    #[test]
    fn a_task_is_booked_for_whole_seconds_and_never_for_one_too_many() {
        let booked = |factor, seconds| {
            let uncertainty = RuntimeUncertainty {
                booking_factor: factor,
                ..RuntimeUncertainty::default()
            };
            uncertainty.booked(Seconds(seconds)).0
        };
        assert_eq!((booked(1.0, 7), booked(1.1, 10)), (7, 11));
        assert_eq!((booked(1.1, 11), booked(2.5, 3)), (13, 8));
    }

    #[test]
    fn a_larger_variation_moves_each_task_further_in_the_same_direction() {
        let (little, much) = (
            drawn(RealRuntimes::Uniform, 0.1),
            drawn(RealRuntimes::Uniform, 0.4),
        );
        for (little, much) in little.into_iter().zip(much) {
            assert!(((much - 1.0) - 4.0 * (little - 1.0)).abs() < 1e-12);
        }
        assert!(
            drawn(RealRuntimes::Exact, 0.4)
                .iter()
                .all(|one| *one == 1.0)
        );
    }
}
