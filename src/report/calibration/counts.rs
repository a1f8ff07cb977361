//! Counts of promises by battery and bin, and the scores that follow from them.

use std::collections::BTreeMap;

use crate::report::statistics::Estimate;
use crate::scheduling::measures::QuantityKind;
use crate::store::CalibrationRow;

/// Bins of the probability of failure, 0.05 wide each.
pub(super) const BINS: usize = 20;
/// A bin with fewer jobs says nothing about the largest error, a situation with fewer nothing about a strategy.
pub(super) const FEWEST_JOBS: u64 = 200;
/// The largest expected calibration error that is called fine.
const FINE_ERROR: f64 = 0.05;

/// Overbooked jobs with a probability of failure.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Counts {
    pub(super) jobs: u64,
    pub(super) failed: u64,
    pub(super) killed: u64,
    /// Σ PoF.
    pof: f64,
    /// Σ (PoF − failed)².
    brier: f64,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.jobs += other.jobs;
        self.failed += other.failed;
        self.killed += other.killed;
        self.pof += other.pof;
        self.brier += other.brier;
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

/// Counts by replication and bin. A replication (a battery of jobs, or a draw) is the unit of every interval: the jobs in it
/// compete for the same nodes and are not independent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Batteries(BTreeMap<u32, [Counts; BINS]>);

impl Batteries {
    pub(super) fn add(&mut self, replication: u32, row: &CalibrationRow) {
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

    /// The share of jobs of one bin that failed, with its interval over the batteries that have jobs there.
    pub(super) fn realised(&self, bin: usize) -> Option<Estimate> {
        share(self.0.values().map(|battery| battery[bin]))
    }

    /// Everything, or `None` without jobs.
    pub(super) fn scores(&self) -> Option<Scores> {
        let bins = self.bins();
        let all = total(&bins);
        let failed = share(self.0.values().map(total))?;
        let (jobs, base) = (all.jobs as f64, failed.mean);
        let (mut error, mut reliability, mut resolution) = (0.0, 0.0, 0.0);
        let mut worst: Option<f64> = None;
        for counts in bins.iter().filter(|counts| counts.jobs > 0) {
            let weight = counts.jobs as f64 / jobs;
            let gap = (counts.predicted() - counts.realised()).abs();
            error += weight * gap;
            reliability += weight * gap * gap;
            resolution += weight * (counts.realised() - base).powi(2);
            if counts.jobs >= FEWEST_JOBS {
                worst = Some(worst.map_or(gap, |worst| worst.max(gap)));
            }
        }
        let (brier, reference) = (all.brier / jobs, base * (1.0 - base));
        Some(Scores {
            jobs: all.jobs,
            predicted: all.predicted(),
            failed,
            killed: all.killed as f64 / jobs,
            brier,
            reference,
            skill: (reference > 0.0).then(|| 1.0 - brier / reference),
            error,
            worst,
            reliability,
            resolution,
        })
    }
}

fn total(bins: &[Counts; BINS]) -> Counts {
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

/// How good probabilities were.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scores {
    pub(super) jobs: u64,
    /// Mean probability.
    pub(super) predicted: f64,
    /// Share of jobs that failed.
    pub(super) failed: Estimate,
    /// Share of jobs that were killed at the end of their window.
    pub(super) killed: f64,
    /// Mean of (PoF − failed)².
    pub(super) brier: f64,
    /// The Brier score of always predicting the share of the same jobs that failed.
    pub(super) reference: f64,
    /// 1 − Brier ÷ reference; `None` where all jobs ended alike.
    pub(super) skill: Option<f64>,
    /// Expected calibration error: Σ share of jobs · |predicted − realised| over bins.
    pub(super) error: f64,
    /// The largest |predicted − realised| of bins with at least [`FEWEST_JOBS`].
    pub(super) worst: Option<f64>,
    /// Σ share of jobs · (predicted − realised)².
    pub(super) reliability: f64,
    /// Σ share of jobs · (realised − mean)².
    pub(super) resolution: f64,
}

impl Scores {
    /// They say more than the mean does, and what they say is near what happens.
    pub(super) fn is_fine(&self) -> bool {
        self.skill.is_some_and(|skill| skill > 0.0) && self.error <= FINE_ERROR
    }
}
