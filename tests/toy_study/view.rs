//! What reports show of the toy study alone: how many combinations were counted.

use super::{Reported, Shown, View};
use crate::report::table::{Cell, Column, Table};
use crate::store::StoreError;

/// The view of the study.
pub(super) struct Toy;

impl View for Toy {
    fn show(&self, run: &Reported<'_>, shown: &mut Shown) -> Result<(), StoreError> {
        let combinations = run.analysis.combinations.len();
        shown.tables.push(Table {
            name: "toys".to_owned(),
            title: "Toys that were counted".to_owned(),
            columns: vec![Column::plain("combinations", "Combinations")],
            rows: vec![vec![Cell::Integer(combinations as i64)]],
            note: String::new(),
            sql: "SELECT count(*) FROM v_toy".to_owned(),
        });
        Ok(())
    }
}
