//! Versions of the schema: what is refused, and what is brought forward.

use std::path::Path;

use rusqlite::Connection;

use super::{connection, count, folder};
use bookahead::scheduling::Verdict;
use bookahead::store::{RunId, RunSelector, SCHEMA_VERSION, Store, StoreError};
use bookahead::studies::STUDIES;
use bookahead::units::Seconds;
use bookahead_testutils::runs::{finished, point, record, result, write_run};

fn mark(path: &Path, version: i32) {
    drop(Store::open(STUDIES, path).unwrap());
    Connection::open(path)
        .and_then(|file| file.pragma_update(None, "user_version", version))
        .unwrap();
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
fn stores_of_newer_and_of_development_versions_are_refused_with_both_versions_and_left_alone() {
    let folder = folder();
    let path = folder.path().join("store.db");
    for version in [SCHEMA_VERSION + 1, 1, 0] {
        mark(&path, version);
        let bytes = std::fs::read(&path).unwrap();
        for error in [
            Store::open(STUDIES, &path).unwrap_err(),
            Store::open_read_only(STUDIES, &path).unwrap_err(),
        ] {
            let newer = matches!(error, StoreError::NewerVersion { .. });
            let development = matches!(error, StoreError::DevelopmentVersion { .. });
            assert_eq!((newer, development), (version > 1, version <= 1), "{error}");
            let said = error.to_string();
            for words in [
                path.display().to_string(),
                format!("has schema version {version},"),
                format!("writes version {SCHEMA_VERSION}:"),
                "development".to_owned(),
                "the program that wrote it".to_owned(),
                "again into a new store".to_owned(),
            ] {
                assert!(said.contains(&words), "{words}: {said}");
            }
        }
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
        std::fs::remove_file(&path).unwrap();
    }
}

/// The tables that version 8 added.
const OF_8: [&str; 12] = [
    "run_loss",
    "simulation_width",
    "estimate_class",
    "virtual_simulation",
    "virtual_background_job",
    "virtual_background",
    "slot_sample",
    "co_attempt",
    "attempt_fate",
    "workflow_query",
    "workflow_advertised",
    "workflow_site_job",
];

/// Names and types of the columns of a table, in their order.
fn columns(file: &Connection, table: &str) -> String {
    let columns = "SELECT group_concat(name || ' ' || type, ', ') FROM pragma_table_info(?1)";
    file.query_row(columns, [table], |row| row.get(0)).unwrap()
}

/// The tables that version 13 added.
const OF_13: [&str; 4] = [
    "market_move",
    "market_delegation",
    "market_quote",
    "market_cluster",
];

/// The tables that version 14 added.
const OF_14: [&str; 5] = [
    "decision_timing",
    "cluster_event",
    "run_tag",
    "run_note",
    "run_gone",
];

/// The table that version 15 added.
const OF_15: [&str; 1] = ["run_machine"];

/// The tables that version 16 added.
const OF_16: [&str; 4] = ["decision", "verdict_of_rule", "run_turn", "run_rule"];

/// The tables that version 17 added, those first that refer to others.
const OF_17: [&str; 3] = ["best_effort_run", "best_effort_job", "best_effort_fate"];

/// The table that version 20 added.
const OF_20: [&str; 1] = ["twin_job"];

/// The tables that version 24 added.
const OF_24: [&str; 4] = [
    "decision_histogram",
    "co_class",
    "co_information",
    "workflow_slot_return",
];

/// The tables that version 23 added, those first that refer to others.
const OF_23: [&str; 2] = ["co_storage_lack", "co_storage"];

/// The tables that version 22 added, those first that refer to others.
const OF_22: [&str; 2] = ["co_licence_lack", "co_licences"];

/// The table that version 21 added.
const OF_21: [&str; 1] = ["co_free_cpus"];

/// The tables that version 19 added, those first that refer to others.
const OF_19: [&str; 2] = ["co_task_order", "co_task"];

/// The tables that version 23 and those behind it added.
fn since_23() -> impl Iterator<Item = &'static str> {
    OF_24.into_iter().chain(OF_23)
}

/// The tables that version 21 and those behind it added.
fn since_21() -> impl Iterator<Item = &'static str> {
    since_23().chain(OF_22).chain(OF_21)
}

