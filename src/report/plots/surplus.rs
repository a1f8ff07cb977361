//! What policies earn more than their baselines where both saw the same, over the axes of a run.

use std::collections::HashMap;

use super::curves::{Curves, others, over, over_axes};
use super::drawn::{Drawn, drawn};
use super::paired::Pairs;
use super::{MOST_PANELS, axis_scale, condition, file_name, given, titled};
use crate::analysis::{Analysis, Combination};
use crate::figure::{Figure, Scale, Section, Series};
use crate::sql;
use crate::statistics::Estimate;
use crate::table::short;

/// What combinations earn more than their baselines.
pub(super) struct Surplus<'a> {
    pub(super) analysis: &'a Analysis,
    pub(super) pairs: &'a Pairs<'a>,
    /// What is earned.
    pub(super) earned: Drawn,
    /// Of a study whose policies compete, combinations by policy and places on the other axes.
    by_policy: HashMap<(&'a str, Vec<Option<u32>>), &'a Combination>,
}

impl<'a> Surplus<'a> {
    /// `None` where nothing is earned, or nobody competes for it.
    pub(super) fn new(
        analysis: &'a Analysis,
        pairs: &'a Pairs<'a>,
        configuration_hash: &str,
    ) -> Option<Self> {
        let earned = drawn(analysis, configuration_hash).into_iter().next()?;
        let competitors = analysis.competitors();
        let combinations = analysis.combinations.iter();
        let by_policy = combinations
            .filter(|_| competitors.is_some())
            .map(|combination| {
                let key = (
                    analysis.policy(combination),
                    elsewhere(analysis, combination),
                );
                (key, combination)
            })
            .collect();
        analysis.is_earning().then_some(Self {
            analysis,
            pairs,
            earned,
            by_policy,
        })
    }

    /// Of a combination; `None` where there is no baseline beside it.
    pub(super) fn of(&self, combination: &Combination) -> Option<Estimate> {
        if self.analysis.competitors().is_none() {
            return Some(combination.additional?.difference);
        }
        let baseline = self.analysis.policy(combination);
        let baseline = self.analysis.studies.baseline(baseline)?;
        let beside = (baseline, elsewhere(self.analysis, combination));
        let beside = self.by_policy.get(&beside)?;
        let difference = self.pairs.difference(&self.earned, combination, beside)?;
        Some(difference.estimate)
    }
}

/// The places of a combination on the axes on which nobody competes.
fn elsewhere(analysis: &Analysis, combination: &Combination) -> Vec<Option<u32>> {
    let competing = analysis.competing_axis();
    let places = combination.places.iter().enumerate();
    let others = places.filter(|(axis, _)| Some(*axis) != competing);
    others.map(|(_, place)| *place).collect()
}

/// The surplus of every policy that has a baseline over the axis with the most numbers, and over
/// further axes where that gives few situations; none where nothing is earned.
pub(crate) fn surplus(
    analysis: &Analysis,
    pairs: &Pairs<'_>,
    configuration_hash: &str,
) -> Vec<Figure> {
    let Some(surplus) = Surplus::new(analysis, pairs, configuration_hash) else {
        return Vec::new();
    };
    let of = |combination: &Combination| surplus.of(combination);
    let (figures, _) = over_axes(analysis, MOST_PANELS, &of, |axis, places, curves| {
        figure(analysis, axis, places, curves, configuration_hash)
    });
    figures
}

fn figure(
    analysis: &Analysis,
    axis: usize,
    places: &[Option<u32>],
    curves: &Curves<'_>,
    configuration_hash: &str,
) -> Figure {
    let key = &analysis.axes[axis].key;
    let given = given(analysis, &others(analysis, axis), places);
    let fixed = condition(&given).replacen("\n    AND", "\nWHERE", 1);
    let series = curves.iter().map(|((rank, policy), line)| {
        let marks = line.iter().map(|(mark, _)| *mark).collect();
        Series::new(*policy, *rank, over(analysis, axis, marks))
    });
    Figure {
        name: format!("surplus-by-{}", file_name(key)),
        section: Section::Money,
        title: titled(
            &format!("Surplus over the baseline by {}", short(key)),
            &given,
        ),
        x: axis_scale(analysis, axis),
        y: Scale::linear("Surplus (VC)"),
        series: series.collect(),
        note:
            "Mean differences from the baseline of each policy, paired by replication, with 95 % \
               intervals of the difference: where one does not contain 0, it is significant."
                .to_owned(),
        sql: sql::surplus(configuration_hash, analysis, key, &fixed),
        given,
    }
}
