//! Quantities that are drawn over axes, each in its section: metrics of the points and measures of
//! studies. The others are shown in tables only.

use crate::analysis::{Analysis, BesideMeasures, Combination};
use crate::figure::{Scale, Section};
use crate::sql::this_run;
use crate::statistics::Estimate;
use bookahead_core::scheduling::measures::{QuantityKind, Topic};
use bookahead_lab::store::{METRICS, PointColumns, Shown};

/// A quantity that is drawn.
pub struct Drawn {
    /// Its column in `from`, and the beginning of the names of its figures.
    pub(crate) key: String,
    /// Its heading, with the unit.
    pub(crate) title: String,
    pub(super) section: Section,
    /// What stands behind FROM in a query: a table with the columns `strategy`, `axes`,
    /// `replication` and `key`, one row a point of the run.
    pub(crate) from: String,
    value: Value,
}

enum Value {
    /// Index into [`METRICS`], and what to multiply it by.
    Metric(usize, f64),
    /// Index into the measures of the analysis.
    Measure(usize),
}

impl Drawn {
    pub(crate) fn estimate(&self, combination: &Combination) -> Option<Estimate> {
        match self.value {
            Value::Metric(index, 1.0) => combination.estimates[index],
            Value::Metric(index, factor) => {
                combination.estimates[index].map(|estimate| estimate.scaled(factor))
            }
            Value::Measure(index) => combination.measured[index],
        }
    }

    /// What its mean over replications is like.
    pub(super) fn kind(&self, analysis: &Analysis) -> QuantityKind {
        match self.value {
            // A share that is shown in percent.
            Value::Metric(index, factor) if factor != 1.0 => match METRICS[index].kind {
                QuantityKind::Fraction => QuantityKind::Percent,
                kind => kind,
            },
            Value::Metric(index, _) => METRICS[index].kind,
            Value::Measure(index) => analysis.measures[index].kind,
        }
    }

    /// What a value of a measure of the store is multiplied by to be one of this quantity; `None`
    /// where it is another quantity.
    pub(super) fn factor_of(&self, measure: &str) -> Option<f64> {
        match self.value {
            Value::Metric(index, factor) => (METRICS[index].name == measure).then_some(factor),
            Value::Measure(_) => (self.key == measure).then_some(1.0),
        }
    }

    /// Its value at a point.
    pub(crate) fn value(&self, points: &PointColumns, point: usize) -> Option<f64> {
        match self.value {
            Value::Metric(index, factor) => {
                Some(factor * points.metrics[METRICS[index].name][point]?)
            }
            Value::Measure(index) => points.measures[index].values[point],
        }
    }

    /// Whether its figures show one standard deviation, as those of the thesis about workflows do,
    /// and not an interval of the mean.
    pub(super) fn shows_deviation(&self) -> bool {
        matches!(self.section, Section::Workflows | Section::CarriedOut)
    }

    /// The same of best effort, which stands beside it.
    pub(super) fn best_effort(&self, analysis: &Analysis, hash: &str) -> Option<Self> {
        let name = match self.key.as_str() {
            "wf_makespan_hours" => "be_makespan_hours",
            "wf_cost_su" => "be_cost_su",
            "wf_deadline_met_percent" => "be_deadline_met_percent",
            _ => return None,
        };
        let index = analysis
            .measures
            .iter()
            .position(|measure| measure.name == name)?;
        Some(Self {
            section: self.section,
            ..Self::measure(analysis, index, hash)
        })
    }

    /// The vertical scale of its figures.
    pub(super) fn scale(&self) -> Scale {
        Scale::linear(self.title.clone())
    }

    /// The metric or measure of this name in the store; `None` where the analysis has none.
    pub(crate) fn named(analysis: &Analysis, name: &str, configuration_hash: &str) -> Option<Self> {
        if let Some(index) = METRICS.iter().position(|metric| metric.name == name) {
            return Some(Self::metric(index, configuration_hash));
        }
        let mut measures = analysis.measures.iter();
        let index = measures.position(|measure| measure.name == name)?;
        Some(Self::measure(analysis, index, configuration_hash))
    }

    /// Decimals in tables for people.
    pub(crate) fn decimals(&self, analysis: &Analysis) -> usize {
        match self.value {
            Value::Metric(index, _) => METRICS[index].decimals,
            Value::Measure(index) => analysis.measures[index].decimals,
        }
    }

