//! The daily cycle of arrivals in the model of Lublin and Feitelson: how many jobs arrive in each
//! half hour of a day.

use super::variates::Gamma;

/// Half hours a day.
const BUCKETS: usize = 48;
/// Seconds of a half hour.
const BUCKET_SECONDS: f64 = 1_800.0;
/// The gamma distribution of arrivals covers the half hours 11 to 58; those from 48 on belong to
/// the morning.
const FIRST_BUCKET: usize = 11;

/// Weights of the half hours of a day, with mean 1: a second of a half hour of weight w counts as w
/// *points*, and jobs arrive at a steady rate in points.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DailyCycle {
    weights: [f64; BUCKETS],
    /// Points from midnight to the end of each half hour, in half hours.
    running: [f64; BUCKETS],
}

impl DailyCycle {
    /// The cycle whose arrivals over the day follow `arrivals` (in half hours).
    pub(super) fn new(arrivals: Gamma) -> Self {
        let mut weights = [0.0; BUCKETS];
        for bucket in FIRST_BUCKET..FIRST_BUCKET + BUCKETS {
            let middle = bucket as f64;
            weights[(bucket - 1) % BUCKETS] =
                arrivals.cumulative(middle + 0.5) - arrivals.cumulative(middle - 0.5);
        }
        let mean = weights.iter().sum::<f64>() / BUCKETS as f64;
        let mut running = [0.0; BUCKETS];
        let mut sum = 0.0;
        for (weight, running) in weights.iter_mut().zip(&mut running) {
            *weight /= mean;
            sum += *weight;
            *running = sum;
        }
        Self { weights, running }
    }

    /// The moment, in seconds from a midnight, at which `points` (in seconds of mean weight) have
    /// passed.
    pub(super) fn moment(&self, points: f64) -> f64 {
        let day_points = self.running[BUCKETS - 1];
        let points = points / BUCKET_SECONDS;
        let days = (points / day_points).floor();
        let rest = points - days * day_points;
        let bucket = self
            .running
            .partition_point(|end| *end <= rest)
            .min(BUCKETS - 1);
        let start = self.running[bucket] - self.weights[bucket];
        let part = ((rest - start) / self.weights[bucket]).clamp(0.0, 1.0);
        (days * BUCKETS as f64 + bucket as f64 + part) * BUCKET_SECONDS
    }

    /// The points, in seconds of mean weight, that pass from a midnight to `moment`.
    pub(super) fn points(&self, moment: f64) -> f64 {
        let buckets = moment / BUCKET_SECONDS;
        let days = (buckets / BUCKETS as f64).floor();
        let rest = buckets - days * BUCKETS as f64;
        let bucket = (rest.floor() as usize).min(BUCKETS - 1);
        let start = self.running[bucket] - self.weights[bucket];
        let part = (rest - bucket as f64) * self.weights[bucket];
        (days * self.running[BUCKETS - 1] + start + part) * BUCKET_SECONDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_points_are_each_others_inverse_and_a_day_is_a_day() {
        let cycle = DailyCycle::new(Gamma {
            shape: 8.1737,
            scale: 3.9631,
        });
        assert!((cycle.moment(10.0 * 86_400.0) - 864_000.0).abs() < 1e-3);
        for moment in [0.0, 1.0, 1_799.0, 40_000.0, 86_399.0, 123_456.0, 1e7] {
            assert!(
                (cycle.moment(cycle.points(moment)) - moment).abs() < 1e-3,
                "{moment}"
            );
        }
    }

    #[test]
    fn more_jobs_arrive_in_the_afternoon_than_before_dawn() {
        let cycle = DailyCycle::new(Gamma {
            shape: 8.1737,
            scale: 3.9631,
        });
        let share = |from: f64, to: f64| cycle.points(to * 3_600.0) - cycle.points(from * 3_600.0);
        assert!(share(13.0, 15.0) > 3.0 * share(4.0, 6.0));
    }
}
