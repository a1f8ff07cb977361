//! Neighbours that are not independent: consecutive batteries, or weeks, of one log.

use super::estimate::Moments;

/// The correlation of each value with the next one; `None` for fewer than three values and where they do
/// not differ.
#[must_use]
pub fn lag_1_correlation(values: &[f64]) -> Option<f64> {
    let moments = Moments::of(values).filter(|_| values.len() > 2)?;
    if moments.has_no_spread() {
        return None;
    }
    let distance = |value: &f64| value - moments.mean;
    let squares: f64 = values.iter().map(|value| distance(value).powi(2)).sum();
    let products: f64 = values
        .windows(2)
        .map(|pair| distance(&pair[0]) * distance(&pair[1]))
        .sum();
    Some(products / squares)
}

/// As many independent values would say as much of a mean as these neighbours: `n (1 − r) / (1 + r)` of a
/// series whose correlation r falls geometrically (Bayley and Hammersley 1946), from 1 to n.
#[must_use]
pub fn effective_count(count: usize, correlation: f64) -> f64 {
    let correlation = correlation.clamp(0.0, 1.0);
    let count = count as f64;
    (count * (1.0 - correlation) / (1.0 + correlation)).max(1.0)
}
