//! Inputs that the joined store's own connection has open beside it, so that SQLite copies whole
//! results by itself: a row takes a third of the time that it takes to be read, bound and inserted
//! from outside.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;

use super::Input;
use crate::store::open::{has_journal, uri};
use crate::tables::{Kind, Tables};

/// SQLite has at most ten databases beside a main one; one is left for whoever needs it.
pub(super) const ATTACHED_TOGETHER: usize = 9;

/// Inputs by number; none where one of them cannot be had in this way.
#[derive(Debug, Default)]
pub(super) struct Attached {
    inputs: BTreeSet<usize>,
    /// How the rows of one owner are copied, by input and table.
    copies: BTreeMap<(usize, usize), String>,
    /// Tables whose rows have the same numbers in an input and in the joined store, by input and
    /// table.
    same: BTreeSet<(usize, usize)>,
}

impl Attached {
    /// Attaches these inputs, at most [`ATTACHED_TOGETHER`], for reading. Outside a transaction.
    pub(super) fn new(connection: &Connection, inputs: &[&Input]) -> rusqlite::Result<Self> {
        let mut attached = Self::default();
        for input in inputs {
            let open = |immutable: bool| -> rusqlite::Result<()> {
                let mode = if immutable { "immutable=1" } else { "mode=ro" };
                let name = schema(input.number);
                connection.execute(
                    &format!("ATTACH DATABASE ?1 AS {name}"),
                    [uri(&input.path, mode)],
                )?;
                connection
                    .query_row(&format!("SELECT count(*) FROM {name}.run"), [], |_| Ok(()))
                    .inspect_err(|_| {
                        // What cannot be read is left, so that another way may be tried under the
                        // same name.
                        let _ = connection.execute_batch(&format!("DETACH DATABASE {name}"));
                    })
            };
            // As for reading alone: in a read-only folder a store without a journal may be read as
            // it stands.
            let opened = open(false).is_ok() || (!has_journal(&input.path) && open(true).is_ok());
            if !opened {
                attached.leave(connection)?;
                return Ok(Self::default());
            }
            attached.inputs.insert(input.number);
        }
        Ok(attached)
    }

    /// Detaches all. Outside a transaction.
    pub(super) fn leave(self, connection: &Connection) -> rusqlite::Result<()> {
        if !self.inputs.is_empty() {
            connection.flush_prepared_statement_cache();
        }
        for input in &self.inputs {
            connection.execute_batch(&format!("DETACH DATABASE {}", schema(*input)))?;
        }
        Ok(())
    }

    /// The statement that copies the rows of one owner: its parameters are the owner's number here
    /// and there. `None` where numbers in the rows would have to be translated, or where the input
    /// is not attached.
    pub(super) fn copy(
        &mut self,
        connection: &Connection,
        tables: &Tables,
        input: usize,
        (table, owner): (usize, usize),
    ) -> rusqlite::Result<Option<&str>> {
        if !self.inputs.contains(&input) {
            return Ok(None);
        }
        let shape = &tables.0[table];
        for (column, of) in shape.refers.iter().enumerate() {
            if let Some(of) = of
                && column != owner
                && !self.same_numbers(connection, tables, input, *of)?
            {
                return Ok(None);
            }
        }
        let copy = self.copies.entry((input, table)).or_insert_with(|| {
            let columns: Vec<String> = (shape.columns.iter().enumerate())
                .map(|(column, name)| {
                    if column == owner {
                        "?1".to_owned()
                    } else {
                        format!("\"{name}\"")
                    }
                })
                .collect();
            let key: Vec<String> = (shape.key.iter())
                .map(|column| format!("\"{}\"", shape.columns[*column]))
                .collect();
            format!(
                "INSERT INTO main.\"{name}\" ({}) SELECT {} FROM {}.\"{name}\" WHERE \"{}\" = ?2 ORDER BY {}",
                shape.all_columns(),
                columns.join(", "),
                schema(input),
                shape.columns[owner],
                key.join(", "),
                name = shape.name,
            )
        });
        Ok(Some(copy))
    }

    /// Whether every row of a numbered table has the same number and says the same here and there.
    /// A table of few rows is looked at again after it was found to lack some; one whose rows refer
    /// to others is taken to differ.
    fn same_numbers(
        &mut self,
        connection: &Connection,
        tables: &Tables,
        input: usize,
        table: usize,
    ) -> rusqlite::Result<bool> {
        if self.same.contains(&(input, table)) {
            return Ok(true);
        }
        let shape = &tables.0[table];
        let Kind::Numbered { known_by } = &shape.kind else {
            return Ok(false);
        };
        if shape.refers.iter().any(Option::is_some) {
            return Ok(false);
        }
        let says: Vec<String> = (known_by.iter().chain(&shape.key))
            .map(|column| format!("here.\"{0}\" IS there.\"{0}\"", shape.columns[*column]))
            .collect();
        let same = connection
            .prepare_cached(&format!(
                "SELECT NOT EXISTS (SELECT 1 FROM {}.\"{name}\" there
                    WHERE NOT EXISTS (SELECT 1 FROM main.\"{name}\" here WHERE {}))",
                schema(input),
                says.join(" AND "),
                name = shape.name,
            ))?
            .query_row([], |row| row.get(0))?;
        if same {
            self.same.insert((input, table));
        }
        Ok(same)
    }
}

fn schema(input: usize) -> String {
    format!("input_{input}")
}
