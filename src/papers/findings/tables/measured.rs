//! The measured values of cells, read off the curves of their runs.

use std::collections::BTreeMap;

use super::{Experiment, Layout, run};
use crate::findings::MeasuredCurves;
use bookahead_core::scheduling::measures::QuantityKind;
use bookahead_lab::sweep::AxisValue;
use bookahead_report::statistics;

/// What is averaged over the batteries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Metric {
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

/// The measures that are read of every cell, in the order of a [`Sample`].
pub(in crate::findings) const MEASURES: [&str; 5] =
    ["gain", "fees", "forfeited", "successful", "failed"];

/// The values of [`MEASURES`] in one battery.
pub(super) type Sample = [f64; MEASURES.len()];

impl Metric {
    fn of(self, [gain, fees, forfeited, successful, failed]: Sample) -> f64 {
        match self {
            Self::Gain => gain,
            Self::Fees => fees,
            Self::Penalties => forfeited,
            Self::Booked => fees + forfeited,
            Self::Successful => successful,
            Self::Failed => failed,
            Self::NetJobs => successful - failed,
        }
    }
}

/// One cell of the results: a strategy at a setting, and what to read there.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Query<'a> {
    /// The experiment.
    pub(super) experiment: &'a str,
    /// The family. Strategies that do not overbook have a (shared) value in each.
    pub(super) family: &'a str,
    /// The strategy's name in the registry.
    pub(super) strategy: &'a str,
    /// The setting.
    pub(super) at: f64,
    /// What to read.
    pub(super) metric: Metric,
}

/// A mean over batteries with its 95 % interval. Bounds are infinite where one battery alone gives
/// none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimate {
    /// The mean.
    pub(super) mean: f64,
    /// Lower bound of the 95 % interval (Student's t over the batteries, A-39).
    pub(super) low: f64,
    /// Upper bound.
    pub(super) high: f64,
    /// How many batteries.
    pub(super) n: u64,
}

impl Estimate {
    /// Mean and 95 % interval of these values by Student's t; `None` where there are none.
    pub(super) fn of(values: &[f64]) -> Option<Self> {
        statistics::Estimate::of(values).map(Self::from)
    }

    /// The quotient of two means with its 95 % interval: Student's t over the deviations
    /// `part − quotient · whole` of each battery (the linearised variance of a ratio of sums).
    /// `None` where there are none, or the mean of the wholes is not above 0.
    pub(super) fn of_quotient(pairs: &[(f64, f64)]) -> Option<Self> {
        statistics::Estimate::quotient(pairs, QuantityKind::Signed).map(Self::from)
    }
}

impl From<statistics::Estimate> for Estimate {
    fn from(over: statistics::Estimate) -> Self {
        let (low, high) = match over.interval {
            Some(interval) => (interval.low, interval.high),
            // One battery says nothing about others.
            None if over.count == 1 => (f64::NEG_INFINITY, f64::INFINITY),
            // All batteries gave the same.
            None => (over.mean, over.mean),
        };
        Self {
            mean: over.mean,
            low,
            high,
            n: u64::from(over.count),
        }
    }
}

/// Every battery of every cell of one trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Samples {
    cells: BTreeMap<CellKey, BTreeMap<u32, Sample>>,
    /// A cell with fewer batteries counts as not measured.
    batteries: usize,
    /// Why runs cannot be read as cells.
    pub(super) problem: Option<String>,
}

/// Experiment, family, strategy and setting.
type CellKey = (String, String, String, i64);

/// Settings are decimals such as 0.15 that may come from a file or from arithmetic: millionths tell
/// them apart.
pub(super) fn millionths(at: f64) -> i64 {
    (at * 1e6).round() as i64
}

impl Samples {
    /// None yet, of which a complete cell has this many batteries.
    pub(super) fn of(batteries: usize) -> Self {
        Self {
            batteries,
            ..Self::default()
        }
    }

    /// The cells of all experiments of a trace.
    pub(super) fn read(layout: &Layout, curves: &dyn MeasuredCurves, trace: &str) -> Self {
        let mut all = Self::default();
        for experiment in &layout.experiments {
            let run = run(trace, &experiment.name);
            for own in slices(layout, curves, (experiment, &run), None).into_values() {
                all.cells.extend(own.cells);
                all.batteries = all.batteries.max(own.batteries);
                all.problem = all.problem.or(own.problem);
            }
        }
        all
    }

    /// What a battery (`replication`) gave in a cell.
    pub(super) fn sample(
        &mut self,
        experiment: &str,
        (family, strategy, at): (&str, &str, f64),
        replication: u32,
    ) -> &mut Sample {
        let names = [experiment, family, strategy].map(str::to_owned);
        let [experiment, family, strategy] = names;
        self.cells
            .entry((experiment, family, strategy, millionths(at)))
            .or_default()
            .entry(replication)
            .or_default()
    }

