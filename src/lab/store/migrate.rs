//! From whatever version a file has to the one that this program writes, or a clear refusal.

use std::path::Path;

use rusqlite::{Connection, params};

use super::schema::{APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION, VIEWS};
use super::version_5::VIEWS_5;
use super::version_6::VIEWS_6;
use super::{StoreError, co_reservations, distributions, provisioning, reservations};
use crate::scheduling::Verdict;

/// What a file says about itself.
pub(super) struct FileVersion {
    application: i32,
    version: i32,
    empty: bool,
}

/// Reads the marks of the file and refuses files of other programs and of newer versions.
pub(super) fn inspect(connection: &Connection, path: &Path) -> Result<FileVersion, StoreError> {
    let sql = |error| StoreError::from_sql(path, "reading its version", error);
    let pragma = |name: &str| -> Result<i32, StoreError> {
        connection
            .query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))
            .map_err(sql)
    };
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(sql)?;
    let found = FileVersion {
        application: pragma("application_id")?,
        version: pragma("user_version")?,
        empty: tables == 0,
    };
    let untouched = found.empty && found.application == 0 && found.version == 0;
    if found.application != APPLICATION_ID && !untouched {
        return Err(StoreError::NotOurs {
            path: path.to_owned(),
            found: found.application,
        });
    }
    if found.version > SCHEMA_VERSION {
        return Err(StoreError::NewerVersion {
            path: path.to_owned(),
            found: found.version,
            supported: SCHEMA_VERSION,
        });
    }
    Ok(found)
}

/// Refuses a file that would have to be migrated first.
pub(super) fn require_current(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let found = inspect(connection, path)?;
    if found.empty {
        return Err(StoreError::Missing {
            path: path.to_owned(),
        });
    }
    if found.version < SCHEMA_VERSION {
        return Err(StoreError::OlderVersion {
            path: path.to_owned(),
            found: found.version,
            supported: SCHEMA_VERSION,
        });
    }
    Ok(())
}

/// Brings a file forward to [`SCHEMA_VERSION`]: all steps in one transaction, so that it is either old or new.
pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    if inspect(connection, path)?.version == SCHEMA_VERSION {
        return Ok(());
    }
    let sql = |error| StoreError::from_sql(path, "bringing its tables up to date", error);
    // Tables are made anew under their names, which rows of other tables refer to; nothing can refer to nothing in the end,
    // which is checked before the commit. Inside a transaction the switch would have no effect.
    connection
        .execute_batch("PRAGMA foreign_keys = OFF;")
        .map_err(sql)?;
    let migrated = forward(connection, path);
    connection
        .execute_batch("PRAGMA foreign_keys = ON;")
        .map_err(sql)?;
    migrated
}

fn forward(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let sql = |error| StoreError::from_sql(path, "bringing its tables up to date", error);
    let transaction = connection
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .map_err(sql)?;
    // Another program may have migrated between the first look and the lock.
    let from = inspect(&transaction, path)?.version;
    if from == SCHEMA_VERSION {
        return Ok(());
    }
    for (name, _) in VIEWS.iter().chain(VIEWS_5).chain(VIEWS_6) {
        transaction
            .execute_batch(&format!("DROP VIEW IF EXISTS {name}"))
            .map_err(sql)?;
    }
    for step in MIGRATIONS.iter().filter(|step| step.version > from) {
        transaction.execute_batch(step.sql).map_err(sql)?;
    }
    for (name, select) in VIEWS.iter().chain(VIEWS_5).chain(VIEWS_6) {
        transaction
            .execute_batch(&format!("CREATE VIEW {name} AS {select}"))
            .map_err(sql)?;
    }
    for (code, verdict) in Verdict::ALL.into_iter().enumerate() {
        let outcome = if verdict.is_dropped() {
            "dropped"
        } else if verdict.is_successful() {
            "successful"
        } else {
            "failed"
        };
        transaction
            .execute(
                "INSERT INTO verdict (code, name, outcome) VALUES (?1, ?2, ?3)
                 ON CONFLICT (code) DO UPDATE SET name = excluded.name, outcome = excluded.outcome",
                params![code as i64, verdict.name(), outcome],
            )
            .map_err(sql)?;
    }
    reservations::enter_lookups(&transaction).map_err(sql)?;
    co_reservations::enter_lookups(&transaction).map_err(sql)?;
    provisioning::enter_lookups(&transaction).map_err(sql)?;
    for (bin, (low, high)) in distributions::bins().enumerate() {
        transaction
            .execute(
                "INSERT INTO histogram_bin (bin, low, high) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                params![bin as i64, low, high],
            )
            .map_err(sql)?;
    }
    transaction
        .pragma_update(None, "application_id", APPLICATION_ID)
        .map_err(sql)?;
    transaction
        .pragma_update(None, "user_version", SCHEMA_VERSION)
        .map_err(sql)?;
    let orphans = transaction
        .prepare("PRAGMA foreign_key_check")
        .and_then(|mut statement| statement.exists([]))
        .map_err(sql)?;
    if orphans {
        return Err(StoreError::Damaged {
            path: path.to_owned(),
            reason: "rows refer to rows that are not there".to_owned(),
        });
    }
    transaction.commit().map_err(sql)
}
