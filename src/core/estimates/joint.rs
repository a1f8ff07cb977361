//! When the last of several predecessors ends, and whether a job that waits for them ends in time
//! (Birkenheuer 2012, §3.2.2, §3.3.1).
//!
//! Predecessors are taken as independent, so the CDF of the latest completion is the product
//! of their CDFs. A predecessor on several of the chosen nodes must be passed once only.

use super::completion::grid_points;
use super::{CompletionDistribution, RuntimeSteps};
use crate::units::Seconds;

/// Probability that all predecessors have ended at `time`: the product of their CDFs; 1 without
/// predecessors.
#[must_use]
pub fn joint_cdf_at(predecessors: &[&CompletionDistribution], time: Seconds) -> f64 {
    let mut product = 1.0;
    for predecessor in predecessors {
        product *= predecessor.cdf_at(time);
        if product == 0.0 {
            break;
        }
    }
    product
}

/// The density of the start of a job that waits for these predecessors, on the grid `from + j·step`
/// for `j = 0..=ceil((latest − from) / step)` (Birkenheuer 2012, §3.2.2).
///
/// What lies before `from` (the job's release, or now) collapses onto `from`; the job starts at
/// `latest` for certain, so the last entry takes the rest. The entries sum to 1. With
/// `latest ≤ from` that is the single entry 1.
#[must_use]
pub fn joint_density(
    predecessors: &[&CompletionDistribution],
    from: Seconds,
    latest: Seconds,
    step: Seconds,
) -> Vec<f64> {
    let mut density = Vec::new();
    fill_joint_density(&mut density, predecessors, from, latest, step);
    density
}

/// As [`joint_density`], in the memory of `density`.
pub(super) fn fill_joint_density(
    density: &mut Vec<f64>,
    predecessors: &[&CompletionDistribution],
    from: Seconds,
    latest: Seconds,
    step: Seconds,
) {
    let step = Seconds(step.0.max(1));
    let points = grid_points(from, latest, step);
    density.clear();
    density.resize(points + 1, 1.0);
    for predecessor in predecessors {
        multiply(&mut density[..points], predecessor, from, step);
    }
    // A product of ascending factors in a fixed order ascends in floating point too: no difference
    // is negative.
    for index in (1..=points).rev() {
        density[index] -= density[index - 1];
    }
}

/// Multiplies the values on the grid `from + j·step` by the predecessor's CDF there.
fn multiply(
    values: &mut [f64],
    predecessor: &CompletionDistribution,
    from: Seconds,
    step: Seconds,
) {
    if predecessor.step() != step {
        for (index, value) in values.iter_mut().enumerate() {
            *value *= predecessor.cdf_at(from + step * index as i64);
        }
        return;
    }
    // Both grids have the same step, so the predecessor's index grows by one a point.
    let earliest = predecessor.origin().min(predecessor.window_end());
    let before = grid_points(from, earliest, step).min(values.len());
    let within = grid_points(from, predecessor.window_end(), step).clamp(before, values.len());
    values[..before].fill(0.0);
    let first = (from + step * before as i64 - predecessor.origin()).0 / step.0;
    // If the whole window has passed, `within` is `before` and nothing is read.
    let cdf = predecessor.cdf().get(first as usize..).unwrap_or_default();
    for (value, factor) in values[before..within].iter_mut().zip(cdf) {
        *value *= factor;
    }
}

/// P_executable of a job in a window (Birkenheuer 2012, §3.3.1; A-11): `P(S + W ≤ window_end)`,
/// where S is the start, W the runtime (cut at the estimate).
///
/// The start is the latest completion of the predecessors, at least `from` and at most `latest`;
/// its CDF is 0 before `from` and 1 from `latest` on. Without predecessors the job starts at
/// `from`.
///
/// This is the dot product `Σ_k PDF_joint(k) · CDF_job(T − k)` turned around,
/// `Σ_i p_i · CDF_joint(T − w_i)`: it costs O(bins · predecessors), whatever the number of steps.
#[must_use]
pub fn probability_executable(
    predecessors: &[&CompletionDistribution],
    runtime: &RuntimeSteps,
    from: Seconds,
    latest: Seconds,
    window_end: Seconds,
) -> f64 {
    let step = runtime.step();
    let predecessors: Vec<Backwards<'_>> = predecessors
        .iter()
        .map(|predecessor| Backwards::new(predecessor, window_end, step))
        .collect();
    let mut probability = 0.0;
    for &(steps, weight) in runtime.entries() {
        let start = window_end - step * i64::from(steps);
        if start < from {
            break;
        }
        probability += if start >= latest {
            weight
        } else {
            let mut product = 1.0;
            for predecessor in &predecessors {
                product *= predecessor.cdf_before(i64::from(steps), start);
                if product == 0.0 {
                    break;
                }
            }
            weight * product
        };
    }
    probability.min(1.0)
}

