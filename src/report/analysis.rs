//! Turns points into numbers: replications are folded into means, and differences against the
//! baseline are paired by replication where both saw the same jobs and failures.

mod alike;
mod earned;
mod pairing;
mod seen;
pub(crate) mod variance;

use std::collections::{HashMap, HashSet};

use super::frames::{Common, Frame, Groups, PolarsResult};
use super::statistics::{Estimate, Moments};
use alike::Alike;
use bookahead_core::scheduling::measures::{QuantityKind, Topic};
use bookahead_lab::store::{
    METRICS, MeasureColumn, Metric, PointColumns, RunSummary, Shared, Shown,
};
use bookahead_lab::study::Studies;
use bookahead_lab::sweep::{Axis, AxisValue};
use earned::Earned;
use pairing::{Pairing, counted};
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
    /// Its points, by their index, in their order.
    pub(crate) points: Vec<usize>,
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

impl Combination {
    /// The simulations behind it, in the order of replications, from the points of its analysis.
    #[must_use]
    pub fn simulations(&self, points: &PointColumns) -> Vec<i64> {
        let mut known = HashSet::new();
        let simulations = self.points.iter().map(|point| points.simulation[*point]);
        simulations.filter(|number| known.insert(*number)).collect()
    }
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
    /// The measure that the experiment says it is about.
    pub(crate) primary: Option<String>,
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
    /// The same, about the quantity that the file of the run names.
    #[must_use]
    pub fn about(self, run: &RunSummary) -> Self {
        Self {
            primary: run.declared_primary(),
            ..self
        }
    }

    /// The measure that reports answer first: what is earned, else what the experiment says it is
    /// about; `None` for the first that its study declares.
    #[must_use]
    pub fn first_measure(&self) -> Option<&str> {
        let earned = self.earned_measure().map(|measure| measure.name.as_str());
        earned.or(self.primary.as_deref())
    }

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
        let frame = Frame::of(points);
        let setting: Vec<Common> = (0..axes.len())
            .map(Common::Axis)
            .chain([Common::Strategy])
            .collect();
        let groups = frame.groups(&setting);
        let mut combinations: Vec<Combination> = (groups.points())
            .map(|members| combination(points, members))
            .collect();
        let pairing = Pairing::new(points, &frame);
        let fold = |groups: &Groups, values: &[Option<f64>], kind| -> PolarsResult<Vec<_>> {
            let moments = groups.moments(values)?.into_iter();
            let estimate = |moments: Moments| Estimate::from_moments(&moments, kind);
            Ok(moments.map(|moments| moments.map(estimate)).collect())
        };
        // What is the same result is one value, however often it was computed.
        let of_point = |values: &Shared<Option<f64>>, point: usize| {
            values[point].filter(|_| !points.is_repetition(point))
        };
        let alike = Alike::new(points, &combinations);
        let fold_counted = |values: &Shared<Option<f64>>, kind: QuantityKind| {
            if values.is_shared_as(&points.simulation) {
                let counted = alike.points.iter().map(|point| of_point(values, *point));
                let folded = fold(&alike.groups, &counted.collect::<Vec<_>>(), kind)?;
                return Ok(alike.of.iter().map(|group| folded[*group]).collect());
            }
            let counted = (0..points.len()).map(|point| of_point(values, point));
            fold(&groups, &counted.collect::<Vec<_>>(), kind)
        };
        for metric in METRICS {
            let folded = match metric.shown {
                Shown::Store => vec![None; combinations.len()],
                _ => fold_counted(&points.metrics[metric.name], metric.kind)?,
            };
            for (combination, estimate) in combinations.iter_mut().zip(folded) {
                combination.estimates.push(estimate);
            }
        }
        let measures: Vec<ReportedMeasure> = (points.measures.iter())
            .map(|column| ReportedMeasure::of(column, points.studies))
            .collect();
        for (column, measure) in points.measures.iter().zip(&measures) {
            let folded = fold_counted(&column.values, measure.kind)?;
            for (combination, estimate) in combinations.iter_mut().zip(folded) {
                combination.measured.push(estimate);
            }
        }
        let [gains, fees, forfeited] =
            ["gain", "fees", "forfeited"].map(|name| &points.metrics[name]);
        // At the penalty ratio of the point that is compared with it.
        let baselines: Vec<Option<f64>> = counted(pairing.baseline, points, &combinations)
            .iter()
            .zip(&points.penalty_ratio)
            .map(|(baseline, ratio)| {
                let baseline = (*baseline)? as usize;
                Some(fees[baseline]? - ratio * forfeited[baseline]?)
            })
            .collect();
        let differences: Vec<Option<f64>> = gains
            .iter()
            .zip(&baselines)
            .map(|(gain, baseline)| Some((*gain)? - (*baseline)?))
            .collect();
        let differences = fold(&groups, &differences, QuantityKind::Signed)?;
        let baselines = fold(&groups, &baselines, QuantityKind::Signed)?;
        let additional = differences.into_iter().zip(baselines);
        for (combination, (difference, baseline)) in combinations.iter_mut().zip(additional) {
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
            primary: None,
            axes,
            combinations,
            relaxed_axes: pairing.relaxed_axes,
            same_inputs: SameInputs::of(points, &frame),
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

/// The combination of these points, without estimates.
fn combination(points: &PointColumns, members: Vec<usize>) -> Combination {
    Combination {
        places: (points.axes.iter())
            .map(|column| column.positions[members[0]])
            .collect(),
        strategy: points.strategy[members[0]].clone(),
        points: members,
        estimates: Vec::new(),
        measured: Vec::new(),
        additional: None,
    }
}
