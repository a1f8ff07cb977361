//! Quantities that are drawn over axes, each in its section: metrics of the points and measures of studies. The others stand
//! in the tables.

use crate::report::analysis::{Analysis, Combination, METRICS};
use crate::report::figure::{Scale, Section};
use crate::report::sql::this_run;
use crate::report::statistics::Estimate;
use crate::scheduling::measures::Topic;

/// Metrics of runs that sell something.
const WITH_MONEY: [(&str, Section); 10] = [
    ("gain", Section::Money),
    ("fees", Section::Money),
    ("penalties", Section::Money),
    ("successful", Section::Jobs),
    ("failed", Section::Jobs),
    ("rejection_rate", Section::Jobs),
    ("overbooked", Section::Jobs),
    ("utilisation", Section::Machine),
    ("mean_wait", Section::Waits),
    ("slowdown", Section::Waits),
];

/// A quantity that is drawn.
pub(super) struct Drawn {
    /// Its column in `from`, and the beginning of the names of its figures.
    pub(super) key: String,
    /// Its heading, with the unit.
    pub(super) title: String,
    pub(super) section: Section,
    /// What stands behind FROM in a query: a table with the columns `strategy`, `axes` and `key`, one row a point of the run.
    pub(super) from: String,
    value: Value,
}

enum Value {
    /// Index into [`METRICS`], and what to multiply it by.
    Metric(usize, f64),
    /// Index into the measures of the analysis.
    Measure(usize),
}

impl Drawn {
    pub(super) fn estimate(&self, combination: &Combination) -> Option<Estimate> {
        match self.value {
            Value::Metric(index, 1.0) => combination.estimates[index],
            Value::Metric(index, factor) => {
                combination.estimates[index].map(|estimate| estimate.scaled(factor))
            }
            Value::Measure(index) => combination.measured[index],
        }
    }

    /// Whether its figures show one standard deviation, as those of the thesis about workflows do, and not an interval of the mean.
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

    fn metric(key: &str, section: Section, configuration_hash: &str) -> Option<Self> {
        let index = METRICS.iter().position(|metric| metric.key == key)?;
        Some(Self {
            key: key.to_owned(),
            title: METRICS[index].title.to_owned(),
            section,
            from: format!(
                "v_point WHERE state = 'done' AND run = {}",
                this_run(configuration_hash)
            ),
            value: Value::Metric(index, 1.0),
        })
    }

    fn is_ever_other_than_zero(&self, analysis: &Analysis) -> bool {
        let mut estimates = analysis
            .combinations
            .iter()
            .filter_map(|combination| self.estimate(combination));
        estimates.any(|estimate| estimate.mean != 0.0)
    }

    /// A measure by its index.
    pub(super) fn measure(analysis: &Analysis, index: usize, configuration_hash: &str) -> Self {
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

/// Everything that is drawn of a run, in the order of the tables. What was measured to be 0 throughout is left to the tables.
pub(super) fn drawn(analysis: &Analysis, configuration_hash: &str) -> Vec<Drawn> {
    let measures = (0..analysis.measures.len())
        .filter(|index| analysis.measures[*index].topic != Topic::Detail)
        // It stands beside the makespan of plans.
        .filter(|index| analysis.measures[*index].name != "be_makespan_hours")
        .map(|index| Drawn::measure(analysis, index, configuration_hash))
        .filter(|measure| measure.is_ever_other_than_zero(analysis));
    if analysis.is_study() {
        let machine = Drawn::metric("utilisation", Section::Machine, configuration_hash)
            .map(|metric| percent(metric, configuration_hash));
        let slowdown = Drawn::metric("slowdown", Section::Waits, configuration_hash);
        return machine
            .into_iter()
            .chain(slowdown)
            .filter(|_| analysis.has_machine())
            .chain(measures)
            .collect();
    }
    WITH_MONEY
        .iter()
        .filter_map(|(key, section)| Drawn::metric(key, *section, configuration_hash))
        .chain(measures)
        .collect()
}

/// Utilisation beside measures that are in percent.
fn percent(metric: Drawn, configuration_hash: &str) -> Drawn {
    let key = format!("{}_percent", metric.key);
    Drawn {
        title: format!("{} (%)", metric.title),
        from: format!(
            "(SELECT run, strategy, axes, 100.0 * {} AS {key} FROM v_point WHERE state = 'done')
      WHERE run = {}",
            metric.key,
            this_run(configuration_hash)
        ),
        value: match metric.value {
            Value::Metric(index, _) => Value::Metric(index, 100.0),
            Value::Measure(index) => Value::Measure(index),
        },
        key,
        ..metric
    }
}

fn section_of(topic: Topic) -> Section {
    match topic {
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
