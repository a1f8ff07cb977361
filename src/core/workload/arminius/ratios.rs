//! How much of their estimates the jobs of the Arminius model use.
//!
//! A ratio of runtime to estimate comes from one of six shapes. The described users mix them in
//! their own way, the others by the class of their estimate. One number, by which all shares of
//! "late" and "full" of the undescribed users are weighted, is calibrated so that the mean runtime
//! is the published one.

use super::table::{Cell, ESTIMATE_CLASSES, JointTable, solve};
use crate::random::Stream;
use crate::workload::variates::{running_sums, uniform, weighted_at};

/// Shares of the six shapes: at once (below 1 %), early (1–10 %), flat (0–100 %), middle (45–60 %),
/// late (80–100 %), full (100 %).
type Mixture = [f64; 6];

const RANGES: [(f64, f64); 6] = [
    (0.0, 0.01),
    (0.01, 0.1),
    (0.0, 1.0),
    (0.45, 0.6),
    (0.8, 1.0),
    (1.0, 1.0),
];

const AT_ONCE: Mixture = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
const BADLY: Mixture = [0.4, 0.4, 0.2, 0.0, 0.0, 0.0];

/// A place in the distribution of ratios of whatever cell. A job that keeps the place of another
/// has the same ratio in the same cell, and the distribution of its own cell in another one.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Share of the mixture that lies below, which decides the shape.
    shape: f64,
    /// Share of the range of the shape that lies below.
    within: f64,
}

impl Place {
    pub(super) fn draw(stream: &mut Stream) -> Self {
        Self {
            shape: uniform(stream),
            within: uniform(stream),
        }
    }
}

pub(super) struct RatioModel {
    /// Logarithm of the weight of late and full ends.
    lateness: f64,
}

impl RatioModel {
    /// The model whose mean runtime is `mean_runtime`, given the mean estimate of each class.
    pub(super) fn calibrated(
        table: &JointTable,
        mean_estimates: &[f64; ESTIMATE_CLASSES.len()],
        mean_runtime: f64,
    ) -> Self {
        let mean = |lateness: f64| {
            let model = Self { lateness };
            table
                .cells()
                .map(|(cell, share)| {
                    share * mean_estimates[cell.estimate] * mean_ratio(&model.mixture(cell))
                })
                .sum()
        };
        Self {
            lateness: solve(mean, mean_runtime),
        }
    }

    /// The ratio at a place of the distribution of a cell.
    pub(super) fn ratio(&self, cell: Cell, place: Place) -> f64 {
        let (from, to) = RANGES[weighted_at(&running_sums(self.mixture(cell)), place.shape)];
        from + (to - from) * place.within
    }

    fn mixture(&self, cell: Cell) -> Mixture {
        match cell.user {
            0 => [0.02, 0.02, 0.04, 0.0, 0.77, 0.15],
            1 => [0.965, 0.015, 0.01, 0.0, 0.01, 0.0],
            2 => [0.70, 0.15, 0.10, 0.0, 0.05, 0.0],
            4 => [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
            5 => [0.05, 0.05, 0.08, 0.79, 0.03, 0.0],
            _ => self.by_class(cell),
        }
    }

    fn by_class(&self, cell: Cell) -> Mixture {
        let mut mixture: Mixture = match cell.estimate {
            0..=2 => [0.42, 0.22, 0.16, 0.0, 0.15, 0.05],
            3 => [0.25, 0.12, 0.20, 0.23, 0.15, 0.05],
            _ => [0.27, 0.12, 0.03, 0.0, 0.52, 0.06],
        };
        let weight = libm::exp(self.lateness);
        mixture[4] *= weight;
        mixture[5] *= weight;
        let total: f64 = mixture.iter().sum();
        let mixture = mixture.map(|share| share / total);
        let mixture = match cell.worker {
            1 => blend(mixture, AT_ONCE, 0.55),
            6 => blend(mixture, BADLY, 0.6),
            7 => blend(mixture, BADLY, 0.85),
            _ => mixture,
        };
        if cell.nodes == 0 && cell.estimate <= 1 {
            blend(mixture, AT_ONCE, 0.3)
        } else {
            mixture
        }
    }
}

fn mean_ratio(mixture: &Mixture) -> f64 {
    mixture
        .iter()
        .zip(RANGES)
        .map(|(share, (from, to))| share * (from + to) / 2.0)
        .sum()
}

fn blend(mixture: Mixture, other: Mixture, part: f64) -> Mixture {
    let mut blended = mixture;
    for (share, other) in blended.iter_mut().zip(other) {
        *share = *share * (1.0 - part) + other * part;
    }
    blended
}
