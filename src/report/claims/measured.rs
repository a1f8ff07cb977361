//! How measured values are asked for, and an implementation over plain samples.

use std::collections::BTreeMap;

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The two experiments of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Experiment {
    /// The PoF test; its setting is the threshold PoF_max, its penalty ratio 1.
    Pof,
    /// The risk test; its setting is the penalty ratio ρ.
    Risk,
}

/// What is averaged over the batteries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Fees minus penalties at the point's own penalty ratio, coins.
    Gain,
    /// Fees of successful jobs, coins.
    Fees,
    /// Fees of failed jobs, coins: the penalties at ratio 1, whatever the point's ratio.
    Penalties,
    /// Fees plus penalties at ratio 1, coins.
    Booked,
    /// Jobs whose contract was fulfilled.
    Successful,
    /// Accepted jobs whose contract was violated.
    Failed,
    /// Successful minus failed jobs.
    NetJobs,
}

/// One cell of the results: a strategy at a setting, and what to read there.
#[derive(Clone, Debug, PartialEq)]
pub struct Query<'a> {
    /// The experiment.
    pub experiment: Experiment,
    /// The family of estimate classes, such as `runtime`. Strategies that do not overbook have a (shared) value in each.
    pub family: &'a str,
    /// The strategy's name in the registry.
    pub strategy: &'a str,
    /// The threshold PoF_max (PoF test) or the penalty ratio ρ (risk test).
    pub at: f64,
    /// What to read.
    pub metric: Metric,
}

/// A mean over batteries with its 95 % interval. Bounds are infinite where one battery alone gives none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Lower bound of the 95 % interval (Student's t over the batteries, A-39).
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// How many batteries.
    pub n: u64,
}

impl Estimate {
    /// Mean and 95 % interval of these values by Student's t; `None` where there are none.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        if n == 1 {
            return Some(Self {
                mean,
                low: f64::NEG_INFINITY,
                high: f64::INFINITY,
                n: 1,
            });
        }
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let error = (squares / (n - 1) as f64 / n as f64).sqrt();
        let half = match StudentsT::new(0.0, 1.0, (n - 1) as f64) {
            Ok(student) => student.inverse_cdf(0.975) * error,
            Err(_) => f64::INFINITY,
        };
        Some(Self {
            mean,
            low: mean - half,
            high: mean + half,
            n: n as u64,
        })
    }
}

impl Estimate {
    /// The quotient of two means with its 95 % interval: Student's t over the deviations `part − quotient · whole` of each
    /// battery (the linearised variance of a ratio of sums). `None` where there are none, or the mean of the wholes is not
    /// above 0.
    #[must_use]
    pub fn of_quotient(pairs: &[(f64, f64)]) -> Option<Self> {
        let n = pairs.len() as f64;
        let part: f64 = pairs.iter().map(|(part, _)| part).sum::<f64>() / n;
        let whole: f64 = pairs.iter().map(|(_, whole)| whole).sum::<f64>() / n;
        if pairs.is_empty() || whole <= 0.0 {
            return None;
        }
        let quotient = part / whole;
        let deviations: Vec<f64> = pairs
            .iter()
            .map(|(own, all)| (own - quotient * all) / whole)
            .collect();
        let spread = Self::of(&deviations)?;
        Some(Self {
            mean: quotient,
            low: quotient + spread.low,
            high: quotient + spread.high,
            n: spread.n,
        })
    }
}

/// Measured values of one trace.
pub trait Measured {
    /// The mean over all batteries of this cell; `None` where it was not measured completely.
    fn mean(&self, query: &Query<'_>) -> Option<Estimate>;

    /// The mean over batteries of `a − b`, paired by battery: all settings see the same jobs and failures. `None`
    /// where that is not known.
    fn paired(&self, _a: &Query<'_>, _b: &Query<'_>) -> Option<Estimate> {
        None
    }

    /// The families of classes that were measured, in the order of [`FAMILIES`](super::FAMILIES).
    fn families(&self) -> Vec<&str> {
        Vec::new()
    }

    /// The mean of `part` over the mean of `whole`, both of the same batteries. `None` where that is not known.
    fn quotient(&self, _part: &Query<'_>, _whole: &Query<'_>) -> Option<Estimate> {
        None
    }
}

/// The totals of one battery at one point, from which every metric follows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Fees of successful jobs, coins.
    pub fees: f64,
    /// Fees of failed jobs, coins (penalties at ratio 1).
    pub forfeited: f64,
    /// Jobs whose contract was fulfilled.
    pub successful: u64,
    /// Accepted jobs whose contract was violated.
    pub failed: u64,
}

