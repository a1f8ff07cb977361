//! Which rows runs show, and which of them no other run uses: what is copied into an archive, and
//! what goes when runs go.
//!
//! Tables, their keys and what refers to what come from the schema, so that the tables of a new
//! study are copied and removed like the others. Sets of rows are temporary tables of a connection,
//! so that SQLite finds, copies and removes by itself.

use std::collections::HashSet;

use rusqlite::{Connection, params};

use super::RunId;
use super::tables::definitions;
use crate::study::Studies;
use crate::tables::{Kind, Tables};

/// The rows of some runs in one store that a connection has open.
pub(super) struct Holdings<'c> {
    connection: &'c Connection,
    tables: &'c Tables,
    /// The name under which the connection knows the store.
    schema: &'static str,
    /// The runs' own table, then tables that their rows lead to, each behind those that refer to
    /// it: points, simulations, what simulations share.
    owners: Vec<usize>,
}

/// The rows of tables of codes and names, which every store has.
pub(super) fn lookups(studies: Studies, tables: &Tables) -> Vec<usize> {
    let shared: HashSet<&str> = definitions(studies)
        .flat_map(|tables| tables.shared)
        .map(|shared| shared.table)
        .collect();
    let is_referred = |place: usize| {
        let mut others = tables.0.iter();
        others.any(|table| table.refers.contains(&Some(place)))
    };
    (0..tables.0.len())
        .filter(|place| {
            let table = &tables.0[*place];
            matches!(table.kind, Kind::Numbered { .. })
                && table.refers.iter().all(Option::is_none)
                && !shared.contains(table.name.as_str())
                && is_referred(*place)
        })
        .collect()
}

/// The table whose rows decide about a row of this table, and the column that says which.
fn owner_of(tables: &Tables, place: usize) -> (usize, usize) {
    let table = &tables.0[place];
    match table.kind {
        Kind::Numbered { .. } => (place, table.key[0]),
        Kind::Part { of, column } => (of, column),
    }
}

/// A column that refers to a table: its own table, its place there, and what decides about its
/// rows.
struct Reference {
    table: usize,
    column: usize,
    owner: (usize, usize),
}

/// The columns that refer to rows of this table without being parts of them.
fn references(tables: &Tables, to: usize) -> Vec<Reference> {
    let mut found = Vec::new();
    for (table, shape) in tables.0.iter().enumerate() {
        let owner = owner_of(tables, table);
        for (column, refers) in shape.refers.iter().enumerate() {
            if *refers == Some(to) && owner.0 != to {
                found.push(Reference {
                    table,
                    column,
                    owner,
                });
            }
        }
    }
    found
}

impl<'c> Holdings<'c> {
    /// Finds the rows of these runs.
    pub(super) fn of(
        connection: &'c Connection,
        schema: &'static str,
        studies: Studies,
        tables: &'c Tables,
        runs: &[RunId],
    ) -> rusqlite::Result<Self> {
        let run = tables.place("run");
        let lookups = lookups(studies, tables);
        // What refers to a run says who computed a row; the row itself belongs to whoever shows it.
        let mut waiting: Vec<usize> = (0..tables.0.len())
            .filter(|place| {
                matches!(tables.0[*place].kind, Kind::Numbered { .. })
                    && *place != run
                    && !lookups.contains(place)
                    && !references(tables, *place).is_empty()
            })
            .collect();
        let mut owners = vec![run];
        while !waiting.is_empty() {
            let ready = waiting.iter().position(|place| {
                let references = references(tables, *place);
                references.iter().all(|one| owners.contains(&one.owner.0))
            });
            // No schema of ours has a circle.
            owners.push(waiting.remove(ready.unwrap_or(0)));
        }
        let holdings = Self {
            connection,
            tables,
            schema,
            owners,
        };
        holdings.find(runs)?;
        Ok(holdings)
    }

