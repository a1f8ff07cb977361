//! Damage to the rows of a store is found, in whatever cell it is; sound stores, joined and copied
//! ones too, are found sound.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::types::Value;

use super::folder;
use bookahead::store::{MergeOptions, Store, StoreError, run_sweep};
use bookahead::studies::STUDIES;
use bookahead::sweep::{Experiment, InputFolders, OutcomeDetail, Shard, Sweep, SweepOptions};

/// Columns in which a changed cell is not found: what clocks, machines, programs and processes
/// said, and what lookups say of strategies and measures that the program knows itself.
/// docs/schema.md says so.
const NOT_COVERED: [(&str, &[&str]); 7] = [
    (
        "run",
        &[
            "source",
            "program_version",
            "program_commit",
            "machine_cores",
            "machine_os",
            "machine_host",
            "started",
            "ended",
            "last_commit",
            "process",
            "process_started",
            "boot",
            "store_file",
        ],
    ),
    ("simulation", &["attempts"]),
    ("simulation_timing", &["wall_seconds", "finished"]),
    (
        "decision_timing",
        &[
            "decision",
            "decisions",
            "p50_seconds",
            "p99_seconds",
            "longest_seconds",
        ],
    ),
    (
        "decision_histogram",
        &["decision", "up_to_seconds", "decisions"],
    ),
    ("strategy", &["overbooks", "baseline"]),
    ("measure", &["unit", "title"]),
];

/// The small experiments, one for each kind of study.
fn experiments() -> Vec<Sweep> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens/experiments");
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let load = |file: &PathBuf| Experiment::load(STUDIES, file, None).unwrap().sweep;
    files.iter().map(load).collect()
}

fn overbooking() -> Sweep {
    let text = include_str!("../../tests/goldens/experiments/overbooking.toml");
    let experiment = Experiment::parse(STUDIES, "overbooking.toml", text, None);
    experiment.unwrap().sweep
}

fn sweep_into(store: &Path, sweep: Sweep, change: impl FnOnce(&mut SweepOptions)) {
    let mut options = SweepOptions {
        workers: 2,
        quiet: true,
        outcomes: OutcomeDetail::All,
        folders: InputFolders::default(),
        ..SweepOptions::new(STUDIES, store.to_owned())
    };
    change(&mut options);
    run_sweep(sweep, &options).unwrap();
}

fn findings(store: &Path) -> Vec<String> {
    let store = Store::open_read_only(STUDIES, store).unwrap();
    let found = store.verify().unwrap();
    found.findings.iter().map(ToString::to_string).collect()
}

fn texts(connection: &Connection, sql: &str, of: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([of], |row| row.get(0));
    rows.unwrap().map(|row| row.unwrap()).collect()
}

/// Another value than this one, of the type of the column.
fn other(value: &Value, kind: &str) -> Value {
    match value {
        Value::Integer(number) => Value::Integer(number + 1_000_003),
        Value::Real(number) => Value::Real(number * 1.000_000_1 + 1e-9),
        Value::Text(text) => Value::Text(format!("{text} ")),
        _ if kind == "TEXT" => Value::Text("x".to_owned()),
        _ if kind == "REAL" => Value::Real(0.5),
        _ => Value::Integer(1),
    }
}

/// Changes one cell of a column, of the first row that has a value there if any has, in a copy of
/// the store.
fn damage(store: &Path, copy: &Path, table: &str, column: &str) {
    fs::copy(store, copy).unwrap();
    let connection = Connection::open(copy).unwrap();
    connection
        .execute_batch("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;")
        .unwrap();
    let kind: String = connection
        .query_row(
            "SELECT type FROM pragma_table_info(?1) WHERE name = ?2",
            [table, column],
            |row| row.get(0),
        )
        .unwrap();
    let key = texts(
        &connection,
        "SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk",
        table,
    );
    let keys: Vec<String> = key.iter().map(|name| format!("\"{name}\"")).collect();
    // A measure that nothing was measured by says nothing.
    let of_use = match table {
        "measure" => "WHERE code IN (SELECT measure FROM simulation_measure)",
        _ => "",
    };
    let mut row: Vec<Value> = connection
        .query_row(
            &format!(
                "SELECT \"{column}\", {} FROM \"{table}\" {of_use} ORDER BY \"{column}\" IS NULL LIMIT 1",
                keys.join(", ")
            ),
            [],
            |row| (0..=key.len()).map(|place| row.get(place)).collect(),
        )
        .unwrap();
    row[0] = other(&row[0], &kind);
    let conditions: Vec<String> = keys.iter().map(|name| format!("{name} = ?")).collect();
    let changed = connection
        .execute(
            &format!(
                "UPDATE \"{table}\" SET \"{column}\" = ? WHERE {}",
                conditions.join(" AND ")
            ),
            rusqlite::params_from_iter(&row),
        )
        .unwrap();
    assert_eq!(changed, 1, "{table}.{column}");
}

