//! Means over replications that may be neighbouring stretches of one log, which resemble each
//! other.

use std::collections::BTreeMap;

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::estimate::Estimate;
use super::interval::{Interval, Method};
use bookahead_core::scheduling::measures::QuantityKind;

/// Of fewer neighbours nothing is said: a correlation of three values is none.
pub const FEWEST_NEIGHBOURS: u32 = 4;

/// What values of neighbouring stretches say of the series that they are stretches of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbours {
    /// Stretches.
    pub count: u32,
    /// How alike a stretch and the next are: the autocorrelation of lag 1.
    pub correlation: f64,
    /// As many independent stretches would say as much of the mean: `n (1 − r) / (1 + r)`, which
    /// holds where likeness fades from stretch to stretch by the factor r. A negative r counts as
    /// 0.
    pub effective: f64,
    /// Stretches of a block.
    pub block: u32,
    /// The 95 % interval of the mean of the series, by blocks.
    pub interval: Interval,
    /// The two-sided p-value of the hypothesis that this mean is 0, below 5 % exactly where the
    /// interval leaves 0 out; `None` of what is on a scale that has no 0.
    pub p_value: Option<f64>,
}

/// A quantity over replications: a mean, or a mean of paired differences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Replicated {
    /// The mean with its interval about these replications.
    pub estimate: Estimate,
    /// What neighbouring stretches of one log say of that log; `None` where the replications are
    /// none, where they are too few or do not differ, and where some are missing between them.
    pub log: Option<Neighbours>,
}

impl Replicated {
    /// Of the values of a quantity of this kind by replication, which may be neighbouring stretches
    /// of one log; `None` without values.
    #[must_use]
    pub fn of(
        values: &BTreeMap<u32, f64>,
        kind: QuantityKind,
        are_neighbours: bool,
    ) -> Option<Self> {
        let (first, last) = (values.keys().next()?, values.keys().next_back()?);
        let is_whole = (last - first) as usize + 1 == values.len();
        let values: Vec<f64> = values.values().copied().collect();
        Some(Self {
            estimate: Estimate::of_kind(&values, kind)?,
            log: Neighbours::of(&values, kind).filter(|_| are_neighbours && is_whole),
        })
    }

    /// What is said of the log, where its interval is the wider one: then a claim rests on it.
    #[must_use]
    pub fn wider(&self) -> Option<&Neighbours> {
        let own = self.estimate.interval?;
        let log = self.log.as_ref();
        log.filter(|log| log.interval.width() > own.width())
    }

    /// The wider of the intervals about these replications and about the log.
    #[must_use]
    pub fn interval(&self) -> Option<Interval> {
        let log = self.wider().map(|log| log.interval);
        log.or(self.estimate.interval)
    }

    /// Whether that leaves 0 out.
    #[must_use]
    pub fn is_significant(&self) -> bool {
        self.interval()
            .is_some_and(|interval| !interval.contains(0.0))
    }

    /// The p-value of the hypothesis that the mean is 0, by the same interval.
    #[must_use]
    pub fn p_value(&self) -> Option<f64> {
        let own = self.estimate.p_value();
        match self.wider() {
            Some(log) => own.and(log.p_value),
            None => own,
        }
    }
}

impl Neighbours {
    /// Of a quantity of this kind in stretches that follow each other, in either direction. `None`
    /// for fewer than four, and where they do not differ.
    ///
    /// The interval is that of the block bootstrap in circular form (Künsch, *The jackknife and the
    /// bootstrap for general stationary observations*, Ann. Statist. 17, 1989; Politis & Romano, *A
    /// circular block-resampling procedure for stationary data*, 1992). Of a mean its variance is
    /// known exactly, `l/n · Σ (mean of block i − mean)² / n` over all n blocks of l neighbours, so
    /// nothing is drawn; the factor `n / (n − l)` removes its bias for independent values, and the
    /// quantile is Student's t with n/l − 1 degrees of freedom. With blocks of one it is Student's
    /// t of the values.
    #[must_use]
    pub fn of(values: &[f64], kind: QuantityKind) -> Option<Self> {
        let count = u32::try_from(values.len()).ok()?;
        if count < FEWEST_NEIGHBOURS {
            return None;
        }
        let n = f64::from(count);
        let mean = values.iter().sum::<f64>() / n;
        let correlation = lag_one(values, mean)?;
        let likeness = correlation.max(0.0);
        let block = block_length(count, correlation);
        let (error, student) = standard_error(values, mean, block)?;
        let interval = Interval::about(mean, student.inverse_cdf(0.975) * error, kind);
        let has_zero = interval.method == Method::Student && error > 0.0;
        Some(Self {
            count,
            correlation,
            effective: n * (1.0 - likeness) / (1.0 + likeness),
            block,
            interval,
            p_value: has_zero.then(|| 2.0 * student.sf(mean.abs() / error)),
        })
    }
}

/// `Σ (xᵢ − m)(xᵢ₊₁ − m) / Σ (xᵢ − m)²`; `None` where the values do not differ.
fn lag_one(values: &[f64], mean: f64) -> Option<f64> {
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let products: f64 = values
        .windows(2)
        .map(|pair| (pair[0] - mean) * (pair[1] - mean))
        .sum();
    let has_spread = squares > (1e-12 * mean).powi(2) * values.len() as f64;
    (has_spread && squares > 0.0).then(|| products / squares)
}

/// The length that makes the error of the variance least (Politis & White, *Automatic block-length
/// selection for the dependent bootstrap*, Econometric Reviews 23, 2004) where the series is
/// autoregressive of order 1: `(3/2)^⅓ · (2ρ / (1 − ρ²))^⅔ · n^⅓`, rounded up, and at most a third
/// of the values. The measured correlation is too low by `(1 + 4ρ) / n` on average, which is added.
fn block_length(count: u32, correlation: f64) -> u32 {
    let n = f64::from(count);
    let rho = (correlation + (1.0 + 4.0 * correlation) / n).min(0.95);
    if rho <= 0.0 {
        return 1;
    }
    let best = (1.5 * n).cbrt() * (2.0 * rho / (1.0 - rho * rho)).powf(2.0 / 3.0);
    (best.ceil() as u32).clamp(1, (count / 3).max(1))
}

/// The standard error of the mean from blocks of this length, and what it is to be multiplied by.
fn standard_error(values: &[f64], mean: f64, block: u32) -> Option<(f64, StudentsT)> {
    let (n, length) = (values.len() as f64, f64::from(block));
    let block = block as usize;
    let squares: f64 = (0..values.len())
        .map(|first| {
            let around = values.iter().cycle().skip(first).take(block);
            (around.sum::<f64>() / length - mean).powi(2)
        })
        .sum();
    let variance = length / n * squares / n * n / (n - length);
    let student = StudentsT::new(0.0, 1.0, n / length - 1.0).ok()?;
    Some((variance.sqrt(), student))
}
