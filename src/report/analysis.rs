//! Turns points into numbers: replications are folded into means, and differences against the
//! baseline are paired by replication where both saw the same jobs and failures.

mod earned;
mod fold;
mod seen;
pub(crate) mod variance;

use std::collections::{HashMap, HashSet};

use polars::prelude::PolarsResult;

use super::statistics::Estimate;
use bookahead_core::scheduling::measures::{QuantityKind, Topic};
use bookahead_lab::store::{METRICS, MeasureColumn, Metric, PointColumns, Shown};
use bookahead_lab::study::Studies;
use bookahead_lab::sweep::{Axis, AxisValue};
use earned::Earned;
use fold::{fold, fold_measures};
pub use seen::{Change, SameInputs};

/// The axis that names the policy; tables show it as the column "strategy".
pub const STRATEGY_AXIS: &str = "scheduling.strategy";

/// Axes on which a provider chooses the best value; the others describe a situation that is given.
pub const TUNED_AXES: &[&str] = &["acceptance.pof_max", "acceptance.security_factor"];

/// Axes with these prefixes are not read by strategies that do not overbook. A baseline that is in
/// the run only once, and not for every value of such an axis, is still the baseline of every
/// value.
const OVERBOOKING_ONLY: &[&str] = &["acceptance.", "estimates.", "reliability."];

/// A metric as it stands beside measures, which are in percent where they are shares.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BesideMeasures {
    /// Its column.
    pub(super) key: &'static str,
    /// Its heading.
    pub(super) title: String,
    /// Decimals in tables for people.
    pub(super) decimals: usize,
    /// What the metric is multiplied by.
    pub(super) factor: f64,
}

impl From<&Metric> for BesideMeasures {
    fn from(metric: &Metric) -> Self {
        let percent = metric.percent_name();
        Self {
            key: percent.unwrap_or(metric.name),
            title: percent.map_or(metric.title.to_owned(), |_| format!("{} (%)", metric.title)),
            decimals: percent.map_or(metric.decimals, |_| 2),
            factor: percent.map_or(1.0, |_| 100.0),
        }
    }
}

/// A measure of a study that is reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedMeasure {
    /// Its name in the store, and its column in CSV files.
    pub name: String,
    /// Its heading, with the unit.
    pub title: String,
    /// Decimals in tables for people.
    pub decimals: usize,
    /// Where it is shown; one that this program does not know is a detail.
    pub topic: Topic,
    /// What its mean over replications is like.
    pub kind: QuantityKind,
}

impl ReportedMeasure {
    fn of(column: &MeasureColumn, studies: Studies) -> Self {
        let known = studies.measure(&column.name);
        Self {
            name: column.name.clone(),
            title: column.title.clone(),
            decimals: known.map_or(3, |measure| measure.decimals),
            topic: known.map_or(Topic::Detail, |measure| measure.topic),
            kind: known.map_or(QuantityKind::Signed, |measure| measure.kind),
        }
    }
}

/// What a strategy earns more than its baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Additional {
    /// Gain minus the baseline's gain in the same replication, VC.
    pub difference: Estimate,
    /// Mean gain of the baseline over those replications, VC.
    pub baseline: f64,
    /// The mean difference in percent of the baseline's mean; `None` where the baseline earns
    /// nothing or less.
    pub percent: Option<f64>,
}

/// One combination of axis values, all replications folded.
#[derive(Clone, Debug, PartialEq)]
pub struct Combination {
    /// Index of the value on every axis of the analysis.
    pub places: Vec<Option<u32>>,
    /// The strategy.
    pub strategy: String,
    /// One estimate for each of [`METRICS`]; `None` where no replication had a value, and where
    /// reports do not show the metric.
    pub estimates: Vec<Option<Estimate>>,
    /// One estimate for each of the analysis's measures; `None` where no replication had a value.
    pub measured: Vec<Option<Estimate>>,
    /// Compared with the strategy's baseline, where it has one and the run contains it.
    pub additional: Option<Additional>,
}

