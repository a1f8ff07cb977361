//! Moving runs into a store of their own.
//!
//! What is moved is verified, copied under its numbers, compared with the copy on the disk, and
//! only then removed: a kill at any instant leaves every run whole in one of the two stores at
//! least. An archive is a store like others; `merge` brings its runs back.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension};

use super::durability::{folder_of, sync_file_and_name};
use super::holdings::Holdings;
use super::open::uri;
use super::processes::file_identity;
use super::runs::{immediate, mark_dead_runs};
use super::tables::layout;
use super::{RunId, RunUse, Store, StoreError};
use crate::tables::{Digest, Digests, RowBytes, Tables};

/// What archiving does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveStep {
    /// The rows of the runs are compared with their digests.
    Verify,
    /// They are copied.
    Copy,
    /// There is a store of that name already: is it what an earlier attempt left?
    Resume,
    /// The copy is verified and compared.
    Compare,
    /// The copy gets its name.
    Name,
    /// The runs are removed here.
    Remove,
}

/// What happens between two steps; an error ends the archiving there.
pub type Before<'a> = &'a mut dyn FnMut(ArchiveStep) -> Result<(), StoreError>;

/// The name under which the copy knows the store that it is made from.
const SOURCE: &str = "source";

impl Store {
    /// Moves runs into a store of their own. Where `to` is a store that has these runs as they are
    /// here, as after an attempt that was ended in between, they are only removed here. `before` is
    /// called before each step.
    ///
    /// # Errors
    ///
    /// When a store cannot be read or written, when there is something else at `to`, when rows are
    /// not as they were written, when a run is being written, or when `before` says so. Then every
    /// run is whole here, or whole there.
    pub fn archive_runs(
        &self,
        runs: &[RunId],
        to: &Path,
        before: Before<'_>,
    ) -> Result<RunUse, StoreError> {
        let refuse = |reason: String| StoreError::Copy {
            path: to.to_owned(),
            reason,
        };
        let absolute = std::path::absolute(to).map_err(|error| refuse(error.to_string()))?;
        self.settle_dead_runs()?;
        self.require_idle(runs)?;
        before(ArchiveStep::Verify)?;
        for run in runs {
            self.verify_run(*run)?;
        }
        let signatures = if to.symlink_metadata().is_ok() {
            before(ArchiveStep::Resume)?;
            self.require_other_file(to)?;
            before(ArchiveStep::Compare)?;
            self.compare_copy(runs, to, to)?
        } else {
            self.copy_runs(runs, to, before)?
        };
        sync_file_and_name(to).map_err(|error| refuse(error.to_string()))?;
        before(ArchiveStep::Remove)?;
        self.remove_runs(runs, Some(&absolute), &|connection| {
            if self.signatures(connection, runs)? == signatures {
                return Ok(());
            }
            Err(refuse(
                "another program changed the runs while they were copied; they are here as before: delete that file and run the \
                 same command again"
                    .to_owned(),
            ))
        })
    }

    fn settle_dead_runs(&self) -> Result<(), StoreError> {
        let sql = |error| self.error("looking for runs that were interrupted", error);
        let transaction = immediate(&self.connection).map_err(sql)?;
        mark_dead_runs(&transaction, &self.path).map_err(sql)?;
        transaction.commit().map_err(sql)
    }

    /// A store is no archive of itself, under whatever name.
    fn require_other_file(&self, to: &Path) -> Result<(), StoreError> {
        let canonical = |path: &Path| path.canonicalize().ok();
        let is_same = match (file_identity(&self.path), file_identity(to)) {
            (Some(here), Some(there)) => here == there,
            _ => canonical(&self.path) == canonical(to),
        };
        if !is_same {
            return Ok(());
        }
        Err(StoreError::Copy {
            path: to.to_owned(),
            reason: "it is the store that the runs are in: name another file".to_owned(),
        })
    }

    /// Copies runs into a new file, which gets its name when it is whole and compared. Returns what
    /// the runs were then.
    fn copy_runs(
        &self,
        runs: &[RunId],
        to: &Path,
        before: Before<'_>,
    ) -> Result<Vec<Digest>, StoreError> {
        let refuse = |reason: String| StoreError::Copy {
            path: to.to_owned(),
            reason,
        };
        before(ArchiveStep::Copy)?;
        let copy = tempfile::Builder::new()
            .prefix(".bookahead-")
            .suffix(".part")
            .tempfile_in(folder_of(to))
            .map_err(|error| {
                refuse(format!(
                    "{error}; name a file in a folder that is there and that you may write to"
                ))
            })?;
        self.copy_runs_into(runs, copy.path())?;
        before(ArchiveStep::Compare)?;
        let signatures = self.compare_copy(runs, copy.path(), to)?;
        copy.as_file()
            .sync_all()
            .map_err(|error| refuse(error.to_string()))?;
        before(ArchiveStep::Name)?;
        copy.persist_noclobber(to)
            .map_err(|error| refuse(error.error.to_string()))?;
        Ok(signatures)
    }