/// Measured values from samples, one a point and battery.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    cells: BTreeMap<CellKey, BTreeMap<u32, Sample>>,
    batteries: usize,
}

type CellKey = (Experiment, String, String, i64);

/// Settings are decimals such as 0.15 that may come from a file or from arithmetic: millionths tell them apart.
fn key(experiment: Experiment, family: &str, strategy: &str, at: f64) -> CellKey {
    let millionths = (at * 1e6).round() as i64;
    (
        experiment,
        family.to_owned(),
        strategy.to_owned(),
        millionths,
    )
}

impl Samples {
    /// Expects this many batteries in every cell: a cell with fewer counts as not measured.
    #[must_use]
    pub fn new(batteries: usize) -> Self {
        Self {
            cells: BTreeMap::new(),
            batteries,
        }
    }

    /// Adds what one battery (`replication`) gave at one point; a second sample of the same battery replaces the first.
    pub fn push(
        &mut self,
        experiment: Experiment,
        family: &str,
        strategy: &str,
        at: f64,
        replication: u32,
        sample: Sample,
    ) {
        self.cells
            .entry(key(experiment, family, strategy, at))
            .or_default()
            .insert(replication, sample);
    }

    fn values(&self, query: &Query<'_>) -> Option<Vec<f64>> {
        let cell = self.cells.get(&key(
            query.experiment,
            query.family,
            query.strategy,
            query.at,
        ))?;
        let ratio = match query.experiment {
            Experiment::Pof => 1.0,
            Experiment::Risk => query.at,
        };
        (cell.len() >= self.batteries).then(|| {
            cell.values()
                .map(|sample| match query.metric {
                    Metric::Gain => sample.fees - ratio * sample.forfeited,
                    Metric::Fees => sample.fees,
                    Metric::Penalties => sample.forfeited,
                    Metric::Booked => sample.fees + sample.forfeited,
                    Metric::Successful => sample.successful as f64,
                    Metric::Failed => sample.failed as f64,
                    Metric::NetJobs => sample.successful as f64 - sample.failed as f64,
                })
                .collect()
        })
    }
}

impl Samples {
    /// The values of two cells, battery by battery; `None` where they are not of the same batteries.
    fn pairs(&self, a: &Query<'_>, b: &Query<'_>) -> Option<Vec<(f64, f64)>> {
        let cell = |query: &Query<'_>| {
            self.cells.get(&key(
                query.experiment,
                query.family,
                query.strategy,
                query.at,
            ))
        };
        if !cell(a)?.keys().eq(cell(b)?.keys()) {
            return None;
        }
        Some(self.values(a)?.into_iter().zip(self.values(b)?).collect())
    }
}

impl Measured for Samples {
    fn families(&self) -> Vec<&str> {
        let mut families = super::FAMILIES.to_vec();
        families.retain(|family| self.cells.keys().any(|(_, known, ..)| known == family));
        families
    }

    fn mean(&self, query: &Query<'_>) -> Option<Estimate> {
        Estimate::of(&self.values(query)?)
    }

    fn paired(&self, a: &Query<'_>, b: &Query<'_>) -> Option<Estimate> {
        let differences: Vec<f64> = self
            .pairs(a, b)?
            .into_iter()
            .map(|(left, right)| left - right)
            .collect();
        Estimate::of(&differences)
    }

    fn quotient(&self, part: &Query<'_>, whole: &Query<'_>) -> Option<Estimate> {
        Estimate::of_quotient(&self.pairs(part, whole)?)
    }
}
