//! Whether predictions of queue waits come true as often as they say.

use crate::units::Seconds;

/// Collects predictions of waits together with what came of them.
///
/// Two kinds: the probability of a deadline ([`predicted`](Self::predicted); Singh 2008, eq. 21),
/// judged by the Brier score, and upper bounds of a quantile ([`bounded`](Self::bounded); AMB-25),
/// which are correct in the sense of QBETS if at least the share q of the waits stays within them.
/// Nothing is kept but counts and sums.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WaitCalibration {
    predictions: u64,
    squared_errors: f64,
    bounds: Vec<BoundCoverage>,
}

impl WaitCalibration {
    /// Counts a probability, clamped to `[0, 1]`, and whether the job did start in time.
    pub fn predicted(&mut self, probability: f64, came_true: bool) {
        let probability = probability.clamp(0.0, 1.0);
        self.predictions += 1;
        let error = probability - f64::from(u8::from(came_true));
        self.squared_errors += error * error;
    }

    /// Counts an upper bound of the quantile `q` and the wait that came; `None` where no bound
    /// could be given.
    pub fn bounded(&mut self, q: f64, bound: Option<Seconds>, wait: Seconds) {
        let place = self
            .bounds
            .binary_search_by(|known| known.quantile.total_cmp(&q));
        let place = place.unwrap_or_else(|place| {
            self.bounds.insert(place, BoundCoverage::of(q));
            place
        });
        let coverage = &mut self.bounds[place];
        match bound {
            Some(bound) => {
                coverage.bounds += 1;
                coverage.within += u64::from(wait <= bound);
            }
            None => coverage.without_bound += 1,
        }
    }

    /// How many probabilities were counted.
    #[must_use]
    pub fn predictions(&self) -> u64 {
        self.predictions
    }

    /// The Brier score: the mean of (probability − outcome)², outcome being 1 or 0. From 0 (all
    /// certain and right) to 1 (all certain and wrong); always saying 0.5 gives 0.25. `None`
    /// without a prediction.
    #[must_use]
    pub fn brier_score(&self) -> Option<f64> {
        (self.predictions > 0).then(|| self.squared_errors / self.predictions as f64)
    }

    /// How the bounds of each stated quantile held, by ascending quantile.
    #[must_use]
    pub fn bounds(&self) -> &[BoundCoverage] {
        &self.bounds
    }
}

/// How often waits stayed within the upper bounds of one quantile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundCoverage {
    /// The stated quantile q.
    pub quantile: f64,
    /// How many bounds were given.
    pub bounds: u64,
    /// How many waits stayed within their bound (equality is within).
    pub within: u64,
    /// How often there was too little history for a bound.
    pub without_bound: u64,
}

impl BoundCoverage {
    /// The share of waits that stayed within their bound; `None` if none was given.
    #[must_use]
    pub fn share_within(&self) -> Option<f64> {
        (self.bounds > 0).then(|| self.within as f64 / self.bounds as f64)
    }

    fn of(quantile: f64) -> Self {
        Self {
            quantile,
            bounds: 0,
            within: 0,
            without_bound: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::estimates::{WaitPredictor, WaitPredictorSettings};
    use crate::random;
    use crate::units::Nodes;

    /// Whether at least the stated share stayed within, QBETS's measure of correctness.
    fn is_correct(of: &BoundCoverage) -> Option<bool> {
        Some(of.share_within()? >= of.quantile)
    }

    #[test]
    fn the_brier_score_is_the_mean_squared_error() {
        let mut calibration = WaitCalibration::default();
        assert_eq!(calibration.brier_score(), None);
        for (probability, came_true) in [(0.5, false), (1.0, true), (0.0, true), (0.5, true)] {
            calibration.predicted(probability, came_true);
        }
        assert_eq!(calibration.brier_score(), Some(1.5 / 4.0));
        assert_eq!(calibration.predictions(), 4);
    }

    #[test]
    fn bounds_are_counted_by_their_quantile() {
        let mut calibration = WaitCalibration::default();
        calibration.bounded(0.95, Some(Seconds(10)), Seconds(10));
        calibration.bounded(0.5, Some(Seconds(10)), Seconds(11));
        calibration.bounded(0.95, None, Seconds(3));
        calibration.bounded(0.5, Some(Seconds(10)), Seconds(0));
        let [half, most] = calibration.bounds() else {
            panic!("two quantiles");
        };
        assert_eq!((half.quantile, half.bounds, half.within), (0.5, 2, 1));
        assert_eq!(is_correct(half), Some(true));
        assert_eq!((most.bounds, most.within, most.without_bound), (1, 1, 1));
        assert_eq!(is_correct(&BoundCoverage::of(0.5)), None);
    }

    #[test]
    fn a_predictor_of_independent_waits_is_calibrated_and_its_bounds_are_correct() {
        let mut stream = random::stream(3, "waits", 0, "calibration");
        let mut predictor = WaitPredictor::new(WaitPredictorSettings::default()).unwrap();
        let mut calibration = WaitCalibration::default();
        let shape = (Nodes(32), Seconds::HOUR);
        // By twentieths of the probability: how many, what they said in all, how many came true.
        let mut bins = [(0.0, 0.0, 0.0); 20];
        for round in 0..30_000 {
            let wait = Seconds(stream.random_range(0..10_000));
            if round >= 1_000 {
                let deadline = Seconds(stream.random_range(0..10_000));
                let probability = predictor.probability(shape.0, shape.1, deadline);
                let came_true = wait <= deadline;
                calibration.predicted(probability, came_true);
                let bin = &mut bins[((probability * 20.0) as usize).min(19)];
                bin.0 += 1.0;
                bin.1 += probability;
                bin.2 += f64::from(u8::from(came_true));
                for q in [0.5, 0.95] {
                    calibration.bounded(q, predictor.quantile_bound(shape.0, shape.1, q), wait);
                }
            }
            predictor.observe(shape.0, shape.1, wait);
        }
        for (count, probabilities, true_ones) in bins {
            let (said, seen) = (probabilities / count, true_ones / count);
            assert!((said - seen).abs() < 0.05, "{said} against {seen}");
        }
        // E[p(1 − p)] of a uniform p is 1/6.
        assert!((calibration.brier_score().unwrap() - 1.0 / 6.0).abs() < 0.01);
        assert!(
            calibration
                .bounds()
                .iter()
                .all(|of| is_correct(of) == Some(true))
        );
    }
}