    fn find(&self, runs: &[RunId]) -> rusqlite::Result<()> {
        for owner in &self.owners {
            for set in ["shown", "only"] {
                self.connection.execute_batch(&format!(
                    "DROP TABLE IF EXISTS temp.{set}_{owner};
                     CREATE TEMP TABLE {set}_{owner} (id INTEGER PRIMARY KEY)"
                ))?;
            }
        }
        let run = self.owners[0];
        for number in runs {
            for set in ["shown", "only"] {
                self.connection.execute(
                    &format!("INSERT OR IGNORE INTO temp.{set}_{run} VALUES (?1)"),
                    params![number.0],
                )?;
            }
        }
        for place in &self.owners[1..] {
            for reference in references(self.tables, *place) {
                let (owner, table, column, by) = self.words(&reference);
                self.connection.execute(
                    &format!(
                        "INSERT OR IGNORE INTO temp.shown_{place} SELECT \"{column}\" FROM {table}
                         WHERE \"{by}\" IN (SELECT id FROM temp.shown_{owner}) AND \"{column}\" IS NOT NULL"
                    ),
                    [],
                )?;
            }
            self.leave_what_others_use(*place)?;
        }
        Ok(())
    }

    /// Fills the set of rows that nothing refers to but rows that go themselves.
    fn leave_what_others_use(&self, place: usize) -> rusqlite::Result<()> {
        let shown = self.connection.execute(
            &format!("INSERT INTO temp.only_{place} SELECT id FROM temp.shown_{place}"),
            [],
        )?;
        if shown == 0 {
            return Ok(());
        }
        for reference in references(self.tables, place) {
            let (owner, table, column, by) = self.words(&reference);
            let of_others = format!("\"{by}\" NOT IN (SELECT id FROM temp.only_{owner})");
            let used = if self.is_indexed(&reference)? {
                format!(
                    "EXISTS (SELECT 1 FROM {table} t WHERE t.\"{column}\" = only_{place}.id AND t.{of_others})"
                )
            } else {
                format!("id IN (SELECT \"{column}\" FROM {table} WHERE {of_others})")
            };
            self.connection
                .execute(&format!("DELETE FROM temp.only_{place} WHERE {used}"), [])?;
        }
        Ok(())
    }

    /// Whether rows are found by this column.
    fn is_indexed(&self, reference: &Reference) -> rusqlite::Result<bool> {
        let table = &self.tables.0[reference.table];
        self.connection
            .prepare(
                "SELECT 1 FROM pragma_index_list(?1, ?3) l, pragma_index_info(l.name, ?3) i WHERE i.seqno = 0 AND i.name = ?2",
            )?
            .exists(params![table.name, table.columns[reference.column], self.schema])
    }

    /// The place of the owner, the table with its schema, the column that refers and the column
    /// that says whose the row is.
    fn words(&self, reference: &Reference) -> (usize, String, &str, &str) {
        let table = &self.tables.0[reference.table];
        (
            reference.owner.0,
            format!("{}.\"{}\"", self.schema, table.name),
            &table.columns[reference.column],
            &table.columns[reference.owner.1],
        )
    }

