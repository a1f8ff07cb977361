//! From computed to promised probabilities of failure: a map that is learned from the jobs that
//! were decided so far.
//!
//! A policy computes a PoF from a model; the jobs that it accepted then fail more or less often
//! than that says. A [`Calibrator`] counts both by percent of the computed PoF, and offers the map
//! between them: monotone, so that a slot that looked safer is still promised to be safer. It sees
//! decided jobs only, in the order in which they are decided, so nothing of the future enters a
//! promise. Counts age: each submitted job, accepted or not, halves them by its part of a
//! half-life, so a machine whose users change forgets, and one that stopped overbooking tries again
//! after a while.
//!
//! Two maps are offered. *Logistic* recalibration (Cox 1958),
//! `logit(promised) = a + b · logit(computed)`, has two numbers only and carries what it learned
//! over to probabilities that were never accepted. *Isotonic* regression (pool adjacent violators;
//! blocks are joined by straight lines between their centres) follows any monotone shape; where
//! little was seen it falls back to the logistic map, which is its prior: by itself it would know
//! nothing beyond the probabilities that were accepted, and so never accept them.

use serde::{Deserialize, Serialize};

/// How promised probabilities of failure follow from computed ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CalibrationMethod {
    /// The computed probability is promised as it is.
    #[default]
    None,
    /// Isotonic regression of failures on the computed probability, around the logistic map.
    Isotonic,
    /// Logistic recalibration of the computed probability.
    Logistic,
}

/// Everything that determines how a policy calibrates its promises.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibrationSettings {
    /// The map.
    pub method: CalibrationMethod,
    /// After so many submitted jobs, what was counted before weighs half. Above 0.
    pub half_life_jobs: f64,
    /// Until the counted jobs weigh so much together, the computed probability is promised.
    pub minimum_jobs: f64,
    /// How many batteries before the simulated one are run first, to learn from.
    pub batteries_before: u32,
}

impl Default for CalibrationSettings {
    fn default() -> Self {
        Self {
            method: CalibrationMethod::None,
            half_life_jobs: 5_000.0,
            minimum_jobs: 50.0,
            batteries_before: 5,
        }
    }
}

/// Percent bins of the computed probability.
const BINS: usize = 100;

/// What each bin is taken to have seen before anything was counted by the logistic map: so many
/// jobs, which failed as often as computed.
const PRIOR_JOBS: f64 = 0.1;

/// What each bin is taken to have seen before isotonic regression: so many jobs, which failed as
/// the logistic map says.
const ISOTONIC_PRIOR_JOBS: f64 = 5.0;

/// Probabilities nearer to 0 or 1 have no finite logarithm of their odds worth anything.
const EDGE: f64 = 0.002;

/// Learns how often jobs fail whose computed probability of failure is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibrator {
    settings: CalibrationSettings,
    /// What is left of a count after one more submitted job.
    ageing: f64,
    bins: Vec<Bin>,
    map: Map,
}

/// Aged sums over the decided jobs of one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Bin {
    jobs: f64,
    failed: f64,
    computed: f64,
}

#[derive(Clone, Debug, PartialEq)]
enum Map {
    Identity,
    /// Ascending points (computed, promised), joined by straight lines.
    Points(Vec<(f64, f64)>),
    Logistic {
        intercept: f64,
        slope: f64,
    },
}

impl Calibrator {
    /// A calibrator that has seen nothing: it promises what is computed.
    #[must_use]
    pub fn new(settings: CalibrationSettings) -> Self {
        Self {
            settings,
            ageing: libm::exp2(-1.0 / settings.half_life_jobs.max(1.0)),
            bins: vec![Bin::default(); BINS],
            map: Map::Identity,
        }
    }

    /// The probability of failure to promise where `computed` was computed, both in `[0, 1]`.
    /// Ascends with `computed`.
    #[must_use]
    pub fn promised(&self, computed: f64) -> f64 {
        match &self.map {
            Map::Identity => computed,
            Map::Logistic { intercept, slope } => {
                logistic(intercept + slope * log_odds(computed)).clamp(0.0, 1.0)
            }
            Map::Points(points) => {
                let after = points.partition_point(|point| point.0 < computed);
                match (after.checked_sub(1), points.get(after)) {
                    (None, Some(&(_, promised))) => promised,
                    (Some(before), None) => points[before].1,
                    (Some(before), Some(&(right, high))) => {
                        let (left, low) = points[before];
                        low + (high - low) * (computed - left) / (right - left)
                    }
                    (None, None) => computed,
                }
            }
        }
    }

    /// Another job was submitted: what was counted ages.
    pub fn submitted(&mut self) {
        for bin in &mut self.bins {
            bin.jobs *= self.ageing;
            bin.failed *= self.ageing;
            bin.computed *= self.ageing;
        }
    }