fn drop_tables(file: &Connection, tables: impl IntoIterator<Item = &'static str>) {
    for table in tables {
        file.execute_batch(&format!("DROP TABLE {table}")).unwrap();
    }
}

fn drop_tables_since_13(file: &Connection) {
    let since_20 = since_21().chain(OF_20);
    let since_19 = since_20.chain(OF_19);
    let since_17 = since_19.chain(OF_17);
    let since_15 = since_17.chain(OF_16).chain(OF_15);
    drop_tables(file, since_15.chain(OF_14).chain(OF_13));
}

fn drop_views(file: &Connection) {
    let views = definitions(file);
    let views = views.iter().filter(|(kind, ..)| kind == "view");
    for (_, view, _) in views {
        file.execute_batch(&format!("DROP VIEW {view}")).unwrap();
    }
}

#[test]
fn a_store_of_version_17_gets_the_verdict_of_late_requests_and_the_replications_a_rule_selects_of()
{
    let folder = folder();
    let path = folder.path().join("store.db");
    write_run(&path, &record("kept", vec![], 0), vec![]);
    let file = Connection::open(&path).unwrap();
    let verdicts = |file: &Connection| -> Vec<String> {
        let mut statement = file
            .prepare("SELECT name FROM request_verdict ORDER BY code")
            .unwrap();
        let names = statement.query_map([], |row| row.get(0)).unwrap();
        names.map(Result::unwrap).collect()
    };
    let (new, rule) = (verdicts(&file), columns(&file, "run_rule"));
    file.execute_batch(
        "INSERT INTO run_rule VALUES
            (1, 'select', 'gain', 'acceptance.pof_max', 'largest', NULL, 0.02, 1, 0.95, 10, 5, 20, 0, NULL);
         ALTER TABLE run_rule DROP COLUMN population;
         DROP TABLE decision_histogram; DROP TABLE co_class; DROP TABLE co_information; DROP TABLE workflow_slot_return;
         DROP TABLE co_storage_lack; DROP TABLE co_storage; DROP TABLE co_licence_lack; DROP TABLE co_licences;
         DROP TABLE co_free_cpus; DROP TABLE twin_job; DROP TABLE co_task_order; DROP TABLE co_task;
         DELETE FROM request_verdict WHERE name = 'too-short-notice'; PRAGMA user_version = 17",
    )
    .unwrap();
    assert_eq!(verdicts(&file).len() + 1, new.len());
    assert_ne!(columns(&file, "run_rule"), rule);
    let store = Store::open(STUDIES, &path).unwrap();
    assert_eq!(verdicts(&file), new);
    assert_eq!(columns(&file, "run_rule"), rule);
    let kept = store.rule(RunId(1)).unwrap().expect("it is kept");
    assert_eq!((kept.most, kept.population), (20, None));
}

/// A store without these tables, and changed by this SQL into what an older version wrote, has the
/// tables and views of a new one when it has been opened.
fn brought_forward(
    tables: impl IntoIterator<Item = &'static str>,
    sql: &str,
) -> (tempfile::TempDir, Connection) {
    let folder = folder();
    let path = folder.path().join("store.db");
    write_run(&path, &record("kept", vec![], 0), vec![]);
    let file = Connection::open(&path).unwrap();
    let new = definitions(&file);
    drop_views(&file);
    drop_tables(&file, tables);
    file.execute_batch(sql).unwrap();
    drop(Store::open(STUDIES, &path).unwrap());
    assert_eq!(definitions(&file), new);
    (folder, file)
}

#[test]
fn a_store_of_version_18_gets_the_tasks_of_workflows_and_the_verdict_of_those_given_up() {
    let before = "DELETE FROM co_verdict WHERE name = 'abandoned'; PRAGMA user_version = 18";
    let (_folder, file) = brought_forward(since_21().chain(OF_20).chain(OF_19), before);
    let given_up = "SELECT count(*) FROM co_verdict WHERE name = 'abandoned' AND NOT granted";
    assert_eq!(count(&file, given_up), 1);
}

#[test]
fn a_store_of_version_20_gets_the_table_of_free_cpus() {
    brought_forward(since_21(), "PRAGMA user_version = 20");
}

