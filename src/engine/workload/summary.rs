//! The summary of a trace: what `bookahead trace info` prints.

use serde::{Deserialize, Serialize};

use super::battery;
use super::cleaning::{CleanedTrace, CleaningReport};
use super::job::Job;
use super::swf::ParsedTrace;
use crate::units::Nodes;

/// Minimum, quartiles, 90 % and 99 % points and maximum; each is a value that occurs (the smallest with at least that share
/// of the values at or below it).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quantiles {
    /// The smallest value.
    pub min: i64,
    /// The 25 % point.
    pub q25: i64,
    /// The median.
    pub median: i64,
    /// The 75 % point.
    pub q75: i64,
    /// The 90 % point.
    pub q90: i64,
    /// The 99 % point.
    pub q99: i64,
    /// The largest value.
    pub max: i64,
}

impl Quantiles {
    /// The quantiles of some values; zeros for none.
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = i64>) -> Self {
        let mut values: Vec<i64> = values.into_iter().collect();
        values.sort_unstable();
        let point = |percent: usize| {
            let place = (values.len() * percent).div_ceil(100).max(1) - 1;
            values.get(place).copied().unwrap_or(0)
        };
        Self {
            min: point(0),
            q25: point(25),
            median: point(50),
            q75: point(75),
            q90: point(90),
            q99: point(99),
            max: point(100),
        }
    }
}

/// What a trace holds, over its usable jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceSummary {
    /// The log's name, or what the model is.
    pub label: String,
    /// SHA-256 of the records, in hex.
    pub content_hash: String,
    /// Machine size that loads refer to.
    pub nodes: Nodes,
    /// Seconds from the first to the last submit time.
    pub span_seconds: i64,
    /// `Σ n·ω / (nodes · span)` of the jobs that fit the machine, ω cut at the estimate; `None` without a span.
    pub load_by_runtime: Option<f64>,
    /// `Σ n·x / (nodes · span)` of the jobs that fit the machine; `None` without a span.
    pub load_by_estimate: Option<f64>,
    /// Mean of runtime ÷ estimate over the jobs.
    pub mean_ratio: f64,
    /// Median of runtime ÷ estimate.
    pub median_ratio: f64,
    /// Share of jobs that used less than 10 % of their estimate.
    pub share_under_tenth: f64,
    /// Share of jobs that ran longer than their estimate.
    pub share_over_estimate: f64,
    /// Different users.
    pub users: u64,
    /// Different applications.
    pub applications: u64,
    /// Nodes a job.
    pub size: Quantiles,
    /// Runtimes in seconds.
    pub runtime_seconds: Quantiles,
    /// Estimates in seconds.
    pub estimate_seconds: Quantiles,
    /// What cleaning drops and notes.
    pub cleaning: CleaningReport,
    /// Whom to acknowledge.
    pub acknowledgement: Option<String>,
}

/// Summarises the usable jobs of a trace.
#[must_use]
pub fn summarise(trace: &ParsedTrace, cleaned: &CleanedTrace, machine: Nodes) -> TraceSummary {
    let jobs = &cleaned.jobs;
    let mut ratios: Vec<f64> = jobs.iter().map(ratio).collect();
    ratios.sort_by(f64::total_cmp);
    let count = ratios.len().max(1) as f64;
    let share = |test: &dyn Fn(&f64) -> bool| {
        ratios.iter().filter(|ratio| test(ratio)).count() as f64 / count
    };
    let span = match (jobs.first(), jobs.last()) {
        (Some(first), Some(last)) => (last.submit - first.submit).0,
        _ => 0,
    };
    let used: i128 = jobs
        .iter()
        .filter(|job| job.nodes <= machine)
        .map(|job| i128::from(job.nodes.for_span(job.runtime.min(job.estimate)).0))
        .sum();
    let capacity = i128::from(machine.0) * i128::from(span);
    TraceSummary {
        label: trace.label.clone(),
        content_hash: trace.content_hash.clone(),
        nodes: machine,
        span_seconds: span,
        load_by_runtime: (capacity > 0).then(|| used as f64 / capacity as f64),
        load_by_estimate: battery::offered_load(jobs, machine),
        mean_ratio: ratios.iter().sum::<f64>() / count,
        median_ratio: ratios
            .get(ratios.len().div_ceil(2).max(1) - 1)
            .copied()
            .unwrap_or(0.0),
        share_under_tenth: share(&|ratio| *ratio < 0.1),
        share_over_estimate: share(&|ratio| *ratio > 1.0),
        users: distinct(jobs.iter().filter_map(|job| job.user)),
        applications: distinct(jobs.iter().filter_map(|job| job.application)),
        size: Quantiles::of(jobs.iter().map(|job| i64::from(job.nodes.0))),
        runtime_seconds: Quantiles::of(jobs.iter().map(|job| job.runtime.0)),
        estimate_seconds: Quantiles::of(jobs.iter().map(|job| job.estimate.0)),
        cleaning: cleaned.report.clone(),
        acknowledgement: trace.header.acknowledgement(),
    }
}

fn ratio(job: &Job) -> f64 {
    job.runtime.0 as f64 / job.estimate.0 as f64
}

fn distinct(values: impl Iterator<Item = i64>) -> u64 {
    let mut values: Vec<i64> = values.collect();
    values.sort_unstable();
    values.dedup();
    values.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_occur() {
        let quantiles = Quantiles::of([40, 10, 30, 20]);
        assert_eq!(
            (
                quantiles.min,
                quantiles.q25,
                quantiles.median,
                quantiles.q75,
                quantiles.q90,
                quantiles.max
            ),
            (10, 10, 20, 30, 40, 40)
        );
        assert_eq!(Quantiles::of([]), Quantiles::default());
    }
}