    /// An overbooked job is decided: it was accepted at this computed probability of failure, and
    /// failed or not.
    pub fn decided(&mut self, computed: f64, failed: bool) {
        let place = ((computed * BINS as f64) as usize).min(BINS - 1);
        let bin = &mut self.bins[place];
        bin.jobs += 1.0;
        bin.failed += f64::from(u8::from(failed));
        bin.computed += computed;
        self.map = self.fitted();
    }

    fn fitted(&self) -> Map {
        let jobs: f64 = self.bins.iter().map(|bin| bin.jobs).sum();
        if jobs < self.settings.minimum_jobs {
            return Map::Identity;
        }
        match self.settings.method {
            CalibrationMethod::None => Map::Identity,
            CalibrationMethod::Isotonic => Map::Points(self.isotonic()),
            CalibrationMethod::Logistic => {
                let (intercept, slope) = self.logistic();
                Map::Logistic { intercept, slope }
            }
        }
    }

    /// The bins with a prior of so many jobs each, which failed as `expected` says of the bin's
    /// centre.
    fn with_prior(&self, jobs: f64, expected: impl Fn(f64) -> f64) -> impl Iterator<Item = Bin> {
        self.bins.iter().enumerate().map(move |(place, bin)| {
            let centre = (place as f64 + 0.5) / BINS as f64;
            Bin {
                jobs: bin.jobs + jobs,
                failed: bin.failed + jobs * expected(centre),
                computed: bin.computed + jobs * centre,
            }
        })
    }

    /// Centres of the blocks that pooling adjacent violators leaves.
    fn isotonic(&self) -> Vec<(f64, f64)> {
        let (intercept, slope) = self.logistic();
        let expected = |computed| logistic(intercept + slope * log_odds(computed));
        let mut blocks: Vec<Bin> = Vec::with_capacity(BINS);
        for bin in self.with_prior(ISOTONIC_PRIOR_JOBS, expected) {
            let mut block = bin;
            while let Some(last) = blocks.last()
                && last.failed * block.jobs >= block.failed * last.jobs
            {
                block.jobs += last.jobs;
                block.failed += last.failed;
                block.computed += last.computed;
                blocks.pop();
            }
            blocks.push(block);
        }
        blocks
            .iter()
            .map(|block| (block.computed / block.jobs, block.failed / block.jobs))
            .collect()
    }

    /// The intercept and slope of greatest likelihood, by Newton's method from the identity; the
    /// slope is not negative.
    fn logistic(&self) -> (f64, f64) {
        let points: Vec<(f64, f64, f64)> = self
            .with_prior(PRIOR_JOBS, |computed| computed)
            .map(|bin| (log_odds(bin.computed / bin.jobs), bin.jobs, bin.failed))
            .collect();
        let (mut intercept, mut slope) = (0.0, 1.0);
        for _ in 0..20 {
            let (mut gradient, mut curvature) = ([0.0; 2], [0.0; 3]);
            for &(odds, jobs, failed) in &points {
                let promised = logistic(intercept + slope * odds);
                let (miss, weight) = (failed - jobs * promised, jobs * promised * (1.0 - promised));
                gradient[0] += miss;
                gradient[1] += miss * odds;
                curvature[0] += weight;
                curvature[1] += weight * odds;
                curvature[2] += weight * odds * odds;
            }
            let determinant = curvature[0] * curvature[2] - curvature[1] * curvature[1];
            if determinant <= 0.0 {
                break;
            }
            let step = [
                (curvature[2] * gradient[0] - curvature[1] * gradient[1]) / determinant,
                (curvature[0] * gradient[1] - curvature[1] * gradient[0]) / determinant,
            ];
            // A long step from a bad start may overshoot for good.
            intercept += step[0].clamp(-2.0, 2.0);
            slope = (slope + step[1].clamp(-1.0, 1.0)).max(0.0);
            if step[0].abs() + step[1].abs() < 1e-6 {
                break;
            }
        }
        if slope == 0.0 {
            // Failures do not rise with what was computed: the best promise is their share,
            // whatever the last step said.
            let (jobs, failed) = points
                .iter()
                .fold((0.0, 0.0), |sum, point| (sum.0 + point.1, sum.1 + point.2));
            intercept = log_odds(failed / jobs);
        }
        (intercept, slope)
    }
}

fn log_odds(probability: f64) -> f64 {
    let inside = probability.clamp(EDGE, 1.0 - EDGE);
    libm::log(inside / (1.0 - inside))
}