#[test]
fn a_store_of_version_21_gets_the_licences_of_parts_and_the_refusal_for_want_of_them() {
    let before =
        "DELETE FROM attempt_fate WHERE name = 'refused-licences'; PRAGMA user_version = 21";
    let (_folder, file) = brought_forward(since_23().chain(OF_22), before);
    let refused = "SELECT count(*) FROM attempt_fate WHERE name = 'refused-licences'";
    assert_eq!(count(&file, refused), 1);
}

#[test]
fn a_store_of_version_22_gets_the_storage_of_parts_and_the_refusal_for_want_of_it() {
    let before =
        "DELETE FROM attempt_fate WHERE name = 'refused-storage'; PRAGMA user_version = 22";
    let (_folder, file) = brought_forward(since_23(), before);
    let refused = "SELECT count(*) FROM attempt_fate WHERE name = 'refused-storage'";
    assert_eq!(count(&file, refused), 1);
}

#[test]
fn a_store_of_version_23_gets_what_decisions_requests_and_slots_left_out() {
    brought_forward(OF_24, "PRAGMA user_version = 23");
}

/// Makes a store one of version 7, as far as a step forward sees it.
fn make_version_7(file: &Connection) {
    drop_views(file);
    drop_tables_since_13(file);
    for table in OF_8 {
        file.execute_batch(&format!("DROP TABLE {table}")).unwrap();
    }
    file.execute_batch(
        "DROP INDEX job_fixed;
         CREATE INDEX point_axis_by_value ON point_axis (run, axis, value);
         ALTER TABLE reservation_outcome DROP COLUMN user; ALTER TABLE co_request DROP COLUMN user;
         ALTER TABLE simulation DROP COLUMN digest; ALTER TABLE run DROP COLUMN digest;
         ALTER TABLE simulation DROP COLUMN jobs_hash; ALTER TABLE simulation DROP COLUMN failures_hash;
         UPDATE job SET deadline = 2305843009213693951 WHERE deadline IS NULL;
         PRAGMA user_version = 7",
    )
    .unwrap();
}

#[test]
fn a_store_of_version_7_becomes_what_a_new_store_is() {
    let folder = folder();
    let path = folder.path().join("store.db");
    write_run(&path, &record("kept", vec![], 0), vec![]);
    let file = Connection::open(&path).unwrap();
    let new = definitions(&file);
    let widened = [
        "reservation_outcome",
        "co_request",
        "simulation",
        "run",
        "run_rule",
    ];
    let before = widened.map(|table| columns(&file, table));
    make_version_7(&file);
    drop(Store::open(STUDIES, &path).unwrap());
    // A column that is added stands behind the key in the text of its table; the columns are the
    // same.
    let unchanged = |all: Vec<(String, String, Option<String>)>| {
        let others = all
            .into_iter()
            .filter(|(_, name, _)| !widened.contains(&name.as_str()));
        others.collect::<Vec<_>>()
    };
    let found = definitions(&file);
    assert_eq!(found.len(), new.len());
    assert_eq!(unchanged(found), unchanged(new));
    assert_eq!(widened.map(|table| columns(&file, table)), before);
    drop(file);
    assert_eq!(
        Store::open(STUDIES, &path).unwrap().runs().unwrap().len(),
        1
    );
}

#[test]
fn a_store_of_version_7_becomes_one_of_this_version_with_its_widths_and_without_deadlines_that_stand_for_none()
 {
    let folder = folder();
    let path = folder.path().join("store.db");
    let mut made = result(9);
    made.outcomes[4].job.deadline = Seconds::FAR;
    let simulation = finished("s", "fcfs", 0, made, vec![point("p", &[], 0, 1.0)]);
    write_run(&path, &record("kept", vec![], 1), vec![simulation]);
    let file = Connection::open(&path).unwrap();
    let rows = |file: &Connection| -> Vec<String> {
        let columns = "SELECT group_concat('quote(\"' || name || '\")', ' || '','' || ') FROM pragma_table_info(?1)";
        ["job", "job_outcome", "simulation_width"]
            .map(|table| {
                let row: String = file.query_row(columns, [table], |row| row.get(0)).unwrap();
                let all = format!("SELECT group_concat({row}, ';') FROM {table}");
                file.query_row(&all, [], |row| row.get(0)).unwrap()
            })
            .to_vec()
    };
    let before = rows(&file);
    make_version_7(&file);
    drop(file);
    let store = Store::open(STUDIES, &path).unwrap();
    assert_eq!(rows(&connection(&store)), before);
    let endless = "SELECT job FROM v_job WHERE deadline IS NULL";
    assert_eq!(count(&connection(&store), endless), 4);
    // What was stored without a digest stays without one, and is otherwise sound.
    let seen = store.verify().unwrap();
    assert_eq!(seen.findings, []);
    assert_eq!((seen.simulations, seen.simulations_without_digest), (0, 1));
    assert_eq!(
        (seen.runs, seen.runs_without_digest, seen.shared),
        (0, 1, 1)
    );
    // What a simulation saw was not kept then, and nothing is guessed.
    let points = store
        .points(store.run(&RunSelector::Latest).unwrap().id)
        .unwrap();
    assert_eq!((points.len(), points.seen[0].is_known()), (1, false));
}

