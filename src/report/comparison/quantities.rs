//! The compared quantities: metrics of jobs and measures of studies, under one name each.

use std::collections::BTreeSet;

use bookahead_core::scheduling::measures::{QuantityKind, Topic};
use bookahead_lab::store::{METRICS, MeasuredPoint, Shown};
use bookahead_lab::study::Studies;

use super::ComparedRun;

/// As many main quantities as a page can show.
const MOST_MAIN: usize = 10;

/// A metric or a measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Its name in the store.
    pub name: &'static str,
    /// Its heading, with the unit.
    pub title: &'static str,
    /// Decimals in tables for people.
    pub decimals: usize,
    topic: Topic,
    /// What its mean over replications is like.
    pub(super) kind: QuantityKind,
    /// Its index among the metrics; `None` for a measure.
    metric: Option<usize>,
}

impl Quantity {
    /// All that points have values of: every metric, then what studies measured at any of them.
    #[must_use]
    pub fn all<'p>(studies: Studies, points: impl Iterator<Item = &'p MeasuredPoint>) -> Vec<Self> {
        let present: BTreeSet<&str> = points
            .flat_map(|point| &point.measured)
            .map(|(name, _)| *name)
            .collect();
        let metrics = METRICS.iter().enumerate().map(|(index, metric)| Self {
            name: metric.name,
            title: metric.title,
            decimals: metric.decimals,
            topic: metric.topic,
            kind: metric.kind,
            metric: Some(index),
        });
        let measures = studies
            .measures()
            .filter(|measure| present.contains(measure.name))
            .map(|measure| Self {
                name: measure.name,
                title: measure.title,
                decimals: measure.decimals,
                topic: measure.topic,
                kind: measure.kind,
                metric: None,
            });
        metrics.chain(measures).collect()
    }

    /// Its value at a point; `None` where it is not defined.
    #[must_use]
    pub fn of(&self, point: &MeasuredPoint) -> Option<f64> {
        match self.metric {
            Some(index) => point.values[index],
            None => {
                let mut measured = point.measured.iter();
                measured
                    .find(|(name, _)| *name == self.name)
                    .map(|(_, value)| *value)
            }
        }
    }

    /// Whether it is a metric of jobs, a column of the view of points.
    pub(super) fn is_metric(&self) -> bool {
        self.metric.is_some()
    }

    /// Whether it is in coins.
    pub(super) fn is_gain(&self) -> bool {
        self.name == METRICS[0].name
    }

    /// The name of the quantity that answers a comparison of these runs: that which all of their
    /// files are about, else what is earned where their study sells something, else that of their
    /// study; the gain of policies and of runs of several studies.
    #[must_use]
    pub fn primary(studies: Studies, runs: &[ComparedRun]) -> &'static str {
        let mut declared = runs.iter().map(|run| run.run.declared_primary());
        let first = declared.next().flatten();
        let common = first.filter(|first| declared.all(|other| other.as_ref() == Some(first)));
        if let Some(measure) = common.and_then(|name| studies.measure(&name)) {
            return measure.name;
        }
        let points: Vec<&MeasuredPoint> = runs.iter().flat_map(|run| &run.points).collect();
        let names: BTreeSet<&str> = points.iter().map(|it| it.strategy.as_str()).collect();
        let mut strategies = studies.strategies();
        let own = match names.len() {
            1 => strategies.find(|known| names.contains(known.name)),
            _ => None,
        };
        let Some(own) = own else {
            return METRICS[0].name;
        };
        let earned = own.earned.map(|earned| earned.measure);
        let mut measured = points.iter().flat_map(|point| &point.measured);
        let is_measured = |name: &&str| measured.any(|(known, _)| known == name);
        earned.filter(is_measured).unwrap_or(own.primary)
    }

    /// Those that a page shows first: the primary one, then of jobs what reports draw, of studies
    /// their measures; none that is 0 throughout.
    pub(super) fn main(
        studies: Studies,
        all: &[Self],
        points: &[&MeasuredPoint],
        primary: &str,
    ) -> Vec<Self> {
        let is_study = points
            .iter()
            .all(|point| studies.is_strategy(&point.strategy));
        let least = if is_study {
            Shown::Studies
        } else {
            Shown::Figures
        };
        let is_shown = |quantity: &&Self| match quantity.metric {
            Some(index) => METRICS[index].shown >= least,
            None => quantity.topic != Topic::Detail,
        };
        let has_values = |quantity: &&Self| {
            let mut values = points.iter().filter_map(|point| quantity.of(point));
            values.any(|value| value != 0.0)
        };
        let is_primary = |quantity: &&Self| quantity.name == primary;
        let others = (all.iter()).filter(|quantity| is_shown(quantity) && !is_primary(quantity));
        let main = all.iter().filter(is_primary).chain(others);
        let main = main.filter(has_values);
        main.take(MOST_MAIN).cloned().collect()
    }
}
