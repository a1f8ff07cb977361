//! Views: additions of each study to its reports. There is one file or folder for each study, with
//! a type of the name that the list of studies
//! ([`for_each_study`](bookahead_engine::for_each_study)) gives.
//!
//! Distributions, curves of measures and tables of combinations are general (`plots`,
//! `summary_tables`). No other file of reports knows a study.

use super::analysis::Analysis;
use super::figure::Figure;
use super::section::PlanSection;
use super::table::Table;
use crate::store::{PointColumns, RunSummary, Store, StoreError};
use crate::studies::{self, Strategy};

/// A study's part of a report.
pub(super) trait View: Sync {
    /// Adds what it shows of a run that has points of the study.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    fn show(&self, run: &Reported<'_>, shown: &mut ViewContent) -> Result<(), StoreError>;
}

macro_rules! views {
    ($($(#[$doc:meta])* $variant:ident($module:ident::$settings:ident),)*) => {
        $(mod $module;)*

        /// Every study, by the name that stands for it where it has a machine of its own.
        const VIEWS: &[(Option<Strategy>, &dyn View)] =
            &[$((studies::$module::STRATEGY, &$module::$variant),)*];
    };
}

bookahead_engine::for_each_study!(views);

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

/// The additions of the views of a run to its report.
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

/// The additions of the views of all studies that a run has points of.
pub(super) fn shown(run: &Reported<'_>) -> Result<ViewContent, StoreError> {
    let mut shown = ViewContent::default();
    let combinations = &run.analysis.combinations;
    for (own, view) in VIEWS {
        let is_of_study = |strategy: &str| match own {
            Some(own) => own.name == strategy,
            None => !studies::is_strategy(strategy),
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