    /// How many rows of this table the runs show, and how many of those only they use.
    pub(super) fn count(&self, table: &str) -> rusqlite::Result<(u64, u64)> {
        let place = self.tables.place(table);
        self.connection.query_row(
            &format!(
                "SELECT (SELECT count(*) FROM temp.shown_{place}), (SELECT count(*) FROM temp.only_{place})"
            ),
            [],
            |row| Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get::<_, i64>(1)?.unsigned_abs())),
        )
    }

    /// The other runs that show simulations of these runs, and how many.
    pub(super) fn other_users(&self) -> rusqlite::Result<Vec<(RunId, u64)>> {
        let (run, simulation) = (self.owners[0], self.tables.place("simulation"));
        let schema = self.schema;
        self.connection
            .prepare(&format!(
                "SELECT rp.run, count(DISTINCT p.simulation) FROM temp.shown_{simulation} s
                 CROSS JOIN {schema}.point p ON p.simulation = s.id CROSS JOIN {schema}.run_point rp ON rp.point = p.id
                 WHERE rp.run NOT IN (SELECT id FROM temp.shown_{run}) GROUP BY rp.run ORDER BY rp.run"
            ))?
            .query_map([], |row| {
                Ok((RunId(row.get(0)?), row.get::<_, i64>(1)?.unsigned_abs()))
            })?
            .collect()
    }

    /// The tables with rows of these runs, each with the column and the table that say whose a row
    /// is.
    fn held(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let parts = |owner: usize| {
            let own = (owner, self.tables.0[owner].key[0], owner);
            let parts = self.tables.parts(owner);
            std::iter::once(own).chain(parts.map(move |(part, column)| (part, column, owner)))
        };
        self.owners.iter().flat_map(move |owner| parts(*owner))
    }

    /// Takes away the runs and what only they use. Foreign keys are off, and nothing refers to what
    /// goes but rows that go, too.
    pub(super) fn remove(&self) -> rusqlite::Result<u64> {
        let mut rows = 0;
        for (table, column, owner) in self.held() {
            let table = &self.tables.0[table];
            rows += self.connection.execute(
                &format!(
                    "DELETE FROM {}.\"{}\" WHERE \"{}\" IN (SELECT id FROM temp.only_{owner})",
                    self.schema, table.name, table.columns[column]
                ),
                [],
            )? as u64;
        }
        self.settle_computed_by(self.schema, "IN")?;
        Ok(rows)
    }

    /// Copies everything that the runs show into the empty store `main` of the same connection,
    /// under the numbers that it has.
    pub(super) fn copy(&self, studies: Studies) -> rusqlite::Result<u64> {
        // Codes of measures and strategies count in the order in which a store met them.
        for lookup in lookups(studies, self.tables) {
            let parts = self.tables.parts(lookup).map(|(part, _)| part);
            for place in std::iter::once(lookup).chain(parts) {
                let table = &self.tables.0[place];
                let (name, columns, schema) = (&table.name, table.all_columns(), self.schema);
                self.connection.execute_batch(&format!(
                    "DELETE FROM main.\"{name}\";
                     INSERT INTO main.\"{name}\" ({columns}) SELECT {columns} FROM {schema}.\"{name}\""
                ))?;
            }
        }
        let mut rows = 0;
        for (table, column, owner) in self.held() {
            let table = &self.tables.0[table];
            let columns = table.all_columns();
            rows += self.connection.execute(
                &format!(
                    "INSERT INTO main.\"{name}\" ({columns}) SELECT {columns} FROM {}.\"{name}\"
                     WHERE \"{}\" IN (SELECT id FROM temp.shown_{owner})",
                    self.schema,
                    table.columns[column],
                    name = table.name,
                ),
                [],
            )? as u64;
        }
        self.settle_computed_by("main", "NOT IN")?;
        Ok(rows)
    }

    /// What was computed by a run that a store does not have counts as computed by the first run
    /// that shows it there; what such a run has under way waits again.
    fn settle_computed_by(&self, schema: &str, is_elsewhere: &str) -> rusqlite::Result<()> {
        let runs = format!(
            "{is_elsewhere} (SELECT id FROM temp.shown_{})",
            self.owners[0]
        );
        self.connection.execute_batch(&format!(
            "UPDATE {schema}.simulation SET computed_by =
                (SELECT min(rp.run) FROM {schema}.point p CROSS JOIN {schema}.run_point rp ON rp.point = p.id
                 WHERE p.simulation = simulation.id)
             WHERE computed_by {runs};
             UPDATE {schema}.simulation SET state = 0, running_since = NULL, running_in = NULL
             WHERE state = 1 AND running_in {runs}"
        ))
    }

    /// Forgets the sets.
    pub(super) fn forget(self) -> rusqlite::Result<()> {
        for owner in &self.owners {
            self.connection.execute_batch(&format!(
                "DROP TABLE temp.shown_{owner}; DROP TABLE temp.only_{owner}"
            ))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tables::layout;

    #[test]
    fn only_a_simulation_says_which_runs_computed_it_so_that_only_there_runs_are_replaced() {
        let tables = &layout(Studies::default()).unwrap().tables;
        let run = tables.place("run");
        let columns: Vec<String> = references(tables, run)
            .iter()
            .map(|one| {
                let table = &tables.0[one.table];
                format!("{}.{}", table.name, table.columns[one.column])
            })
            .collect();
        assert_eq!(columns, ["simulation.running_in", "simulation.computed_by"]);
    }
}
