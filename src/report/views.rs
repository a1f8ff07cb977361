//! What reports show of each study beyond what they show of every run.
//!
//! Distributions, curves of measures and tables of combinations are general (`plots`,
//! `summary_tables`). A view stands beside its study, and a program hands over the list of them
//! ([`Views`]): reports know no study.

use std::fmt;

use super::analysis::Analysis;
use super::figure::Figure;
use super::section::PlanSection;
use super::table::Table;
use bookahead_lab::store::{PointColumns, RunSummary, Store, StoreError};

/// A study's part of a report.
pub trait View: Sync {
    /// Adds what it shows of a run that has points of the study.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    fn show(&self, run: &Reported<'_>, shown: &mut ViewContent) -> Result<(), StoreError>;
}

/// The name of a study and what reports show of it.
pub type NamedView = (&'static str, &'static dyn View);

/// What reports show of single studies, by the study's name.
#[derive(Clone, Copy, Default)]
pub struct Views {
    list: &'static [NamedView],
    more: &'static [NamedView],
}

impl Views {
    /// These.
    #[must_use]
    pub const fn new(views: &'static [NamedView]) -> Self {
        Self {
            list: views,
            more: &[],
        }
    }

    /// The same with these behind them.
    #[must_use]
    pub const fn with(self, more: &'static [NamedView]) -> Self {
        Self { more, ..self }
    }

    /// One after the other.
    pub fn iter(self) -> impl Iterator<Item = NamedView> {
        self.list.iter().chain(self.more).copied()
    }
}

impl fmt::Debug for Views {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.iter().map(|(name, _)| name);
        formatter.debug_list().entries(names).finish()
    }
}

/// A run, and what was read of it.
pub struct Reported<'a> {
    /// Its store.
    pub store: &'a Store,
    /// The run.
    pub run: &'a RunSummary,
    /// Its points.
    pub points: &'a PointColumns,
    /// Its combinations, all replications folded.
    pub analysis: &'a Analysis,
}

impl Reported<'_> {
    /// What its queries find it by.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.run.configuration_hash
    }
}

/// The additions of the views of a run to its report.
#[derive(Default)]
pub struct ViewContent {
    /// Figures right behind those of metrics and measures …
    pub first_figures: Vec<Figure>,
    /// … and behind the distributions.
    pub figures: Vec<Figure>,
    /// Tables before that of every combination …
    pub first_tables: Vec<Table>,
    /// … and behind it.
    pub tables: Vec<Table>,
    /// Drawings of plans, with their files.
    pub plans: Vec<(PlanSection, String)>,
    /// Settings that make promised risks truer and that the run does not use, by their keys.
    pub remedies: Vec<&'static str>,
}

/// What the views of the studies that a run has points of add to its report.
pub fn shown(views: Views, run: &Reported<'_>) -> Result<ViewContent, StoreError> {
    let mut shown = ViewContent::default();
    let combinations = &run.analysis.combinations;
    let studies = run.analysis.studies;
    for (name, view) in views.iter() {
        let is_of_study = |strategy: &str| {
            let study = studies.of_strategy(strategy);
            study.is_some_and(|study| study.name() == name)
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