fn logistic(odds: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-odds))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn calibrator(method: CalibrationMethod) -> Calibrator {
        Calibrator::new(CalibrationSettings {
            method,
            half_life_jobs: 1e9,
            ..CalibrationSettings::default()
        })
    }

    const BOTH: [CalibrationMethod; 2] = [CalibrationMethod::Isotonic, CalibrationMethod::Logistic];

    /// So many jobs at one computed probability, the given share of which failed.
    fn see(calibrator: &mut Calibrator, computed: f64, jobs: u32, share: f64) {
        for job in 0..jobs {
            let failed = (f64::from(job + 1) * share).floor() > (f64::from(job) * share).floor();
            calibrator.decided(computed, failed);
        }
    }

    #[test]
    fn until_enough_jobs_are_decided_the_computed_probability_is_promised() {
        for method in BOTH {
            let mut calibrator = calibrator(method);
            see(&mut calibrator, 0.1, 49, 1.0);
            assert_eq!(calibrator.promised(0.1), 0.1);
            calibrator.decided(0.1, true);
            assert!(calibrator.promised(0.1) > 0.5, "{method:?}");
        }
    }

    #[test]
    fn what_fails_more_often_than_computed_is_promised_less() {
        for method in BOTH {
            let mut calibrator = calibrator(method);
            for (computed, realised) in [(0.05, 0.15), (0.2, 0.4), (0.4, 0.64)] {
                see(&mut calibrator, computed, 2_000, realised);
            }
            for (computed, realised) in [(0.05, 0.15), (0.2, 0.4), (0.4, 0.64)] {
                let promised = calibrator.promised(computed);
                assert!(
                    (promised - realised).abs() < 0.03,
                    "{method:?} at {computed}: {promised}"
                );
            }
        }
    }

    #[test]
    fn what_was_learned_carries_over_to_probabilities_that_were_never_seen() {
        for method in BOTH {
            let mut calibrator = calibrator(method);
            see(&mut calibrator, 0.1, 1_000, 0.02);
            see(&mut calibrator, 0.3, 1_000, 0.07);
            assert!(calibrator.promised(0.7) < 0.4, "{method:?}");
        }
    }

    #[test]
    fn where_failures_do_not_rise_with_what_is_computed_their_share_is_promised() {
        for method in BOTH {
            let mut calibrator = calibrator(method);
            see(&mut calibrator, 0.05, 1_000, 0.6);
            see(&mut calibrator, 0.5, 1_000, 0.4);
            for computed in [0.05, 0.3, 0.5] {
                let promised = calibrator.promised(computed);
                assert!((promised - 0.5).abs() < 0.03, "{method:?}: {promised}");
            }
        }
    }

    #[test]
    fn isotonic_regression_follows_a_step_that_no_logistic_map_has() {
        let mut calibrator = calibrator(CalibrationMethod::Isotonic);
        for (computed, realised) in [(0.105, 0.05), (0.205, 0.05), (0.305, 0.6), (0.405, 0.6)] {
            see(&mut calibrator, computed, 5_000, realised);
        }
        assert!((calibrator.promised(0.155) - 0.05).abs() < 0.01);
        assert!((calibrator.promised(0.355) - 0.6).abs() < 0.01);
    }

    #[test]
    fn what_was_counted_ages_with_the_jobs_that_are_submitted() {
        let mut calibrator = Calibrator::new(CalibrationSettings {
            method: CalibrationMethod::Isotonic,
            half_life_jobs: 10.0,
            ..CalibrationSettings::default()
        });
        see(&mut calibrator, 0.1, 1_000, 1.0);
        (0..100).for_each(|_| calibrator.submitted());
        // 1,000 · 2⁻¹⁰ is about one job: too little to promise anything but what is computed.
        calibrator.decided(0.1, false);
        assert_eq!(calibrator.promised(0.1), 0.1);
    }

    #[test]
    fn pooled_blocks_are_the_means_of_what_they_pool() {
        let mut calibrator = calibrator(CalibrationMethod::Isotonic);
        see(&mut calibrator, 0.205, 500, 0.5);
        see(&mut calibrator, 0.305, 1_500, 0.1);
        // The first fails more often than the second, so both are pooled: (250 + 150) / 2,000.
        let centre = (0.205 * 500.0 + 0.305 * 1_500.0) / 2_000.0;
        assert!((calibrator.promised(centre) - 0.2).abs() < 0.03);
    }

    proptest! {
        #[test]
        fn a_promise_is_a_probability_and_ascends_with_what_is_computed(
            seen in prop::collection::vec((0.0_f64..=1.0, any::<bool>()), 0..300),
            mut asked in prop::collection::vec(0.0_f64..=1.0, 2..20),
        ) {
            for method in BOTH {
                let mut calibrator = calibrator(method);
                for &(computed, failed) in &seen {
                    calibrator.submitted();
                    calibrator.decided(computed, failed);
                }
                asked.sort_by(f64::total_cmp);
                let promised: Vec<f64> = asked.iter().map(|&computed| calibrator.promised(computed)).collect();
                prop_assert!(promised.iter().all(|promised| (0.0..=1.0).contains(promised)), "{promised:?}");
                prop_assert!(promised.windows(2).all(|pair| pair[0] <= pair[1] + 1e-12), "{promised:?}");
            }
        }
    }
}
