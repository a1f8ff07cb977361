//! The tables and views of the store that all studies share, a file for each group of them. Those
//! of a study stand in its folder (`studies/STUDY/tables.rs`).
//!
//! Views give everything readable names, absolute times and coins. `docs/schema.md` explains every
//! table and column.

pub(super) mod distributions;
pub(super) mod jobs;
mod measures;
pub(super) mod outcomes;
pub(super) mod runs;
pub(super) mod simulations;

use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;

use super::metrics;
use super::rows::Prepared;
use crate::study::{AnyStudy, SimulationResult, Studies};
use crate::sweep::keys::Keys;
use crate::tables::{Definition, Layout, RowWriter, Tables};

/// Tables that belong together, with all that the store does with them.
pub(super) trait TableGroup: Sync {
    /// The tables.
    fn definition(&self) -> Definition;

    /// Why a result would not come back from the store as it is; `None` where it would.
    fn problem(&self, _result: &SimulationResult) -> Option<String> {
        None
    }

    /// Takes away what is not kept without outcomes.
    fn strip(&self, _result: &mut SimulationResult) {}

    /// Writes the rows of a simulation; returns how many.
    fn write(&self, _writer: &RowWriter<'_>, _prepared: &Prepared) -> rusqlite::Result<u64> {
        Ok(0)
    }
}

/// Every group.
pub(super) const GROUPS: [&dyn TableGroup; 6] = [
    &runs::Runs,
    &simulations::Simulations,
    &jobs::Jobs,
    &distributions::DistributionTables,
    &measures::Measures,
    &outcomes::OutcomeViews,
];

/// The name of every view, and its query: with a column for each metric where it says METRICS, the
/// present name of the axis `key` where it says PRESENT_KEY, and the penalty ratio of a point where
/// it says PENALTY_RATIO.
pub fn views(studies: Studies) -> impl Iterator<Item = (&'static str, String)> {
    let views = definitions(studies).flat_map(|tables| tables.views);
    let (key, ratio) = (present_key(studies), outcomes::penalty_ratio(studies));
    views
        .map(move |(name, query)| {
            let query = query.replace("METRICS", &metrics::columns());
            let query = query.replace("PRESENT_KEY", &key);
            (*name, query.replace("PENALTY_RATIO", &ratio))
        })
        .chain(outcomes::views(studies))
}

/// What the axis with the name `key` is called now: runs of before have the names of their day.
fn present_key(studies: Studies) -> String {
    let former = Keys::of(studies).former();
    let cases: String = former
        .map(|former| format!(" WHEN '{}' THEN '{}'", former.was, former.now))
        .collect();
    match cases.as_str() {
        "" => "key".to_owned(),
        cases => format!("CASE key{cases} ELSE key END"),
    }
}

/// The tables of every group and of every study.
pub fn definitions(studies: Studies) -> impl Iterator<Item = Definition> {
    let of_groups = GROUPS.iter().map(|group| group.definition());
    of_groups.chain(studies.iter().map(AnyStudy::tables))
}

/// An empty store in memory, without its views.
pub(super) fn empty(studies: Studies) -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    let measures: Vec<_> = studies.measures().collect();
    for tables in definitions(studies) {
        connection.execute_batch(tables.sql)?;
        (tables.enter_lookups)(&connection, &measures)?;
    }
    Ok(connection)
}

/// The tables of this version and how rows are written into them. Whatever else a file has is not
/// the program's. Made once for each list of studies.
pub(super) fn layout(studies: Studies) -> rusqlite::Result<&'static Layout> {
    static LAYOUTS: OncePerList<Layout> = OncePerList::new();
    LAYOUTS.get(studies, || {
        let tables = Tables::read(&empty(studies)?)?.map_err(|table| {
            // A fault of the program, which a test would find.
            rusqlite::Error::InvalidParameterName(format!("the table {table} refers to no other"))
        })?;
        Ok(Layout::of(studies.measures().collect(), tables))
    })
}

/// Something that follows from a list of studies, made once for each list. Programs have one list,
/// so what is made stays.
pub(super) struct OncePerList<T: 'static>(Mutex<Vec<(Studies, &'static T)>>);

impl<T> OncePerList<T> {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    pub(super) fn get<E>(
        &self,
        studies: Studies,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<&'static T, E> {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = made.iter().find(|(of, _)| *of == studies) {
            return Ok(known);
        }
        let new: &'static T = Box::leak(Box::new(make()?));
        made.push((studies, new));
        Ok(new)
    }
}
