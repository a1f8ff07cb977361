//! The version of the schema: making the tables of a new file, bringing an older file forward,
//! refusing any other.

mod steps;
#[cfg(test)]
mod tests;

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use self::steps::{
    TO_8, TO_9, TO_10, TO_11, TO_12, TO_13, TO_14, TO_15, TO_16, TO_17, TO_18, TO_19, TO_20, TO_21,
    TO_22, TO_23, TO_24,
};
use super::StoreError;
use super::tables::{definitions, views};
use crate::study::Studies;

/// "BKAH": marks a file as ours (`PRAGMA application_id`).
pub const APPLICATION_ID: i32 = 0x424B_4148;

/// The version that this program writes (`PRAGMA user_version`).
pub const SCHEMA_VERSION: i32 = VERSIONS.current();

/// The versions that can be read or brought forward.
///
/// Whoever changes a table changes its definition in `tables`, for new files, and adds a step to
/// `steps`, for those that there are. Views and lookups are made anew after the steps.
#[derive(Clone, Copy)]
pub(super) struct Versions<'a> {
    /// The oldest one: versions before it were written during development only.
    pub(super) first: i32,
    /// SQL from each version to the next. Steps that were released are never edited.
    pub(super) steps: &'a [&'a str],
}

/// The versions that this program knows.
pub(super) const VERSIONS: Versions<'static> = Versions {
    first: 7,
    steps: &[
        TO_8, TO_9, TO_10, TO_11, TO_12, TO_13, TO_14, TO_15, TO_16, TO_17, TO_18, TO_19, TO_20,
        TO_21, TO_22, TO_23, TO_24,
    ],
};

impl Versions<'_> {
    const fn current(self) -> i32 {
        self.first + self.steps.len() as i32
    }

    /// Reads the version of the file, `None` where nothing was ever written to it. Refuses files of
    /// other programs, and versions that are neither this program's nor can become it.
    pub(super) fn inspect(
        self,
        connection: &Connection,
        path: &Path,
    ) -> Result<Option<i32>, StoreError> {
        let sql = |error| StoreError::from_sql(path, "reading its version", error);
        // One statement sees one state of the file: another program may be making its tables.
        let (empty, application, found): (bool, i32, i32) = connection
            .query_row(
                "SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema), application_id, user_version
                 FROM pragma_application_id, pragma_user_version",
                [],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .map_err(sql)?;
        let path = path.to_owned();
        let supported = self.current();
        if empty && application == 0 && found == 0 {
            Ok(None)
        } else if application != APPLICATION_ID {
            Err(StoreError::NotOurs {
                path,
                found: application,
            })
        } else if found > supported {
            Err(StoreError::NewerVersion {
                path,
                found,
                supported,
            })
        } else if found < self.first {
            Err(StoreError::DevelopmentVersion {
                path,
                found,
                supported,
            })
        } else {
            Ok(Some(found))
        }
    }

    /// Refuses a file that would have to be changed before it can be read.
    pub(super) fn require_current(
        self,
        connection: &Connection,
        path: &Path,
    ) -> Result<(), StoreError> {
        let supported = self.current();
        match self.inspect(connection, path)? {
            None => Err(StoreError::Missing {
                path: path.to_owned(),
            }),
            Some(found) if found < supported => Err(StoreError::OlderVersion {
                path: path.to_owned(),
                found,
                supported,
            }),
            Some(_) => Ok(()),
        }
    }

    /// Makes the tables of a new file, or brings a file forward: all in one transaction, so that it
    /// is either old or new.
    pub(super) fn bring_forward(
        self,
        studies: Studies,
        connection: &mut Connection,
        path: &Path,
    ) -> Result<(), StoreError> {
        if self.inspect(connection, path)? == Some(self.current()) {
            return Ok(());
        }
        let sql = |error| StoreError::from_sql(path, "bringing its tables up to date", error);
        // A step may make a table anew under its name, which rows of other tables refer to; that
        // nothing refers to nothing in the end is checked before the commit. Inside a transaction
        // the switch would have no effect.
        connection
            .execute_batch("PRAGMA foreign_keys = OFF;")
            .map_err(sql)?;
        let changed = self.change(studies, connection, path);
        connection
            .execute_batch("PRAGMA foreign_keys = ON;")
            .map_err(sql)?;
        changed
    }

    fn change(
        self,
        studies: Studies,
        connection: &mut Connection,
        path: &Path,
    ) -> Result<(), StoreError> {
        let sql = |error| StoreError::from_sql(path, "bringing its tables up to date", error);
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(sql)?;
        // Another program may have done it between the first look and the lock.
        let found = self.inspect(&transaction, path)?;
        if found == Some(self.current()) {
            return Ok(());
        }
        self.write(studies, &transaction, found).map_err(sql)?;
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

    fn write(
        self,
        studies: Studies,
        connection: &Connection,
        found: Option<i32>,
    ) -> rusqlite::Result<()> {
        match found {
            None => {
                for tables in definitions(studies) {
                    connection.execute_batch(tables.sql)?;
                }
            }
            Some(found) => {
                // Renaming a table or a column asks every view of the file.
                for (name, _) in views(studies) {
                    connection.execute_batch(&format!("DROP VIEW IF EXISTS {name}"))?;
                }
                for (version, step) in (self.first..).zip(self.steps) {
                    if version >= found {
                        connection.execute_batch(step)?;
                    }
                }
            }
        }
        for (name, select) in views(studies) {
            connection.execute_batch(&format!("CREATE VIEW {name} AS {select}"))?;
        }
        let measures: Vec<_> = studies.measures().collect();
        for tables in definitions(studies) {
            (tables.enter_lookups)(connection, &measures)?;
        }
        connection.pragma_update(None, "application_id", APPLICATION_ID)?;
        connection.pragma_update(None, "user_version", self.current())
    }
}
