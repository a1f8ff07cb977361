//! Whether the tables of a file are those that this program makes. A store from a stranger may hold
//! triggers that change what is written, or views that answer something else, under the names that
//! everything here relies on.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::store::StoreError;
use crate::store::tables::{OncePerList, empty, views};
use crate::study::Studies;

/// Type and definition of tables, views, indexes and triggers by name.
type Schema = BTreeMap<String, (String, String)>;

/// Makes a connection run nothing that the file brings along: no triggers, no functions with
/// effects in views, no writing to the schema behind SQLite's back.
pub(super) fn distrust(connection: &Connection) -> rusqlite::Result<()> {
    for (setting, value) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
    ] {
        connection.set_db_config(setting, value)?;
    }
    Ok(())
}

/// Refuses a store whose tables and views are not those of this version. Tables, views and indexes
/// of other names may stand beside them, as somebody may have added them for questions; triggers
/// and virtual tables may not.
pub(super) fn check(
    studies: Studies,
    connection: &Connection,
    path: &Path,
) -> Result<(), StoreError> {
    let sql = |error| StoreError::from_sql(path, "reading its tables", error);
    static EXPECTED: OncePerList<Schema> = OncePerList::new();
    let expected = EXPECTED.get(studies, || made(studies)).map_err(sql)?;
    let found = schema(connection).map_err(sql)?;
    let refuse = |what: String| {
        Err(StoreError::ChangedSchema {
            path: path.to_owned(),
            what,
        })
    };
    for (name, (kind, definition)) in expected {
        match found.get(name) {
            None => return refuse(format!("the {kind} `{name}` is missing")),
            Some(other) if *other != (kind.clone(), definition.clone()) => {
                return refuse(format!("`{name}` is not the {kind} that it should be"));
            }
            Some(_) => {}
        }
    }
    for (name, (kind, definition)) in &found {
        if kind == "trigger" {
            return refuse(format!("it has a trigger, `{name}`"));
        }
        if is_virtual(definition) {
            return refuse(format!("it has a virtual table, `{name}`"));
        }
    }
    Ok(())
}

/// The tables and views of an empty store.
fn made(studies: Studies) -> rusqlite::Result<Schema> {
    let connection = empty(studies)?;
    for (name, select) in views(studies) {
        connection.execute_batch(&format!("CREATE VIEW {name} AS {select}"))?;
    }
    schema(&connection)
}

fn schema(connection: &Connection) -> rusqlite::Result<Schema> {
    let mut schema: Schema = connection
        .prepare("SELECT name, type, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")?
        .query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?
        .collect::<Result<_, _>>()?;
    // The text of a table depends on how it came about, made at once or brought forward by steps;
    // its columns do not.
    let mut columns = connection.prepare(
        "SELECT group_concat(name || ' ' || type || ' ' || \"notnull\" || ' ' || pk || ' ' || hidden, ', ' ORDER BY name)
         FROM pragma_table_xinfo(?1)",
    )?;
    for (name, (kind, definition)) in &mut schema {
        if kind == "table" && !is_virtual(definition) {
            *definition = columns.query_row([name], |row| row.get(0))?;
        }
    }
    Ok(schema)
}

fn is_virtual(definition: &str) -> bool {
    let mut words = definition.split_whitespace();
    words
        .nth(1)
        .is_some_and(|word| word.eq_ignore_ascii_case("virtual"))
}