    fn cell(&self, query: &Query<'_>) -> Option<&BTreeMap<u32, Sample>> {
        let names = [query.experiment, query.family, query.strategy].map(str::to_owned);
        let [experiment, family, strategy] = names;
        let key = (experiment, family, strategy, millionths(query.at));
        let cell = self.cells.get(&key)?;
        (cell.len() >= self.batteries).then_some(cell)
    }

    fn values(&self, query: &Query<'_>) -> Option<Vec<f64>> {
        let cell = self.cell(query)?;
        Some(cell.values().map(|own| query.metric.of(*own)).collect())
    }

    /// The values of two cells, battery by battery; `None` where they are not of the same
    /// batteries.
    fn pairs(&self, a: &Query<'_>, b: &Query<'_>) -> Option<Vec<(f64, f64)>> {
        if !self.cell(a)?.keys().eq(self.cell(b)?.keys()) {
            return None;
        }
        Some(self.values(a)?.into_iter().zip(self.values(b)?).collect())
    }

    /// The mean over all batteries of a cell; `None` where it was not measured completely.
    pub(super) fn mean(&self, query: &Query<'_>) -> Option<Estimate> {
        Estimate::of(&self.values(query)?)
    }

    /// The mean over batteries of `a − b`, paired by battery: all settings see the same jobs
    /// and failures.
    pub(super) fn paired(&self, a: &Query<'_>, b: &Query<'_>) -> Option<Estimate> {
        let pairs = self.pairs(a, b)?.into_iter();
        let differences: Vec<f64> = pairs.map(|(left, right)| left - right).collect();
        Estimate::of(&differences)
    }

    /// The mean of `a − b` over the mean of `b`, both of the same batteries: the baseline is
    /// measured, too, and its chance is part of the interval.
    pub(super) fn surplus(&self, a: &Query<'_>, b: &Query<'_>) -> Option<Estimate> {
        let pairs = self.pairs(a, b)?.into_iter();
        let pairs: Vec<(f64, f64)> = pairs.map(|(ours, base)| (ours - base, base)).collect();
        Estimate::of_quotient(&pairs)
    }

    /// The mean of `part` over the mean of `whole`, both of the same batteries.
    pub(super) fn quotient(&self, part: &Query<'_>, whole: &Query<'_>) -> Option<Estimate> {
        Estimate::of_quotient(&self.pairs(part, whole)?)
    }
}

/// The cells of a run; where one more axis is named, those at each of its values in millionths.
pub(super) fn slices(
    layout: &Layout,
    curves: &dyn MeasuredCurves,
    (experiment, run): (&Experiment, &str),
    along: Option<&str>,
) -> BTreeMap<i64, Samples> {
    let mut slices: BTreeMap<i64, Samples> = BTreeMap::new();
    let keys = [&layout.family, &layout.strategy, &experiment.setting];
    let empty = Samples::of(curves.replications(run) as usize);
    let is_known = |key: &String| keys.contains(&key) || along == Some(key);
    let axes = curves.axes(run).unwrap_or_default();
    let other = axes
        .iter()
        .find(|axis| axis.values.len() > 1 && !is_known(&axis.key));
    if let Some(axis) = other {
        let problem = format!(
            "run `{run}` has the axis `{}`, which `[cells]` does not name",
            axis.key
        );
        let problem = Some(problem);
        return BTreeMap::from([(0, Samples { problem, ..empty })]);
    }
    for (place, measure) in MEASURES.iter().enumerate() {
        for cell in curves.cells(run, measure) {
            let name = |key: &str| match cell.values.get(key) {
                Some(AxisValue::Text(name)) => Some(name.as_str()),
                _ => None,
            };
            let number = |key: &str| match cell.values.get(key) {
                Some(AxisValue::Real(value)) => Some(*value),
                Some(AxisValue::Integer(value)) => Some(*value as f64),
                _ => None,
            };
            // A point without these is no cell of the paper.
            let (Some(family), Some(strategy), Some(at), Some(slice)) = (
                name(&layout.family),
                name(&layout.strategy),
                number(&experiment.setting),
                along.map_or(Some(0.0), number),
            ) else {
                continue;
            };
            let slice = slices
                .entry(millionths(slice))
                .or_insert_with(|| empty.clone());
            for (replication, value) in &cell.samples {
                let subject = (family, strategy, at);
                slice.sample(&experiment.name, subject, *replication)[place] = *value;
            }
        }
    }
    slices
}