#[test]
fn a_changed_cell_is_found_in_every_column_of_every_table_but_those_that_clocks_and_machines_fill()
{
    let folder = folder();
    let copy = folder.path().join("copy");
    let mut left: BTreeSet<String> = BTreeSet::new();
    let mut tried = BTreeSet::new();
    for (number, sweep) in experiments().into_iter().enumerate() {
        let store = &folder.path().join(format!("{number}.db"));
        sweep_into(store, sweep, |options| options.time_decisions = true);
        assert_eq!(findings(store), Vec::<String>::new(), "{}", store.display());
        let connection = Connection::open(store).unwrap();
        let tables = texts(
            &connection,
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE ?1",
            "sqlite_%",
        );
        for table in tables {
            let rows: i64 = connection
                .query_row(&format!("SELECT count(*) FROM \"{table}\""), [], |row| {
                    row.get(0)
                })
                .unwrap();
            if rows == 0 {
                left.insert(table);
                continue;
            }
            if !tried.insert(table.clone()) {
                continue;
            }
            let not_covered = NOT_COVERED.iter().find(|(name, _)| *name == table);
            let not_covered = not_covered.map_or(&[][..], |(_, columns)| columns);
            let columns = texts(
                &connection,
                "SELECT name FROM pragma_table_info(?1)",
                &table,
            );
            for column in columns {
                damage(store, &copy, &table, &column);
                let found = findings(&copy);
                assert_eq!(
                    found.is_empty(),
                    not_covered.contains(&column.as_str()),
                    "{table}.{column} of {}: {found:?}",
                    store.display()
                );
            }
        }
    }
    let never: Vec<&str> = left.difference(&tried).map(String::as_str).collect();
    // Cleaning drops no job of a model, and the experiments read no trace.
    let made_by_others = ["run_gone", "run_loss", "run_machine", "run_note", "run_tag"];
    assert_eq!(never, made_by_others, "no store has rows in these");
}

#[test]
fn changed_bytes_of_the_file_are_found_or_change_nothing_that_counts() {
    let folder = folder();
    let store = folder.path().join("whole.db");
    sweep_into(&store, overbooking(), |_| {});
    let bytes = fs::read(&store).unwrap();
    let copy = folder.path().join("copy.db");
    let mut state = 1_u64;
    let mut draw = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % below
    };
    let (mut found, mut refused, mut unseen) = (0, 0, 0);
    for _ in 0..60 {
        let mut damaged = bytes.clone();
        let place = draw(damaged.len());
        damaged[place] ^= 1 << draw(8);
        fs::write(&copy, damaged).unwrap();
        match Store::open_read_only(STUDIES, &copy).and_then(|store| store.verify()) {
            Err(_) => refused += 1,
            Ok(seen) if !seen.findings.is_empty() => found += 1,
            Ok(_) => {
                unseen += 1;
                // What was not seen is in free space, in indexes that hold the same, or in what
                // clocks said.
                assert_eq!(contents(&copy), contents(&store), "byte {place}");
            }
        }
    }
    println!("{found} found, {refused} refused, {unseen} changed nothing that counts");
    assert!(found > refused, "{found} found, {refused} refused");
}

/// Every covered cell of every table.
fn contents(store: &Path) -> Vec<String> {
    let connection = Connection::open(store).unwrap();
    let tables = texts(
        &connection,
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE ?1 ORDER BY name",
        "sqlite_%",
    );
    let mut lines = Vec::new();
    for table in tables {
        let left_out = NOT_COVERED.iter().find(|(name, _)| *name == table);
        let left_out = left_out.map_or(&[][..], |(_, columns)| columns);
        let columns = texts(
            &connection,
            "SELECT name FROM pragma_table_info(?1)",
            &table,
        );
        let columns: Vec<String> = columns
            .iter()
            .filter(|name| !left_out.contains(&name.as_str()))
            .map(|name| format!("\"{name}\""))
            .collect();
        let mut statement = connection
            .prepare(&format!(
                "SELECT {} FROM \"{table}\" NOT INDEXED",
                columns.join(", ")
            ))
            .unwrap();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let values: Vec<Value> = (0..columns.len())
                .map(|place| row.get_unwrap(place))
                .collect();
            lines.push(format!("{table} {values:?}"));
        }
    }
    lines.sort();
    lines
}

/// The digest of every simulation by its identity.
fn digests(store: &Path) -> Vec<String> {
    let connection = Connection::open(store).unwrap();
    texts(
        &connection,
        "SELECT identity || ' ' || coalesce(digest, ?1) FROM simulation ORDER BY 1",
        "none",
    )
}

