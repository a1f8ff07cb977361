//! What a schema says about itself: which tables there are, what numbers their rows, and what their columns refer to.
//!
//! Nothing here names a table, so that a table of a later version is merged like the others.

use std::collections::BTreeMap;

use rusqlite::Connection;

/// A table, as far as merging needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<String>,
    /// The columns of the primary key, in its order.
    pub(super) key: Vec<usize>,
    /// For each column the table whose row numbers it holds, directly or through other tables.
    pub(super) refers: Vec<Option<usize>>,
    pub(super) kind: Kind,
}

/// What a row of a table is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Something with a number of the store's own; these other columns say what it is.
    Numbered { known_by: Vec<usize> },
    /// A part of something numbered: of this table, by this column of the key.
    Part { of: usize, column: usize },
}

/// The tables of a store, those that are referred to before those that refer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tables(pub(super) Vec<Table>);

/// A column that refers to a column of another table.
struct Reference {
    from: String,
    table: String,
    to: Option<String>,
}

impl Tables {
    /// Reads the schema of a store. A table that is neither numbered nor part of something numbered cannot be merged: its name
    /// comes back as the error.
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Result<Self, String>> {
        let mut names: Vec<String> = texts(
            connection,
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'
             ORDER BY name",
        )?;
        let mut references: BTreeMap<String, Vec<Reference>> = BTreeMap::new();
        for name in &names {
            references.insert(name.clone(), foreign_keys(connection, name)?);
        }
        names = parents_first(names, &references);
        let position = |name: &str| names.iter().position(|known| known == name);
        let mut tables: Vec<Table> = Vec::with_capacity(names.len());
        for name in &names {
            let (columns, key) = columns(connection, name)?;
            let refers: Vec<Option<usize>> = columns
                .iter()
                .map(|column| {
                    let reference = references[name].iter().find(|one| one.from == *column)?;
                    let parent = position(&reference.table)?;
                    // Parents come first, so theirs are known.
                    let table = tables.get(parent)?;
                    let to = match &reference.to {
                        Some(to) => table.columns.iter().position(|column| column == to)?,
                        None => *table.key.first()?,
                    };
                    match table.kind {
                        Kind::Numbered { .. } if table.key == [to] => Some(parent),
                        _ => table.refers[to],
                    }
                })
                .collect();
            let kind = match key.as_slice() {
                [number] if refers[*number].is_none() => Kind::Numbered {
                    known_by: known_by(connection, name, &columns, *number)?,
                },
                key => {
                    let owner = key
                        .iter()
                        .find_map(|column| refers[*column].map(|of| (of, *column)));
                    match owner {
                        Some((of, column)) => Kind::Part { of, column },
                        None => return Ok(Err(name.clone())),
                    }
                }
            };
            tables.push(Table {
                name: name.clone(),
                columns,
                key,
                refers,
                kind,
            });
        }
        Ok(Ok(Self(tables)))
    }

    /// The place of a table that every version has.
    pub(super) fn place(&self, name: &str) -> usize {
        self.0
            .iter()
            .position(|table| table.name == name)
            .expect("asked for tables of the first version only, which every store has")
    }

    /// The tables whose rows are parts of rows of this one, with the column that says of which.
    pub(super) fn parts(&self, of: usize) -> impl DoubleEndedIterator<Item = (usize, usize)> + '_ {
        self.0
            .iter()
            .enumerate()
            .filter_map(move |(place, table)| match table.kind {
                Kind::Part { of: owner, column } if owner == of => Some((place, column)),
                _ => None,
            })
    }
}

impl Table {
    /// The place of a column that every version has.
    pub(super) fn column(&self, name: &str) -> usize {
        self.columns
            .iter()
            .position(|column| column == name)
            .expect("asked for columns of the first versions only, which every store has")
    }

    /// Every column, quoted: `end` is a word of SQL.
    pub(super) fn all_columns(&self) -> String {
        quoted(self.columns.iter())
    }

    /// The row with this number.
    pub(super) fn select_row(&self) -> String {
        format!(
            "SELECT {} FROM \"{}\" WHERE \"{}\" = ?1",
            self.all_columns(),
            self.name,
            self.columns[self.key[0]]
        )
    }

    /// The rows of one owner in the order of the key.
    pub(super) fn select_parts(&self, column: usize) -> String {
        format!(
            "SELECT {} FROM \"{}\" WHERE \"{}\" = ?1 ORDER BY {}",
            self.all_columns(),
            self.name,
            self.columns[column],
            quoted(self.key.iter().map(|column| &self.columns[*column]))
        )
    }

    /// `INSERT` of a whole row.
    pub(super) fn insert(&self) -> String {
        format!(
            "INSERT INTO \"{}\" ({}) VALUES ({})",
            self.name,
            self.all_columns(),
            vec!["?"; self.columns.len()].join(", ")
        )
    }
}

fn quoted<'a>(columns: impl Iterator<Item = &'a String>) -> String {
    let columns: Vec<String> = columns.map(|column| format!("\"{column}\"")).collect();
    columns.join(", ")
}

fn texts(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare(sql)?
        .query_map([], |row| row.get(0))?
        .collect()
}

