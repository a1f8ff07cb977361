//! What a schema says about itself: which tables there are, what numbers their rows, and what their
//! columns refer to.
//!
//! Nothing here names a table, so that a table of a later version is merged and digested like the
//! others.

use std::collections::BTreeMap;

use rusqlite::Connection;

/// A table, as far as merging and digests need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its columns, in order.
    pub columns: Vec<String>,
    /// For each column whether it holds numbers that need not be whole: SQLite turns whole ones
    /// into such.
    pub reals: Vec<bool>,
    /// The columns of the primary key, in its order.
    pub key: Vec<usize>,
    /// For each column the table whose row numbers it holds, directly or through other tables.
    pub refers: Vec<Option<usize>>,
    /// What its rows are.
    pub kind: Kind,
}

/// What a row of a table is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Something with a number of the store's own; these other columns say what it is.
    Numbered {
        /// The columns.
        known_by: Vec<usize>,
    },
    /// A part of something numbered: of this table, by this column of the key.
    Part {
        /// The place of the table.
        of: usize,
        /// The column that refers to it.
        column: usize,
    },
}

/// The tables of a store, those that are referred to before those that refer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables(pub Vec<Table>);

/// A column that refers to a column of another table.
struct Reference {
    from: String,
    table: String,
    to: Option<String>,
}

impl Tables {
    /// Reads the schema of a store. A table that is neither numbered nor part of something numbered
    /// cannot be merged: its name comes back as the error.
    pub fn read(connection: &Connection) -> rusqlite::Result<Result<Self, String>> {
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
            let (columns, reals, key) = columns(connection, name)?;
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
                reals,
                key,
                refers,
                kind,
            });
        }
        Ok(Ok(Self(tables)))
    }

    /// The place of a table, where there is one of this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|table| table.name == name)
    }

    /// The place of a table that every version has.
    pub fn place(&self, name: &str) -> usize {
        self.find(name)
            .expect("asked for tables of the first version only, which every store has")
    }

    /// The column of a table that says of what its rows are parts.
    pub fn owner(&self, name: &str) -> Option<&str> {
        let table = &self.0[self.find(name)?];
        match table.kind {
            Kind::Part { column, .. } => Some(&table.columns[column]),
            Kind::Numbered { .. } => None,
        }
    }

    /// The tables whose rows are parts of rows of this one, with the column that says of which.
    pub fn parts(&self, of: usize) -> impl DoubleEndedIterator<Item = (usize, usize)> + '_ {
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
    pub fn column(&self, name: &str) -> usize {
        self.columns
            .iter()
            .position(|column| column == name)
            .expect("asked for columns of the first versions only, which every store has")
    }

    /// Every column, quoted: `end` is a word of SQL.
    pub fn all_columns(&self) -> String {
        quoted(self.columns.iter())
    }

    /// The row with this number.
    pub fn select_row(&self) -> String {
        format!(
            "SELECT {} FROM \"{}\" WHERE \"{}\" = ?1",
            self.all_columns(),
            self.name,
            self.columns[self.key[0]]
        )
    }

    /// The rows of one owner in the order of the key.
    pub fn select_parts(&self, column: usize) -> String {
        format!(
            "SELECT {} FROM \"{}\" WHERE \"{}\" = ?1 ORDER BY {}",
            self.all_columns(),
            self.name,
            self.columns[column],
            quoted(self.key.iter().map(|column| &self.columns[*column]))
        )
    }

    /// The same in any order.
    pub fn select_of(&self, column: usize) -> String {
        format!(
            "SELECT {} FROM \"{}\" WHERE \"{}\" = ?1",
            self.all_columns(),
            self.name,
            self.columns[column]
        )
    }

    /// `INSERT` of a whole row.
    pub fn insert(&self) -> String {
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

/// The names of the columns, which of them are REAL, and the places of those in the primary key.
fn columns(
    connection: &Connection,
    table: &str,
) -> rusqlite::Result<(Vec<String>, Vec<bool>, Vec<usize>)> {
    let mut key: Vec<(i64, usize)> = Vec::new();
    let (mut names, mut reals) = (Vec::new(), Vec::new());
    let mut statement = connection
        .prepare("SELECT name, type = 'REAL', pk FROM pragma_table_info(?1) ORDER BY cid")?;
    let mut rows = statement.query([table])?;
    while let Some(row) = rows.next()? {
        let place: i64 = row.get(2)?;
        if place > 0 {
            key.push((place, names.len()));
        }
        names.push(row.get(0)?);
        reals.push(row.get(1)?);
    }
    key.sort_unstable();
    let key = key.into_iter().map(|(_, column)| column).collect();
    Ok((names, reals, key))
}

/// The columns of a numbered table that tell its rows apart: those of a unique constraint, else all
/// but the number.
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

/// Tables in an order in which each comes after those that it refers to, by name where that leaves
/// a choice.
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
        // No schema of ours has a circle; if one had, its tables would come in the order of their
        // names.
        ordered.push(left.remove(ready.unwrap_or(0)));
    }
    ordered
}
