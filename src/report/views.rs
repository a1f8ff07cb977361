//! What reports show of each study beyond what they show of every run: one file or folder a study, and one line in the list below.
//!
//! Distributions, curves of measures and tables of combinations are general (`figures`, `tables`); no other file of reports knows a study.

mod co_reservation;
mod overbooking;
mod provisioning;
mod reservations;
mod slots;
mod virtual_reservations;

use super::analysis::Analysis;
use super::figure::Figure;
use super::html::PlanSection;
use super::table::Table;
use crate::store::{PointColumns, RunSummary, Store, StoreError};
use crate::studies;

/// A study's part of a report.
pub(super) trait View: Sync {
    /// Adds what it shows of a run that has points of the study.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    fn show(&self, run: &Reported<'_>, shown: &mut Shown) -> Result<(), StoreError>;

    /// Whether jobs and utilisation of its machine are worth showing beside its measures.
    fn has_machine(&self) -> bool {
        false
    }
}

/// The studies with a machine of their own, by the names that stand for them, in the order in which they are shown.
const VIEWS: [(&str, &dyn View); 5] = [
    (studies::slots::STRATEGY.0, &slots::Slots),
    (
        studies::virtual_reservations::STRATEGY.0,
        &virtual_reservations::VirtualReservations,
    ),
    (
        studies::provisioning::STRATEGY.0,
        &provisioning::Provisioning,
    ),
    (
        studies::reservations::STRATEGY.0,
        &reservations::Reservations,
    ),
    (
        studies::co_reservation::STRATEGY.0,
        &co_reservation::CoReservation,
    ),
];

/// Whether a strategy is that of a study whose machine is shown beside its measures.
pub(super) fn has_machine(strategy: &str) -> bool {
    VIEWS
        .iter()
        .any(|(name, view)| *name == strategy && view.has_machine())
}

/// A run, and what was read of it.
pub(super) struct Reported<'a> {
    pub(super) store: &'a Store,
    pub(super) run: &'a RunSummary,
    pub(super) points: &'a PointColumns,
    pub(super) analysis: &'a Analysis,
}

impl Reported<'_> {
    /// What its queries find it by.
    pub(super) fn hash(&self) -> &str {
        &self.run.configuration_hash
    }
}

/// What the views of a run add to its report.
#[derive(Default)]
pub(super) struct Shown {
    /// Figures before those of metrics and measures …
    pub(super) first_figures: Vec<Figure>,
    /// … and behind them.
    pub(super) figures: Vec<Figure>,
    /// Tables before that of every combination …
    pub(super) first_tables: Vec<Table>,
    /// … and behind it.
    pub(super) tables: Vec<Table>,
    /// Drawings of plans, with their files.
    pub(super) plans: Vec<(PlanSection, String)>,
}

/// What the views of the studies that a run has points of add to its report.
pub(super) fn shown(run: &Reported<'_>) -> Result<Shown, StoreError> {
    let mut shown = Shown::default();
    let combinations = &run.analysis.combinations;
    if combinations
        .iter()
        .any(|combination| !studies::is_strategy(&combination.strategy))
    {
        overbooking::Overbooking.show(run, &mut shown)?;
    }
    for (strategy, view) in VIEWS {
        if combinations
            .iter()
            .any(|combination| combination.strategy == strategy)
        {
            view.show(run, &mut shown)?;
        }
    }
    Ok(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_with_a_machine_of_its_own_has_one_view() {
        let mut names: Vec<&str> = VIEWS.iter().map(|(name, _)| *name).collect();
        let mut known: Vec<&str> = studies::STRATEGIES.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        known.sort_unstable();
        assert_eq!(names, known);
    }
}
