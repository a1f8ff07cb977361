//! The summary of a trace: what `bookahead trace info` prints.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::cleaning::CleaningReport;
use super::job::Job;
use super::job_stream::{Demand, JobStreamError};
use super::settings::{CleaningRules, LoadTime};
use super::trace_file::TraceFile;
use crate::memory::{MemoryBudget, OverBudget};
use crate::units::Nodes;

/// Minimum, quartiles, 90 % and 99 % points and maximum; each is a value that occurs (the smallest
/// with at least that share of the values at or below it).
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
    /// The quantiles of values that ascend, each with how often it occurs; zeros for none.
    #[must_use]
    fn of(values: &[(i64, u64)]) -> Self {
        let count: u64 = values.iter().map(|(_, count)| count).sum();
        let point = |percent: u64| {
            // Of 64 bits each, so that no count overflows.
            let rank = (u128::from(count) * u128::from(percent)).div_ceil(100);
            at_rank(values, rank.max(1) as u64).unwrap_or(0)
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

/// The value at a rank, from 1.
fn at_rank(values: &[(i64, u64)], rank: u64) -> Option<i64> {
    let mut passed = 0;
    let reaches = |(_, count): &&(i64, u64)| {
        passed += count;
        passed >= rank
    };
    values.iter().find(reaches).map(|(value, _)| *value)
}

/// How often each value occurs: exact, and no larger than there are different values.
#[derive(Debug, Default)]
struct Tally(HashMap<i64, u64>);

impl Tally {
    /// Bytes of a value in a table that doubles when it is seven eighths full, and once more in
    /// order.
    const BYTES_A_VALUE: usize = 80;

    fn count(&mut self, value: i64) {
        *self.0.entry(value).or_default() += 1;
    }

    /// The values in ascending order.
    fn sorted(self) -> Vec<(i64, u64)> {
        let mut values: Vec<(i64, u64)> = self.0.into_iter().collect();
        values.sort_unstable();
        values
    }
}

/// What is counted of all usable jobs.
#[derive(Debug, Default)]
struct Tallies {
    demand: Demand,
    /// Bits of runtime ÷ estimate, which ascend as the ratios do, because none is negative.
    ratios: Tally,
    users: Tally,
    applications: Tally,
    sizes: Tally,
    runtimes: Tally,
    estimates: Tally,
}

impl Tallies {
    fn count(&mut self, job: &Job, machine: Nodes) {
        self.demand.count(job, machine);
        let ratio = job.runtime.0 as f64 / job.estimate.0 as f64;
        self.ratios.count(ratio.to_bits().cast_signed());
        self.sizes.count(i64::from(job.nodes.0));
        self.runtimes.count(job.runtime.0);
        self.estimates.count(job.estimate.0);
        if let Some(user) = job.user {
            self.users.count(user);
        }
        if let Some(application) = job.application {
            self.applications.count(application);
        }
    }

    fn check(&self, memory: MemoryBudget) -> Result<(), OverBudget> {
        let tallies = [
            &self.ratios,
            &self.users,
            &self.applications,
            &self.sizes,
            &self.runtimes,
            &self.estimates,
        ];
        let values: usize = tallies.iter().map(|tally| tally.0.len()).sum();
        let what = "different values of its jobs (ratios, run times, users, …)";
        memory.check(values as u64, Tally::BYTES_A_VALUE, what)
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
    /// `Σ n·ω / (nodes · span)` of the jobs that fit the machine, ω cut at the estimate; `None`
    /// without a span.
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

/// Summarises the usable jobs of a trace: one reading, which keeps no job but the different values
/// of all.
///
/// # Errors
/// Faults of reading; [`SwfError::TooManyValues`](super::SwfError::TooManyValues) where the values
/// do not fit into the budget.
pub fn summarise(
    trace: &TraceFile,
    rules: CleaningRules,
    machine: Nodes,
    memory: MemoryBudget,
) -> Result<TraceSummary, JobStreamError> {
    let mut jobs = trace.jobs(rules, machine)?;
    let mut tallies = Tallies::default();
    for job in jobs.by_ref() {
        tallies.count(&job?, machine);
        (tallies.check(memory)).map_err(|over| trace.too_many_values(over))?;
    }
    let cleaning = jobs.report;
    let Tallies { demand, .. } = tallies;
    let ratios = tallies.ratios.sorted();
    let ratio = |bits: i64| f64::from_bits(bits.cast_unsigned());
    let count = demand.jobs.max(1) as f64;
    let share = |test: &dyn Fn(f64) -> bool| {
        let counts = ratios.iter().filter(|(bits, _)| test(ratio(*bits)));
        counts.map(|(_, count)| *count).sum::<u64>() as f64 / count
    };
    // One by one, in ascending order: a sum of products would be another number.
    let each = (ratios.iter()).flat_map(|(bits, count)| (0..*count).map(|_| ratio(*bits)));
    let median = at_rank(&ratios, demand.jobs.div_ceil(2));
    Ok(TraceSummary {
        label: trace.label.clone(),
        content_hash: trace.content_hash.clone(),
        nodes: machine,
        span_seconds: demand.first.map_or(0, |first| (demand.last - first).0),
        load_by_runtime: demand.offered_load(machine, LoadTime::Runtimes),
        load_by_estimate: demand.offered_load(machine, LoadTime::Estimates),
        mean_ratio: each.sum::<f64>() / count,
        median_ratio: median.map_or(0.0, ratio),
        share_under_tenth: share(&|ratio| ratio < 0.1),
        share_over_estimate: share(&|ratio| ratio > 1.0),
        users: tallies.users.0.len() as u64,
        applications: tallies.applications.0.len() as u64,
        size: Quantiles::of(&tallies.sizes.sorted()),
        runtime_seconds: Quantiles::of(&tallies.runtimes.sorted()),
        estimate_seconds: Quantiles::of(&tallies.estimates.sorted()),
        cleaning,
        acknowledgement: trace.header.acknowledgement(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_occur() {
        let mut tally = Tally::default();
        [40, 10, 30, 20]
            .into_iter()
            .for_each(|value| tally.count(value));
        let quantiles = Quantiles::of(&tally.sorted());
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
        assert_eq!(Quantiles::of(&[]), Quantiles::default());
    }
}
