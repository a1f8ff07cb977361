//! What was selected on the replications that no decision read, by the means and differences that
//! other tables of a report have.

use crate::analysis::{Analysis, Combination};
use crate::frames::PolarsResult;
use crate::plots::drawn::Drawn;
use crate::plots::paired::Pairs;
use crate::published::PublishedOfRun;
use crate::statistics::Estimate;
use bookahead_lab::store::{PointColumns, StoredRule};
use bookahead_lab::sweep::AxisValue;

/// The replications that no decision read.
pub(super) struct Confirming {
    points: PointColumns,
    analysis: Analysis,
    are_neighbours: bool,
}

impl Confirming {
    pub(super) fn new(
        points: &PointColumns,
        rule: &StoredRule,
        are_neighbours: bool,
    ) -> PolarsResult<Self> {
        let points = points.at_replications(&rule.confirming);
        Ok(Self {
            analysis: Analysis::new(&points)?,
            points,
            are_neighbours,
        })
    }

    /// Whether replications are neighbouring stretches of one log.
    pub(super) fn are_neighbours(&self) -> bool {
        self.are_neighbours
    }

    /// The mean of a quantity where axes have these values, or how much more it is than where they
    /// have others, as other means and differences of reports are made.
    pub(super) fn estimate(
        &self,
        name: &str,
        axes: &[(String, AxisValue)],
        others: Option<&[(String, AxisValue)]>,
        hash: &str,
    ) -> Option<Estimate> {
        let published = PublishedOfRun::default();
        let pairs = Pairs::new(&self.points, &published).of_neighbours(self.are_neighbours);
        let quantity = Drawn::named(&self.analysis, name, hash)?;
        let one = self.combination(axes)?;
        let found = match others {
            None => pairs.replicated(&quantity, &self.analysis, one),
            Some(others) => pairs.difference(&quantity, one, self.combination(others)?),
        };
        found.map(|replicated| replicated.estimate)
    }

    fn combination(&self, axes: &[(String, AxisValue)]) -> Option<&Combination> {
        let is_at = |combination: &&Combination| {
            axes.iter().all(|(key, value)| {
                let mut known = self.analysis.axes.iter();
                let at = known.position(|axis| axis.key == *key);
                let own = at.and_then(|at| self.analysis.value(combination, at));
                own.is_none_or(|own| own == value)
            })
        };
        self.analysis.combinations.iter().find(is_at)
    }
}
