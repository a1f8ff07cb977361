//! Counts of promises by battery and bin.

use std::collections::BTreeMap;

use super::scores::Scores;
use crate::statistics::Estimate;
use bookahead_core::scheduling::measures::QuantityKind;
use bookahead_lab::store::CalibrationRow;

/// Bins of the probability of failure, 0.05 wide each.
pub(super) const BINS: usize = 20;
/// A bin with fewer jobs says nothing about the largest error, a situation with fewer nothing about
/// a strategy.
pub(super) const FEWEST_JOBS: u64 = 200;

/// Overbooked jobs with a probability of failure.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Counts {
    pub(super) jobs: u64,
    pub(super) failed: u64,
    pub(super) killed: u64,
    /// Σ PoF.
    pof: f64,
    /// Σ (PoF − failed)².
    pub(super) brier: f64,
}

impl Counts {
    pub(super) fn add(&mut self, other: &Self) {
        self.jobs += other.jobs;
        self.failed += other.failed;
        self.killed += other.killed;
        self.pof += other.pof;
        self.brier += other.brier;
    }

    /// These without some of them.
    pub(super) fn without(&self, other: &Self) -> Self {
        Self {
            jobs: self.jobs - other.jobs,
            failed: self.failed - other.failed,
            killed: self.killed - other.killed,
            pof: self.pof - other.pof,
            brier: self.brier - other.brier,
        }
    }

    /// How many more were predicted to fail than did.
    pub(super) fn excess(&self) -> f64 {
        self.pof - self.failed as f64
    }

    /// Mean of the predictions.
    pub(super) fn predicted(&self) -> f64 {
        self.pof / self.jobs as f64
    }

    /// Share that failed.
    pub(super) fn realised(&self) -> f64 {
        self.failed as f64 / self.jobs as f64
    }
}

impl From<&CalibrationRow> for Counts {
    fn from(row: &CalibrationRow) -> Self {
        Self {
            jobs: row.jobs,
            failed: row.failed,
            killed: row.failed_overbooked,
            pof: row.pof_sum,
            brier: row.brier_sum,
        }
    }
}

/// Counts by replication and bin. A replication (a battery of jobs, or a draw) is the unit of every
/// interval: the jobs in it compete for the same nodes and are not independent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batteries(BTreeMap<u32, [Counts; BINS]>);

impl Batteries {
    /// Adds the counts of a bin to those of a replication.
    pub fn add(&mut self, replication: u32, row: &CalibrationRow) {
        let bin = (row.bin as usize).clamp(1, BINS) - 1;
        self.0.entry(replication).or_default()[bin].add(&row.into());
    }

    /// All batteries together, by bin.
    pub(super) fn bins(&self) -> [Counts; BINS] {
        let mut sums = [Counts::default(); BINS];
        for battery in self.0.values() {
            for (sum, counts) in sums.iter_mut().zip(battery) {
                sum.add(counts);
            }
        }
        sums
    }

    /// The share of jobs of one bin that failed, with its interval over the batteries that have
    /// jobs there.
    pub(super) fn realised(&self, bin: usize) -> Option<Estimate> {
        share(self.0.values().map(|battery| battery[bin]))
    }

    /// Everything, or `None` without jobs.
    #[must_use]
    pub fn scores(&self) -> Option<Scores> {
        let bins = self.bins();
        let failed = share(self.0.values().map(total))?;
        let batteries: Vec<&[Counts; BINS]> = (self.0.values())
            .filter(|battery| total(battery).jobs > 0)
            .collect();
        Some(Scores::new(&bins, &batteries, failed))
    }
}

/// The counts of all bins.
pub(super) fn total(bins: &[Counts; BINS]) -> Counts {
    let mut sum = Counts::default();
    for counts in bins {
        sum.add(counts);
    }
    sum
}

fn share(batteries: impl Iterator<Item = Counts>) -> Option<Estimate> {
    let clusters: Vec<(f64, f64)> = batteries
        .filter(|counts| counts.jobs > 0)
        .map(|counts| (counts.failed as f64, counts.jobs as f64))
        .collect();
    Estimate::quotient(&clusters, QuantityKind::Fraction)
}