/// Everything that the tables of a run are made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// The studies of the program.
    pub studies: Studies,
    /// The run's axes in the order of the file.
    pub axes: Vec<Axis>,
    /// Every combination that has a done point, in the order of the axes.
    pub combinations: Vec<Combination>,
    /// Axes that had to be left out of account to find the baselines.
    pub relaxed_axes: Vec<String>,
    /// What was measured beside the metrics; empty for runs without reservations.
    pub measures: Vec<ReportedMeasure>,
    /// What is earned; `None` where nothing is sold.
    pub(crate) earned: Option<Earned>,
    /// Whether its settings saw the same jobs and failures.
    pub same_inputs: SameInputs,
    /// Points that are not compared with their baseline, because it did not see the same, or that
    /// is not known.
    pub apart: usize,
    /// Points whose replication repeats another one of the same setting (the same jobs and
    /// failures, the same results): they count for nothing.
    pub repetitions: usize,
}

impl Analysis {
    /// Folds the points of a run.
    ///
    /// # Errors
    ///
    /// When Polars refuses, which for these columns it does not.
    pub fn new(points: &PointColumns) -> PolarsResult<Self> {
        let axes: Vec<Axis> = points
            .axes
            .iter()
            .map(|column| column.axis.clone())
            .collect();
        let (mut combinations, membership) = combinations(points);
        let pairing = Pairing::new(points);
        let [gains, fees, forfeited] =
            ["gain", "fees", "forfeited"].map(|name| &points.metrics[name]);
        // At the penalty ratio of the point that is compared with it.
        let baselines: Vec<Option<f64>> = pairing
            .counted(points, &membership)
            .iter()
            .zip(&points.penalty_ratio)
            .map(|(baseline, ratio)| Some(fees[(*baseline)?]? - ratio * forfeited[(*baseline)?]?))
            .collect();
        let differences: Vec<Option<f64>> = gains
            .iter()
            .zip(&baselines)
            .map(|(gain, baseline)| Some((*gain)? - (*baseline)?))
            .collect();
        let folded = fold(points, &membership, &baselines, &differences)?;
        let measured = fold_measures(points, &membership)?;
        let measures: Vec<ReportedMeasure> = (points.measures.iter())
            .map(|column| ReportedMeasure::of(column, points.studies))
            .collect();
        for (row, combination) in combinations.iter_mut().enumerate() {
            combination.estimates = METRICS
                .iter()
                .map(|metric| match metric.shown {
                    Shown::Store => Ok(None),
                    _ => folded.estimate(metric.name, metric.kind, row),
                })
                .collect::<PolarsResult<_>>()?;
            combination.measured = points
                .measures
                .iter()
                .zip(&measures)
                .map(|(measure, reported)| measured.estimate(&measure.name, reported.kind, row))
                .collect::<PolarsResult<_>>()?;
            let difference = folded.estimate("additional", QuantityKind::Signed, row)?;
            let baseline = folded.estimate("baseline", QuantityKind::Signed, row)?;
            combination.additional =
                difference
                    .zip(baseline)
                    .map(|(difference, baseline)| Additional {
                        difference,
                        baseline: baseline.mean,
                        percent: (baseline.mean > 0.0)
                            .then(|| 100.0 * difference.mean / baseline.mean),
                    });
        }
        Ok(Self {
            studies: points.studies,
            earned: Earned::of(points.studies, &axes, &measures, &combinations),
            axes,
            combinations,
            relaxed_axes: pairing.relaxed_axes,
            same_inputs: SameInputs::of(points),
            apart: pairing.apart,
            repetitions: (0..points.len())
                .filter(|point| points.is_repetition(*point))
                .count(),
            measures,
        })
    }

    /// Whether all of its points are of studies, which have no baselines among their strategies.
    #[must_use]
    pub fn is_study(&self) -> bool {
        !self.combinations.is_empty()
            && (self.combinations.iter())
                .all(|combination| self.studies.is_strategy(&combination.strategy))
    }

    /// Whether any of its points is of a study that the metrics of jobs say something of.
    #[must_use]
    pub fn has_metrics(&self) -> bool {
        let known: Vec<&str> = self
            .studies
            .strategies()
            .filter(|study| study.has_metrics)
            .map(|study| study.name)
            .collect();
        self.combinations
            .iter()
            .any(|combination| known.contains(&combination.strategy.as_str()))
    }

