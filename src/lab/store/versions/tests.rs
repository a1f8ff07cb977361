//! Steps from one version of the schema to the next.

use std::path::Path;

use rusqlite::Connection;

use super::{SCHEMA_VERSION, VERSIONS, Versions};
use crate::store::{RunRecord, RunSelector, Store, StoreError};
use crate::study::Studies;
use crate::sweep::RESULT_FORMAT;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn count(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// A store with one run that has no points.
fn begin_run(path: &Path) {
    let record = RunRecord {
        name: "kept".to_owned(),
        description: String::new(),
        source: None,
        configuration: "[experiment]\nname = \"kept\"\n".to_owned(),
        seed: 1,
        replications: 1,
        program_version: "0.1.0".to_owned(),
        program_commit: None,
        result_format: RESULT_FORMAT,
        machine_cores: 1,
        machine_os: "test".to_owned(),
        points: 0,
        axes: Vec::new(),
        inputs: Vec::new(),
        losses: Vec::new(),
        machines: Vec::new(),
    };
    let store = Store::open(Studies::default(), path).unwrap();
    store.begin_run(&record).unwrap();
}

/// Everything that a file says of its tables, indexes and views.
fn definitions(connection: &Connection) -> Vec<(String, String, Option<String>)> {
    connection
        .prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
}

#[test]
fn an_older_store_is_brought_forward_by_the_next_writer_with_everything_in_it() {
    const NEXT: Versions<'static> = Versions {
        first: SCHEMA_VERSION,
        steps: &["ALTER TABLE run ADD COLUMN made_up INTEGER NOT NULL DEFAULT 7;"],
    };
    let folder = folder();
    let path = folder.path().join("store.db");
    begin_run(&path);
    let mut file = Connection::open(&path).unwrap();
    // Somebody's own view is neither in the way nor lost.
    file.execute_batch("CREATE VIEW mine AS SELECT made_up FROM run JOIN v_run ON run = id")
        .unwrap();
    let before = definitions(&file);
    // Readers do not change a file; the next writer does.
    assert!(matches!(
        NEXT.require_current(&file, &path),
        Err(StoreError::OlderVersion { found, supported, .. }) if found + 1 == supported
    ));
    NEXT.bring_forward(Studies::default(), &mut file, &path)
        .unwrap();
    NEXT.bring_forward(Studies::default(), &mut file, &path)
        .unwrap();
    NEXT.require_current(&file, &path).unwrap();
    assert_eq!(
        count(&file, "PRAGMA user_version"),
        i64::from(SCHEMA_VERSION) + 1
    );
    assert_eq!(count(&file, "SELECT * FROM mine"), 7);
    let changed: Vec<String> = definitions(&file)
        .into_iter()
        .filter(|definition| !before.contains(definition))
        .map(|(_, name, _)| name)
        .collect();
    assert_eq!(changed, ["run"]);
    file.execute_batch("DROP VIEW mine; ALTER TABLE run DROP COLUMN made_up")
        .unwrap();
    file.pragma_update(None, "user_version", SCHEMA_VERSION)
        .unwrap();
    let run = Store::open_read_only(Studies::default(), &path)
        .unwrap()
        .run(&RunSelector::Latest)
        .unwrap();
    assert_eq!(run.name, "kept");
}

#[test]
fn a_step_that_fails_or_leaves_rows_that_refer_to_nothing_changes_nothing() {
    let folder = folder();
    let path = folder.path().join("store.db");
    begin_run(&path);
    let mut file = Connection::open(&path).unwrap();
    let before = definitions(&file);
    for step in [
        "ALTER TABLE run ADD COLUMN made_up INTEGER; ALTER TABLE nothing ADD COLUMN made_up INTEGER;",
        "DELETE FROM run_state;",
    ] {
        let next = Versions {
            first: SCHEMA_VERSION,
            steps: &[step],
        };
        next.bring_forward(Studies::default(), &mut file, &path)
            .unwrap_err();
        assert_eq!(definitions(&file), before);
        VERSIONS.require_current(&file, &path).unwrap();
    }
}