#[test]
fn a_store_of_version_8_gets_the_verdicts_and_measures_that_came_later() {
    let folder = folder();
    let path = folder.path().join("store.db");
    write_run(&path, &record("kept", vec![], 0), vec![]);
    let file = Connection::open(&path).unwrap();
    drop_views(&file);
    drop_tables_since_13(&file);
    file.execute_batch(
        "ALTER TABLE simulation DROP COLUMN jobs_hash; ALTER TABLE simulation DROP COLUMN failures_hash;
         DELETE FROM request_verdict WHERE name = 'lost';
         DELETE FROM measure WHERE name = 'promise_error_seconds';
         ALTER TABLE simulation DROP COLUMN digest; ALTER TABLE run DROP COLUMN digest;
         PRAGMA user_version = 8",
    )
    .unwrap();
    drop(Store::open(STUDIES, &path).unwrap());
    assert_eq!(
        count(
            &file,
            "SELECT count(*) FROM request_verdict WHERE name = 'lost'"
        ),
        1
    );
    assert_eq!(
        count(
            &file,
            "SELECT count(*) FROM measure WHERE name = 'promise_error_seconds'"
        ),
        1
    );
}

#[test]
fn verdicts_of_delegations_in_a_store_of_version_13_become_codes() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let simulation = finished("s", "fcfs", 0, result(2), vec![point("p", &[], 0, 1.0)]);
    write_run(&path, &record("kept", vec![], 1), vec![simulation]);
    let file = Connection::open(&path).unwrap();
    let others = |file: &Connection| {
        let mut all = definitions(file);
        // A column that is added stands elsewhere in the text of its table.
        all.retain(|(_, name, _)| name != "run_rule");
        all
    };
    let new = others(&file);
    drop_views(&file);
    let since_20 = since_21().chain(OF_20);
    let since_19 = since_20.chain(OF_19);
    let since_17 = since_19.chain(OF_17);
    let since_15 = since_17.chain(OF_16).chain(OF_15);
    drop_tables(&file, since_15.chain(OF_14));
    file.execute_batch(
        "PRAGMA foreign_keys = OFF;
         INSERT INTO market_cluster VALUES (1, 0, 1.0, 2, 0, 1, 0.5, 0.0, 0.0);
         DROP TABLE market_delegation;
         CREATE TABLE market_delegation (simulation INTEGER, cluster INTEGER, number INTEGER, job INTEGER, buyer INTEGER,
            buyer_number INTEGER, fee REAL, price REAL, pof REAL, verdict TEXT, start INTEGER, \"end\" INTEGER);
         INSERT INTO market_delegation VALUES (1, 0, 0, 0, NULL, NULL, 36.0, 18.0, 0.5, 'failed-nodes', 10, 20),
            (1, 0, 1, 1, NULL, NULL, 36.0, 18.0, 0.5, NULL, NULL, NULL);
         PRAGMA user_version = 13",
    )
    .unwrap();
    drop(Store::open(STUDIES, &path).unwrap());
    assert_eq!(others(&file), new);
    let verdicts: Vec<(Option<i64>, Option<String>)> = file
        .prepare(
            "SELECT d.verdict, v.verdict FROM market_delegation d
             JOIN v_market_delegation v USING (simulation, cluster, number) ORDER BY number",
        )
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let failed = Verdict::FailedNodes;
    assert_eq!(
        verdicts,
        [
            (Some(failed as i64), Some("failed-nodes".to_owned())),
            (None, None)
        ]
    );
}