    /// A metric by its index.
    fn metric(index: usize, configuration_hash: &str) -> Self {
        let metric = &METRICS[index];
        Self {
            key: metric.name.to_owned(),
            title: metric.title.to_owned(),
            section: section_of(metric.topic),
            from: format!(
                "v_point WHERE state = 'done' AND run = {}",
                this_run(configuration_hash)
            ),
            value: Value::Metric(index, 1.0),
        }
    }

    /// A metric beside measures: in percent where it is a share.
    fn beside_measures(index: usize, configuration_hash: &str) -> Self {
        let metric = Self::metric(index, configuration_hash);
        let beside = BesideMeasures::from(&METRICS[index]);
        if beside.key == metric.key {
            return metric;
        }
        Self {
            from: format!(
                "(SELECT run, strategy, axes, replication, {:.1} * {} AS {} FROM v_point WHERE state = 'done')
      WHERE run = {}",
                beside.factor,
                metric.key,
                beside.key,
                this_run(configuration_hash)
            ),
            key: beside.key.to_owned(),
            title: beside.title,
            value: Value::Metric(index, beside.factor),
            ..metric
        }
    }

    fn is_ever_other_than_zero(&self, analysis: &Analysis) -> bool {
        let mut estimates = analysis
            .combinations
            .iter()
            .filter_map(|combination| self.estimate(combination));
        estimates.any(|estimate| estimate.mean != 0.0)
    }

    /// A measure by its index.
    pub(crate) fn measure(analysis: &Analysis, index: usize, configuration_hash: &str) -> Self {
        let measure = &analysis.measures[index];
        Self {
            key: measure.name.clone(),
            title: measure.title.clone(),
            section: section_of(measure.topic),
            from: format!(
                "(SELECT run, strategy, axes, replication, value AS {0} FROM v_measure WHERE measure = '{0}')
      WHERE run = {1}",
                measure.name,
                this_run(configuration_hash)
            ),
            value: Value::Measure(index),
        }
    }
}

/// Everything that is drawn of a run: what is earned first, or what the experiment is about, then
/// what a study measures. What was measured to be 0 throughout is left to the tables.
pub fn drawn(analysis: &Analysis, configuration_hash: &str) -> Vec<Drawn> {
    let mut drawn = in_order_of_declaration(analysis, configuration_hash);
    let first = analysis.first_measure();
    drawn.sort_by_key(|quantity| first.is_some_and(|first| first != quantity.key));
    drawn
}

fn in_order_of_declaration(analysis: &Analysis, configuration_hash: &str) -> Vec<Drawn> {
    let is_drawn = |index: &usize| {
        let measure = &analysis.measures[*index];
        // Best effort stands beside the makespan of plans.
        let is_of_its_own = measure.topic != Topic::Detail && measure.name != "be_makespan_hours";
        is_of_its_own || analysis.first_measure() == Some(measure.name.as_str())
    };
    let measures = (0..analysis.measures.len())
        .filter(is_drawn)
        .map(|index| Drawn::measure(analysis, index, configuration_hash))
        .filter(|measure| measure.is_ever_other_than_zero(analysis));
    if analysis.is_study() {
        let beside = analysis.metrics_beside_measures().into_iter();
        // What a study is about comes first.
        let beside = beside.map(|index| Drawn::beside_measures(index, configuration_hash));
        return measures.chain(beside).collect();
    }
    (0..METRICS.len())
        .filter(|index| METRICS[*index].shown >= Shown::Figures)
        .map(|index| Drawn::metric(index, configuration_hash))
        .chain(measures)
        .collect()
}

fn section_of(topic: Topic) -> Section {
    match topic {
        Topic::Money => Section::Money,
        Topic::Jobs | Topic::Overbooking => Section::Jobs,
        Topic::Reservations | Topic::Detail => Section::Reservations,
        Topic::Workflows => Section::Workflows,
        Topic::CarriedOut => Section::CarriedOut,
        Topic::CoReservations => Section::CoReservations,
        Topic::Messages => Section::Messages,
        Topic::Fairness => Section::Fairness,
        Topic::LostParts => Section::LostParts,
        Topic::Risk => Section::Risk,
        Topic::Clusters => Section::Clusters,
        Topic::Prices => Section::Prices,
        Topic::Waits => Section::Waits,
        Topic::Machine => Section::Machine,
        Topic::Slots => Section::Slots,
        Topic::Virtual => Section::Virtual,
        Topic::Predictions => Section::Predictions,
    }
}