    /// Indices of the [`METRICS`] that tables show of this run: of a study none, and of a machine
    /// that takes reservations, which sells nothing and overbooks nothing, the others.
    #[must_use]
    pub fn shown_metrics(&self) -> Vec<usize> {
        let shown = |metric: &Metric| match metric.topic {
            Topic::Money | Topic::Overbooking => !self.is_study(),
            _ => !self.is_study() || self.has_metrics(),
        };
        (0..METRICS.len())
            .filter(|index| METRICS[*index].shown >= Shown::Tables && shown(&METRICS[*index]))
            .collect()
    }

    /// Indices of the [`METRICS`] that stand beside the measures of a study: those of a machine
    /// that takes reservations.
    #[must_use]
    pub fn metrics_beside_measures(&self) -> Vec<usize> {
        (0..METRICS.len())
            .filter(|index| METRICS[*index].shown == Shown::Studies && self.has_metrics())
            .collect()
    }

    /// The value of a combination on an axis.
    #[must_use]
    pub fn value(&self, combination: &Combination, axis: usize) -> Option<&AxisValue> {
        let place = combination.places.get(axis).copied().flatten()?;
        self.axes.get(axis)?.values.get(place as usize)
    }

    /// Indices of the axes on which nobody competes and nothing is tuned.
    #[must_use]
    pub fn given_axes(&self) -> Vec<usize> {
        let mut given = self.select(|key| key != STRATEGY_AXIS && !TUNED_AXES.contains(&key));
        given.retain(|axis| Some(*axis) != self.competitors());
        given
    }

    /// Indices of the axes on which the best value is chosen.
    #[must_use]
    pub fn tuned_axes(&self) -> Vec<usize> {
        self.select(|key| TUNED_AXES.contains(&key))
    }

    fn select(&self, which: impl Fn(&str) -> bool) -> Vec<usize> {
        (0..self.axes.len())
            .filter(|axis| which(&self.axes[*axis].key))
            .collect()
    }

    /// For every policy and every combination of the given axes, the combination that earns most in
    /// the mean over the tuned axes; at equal means the one that comes first. In the order
    /// of the given axes, then of the policies.
    #[must_use]
    pub fn best(&self) -> Vec<&Combination> {
        let given = self.given_axes();
        let key = |combination: &Combination| {
            let places: Vec<Option<u32>> =
                given.iter().map(|axis| combination.places[*axis]).collect();
            (
                places,
                self.studies.rank(self.policy(combination)),
                self.policy(combination).to_owned(),
            )
        };
        let mut best: Vec<(_, &Combination)> = Vec::new();
        let mut index = HashMap::new();
        for combination in &self.combinations {
            let key = key(combination);
            match index.get(&key) {
                None => {
                    index.insert(key.clone(), best.len());
                    best.push((key, combination));
                }
                Some(place) => {
                    let entry: &mut (_, &Combination) = &mut best[*place];
                    if self.mean_earned(combination) > self.mean_earned(entry.1) {
                        entry.1 = combination;
                    }
                }
            }
        }
        best.sort_by(|(key, _), (other, _)| key.cmp(other));
        best.into_iter()
            .map(|(_, combination)| combination)
            .collect()
    }
}

/// The distinct combinations in order of first appearance, and each point's combination.
fn combinations(points: &PointColumns) -> (Vec<Combination>, Vec<u32>) {
    let mut index: HashMap<(Vec<Option<u32>>, &str), u32> = HashMap::new();
    let mut found = Vec::new();
    let membership = (0..points.len())
        .map(|point| {
            let places = places(points, point);
            let strategy = points.strategy[point].as_str();
            *index.entry((places.clone(), strategy)).or_insert_with(|| {
                found.push(Combination {
                    places,
                    strategy: strategy.to_owned(),
                    estimates: Vec::new(),
                    measured: Vec::new(),
                    additional: None,
                });
                found.len() as u32 - 1
            })
        })
        .collect();
    (found, membership)
}