    fn copy_runs_into(&self, runs: &[RunId], path: &Path) -> Result<(), StoreError> {
        let copy = Self::open_to_join(self.studies, path)?;
        let sql = |error| copy.error("copying runs into it", error);
        // A file that has no name yet needs no journal.
        copy.connection
            .execute_batch(
                "PRAGMA journal_mode = DELETE; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;
                 PRAGMA foreign_keys = OFF",
            )
            .map_err(sql)?;
        copy.connection
            .execute(
                &format!("ATTACH DATABASE ?1 AS {SOURCE}"),
                [uri(&self.path, "mode=ro")],
            )
            .map_err(sql)?;
        let write = || {
            // One transaction sees one state of the store that is read.
            let transaction = immediate(&copy.connection)?;
            let tables = &layout(self.studies)?.tables;
            let holdings = Holdings::of(&transaction, SOURCE, self.studies, tables, runs)?;
            holdings.copy(self.studies)?;
            holdings.forget()?;
            transaction.commit()
        };
        write().map_err(sql)?;
        let path = copy.path.clone();
        copy.connection
            .close()
            .map_err(|(_, error)| StoreError::from_sql(&path, "closing it", error))
    }

    /// Verifies a copy, called `name` in errors, and compares each run with what it is here.
    /// Returns what the runs are in both.
    fn compare_copy(
        &self,
        runs: &[RunId],
        copy: &Path,
        name: &Path,
    ) -> Result<Vec<Digest>, StoreError> {
        let there = Self::open_read_only(self.studies, copy)?;
        if let Some((first, others)) = there.verify()?.findings.split_first() {
            return Err(StoreError::Unsound {
                path: name.to_owned(),
                first: first.to_string(),
                others: others.len(),
            });
        }
        let refuse = |reason: &str| StoreError::Copy {
            path: name.to_owned(),
            reason: format!("{reason}; nothing was removed: name another file"),
        };
        let tables = &self.tables()?;
        for run in runs {
            let said = |store: &Self| -> Result<_, StoreError> {
                let read = || contents(&store.connection, tables, *run);
                read().map_err(|error| {
                    StoreError::from_reading(&store.path, "comparing a copy", error)
                })
            };
            if said(&there)? != said(self)? {
                return Err(refuse(&format!(
                    "there is something of this name, and it does not have run {} as it is here",
                    run.0
                )));
            }
        }
        let signatures = there.signatures(&there.connection, runs)?;
        if self.signatures(&self.connection, runs)? != signatures {
            return Err(refuse("its runs are not as they are here"));
        }
        Ok(signatures)
    }

    fn tables(&self) -> Result<Tables, StoreError> {
        let layout =
            layout(self.studies).map_err(|error| self.error("reading its schema", error))?;
        Ok(layout.tables.clone())
    }

    /// What tells whether runs were changed.
    fn signatures(
        &self,
        connection: &Connection,
        runs: &[RunId],
    ) -> Result<Vec<Digest>, StoreError> {
        let tables = self.tables()?;
        let signatures = runs.iter().map(|run| signature(connection, &tables, *run));
        let signatures: rusqlite::Result<Vec<Digest>> = signatures.collect();
        signatures.map_err(|error| StoreError::from_reading(&self.path, "comparing runs", error))
    }
}

/// What a run and its simulations say, whatever numbers stores give to rows. Nothing where there is
/// no such run.
fn contents(
    connection: &Connection,
    tables: &Tables,
    run: RunId,
) -> rusqlite::Result<Option<(Digest, Digest)>> {
    let found = connection
        .query_row("SELECT 1 FROM run WHERE id = ?1", [run.0], |_| Ok(()))
        .optional()?;
    if found.is_none() {
        return Ok(None);
    }
    let mut digests = Digests::new(tables);
    let of_run = digests.of_run(connection, run.0)?;
    let simulations: BTreeSet<i64> = connection
        .prepare("SELECT p.simulation FROM run_point rp JOIN point p ON p.id = rp.point WHERE rp.run = ?1")?
        .query_map([run.0], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut results = Digest::default();
    for simulation in simulations {
        results += digests.of_simulation(connection, simulation)?;
    }
    Ok(Some((of_run, results)))
}

/// Everything that is said of a run itself, its tags and notes too, and how far its simulations
/// are: cheaper than [`contents`], and changed by whatever a program writes of it.
fn signature(connection: &Connection, tables: &Tables, run: RunId) -> rusqlite::Result<Digest> {
    let place = tables.place("run");
    let mut questions = vec![
        ("run", tables.0[place].select_row()),
        (
            "simulation",
            "SELECT m.identity, m.generation, CASE m.state WHEN 1 THEN 0 ELSE m.state END, m.detail, m.error, m.digest, p.identity
             FROM run_point rp JOIN point p ON p.id = rp.point JOIN simulation m ON m.id = p.simulation WHERE rp.run = ?1"
                .to_owned(),
        ),
    ];
    questions.extend(tables.parts(place).map(|(part, owner)| {
        let table = &tables.0[part];
        (table.name.as_str(), table.select_of(owner))
    }));
    let mut digest = Digest::default();
    for (table, question) in questions {
        let mut bytes = RowBytes::of(table);
        let mut statement = connection.prepare_cached(&question)?;
        let columns = statement.column_count();
        let mut rows = statement.query([run.0])?;
        while let Some(row) = rows.next()? {
            bytes.begin();
            for column in 0..columns {
                bytes.add(column, false, row.get_ref(column)?);
            }
            digest.add(&bytes);
        }
    }
    Ok(digest)
}