#[test]
fn joined_continued_and_fresh_stores_have_the_digests_of_one_machine() {
    let folder = folder();
    let whole = folder.path().join("whole.db");
    sweep_into(&whole, overbooking(), |_| {});
    let shares = [1, 2].map(|number| {
        let path = folder.path().join(format!("shard-{number}-of-2.db"));
        sweep_into(&path, overbooking(), |options| {
            options.shard = Some(Shard::new(number, 2).unwrap());
        });
        path
    });
    let joined = folder.path().join("joined.db");
    Store::merge(STUDIES, &joined, &shares, MergeOptions::default()).unwrap();
    assert_eq!(digests(&joined), digests(&whole));
    assert!(!digests(&joined).join(" ").contains("none"));
    assert_eq!(findings(&joined), Vec::<String>::new());

    // Totals first, outcomes later, then all anew.
    let grown = folder.path().join("grown.db");
    sweep_into(&grown, overbooking(), |options| {
        options.outcomes = OutcomeDetail::Metrics;
    });
    assert_eq!(findings(&grown), Vec::<String>::new());
    assert_ne!(digests(&grown), digests(&whole));
    sweep_into(&grown, overbooking(), |_| {});
    assert_eq!(findings(&grown), Vec::<String>::new());
    assert_eq!(digests(&grown), digests(&whole));
    sweep_into(&grown, overbooking(), |options| options.fresh = true);
    assert_eq!(findings(&grown), Vec::<String>::new());
    let both = digests(&grown);
    assert_eq!(both.len(), 2 * digests(&whole).len());
}

#[test]
fn a_share_with_other_rows_than_its_counts_and_digests_promise_is_not_joined() {
    let folder = folder();
    let share = folder.path().join("share.db");
    sweep_into(&share, overbooking(), |_| {});
    let out = folder.path().join("out.db");
    for (change, words) in [
        (
            "PRAGMA foreign_keys = OFF; DELETE FROM job",
            &["`job` has 0 rows of workload", "were written"][..],
        ),
        (
            "DELETE FROM job_outcome WHERE job = 7",
            &["`job_outcome` has 399 rows of simulation", "and 400 were"],
        ),
        (
            "DELETE FROM simulation_metrics",
            &[
                "`simulation_metrics` has 0 rows of simulation",
                "and 1 were",
            ],
        ),
        (
            "UPDATE job_outcome SET start = start + 1 WHERE job = 7 AND start IS NOT NULL",
            &["simulation", "another digest"],
        ),
        (
            "UPDATE point_axis SET value = 0",
            &["run 1", "another digest"],
        ),
        (
            "UPDATE verdict SET outcome = 'successful' WHERE outcome = 'failed'",
            &["`verdict`"],
        ),
    ] {
        let damaged = folder.path().join("damaged.db");
        fs::copy(&share, &damaged).unwrap();
        let connection = Connection::open(&damaged).unwrap();
        connection.execute_batch(change).unwrap();
        drop(connection);
        let inputs = [damaged.clone()];
        let error = Store::merge(STUDIES, &out, &inputs, MergeOptions::default()).unwrap_err();
        let said = error.to_string();
        for word in words.iter().chain(&["damaged.db"]) {
            assert!(said.contains(word), "no `{word}` in: {said}");
        }
        assert!(!out.exists(), "nothing is written");
    }
    // What an older version stored has no digest: its counts are still compared, and it is joined.
    let connection = Connection::open(&share).unwrap();
    connection
        .execute_batch("UPDATE simulation SET digest = NULL; UPDATE run SET digest = NULL")
        .unwrap();
    drop(connection);
    let seen = Store::open_read_only(STUDIES, &share)
        .unwrap()
        .verify()
        .unwrap();
    assert!(seen.simulations == 0 && seen.simulations_without_digest > 0);
    assert_eq!((seen.runs, seen.runs_without_digest), (0, 1));
    Store::merge(STUDIES, &out, &[share], MergeOptions::default()).unwrap();
}

#[test]
fn a_backup_is_one_instant_of_a_store_that_is_written_and_overwrites_nothing() {
    let folder = folder();
    let path = folder.path().join("store.db");
    sweep_into(&path, overbooking(), |_| {});
    let before = contents(&path);
    // Somebody has written and not committed yet.
    let writer = Connection::open(&path).unwrap();
    writer
        .execute_batch("BEGIN IMMEDIATE; UPDATE simulation SET detail = 0")
        .unwrap();
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    let copy = folder.path().join("copy.db");
    let seen = store.back_up(&copy).unwrap();
    assert_eq!(seen.findings, []);
    assert_eq!(contents(&copy), before);
    let again = store.back_up(&copy).unwrap_err();
    assert!(
        again.to_string().contains("nothing is overwritten"),
        "{again}"
    );
    let nowhere = store
        .back_up(&folder.path().join("none/copy.db"))
        .unwrap_err();
    assert!(nowhere.to_string().contains("none/copy.db"), "{nowhere}");
    writer.execute_batch("COMMIT").unwrap();
    let damaged = folder.path().join("damaged.db");
    let error = store.back_up(&damaged).unwrap_err();
    assert!(matches!(error, StoreError::Unsound { .. }), "{error}");
    assert!(!damaged.exists());
    let left: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with('.'))
        .collect();
    assert_eq!(left, Vec::<String>::new());
    // A restored store is written to as any other.
    sweep_into(&copy, overbooking(), |_| {});
    assert_eq!(findings(&copy), Vec::<String>::new());
}