fn places(points: &PointColumns, point: usize) -> Vec<Option<u32>> {
    points
        .axes
        .iter()
        .map(|column| column.positions[point])
        .collect()
}

/// Which point is the baseline of which.
struct Pairing {
    baseline: Vec<Option<usize>>,
    relaxed_axes: Vec<String>,
    /// Points whose baseline did not see the same.
    apart: usize,
}

impl Pairing {
    /// Pairs every point with the point of its strategy's baseline that has the same replication
    /// and the same values on all axes but the strategy's, and saw the same jobs and failures.
    /// Where there is none, axes that only overbooking strategies read are left out, provided that
    /// one simulation of the baseline remains.
    fn new(points: &PointColumns) -> Self {
        let keys: Vec<&str> = points
            .axes
            .iter()
            .map(|column| column.axis.key.as_str())
            .collect();
        let exact: Vec<usize> = (0..keys.len())
            .filter(|axis| keys[*axis] != STRATEGY_AXIS)
            .collect();
        let relaxed: Vec<usize> = exact
            .iter()
            .copied()
            .filter(|axis| {
                !OVERBOOKING_ONLY
                    .iter()
                    .any(|prefix| keys[*axis].starts_with(prefix))
            })
            .collect();
        let by_exact = Candidates::new(points, &exact);
        let mut baseline = Vec::with_capacity(points.len());
        let mut by_relaxed = None;
        let (mut used_relaxed, mut apart) = (false, 0);
        for point in 0..points.len() {
            let name = points.studies.baseline(&points.strategy[point]);
            let found = name.and_then(|name| {
                by_exact.find(points, point, name).or_else(|| {
                    let candidates =
                        by_relaxed.get_or_insert_with(|| Candidates::new(points, &relaxed));
                    let found = candidates.find(points, point, name);
                    used_relaxed |= found.is_some();
                    found
                })
            });
            let seen = found.filter(|baseline| points.is_pair(point, *baseline));
            apart += usize::from(found.is_some() && seen.is_none());
            baseline.push(seen);
        }
        let relaxed_axes = exact
            .iter()
            .filter(|axis| used_relaxed && !relaxed.contains(axis))
            .map(|axis| keys[*axis].to_owned())
            .collect();
        Self {
            baseline,
            relaxed_axes,
            apart,
        }
    }

    /// The baselines of points, without those of pairs that repeat an earlier one of the same
    /// combination: both results are the same.
    fn counted(&self, points: &PointColumns, membership: &[u32]) -> Vec<Option<usize>> {
        let mut known = HashSet::new();
        let pairs = self.baseline.iter().zip(membership).enumerate();
        let counted = pairs.map(|(point, (baseline, combination))| {
            baseline.filter(|baseline| {
                known.insert((
                    *combination,
                    points.original[point],
                    points.original[*baseline],
                ))
            })
        });
        counted.collect()
    }
}

type CandidateKey = (Vec<Option<u32>>, u32);

/// Points by strategy, replication and values on some axes; `None` where several simulations would
/// fit.
struct Candidates {
    axes: Vec<usize>,
    by_strategy: HashMap<String, HashMap<CandidateKey, Option<usize>>>,
}

impl Candidates {
    fn new(points: &PointColumns, axes: &[usize]) -> Self {
        let mut candidates = Self {
            axes: axes.to_vec(),
            by_strategy: HashMap::new(),
        };
        for point in 0..points.len() {
            let key = candidates.key(points, point);
            candidates
                .by_strategy
                .entry(points.strategy[point].clone())
                .or_default()
                .entry(key)
                .and_modify(|known| {
                    *known =
                        known.filter(|known| points.simulation[*known] == points.simulation[point]);
                })
                .or_insert(Some(point));
        }
        candidates
    }

    fn key(&self, points: &PointColumns, point: usize) -> CandidateKey {
        let places = self
            .axes
            .iter()
            .map(|axis| points.axes[*axis].positions[point])
            .collect();
        (places, points.replication[point])
    }

    fn find(&self, points: &PointColumns, point: usize, strategy: &str) -> Option<usize> {
        self.by_strategy
            .get(strategy)?
            .get(&self.key(points, point))
            .copied()
            .flatten()
    }
}