/// What bounds when a predecessor may have ended.
#[derive(Clone, Copy, Debug)]
pub enum NoEarlier<'a> {
    /// Its completion, or one that is no later.
    Completion(&'a CompletionDistribution),
    /// It runs so long, from `from` at the earliest, and ends at `window_end` for certain.
    Runtime {
        /// Its earliest start.
        from: Seconds,
        /// How long it runs.
        steps: &'a RuntimeSteps,
        /// When it is killed.
        window_end: Seconds,
    },
}

impl NoEarlier<'_> {
    /// No less than the probability that it has ended at `time`, but for rounding.
    fn cdf_at(&self, time: Seconds) -> f64 {
        match *self {
            Self::Completion(distribution) => distribution.cdf_at(time),
            Self::Runtime { window_end, .. } if time >= window_end => 1.0,
            Self::Runtime { from, .. } if time < from => 0.0,
            Self::Runtime { from, steps, .. } => {
                let within = (time - from).0 / steps.step().0;
                steps.cdf_at_steps(u32::try_from(within).unwrap_or(u32::MAX))
            }
        }
    }
}

/// No less than [`probability_executable`] behind predecessors that end no earlier than this, but
/// for rounding of some 1e-13: one look for each dozen entries of the runtime, all of which are
/// taken to be as short as the shortest of them.
#[must_use]
pub fn probability_executable_at_most(
    predecessors: &[NoEarlier<'_>],
    runtime: &RuntimeSteps,
    from: Seconds,
    latest: Seconds,
    window_end: Seconds,
) -> f64 {
    let mut probability = 0.0;
    for dozen in runtime.entries().chunks(12) {
        let start = window_end - runtime.step() * i64::from(dozen[0].0);
        if start < from {
            break;
        }
        let mut ended = 1.0;
        if start < latest {
            for predecessor in predecessors {
                ended *= predecessor.cdf_at(start);
            }
        }
        probability += ended * dozen.iter().map(|&(_, weight)| weight).sum::<f64>();
    }
    probability.min(1.0)
}

/// A CDF that is read at whole steps before one instant: one division for all of them.
struct Backwards<'a> {
    distribution: &'a CompletionDistribution,
    /// The grid point of the instant, where the steps are those of the grid; below 0 if it lies
    /// before the first.
    instant: Option<i64>,
}

impl<'a> Backwards<'a> {
    fn new(distribution: &'a CompletionDistribution, instant: Seconds, step: Seconds) -> Self {
        let is_on_grid = distribution.step() == step;
        let since = (instant - distribution.origin()).0;
        Self {
            distribution,
            instant: is_on_grid.then(|| since.div_euclid(step.0)),
        }
    }

    /// The CDF at `time`, which is `steps` steps before the instant.
    #[inline]
    fn cdf_before(&self, steps: i64, time: Seconds) -> f64 {
        let Some(instant) = self.instant else {
            return self.distribution.cdf_at(time);
        };
        if time >= self.distribution.window_end() {
            return 1.0;
        }
        let index = usize::try_from(instant - steps).ok();
        index.map_or(0.0, |index| self.distribution.cdf()[index])
    }
}

/// As [`probability_executable`], where the job and its predecessors are taken to use the same
/// quantile of their distributions, as consecutive jobs of one user tend to:
/// `sup { u : Q_start(u) + Q_runtime(u) ≤ window_end }`, the comonotone extreme of the dependence
/// that independence leaves out.
#[must_use]
pub fn probability_executable_together(
    predecessors: &[&CompletionDistribution],
    runtime: &RuntimeSteps,
    from: Seconds,
    latest: Seconds,
    window_end: Seconds,
) -> f64 {
    let step = runtime.step();
    let points = grid_points(from, latest, step);
    let start_at = |index: usize| (from + step * index as i64).min(latest.max(from));
    let started = |index: usize| {
        if index >= points {
            1.0
        } else {
            joint_cdf_at(predecessors, start_at(index))
        }
    };
    let mut reached = 0.0_f64;
    let mut index = 0;
    let mut by_start = started(0);
    for &(steps, _) in runtime.entries() {
        let by_runtime = runtime.cdf_at_steps(steps);
        // All quantiles between what was reached and that of this runtime start at the grid points
        // between them.
        loop {
            while by_start <= reached && index < points {
                index += 1;
                by_start = started(index);
            }
            if start_at(index) + step * i64::from(steps) > window_end {
                return reached.min(1.0);
            }
            if by_start >= by_runtime || index >= points {
                reached = by_runtime;
                break;
            }
            reached = by_start;
        }
    }
    reached.min(1.0)
}

#[cfg(test)]
pub(super) mod tests;
