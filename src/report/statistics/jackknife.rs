//! The interval of a statistic that is no mean, from what it is without each unit.

use super::estimate::Estimate;

/// A statistic of independent units with its 95 % interval by the jackknife (Efron and Tibshirani 1993,
/// chapter 11): the pseudo-values `n·θ − (n − 1)·θ₋ᵢ` are treated as a sample. `all` is the statistic of
/// all units, `without` what it is without each of them. `None` for fewer than two units.
#[must_use]
pub fn jackknife(all: f64, without: &[f64]) -> Option<Estimate> {
    if without.len() < 2 {
        return None;
    }
    let count = without.len() as f64;
    let pseudo: Vec<f64> = without
        .iter()
        .map(|rest| count * all - (count - 1.0) * rest)
        .collect();
    Estimate::of(&pseudo)
}
