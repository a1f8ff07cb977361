//! Whether predictions of queue waits come true as often as they say.

use crate::units::Seconds;

/// Number of bins of predicted probabilities, each 5 % wide.
pub const WAIT_CALIBRATION_BINS: usize = 20;

/// Collects predictions of waits together with what came of them.
///
/// Two kinds: the probability of a deadline ([`predicted`](Self::predicted); spec `provisioning.md`
/// eq. 21), judged by bins and by the Brier score, and upper bounds of a quantile
/// ([`bounded`](Self::bounded); AMB-25), which are correct in the sense of QBETS if at least the
/// share q of the waits stays within them. Nothing is kept but counts and sums.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WaitCalibration {
    bins: [CalibrationBin; WAIT_CALIBRATION_BINS],
    squared_errors: f64,
    bounds: Vec<BoundCoverage>,
}

impl WaitCalibration {
    /// Counts a probability, clamped to `[0, 1]`, and whether the job did start in time.
    pub fn predicted(&mut self, probability: f64, came_true: bool) {
        let probability = probability.clamp(0.0, 1.0);
        let bin = (probability * WAIT_CALIBRATION_BINS as f64) as usize;
        let bin = &mut self.bins[bin.min(WAIT_CALIBRATION_BINS - 1)];
        bin.predictions += 1;
        bin.came_true += u64::from(came_true);
        bin.probabilities += probability;
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

    /// The bins of predicted probabilities, from [0, 0.05) to [0.95, 1].
    #[must_use]
    pub fn bins(&self) -> &[CalibrationBin; WAIT_CALIBRATION_BINS] {
        &self.bins
    }

    /// How many probabilities were counted.
    #[must_use]
    pub fn predictions(&self) -> u64 {
        self.bins.iter().map(|bin| bin.predictions).sum()
    }

    /// The Brier score: the mean of (probability − outcome)², outcome being 1 or 0. From 0 (all
    /// certain and right) to 1 (all certain and wrong); always saying 0.5 gives 0.25. `None`
    /// without a prediction.
    #[must_use]
    pub fn brier_score(&self) -> Option<f64> {
        let predictions = self.predictions();
        (predictions > 0).then(|| self.squared_errors / predictions as f64)
    }

    /// How the bounds of each stated quantile held, by ascending quantile.
    #[must_use]
    pub fn bounds(&self) -> &[BoundCoverage] {
        &self.bounds
    }
}

/// The predictions of one bin of probabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CalibrationBin {
    /// How many predictions fell into it.
    pub predictions: u64,
    /// How many of these came true.
    pub came_true: u64,
    probabilities: f64,
}

impl CalibrationBin {
    /// The mean of the predicted probabilities; `None` for an empty bin.
    #[must_use]
    pub fn mean_prediction(&self) -> Option<f64> {
        (self.predictions > 0).then(|| self.probabilities / self.predictions as f64)
    }

    /// The share that came true; `None` for an empty bin.
    #[must_use]
    pub fn observed_share(&self) -> Option<f64> {
        (self.predictions > 0).then(|| self.came_true as f64 / self.predictions as f64)
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

    /// Whether at least the stated share stayed within, QBETS's measure of correctness; `None` if
    /// no bound was given.
    #[must_use]
    pub fn is_correct(&self) -> Option<bool> {
        Some(self.share_within()? >= self.quantile)
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

    #[test]
    fn predictions_fall_into_bins_of_five_percent() {
        let mut calibration = WaitCalibration::default();
        for (probability, came_true) in [(0.0, false), (0.049, true), (0.05, false), (1.0, true)] {
            calibration.predicted(probability, came_true);
        }
        let counts = |bin: usize| {
            let bin = calibration.bins()[bin];
            (bin.predictions, bin.came_true)
        };
        assert_eq!([counts(0), counts(1), counts(19)], [(2, 1), (1, 0), (1, 1)]);
        assert_eq!(calibration.bins()[0].mean_prediction(), Some(0.0245));
        assert_eq!(calibration.bins()[0].observed_share(), Some(0.5));
        assert_eq!(calibration.bins()[2].observed_share(), None);
        assert_eq!(calibration.predictions(), 4);
    }

    #[test]
    fn the_brier_score_is_the_mean_squared_error() {
        let mut calibration = WaitCalibration::default();
        assert_eq!(calibration.brier_score(), None);
        for (probability, came_true) in [(0.5, false), (1.0, true), (0.0, true), (0.5, true)] {
            calibration.predicted(probability, came_true);
        }
        assert_eq!(calibration.brier_score(), Some(1.5 / 4.0));
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
        assert_eq!(half.is_correct(), Some(true));
        assert_eq!((most.bounds, most.within, most.without_bound), (1, 1, 1));
        assert_eq!(BoundCoverage::of(0.5).is_correct(), None);
    }

    #[test]
    fn a_predictor_of_independent_waits_is_calibrated_and_its_bounds_are_correct() {
        let mut stream = random::stream(3, "waits", 0, "calibration");
        let mut predictor = WaitPredictor::new(WaitPredictorSettings::default()).unwrap();
        let mut calibration = WaitCalibration::default();
        let shape = (Nodes(32), Seconds::HOUR);
        for round in 0..30_000 {
            let wait = Seconds(stream.random_range(0..10_000));
            if round >= 1_000 {
                let deadline = Seconds(stream.random_range(0..10_000));
                let probability = predictor.probability(shape.0, shape.1, deadline);
                calibration.predicted(probability, wait <= deadline);
                for q in [0.5, 0.95] {
                    calibration.bounded(q, predictor.quantile_bound(shape.0, shape.1, q), wait);
                }
            }
            predictor.observe(shape.0, shape.1, wait);
        }
        for bin in calibration.bins() {
            let (said, seen) = (
                bin.mean_prediction().unwrap(),
                bin.observed_share().unwrap(),
            );
            assert!((said - seen).abs() < 0.05, "{said} against {seen}");
        }
        // E[p(1 − p)] of a uniform p is 1/6.
        assert!((calibration.brier_score().unwrap() - 1.0 / 6.0).abs() < 0.01);
        assert!(
            calibration
                .bounds()
                .iter()
                .all(|of| of.is_correct() == Some(true))
        );
    }
}
