//! What is earned in a run, and who competes for it: what a report looks for the best of.

use super::{Analysis, Combination, ReportedMeasure, STRATEGY_AXIS};
use crate::statistics::Estimate;
use bookahead_lab::study::Studies;
use bookahead_lab::sweep::{Axis, AxisValue};

/// What those earn who take the risks of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Earned {
    /// The gain of policies, which compete.
    Gain,
    /// A measure of a study.
    Measure {
        /// Its index in [`Analysis::measures`].
        index: usize,
        /// The axis whose values compete; `None` where the run has one value of it at most.
        competitors: Option<usize>,
    },
}

impl Earned {
    /// Of combinations with these axes and measures; `None` where nothing is sold, or where several
    /// studies are beside each other.
    pub(super) fn of(
        studies: Studies,
        axes: &[Axis],
        measures: &[ReportedMeasure],
        combinations: &[Combination],
    ) -> Option<Self> {
        let first = combinations.first()?;
        if combinations
            .iter()
            .any(|it| !studies.is_strategy(&it.strategy))
        {
            return Some(Self::Gain);
        }
        if combinations.iter().any(|it| it.strategy != first.strategy) {
            return None;
        }
        let study = studies.strategies().find(|it| it.name == first.strategy)?;
        let earned = study.earned?;
        let index = measures.iter().position(|it| it.name == earned.measure)?;
        let competes = |axis: &Axis| axis.key == earned.competitors && axis.values.len() > 1;
        let competitors = axes.iter().position(competes);
        Some(Self::Measure { index, competitors })
    }
}

impl Analysis {
    /// Whether policies compete for what is earned.
    #[must_use]
    pub fn is_earning(&self) -> bool {
        match self.earned {
            None => false,
            Some(Earned::Gain) => true,
            Some(Earned::Measure { competitors, .. }) => competitors.is_some(),
        }
    }

    /// What a combination earned, VC.
    #[must_use]
    pub fn earned(&self, combination: &Combination) -> Option<Estimate> {
        match self.earned? {
            Earned::Gain => combination.estimates[0],
            Earned::Measure { index, .. } => combination.measured[index],
        }
    }

    /// The measure of what is earned, where it is none of the policies' gain.
    #[must_use]
    pub fn earned_measure(&self) -> Option<&ReportedMeasure> {
        match self.earned? {
            Earned::Gain => None,
            Earned::Measure { index, .. } => Some(&self.measures[index]),
        }
    }

    /// The mean of what a combination earned, VC; −∞ where nothing was.
    #[must_use]
    pub fn mean_earned(&self, combination: &Combination) -> f64 {
        self.earned(combination)
            .map_or(f64::NEG_INFINITY, |earned| earned.mean)
    }

    /// The policy of a combination: its strategy, or what its clusters plan with.
    #[must_use]
    pub fn policy<'a>(&'a self, combination: &'a Combination) -> &'a str {
        match self.competitors().map(|axis| self.value(combination, axis)) {
            Some(Some(AxisValue::Text(policy))) => policy,
            _ => &combination.strategy,
        }
    }

    /// The axis whose values compete: that of strategies, or that of a study.
    pub(crate) fn competing_axis(&self) -> Option<usize> {
        let strategies = || {
            let mut axes = self.axes.iter();
            axes.position(|axis| axis.key == STRATEGY_AXIS)
        };
        self.competitors().or_else(strategies)
    }

    /// The axis whose values compete in a study.
    pub(crate) fn competitors(&self) -> Option<usize> {
        match self.earned? {
            Earned::Gain => None,
            Earned::Measure { competitors, .. } => competitors,
        }
    }
}
