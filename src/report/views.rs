//! What reports show of each study beyond what they show of every run: one file or folder a study,
//! and a line in the list below.
//!
//! Distributions, curves of measures and tables of combinations are general (`figures`, `tables`);
//! no other file of reports knows a study.

use super::analysis::Analysis;
use super::figure::Figure;
use super::section::PlanSection;
use super::table::Table;
use crate::store::{PointColumns, RunSummary, Store, StoreError};

/// A study's part of a report.
pub(super) trait View: Sync {
    /// Adds what it shows of a run that has points of the study.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    fn show(&self, run: &Reported<'_>, shown: &mut ViewContent) -> Result<(), StoreError>;
}

mod co_reservation;
mod overbooking;
mod provisioning;
mod reservations;
mod slots;
mod virtual_reservations;

/// What reports show of single studies, by the study's name.
const VIEWS: &[(&str, &dyn View)] = &[
    ("overbooking", &overbooking::Overbooking),
    ("reservations", &reservations::Reservations),
    ("slots", &slots::Slots),
    (
        "virtual-reservations",
        &virtual_reservations::VirtualReservations,
    ),
    ("co-reservation", &co_reservation::CoReservation),
    ("provisioning", &provisioning::Provisioning),
];

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
pub(super) struct ViewContent {
    /// Figures right behind those of metrics and measures …
    pub(super) first_figures: Vec<Figure>,
    /// … and behind the distributions.
    pub(super) figures: Vec<Figure>,
    /// Tables before that of every combination …
    pub(super) first_tables: Vec<Table>,
    /// … and behind it.
    pub(super) tables: Vec<Table>,
    /// Drawings of plans, with their files.
    pub(super) plans: Vec<(PlanSection, String)>,
}

/// What the views of the studies that a run has points of add to its report.
pub(super) fn shown(run: &Reported<'_>) -> Result<ViewContent, StoreError> {
    let mut shown = ViewContent::default();
    let combinations = &run.analysis.combinations;
    let studies = run.analysis.studies;
    for (name, view) in VIEWS {
        let is_of_study = |strategy: &str| {
            let study = studies.of_strategy(strategy);
            study.is_some_and(|study| study.name() == *name)
        };
        if combinations
            .iter()
            .any(|combination| is_of_study(&combination.strategy))
        {
            view.show(run, &mut shown)?;
        }
    }
    Ok(shown)
}