fn foreign_keys(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Reference>> {
    connection
        .prepare(
            "SELECT \"from\", \"table\", \"to\" FROM pragma_foreign_key_list(?1) ORDER BY id, seq",
        )?
        .query_map([table], |row| {
            Ok(Reference {
                from: row.get(0)?,
                table: row.get(1)?,
                to: row.get(2)?,
            })
        })?
        .collect()
}

/// The names of the columns and the places of those in the primary key.
fn columns(connection: &Connection, table: &str) -> rusqlite::Result<(Vec<String>, Vec<usize>)> {
    let rows: Vec<(String, i64)> = connection
        .prepare("SELECT name, pk FROM pragma_table_info(?1) ORDER BY cid")?
        .query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    let mut key: Vec<(i64, usize)> = rows
        .iter()
        .enumerate()
        .filter(|(_, (_, place))| *place > 0)
        .map(|(column, (_, place))| (*place, column))
        .collect();
    key.sort_unstable();
    Ok((
        rows.into_iter().map(|(name, _)| name).collect(),
        key.into_iter().map(|(_, column)| column).collect(),
    ))
}

/// The columns of a numbered table that tell its rows apart: those of a unique constraint, else all but the number.
fn known_by(
    connection: &Connection,
    table: &str,
    columns: &[String],
    number: usize,
) -> rusqlite::Result<Vec<usize>> {
    let index: Option<String> = connection
        .prepare(
            "SELECT name FROM pragma_index_list(?1) WHERE \"unique\" AND origin = 'u' ORDER BY seq LIMIT 1",
        )?
        .query_map([table], |row| row.get(0))?
        .next()
        .transpose()?;
    let Some(index) = index else {
        return Ok((0..columns.len())
            .filter(|column| *column != number)
            .collect());
    };
    let names: Vec<String> = connection
        .prepare("SELECT name FROM pragma_index_info(?1) ORDER BY seqno")?
        .query_map([index], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    Ok(names
        .iter()
        .filter_map(|name| columns.iter().position(|column| column == name))
        .collect())
}

/// Tables in an order in which each comes after those that it refers to, by name where that leaves a choice.
fn parents_first(
    mut left: Vec<String>,
    references: &BTreeMap<String, Vec<Reference>>,
) -> Vec<String> {
    let mut ordered: Vec<String> = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let ready = left.iter().position(|name| {
            references[name]
                .iter()
                .all(|reference| reference.table == *name || ordered.contains(&reference.table))
        });
        // No schema of ours has a circle; if one had, its tables would come in the order of their names.
        ordered.push(left.remove(ready.unwrap_or(0)));
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tables::{definitions, views};
    use crate::store::{ExportKind, RunId, Store};

    #[test]
    fn every_table_of_the_schema_is_numbered_or_part_of_something_numbered_and_comes_after_its_parents()
     {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("a.db")).unwrap();
        let tables = Tables::read(&store.connection).unwrap().unwrap();
        assert!(tables.0.len() >= 30);
        let owner = |name: &str| match tables.0[tables.place(name)].kind {
            Kind::Part { of, .. } => Some(tables.0[of].name.clone()),
            Kind::Numbered { .. } => None,
        };
        for (name, expected) in [
            ("job", Some("workload")),
            ("job_outcome", Some("simulation")),
            ("simulation_timing", Some("simulation")),
            ("cluster_measure", Some("simulation")),
            ("offer", Some("simulation")),
            ("axis_value", Some("run")),
            ("point_axis", Some("run")),
            ("simulation", None),
            ("point", None),
            ("strategy", None),
            ("measure", None),
        ] {
            assert_eq!(owner(name).as_deref(), expected, "{name}");
        }
        for (place, table) in tables.0.iter().enumerate() {
            for parent in table.refers.iter().flatten() {
                assert!(*parent < place, "{} before its parent", table.name);
            }
        }
    }

    #[test]
    fn every_table_that_a_simulation_fills_is_emptied_for_a_new_result_and_can_be_exported() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("a.db")).unwrap();
        let tables = Tables::read(&store.connection).unwrap().unwrap();
        let filled: Vec<&Table> = tables
            .parts(tables.place("simulation"))
            .map(|(place, _)| &tables.0[place])
            .collect();
        let mut several: Vec<&str> = filled
            .iter()
            .filter(|table| table.key.len() > 1)
            .map(|table| table.name.as_str())
            .collect();
        let mut emptied: Vec<&str> = definitions()
            .flat_map(|tables| tables.results)
            .copied()
            .collect();
        several.sort_unstable();
        emptied.sort_unstable();
        assert_eq!(emptied, several);
        let names = |sql: &str, name: &str| {
            sql.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
                .any(|word| word == name)
        };
        let mut exports: Vec<String> = ExportKind::all()
            .map(|kind| {
                store
                    .export(RunId(1), kind, &Default::default())
                    .unwrap()
                    .sql
            })
            .collect();
        for (view, sql) in views() {
            if exports.iter().any(|export| names(export, view)) {
                exports.push(sql);
            }
        }
        for table in filled {
            let name = &table.name;
            assert!(
                exports.iter().any(|export| names(export, name)),
                "{name} is not exported"
            );
        }
    }

    #[test]
    fn what_a_column_refers_to_is_found_through_other_tables() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("a.db")).unwrap();
        let tables = Tables::read(&store.connection).unwrap().unwrap();
        let measure = &tables.0[tables.place("cluster_measure")];
        let refers = |column: &str| {
            measure.refers[measure.column(column)].map(|of| tables.0[of].name.clone())
        };
        assert_eq!(refers("simulation").as_deref(), Some("simulation"));
        assert_eq!(refers("measure").as_deref(), Some("measure"));
        assert_eq!(refers("cluster"), None);
        let outcome = &tables.0[tables.place("job_outcome")];
        assert!(outcome.insert().contains("\"end\""));
    }
}
