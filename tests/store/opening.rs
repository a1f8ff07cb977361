//! Files that are stores, and files that are not.

use std::collections::HashMap;
use std::path::Path;

use rusqlite::Connection;

use super::{connection, count, folder};
use bookahead::scheduling::Verdict;
use bookahead::store::{APPLICATION_ID, SCHEMA_VERSION, Store, StoreError};
use bookahead::studies::STUDIES;
use bookahead_testutils::runs::{finished, record, result, write_run};

#[test]
fn files_that_are_not_stores_are_refused_and_left_alone() {
    let folder = folder();
    let text = folder.path().join("notes.txt");
    std::fs::write(
        &text,
        "these are my notes, and quite a few of them\n".repeat(60),
    )
    .unwrap();
    let other = folder.path().join("other.db");
    let connection = Connection::open(&other).unwrap();
    connection
        .execute_batch("CREATE TABLE mine (x); INSERT INTO mine VALUES (1);")
        .unwrap();
    drop(connection);
    for path in [&text, &other] {
        let bytes = std::fs::read(path).unwrap();
        for error in [
            Store::open(STUDIES, path).unwrap_err(),
            Store::open_read_only(STUDIES, path).unwrap_err(),
        ] {
            assert!(
                matches!(
                    error,
                    StoreError::NotADatabase { .. } | StoreError::NotOurs { .. }
                ),
                "{error}"
            );
            assert!(error.to_string().contains(path.to_str().unwrap()));
            assert!(error.to_string().contains("--store"));
        }
        assert_eq!(&std::fs::read(path).unwrap(), &bytes);
    }
    let folder_as_file = Store::open(STUDIES, folder.path()).unwrap_err();
    assert!(
        matches!(folder_as_file, StoreError::NoRegularFile { .. }),
        "{folder_as_file:?}"
    );
    let missing = Store::open_read_only(STUDIES, &folder.path().join("none.db")).unwrap_err();
    assert!(
        missing.to_string().contains("there is no store at"),
        "{missing}"
    );
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = folder();
    let file = folder.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let error = Store::open(STUDIES, &file.join("below/store.db")).unwrap_err();
    assert!(matches!(error, StoreError::Folder { .. }), "{error}");
    assert!(error.to_string().contains("below"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_can_be_read_and_says_so_when_written() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let inner = folder.path().join("archive");
    let path = inner.join("store.db");
    write_run(
        &path,
        &record("archived", vec![], 0),
        vec![finished("s", "fcfs", 0, result(5), vec![])],
    );
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap()
    };
    mode(&path, 0o444);
    mode(&inner, 0o555);
    let read = Store::open_read_only(STUDIES, &path).map(|store| store.runs().unwrap().len());
    let written = Store::open(STUDIES, &path).map(|_| ());
    // The superuser may write into any folder: then only the read-only file can refuse.
    let may_write_anyway = std::fs::write(inner.join("probe"), "x").is_ok();
    let new = Store::open(STUDIES, &inner.join("new.db")).map(|_| ());
    mode(&inner, 0o755);
    assert_eq!(read.unwrap(), 1);
    let error = written.unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains("read-only; change its permissions"),
        "{error}"
    );
    if may_write_anyway {
        eprintln!("skipped: a read-only folder does not stop this user");
    } else {
        assert!(matches!(new.unwrap_err(), StoreError::ReadOnly { .. }));
    }
}

#[test]
fn a_store_is_marked_as_ours_and_its_tables_are_strict() {
    let folder = folder();
    let store = Store::open(STUDIES, &folder.path().join("store.db")).unwrap();
    assert_eq!(
        count(&connection(&store), "PRAGMA application_id"),
        i64::from(APPLICATION_ID)
    );
    assert_eq!(
        count(&connection(&store), "PRAGMA user_version"),
        i64::from(SCHEMA_VERSION)
    );
    let loose: i64 = count(
        &connection(&store),
        "SELECT count(*) FROM pragma_table_list WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND NOT strict",
    );
    assert_eq!(loose, 0);
    let names: HashMap<String, String> = connection(&store)
        .prepare("SELECT name, outcome FROM verdict")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(names.len(), Verdict::ALL.len());
    assert_eq!(names["failed-overbooked"], "failed");
    assert_eq!(names["successful-full-grant"], "successful");
    assert_eq!(names["dropped-too-wide"], "dropped");
}

#[test]
fn a_store_with_triggers_or_other_views_is_refused_before_anything_is_read_or_written() {
    for (change, part) in [
        (
            "CREATE TRIGGER t AFTER INSERT ON run BEGIN UPDATE run SET name = 'mine'; END",
            "it has a trigger, `t`",
        ),
        (
            "DROP VIEW v_point; CREATE VIEW v_point AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
            "`v_point` is not the view that it should be",
        ),
        ("DROP VIEW v_run", "the view `v_run` is missing"),
        (
            "ALTER TABLE point ADD COLUMN more INTEGER",
            "`point` is not the table that it should be",
        ),
        (
            "CREATE VIRTUAL TABLE words USING fts5(word)",
            "it has a virtual table, `words`",
        ),
    ] {
        let folder = folder();
        let path = folder.path().join("store.db");
        drop(Store::open(STUDIES, &path).unwrap());
        Connection::open(&path)
            .unwrap()
            .execute_batch(change)
            .unwrap();
        for error in [
            Store::open(STUDIES, &path).unwrap_err(),
            Store::open_read_only(STUDIES, &path).unwrap_err(),
        ] {
            assert!(matches!(error, StoreError::ChangedSchema { .. }), "{error}");
            assert!(error.to_string().contains(part), "{error}\nlacks {part}");
        }
    }
}

#[test]
fn an_index_or_a_table_of_ones_own_does_no_harm() {
    let folder = folder();
    let path = folder.path().join("store.db");
    drop(Store::open(STUDIES, &path).unwrap());
    Connection::open(&path)
        .unwrap()
        .execute_batch(
            "CREATE INDEX mine ON run (name); CREATE TABLE notes (run INTEGER, note TEXT); ANALYZE",
        )
        .unwrap();
    Store::open(STUDIES, &path).unwrap();
    Store::open_read_only(STUDIES, &path).unwrap();
}

#[test]
fn what_is_no_file_is_refused() {
    for path in [":memory:", ""] {
        let error = Store::open(STUDIES, Path::new(path)).unwrap_err();
        assert!(matches!(error, StoreError::NoFile { .. }), "{error}");
    }
}

#[test]
fn a_run_of_more_points_than_can_be_is_refused() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let store = Store::open(STUDIES, &path).unwrap();
    store.begin_run(&record("large", vec![], 1)).unwrap();
    connection(&store)
        .execute_batch("UPDATE run SET points = 9223372036854775807")
        .unwrap();
    let error = store
        .run(&bookahead::store::RunSelector::Latest)
        .unwrap_err();
    assert!(error.to_string().contains("out of range"), "{error}");
}

#[test]
fn several_programs_that_make_one_new_store_at_once_all_open_it() {
    let folder = folder();
    for round in 0..20 {
        let path = folder.path().join(format!("{round}.db"));
        std::thread::scope(|scope| {
            let opening: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| Store::open(STUDIES, &path).map(drop)))
                .collect();
            for opened in opening {
                opened.join().unwrap().unwrap();
            }
        });
    }
}
