//! What is kept of the distributions of one simulation, so that no report has to read its job rows: counts of waits
//! and slowdowns in logarithmic bins, and of predicted against realised failures.
//!
//! A bin is a sixteenth of a decade: a quantile that is read off the counts is at most 15.5 % above the bin's lower edge.

use std::sync::LazyLock;

use crate::scheduling::{JobOutcome, Verdict};

/// Bins a decade.
const PER_DECADE: f64 = 16.0;
/// Nine decades: a thousand million seconds are 31 years.
const BINS: usize = 144;
/// Bins of the predicted probability of failure, 0.05 wide each.
const POF_BINS: usize = 20;

/// `EDGES[k]` = 10^(k / 16): the lower edge of bin k + 1.
static EDGES: LazyLock<Vec<f64>> = LazyLock::new(|| {
    (0..=BINS)
        .map(|edge| libm::pow(10.0, edge as f64 / PER_DECADE))
        .collect()
});

/// Lower and upper edge of every bin. Bin 0 holds everything below 1 (a wait of zero seconds); bin k ≥ 1 holds values from
/// 10^((k − 1)/16) up to, but without, 10^(k/16); the last one holds what is larger, too.
pub(super) fn bins() -> impl Iterator<Item = (f64, f64)> {
    std::iter::once((0.0, 0.0)).chain(EDGES.windows(2).map(|pair| (pair[0], pair[1])))
}

pub(super) fn bin(value: f64) -> usize {
    EDGES.partition_point(|edge| *edge <= value).min(BINS)
}

/// Predicted against realised failures of overbooked jobs by bin of the prediction: bin i, from 1, holds predictions above
/// (i − 1)/20 up to i/20, the first one 0 as well.
pub(super) type CalibrationBins = [Calibration; POF_BINS];

/// Predicted against realised failures of the overbooked jobs whose probability of failure lay in one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Calibration {
    pub(super) jobs: u64,
    /// Jobs that failed for whatever reason: what the probability of failure predicts.
    pub(super) failed: u64,
    /// Of those, killed at the end of their window.
    pub(super) failed_overbooked: u64,
    pub(super) pof_sum: f64,
    /// Σ (PoF − failed)².
    pub(super) brier_sum: f64,
}

/// The distributions of one simulation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Distributions {
    /// Counts by bin, one list a quantity: waits (last start − release) in seconds of jobs that started; slowdown is
    /// response ÷ run of successful jobs that ran at least a second.
    pub(super) histograms: [Vec<u32>; 2],
    /// By the probability of failure that was promised.
    pub(super) promised: CalibrationBins,
    /// The same jobs by the probability before its calibration; `None` where no promise was calibrated.
    pub(super) raw: Option<CalibrationBins>,
}

impl Distributions {
    /// Counts the outcomes of a simulation.
    pub(super) fn of(outcomes: &[JobOutcome]) -> Self {
        let mut histograms: [Vec<u32>; 2] = std::array::from_fn(|_| vec![0; BINS + 1]);
        let mut promised = [Calibration::default(); POF_BINS];
        let mut raw = [Calibration::default(); POF_BINS];
        let mut calibrated = false;
        for outcome in outcomes {
            let release = outcome.job.release;
            if let Some(start) = outcome.start {
                histograms[0][bin((start - release).0 as f64)] += 1;
            }
            if let (true, Some(start), Some(end)) =
                (outcome.verdict.is_successful(), outcome.start, outcome.end)
            {
                let (response, run) = ((end - release).0 as f64, (end - start).0 as f64);
                if run >= 1.0 {
                    histograms[1][bin(response / run)] += 1;
                }
            }
            let Some(promise) = outcome.promise.filter(|promise| promise.overbooked) else {
                continue;
            };
            // A calibrated promise without the model's own probability could not be compared with its raw one.
            if let (Some(given), Some(before)) = (promise.pof(), promise.raw_pof()) {
                calibrated |= promise.calibrated_pof.is_some();
                count(&mut promised, given, outcome.verdict);
                count(&mut raw, before, outcome.verdict);
            }
        }
        Self {
            histograms,
            promised,
            raw: calibrated.then_some(raw),
        }
    }
}

/// Counts a job with its probability of failure among the jobs of its bin.
fn count(bins: &mut CalibrationBins, pof: f64, verdict: Verdict) {
    let failed = verdict.is_failed();
    let place = libm::ceil(pof * POF_BINS as f64).clamp(1.0, POF_BINS as f64) as usize;
    let entry = &mut bins[place - 1];
    let miss = pof - f64::from(u8::from(failed));
    entry.jobs += 1;
    entry.failed += u64::from(failed);
    entry.failed_overbooked += u64::from(verdict == Verdict::FailedOverbooked);
    entry.pof_sum += pof;
    entry.brier_sum += miss * miss;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_lies_within_the_edges_of_its_bin() {
        let edges: Vec<(f64, f64)> = bins().collect();
        for value in [1.0, 1.1, 9.99, 10.0, 3_600.0, 86_399.0, 1e8] {
            let (low, high) = edges[bin(value)];
            assert!(low <= value && value < high, "{value}: {low} to {high}");
        }
        assert_eq!((bin(0.0), bin(0.5), bin(1e12)), (0, 0, BINS));
        assert!(edges[2..].iter().all(|(low, high)| high / low < 1.155));
    }
}
