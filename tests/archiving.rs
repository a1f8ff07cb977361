//! A store after years of nights: what is found again, archived and deleted, and what becomes of
//! the rest. The commands as they are typed.

// Helpers of tests panic where their premises do not hold, as the tests do.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use bookahead::store::{RunSelector, Store};
use bookahead::studies::{STUDIES, VIEWS};
use bookahead::sweep::AxisValue;
use bookahead_report::ReportExtras;
use bookahead_testutils::runs::{axis, finished, point, record, result, text, write_run};

use crate::support::program::{output, program, report, text as said};

/// Runs of the store: every fifth is kept, of the others half are archived and half deleted.
const RUNS: i64 = 50;

/// Writes a night: two strategies at two thresholds in two replications, the second of which is
/// shared with the night before or after.
fn night(store: &Path, night: i64) {
    let strategies = ["heuristic-planning", "heuristic-overbooking"];
    let thresholds = [0.1, 0.2].map(AxisValue::Real);
    let axes = vec![
        axis("scheduling.strategy", &strategies.map(text)),
        axis("acceptance.pof_max", &thresholds),
    ];
    let mut simulations = Vec::new();
    for strategy in strategies {
        for threshold in &thresholds {
            for (replication, seed) in [(0, night), (1, 1_000 + night / 2)] {
                let id = format!("{strategy}-{threshold:?}-{seed}");
                let values = [
                    ("scheduling.strategy", text(strategy)),
                    ("acceptance.pof_max", threshold.clone()),
                ];
                let jobs = 200 + u32::try_from(seed % 17).unwrap();
                let points = vec![point(&id, &values, replication, 1.0)];
                simulations.push(finished(&id, strategy, replication, result(jobs), points));
            }
        }
    }
    write_run(
        store,
        &record(&format!("night-{night:02}"), axes, 8),
        simulations,
    );
}

/// What a store says of a run: its report, and rows of views.
fn answers(store: &Path, run: i64, out: &Path) -> (Vec<(std::path::PathBuf, Vec<u8>)>, String) {
    let extras = ReportExtras::of(VIEWS);
    let selector = RunSelector::Id(run);
    bookahead_report::write(STUDIES, store, &selector, out, &extras).unwrap();
    let files = report(out);
    assert!(files.len() > 3, "{files:?}");
    let mut rows = String::new();
    for question in [
        "SELECT * FROM v_run WHERE run = ",
        "SELECT * FROM v_point WHERE run = ",
        "SELECT simulation, job, outcome, fee, penalty, pof, start FROM v_all_jobs WHERE run = ",
    ] {
        let question = format!("{question}{run}");
        let asked = ["sql", "--format", "csv", &question, "--store"];
        let asked = output(program(
            out,
            &[&asked[..], &[store.to_str().unwrap()]].concat(),
        ));
        assert!(asked.status.success(), "{asked:?}");
        rows.push_str(&said(&asked.stdout));
    }
    (files, rows)
}

fn compared(folder: &Path) -> Vec<u8> {
    let compared = output(program(folder, &["compare", "10", "45", "--store", "s.db"]));
    assert!(compared.status.success(), "{compared:?}");
    compared.stdout
}

fn verified(store: &Path) {
    let found = Store::open_read_only(STUDIES, store)
        .unwrap()
        .verify()
        .unwrap();
    assert_eq!(found.findings, [], "{}", store.display());
}

#[test]
fn a_store_of_fifty_runs_of_which_forty_are_archived_or_deleted_answers_for_the_others_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let store = path.join("s.db");
    (1..=RUNS).for_each(|number| night(&store, number));
    let kept: Vec<i64> = (1..=RUNS).filter(|run| run % 5 == 0).collect();
    let of = |run: i64, name: &str| {
        let out = path.join(format!("{name}-{run}"));
        answers(&store, run, &out)
    };
    let before: Vec<_> = kept.iter().map(|run| of(*run, "before")).collect();
    let archived = answers(&store, 1, &path.join("archived"));
    let compared_before = compared(path);
    let bytes = fs::metadata(&store).unwrap().len();
    let call = |arguments: &[&str]| {
        let done = output(program(path, &[arguments, &["--store", "s.db"]].concat()));
        assert!(done.status.success(), "{arguments:?}: {done:?}");
        said(&done.stderr)
    };
    for group in 0..10 {
        // Runs 1 and 2 of every five are archived, 3 and 4 deleted.
        let numbers = [1, 2, 3, 4].map(|at| (5 * group + at).to_string());
        let archive = format!("archive-{group}.db");
        call(&[
            "runs",
            "archive",
            &numbers[0],
            &numbers[1],
            "--to",
            &archive,
        ]);
        let told = call(&["runs", "delete", &numbers[2], &numbers[3], "--yes"]);
        assert!(told.contains("would be deleted for good"), "{told}");
        verified(&path.join(archive));
    }
    verified(&store);
    let after: Vec<_> = kept.iter().map(|run| of(*run, "after")).collect();
    assert!(after == before);
    assert!(compared(path) == compared_before);
    let less = fs::metadata(&store).unwrap().len();
    // Its tables alone take some megabytes, with a page for each of them and of their indexes.
    assert!(less < bytes * 3 / 5, "{less} of {bytes}");
    // What was archived says the same there, and where it is is said here.
    let there = answers(&path.join("archive-0.db"), 1, &path.join("there"));
    assert!(there == archived);
    let listed = output(program(
        path,
        &["runs", "--gone", "--json", "--store", "s.db"],
    ));
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let gone = listed.as_array().unwrap();
    let in_archives = gone.iter().filter(|run| run["archive"].is_string()).count();
    assert_eq!((gone.len(), in_archives), (40, 20));
    let shown = output(program(path, &["show", "1", "--store", "s.db"]));
    assert_eq!(shown.status.code(), Some(2));
    let shown = said(&shown.stderr);
    assert!(
        shown.contains("was archived to `") && shown.contains("archive-0.db"),
        "{shown}"
    );
    // The archive comes back as it was.
    let merged = output(program(path, &["merge", "s.db", "archive-0.db"]));
    assert!(merged.status.success(), "{merged:?}");
    let back = answers(&store, 1, &path.join("back"));
    assert_eq!(back.0, archived.0);
}

#[test]
fn a_kill_at_any_instant_leaves_every_run_whole_in_one_store_at_least() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let made = path.join("made.db");
    (1..=12).for_each(|number| night(&made, number));
    let rows = |store: &Path, run: i64| -> Option<u64> {
        let store = Store::open_read_only(STUDIES, store).ok()?;
        let found = store.run(&RunSelector::Id(run)).ok()?;
        Some(found.points_done)
    };
    let mut kills = 0;
    for delay in (0..24).map(|step| Duration::from_millis(10 * step)) {
        let (store, archive) = (path.join("s.db"), path.join("a.db"));
        for file in ["s.db", "s.db-wal", "s.db-shm", "a.db"] {
            let _ = fs::remove_file(path.join(file));
        }
        fs::copy(&made, &store).unwrap();
        let numbers: Vec<String> = (1..=10).map(|run: i64| run.to_string()).collect();
        let mut arguments = vec!["runs", "archive", "--store", "s.db", "--to", "a.db"];
        arguments.extend(numbers.iter().map(String::as_str));
        let mut child = program(path, &arguments).spawn().unwrap();
        std::thread::sleep(delay);
        kills += u32::from(child.try_wait().unwrap().is_none());
        let _ = child.kill();
        child.wait().unwrap();
        verified(&store);
        if archive.exists() {
            verified(&archive);
        }
        for run in 1..=12 {
            let whole = [&store, &archive].map(|store| rows(store, run));
            assert!(
                whole.contains(&Some(8)),
                "run {run} after {delay:?}: {whole:?}"
            );
            assert!(
                whole.iter().flatten().all(|points| *points == 8),
                "{whole:?}"
            );
        }
        // The same command goes on, unless it had come to its end.
        if rows(&store, 1).is_some() {
            let again = output(program(path, &arguments));
            assert!(again.status.success(), "{delay:?}: {again:?}");
        }
        for run in 1..=10 {
            assert_eq!((rows(&store, run), rows(&archive, run)), (None, Some(8)));
        }
        verified(&store);
    }
    assert!(kills > 0);
}

fn refused(path: &Path, arguments: &[&str]) -> String {
    let refused = output(program(path, arguments));
    assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {refused:?}");
    said(&refused.stderr)
}

#[test]
fn nothing_is_deleted_unless_somebody_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    night(&path.join("s.db"), 1);
    let told = refused(path, &["runs", "delete", "1", "--store", "s.db"]);
    assert!(
        told.contains("8 of 8 points and 8 of 8 simulations"),
        "{told}"
    );
    assert!(
        told.contains("nothing was deleted") && told.contains("--yes"),
        "{told}"
    );
    let told = refused(path, &["runs", "delete", "7", "--yes", "--store", "s.db"]);
    assert!(told.contains("no run with the number 7"), "{told}");
    let told = refused(path, &["runs", "tag", "1", "x", "--store", "none.db"]);
    assert!(told.contains("there is no store"), "{told}");
    assert!(!path.join("none.db").exists());
    verified(&path.join("s.db"));
    let store = Store::open_read_only(STUDIES, &path.join("s.db")).unwrap();
    assert_eq!(store.runs().unwrap().len(), 1);
}

#[test]
fn runs_are_listed_by_their_tags_with_their_notes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for number in 1..=3 {
        night(&path.join("s.db"), number);
    }
    let call = |arguments: &[&str]| {
        let done = output(program(path, &[arguments, &["--store", "s.db"]].concat()));
        assert!(done.status.success(), "{arguments:?}: {done:?}");
        (said(&done.stdout), said(&done.stderr))
    };
    let before = call(&["runs"]).0;
    assert!(
        !before.contains("Tags") && !before.contains("Note"),
        "{before}"
    );
    let (_, told) = call(&["runs", "tag", "night-02", "paper", "figure-3"]);
    assert!(
        told.contains("run 2 night-02: figure-3, paper; no note"),
        "{told}"
    );
    call(&["runs", "tag", "latest", "paper"]);
    call(&["runs", "note", "2", "with the new nodes"]);
    let listed = call(&[
        "runs",
        "--tag",
        "paper",
        "--name",
        "night-*",
        "--since",
        "2026-01-01",
    ])
    .0;
    let rows: Vec<&str> = listed.lines().skip(2).collect();
    assert_eq!(rows.len(), 2, "{listed}");
    assert!(
        rows[1].contains("figure-3 paper") && rows[1].contains("with the new nodes"),
        "{listed}"
    );
    let json: Value =
        serde_json::from_str(&call(&["runs", "--tag", "figure-3", "--json"]).0).unwrap();
    assert_eq!(json[0]["tags"], serde_json::json!(["figure-3", "paper"]));
    assert_eq!(json[0]["note"], "with the new nodes");
    assert_eq!(json.as_array().unwrap().len(), 1);
    let shown = call(&["show", "2"]).0;
    assert!(
        shown.contains("figure-3, paper") && shown.contains("with the new nodes"),
        "{shown}"
    );
    call(&["runs", "tag", "2", "paper", "--remove"]);
    call(&["runs", "note", "2", ""]);
    let json: Value = serde_json::from_str(&call(&["runs", "--tag", "paper", "--json"]).0).unwrap();
    assert_eq!(
        (json[0]["run"].clone(), json[0]["note"].clone()),
        (3.into(), Value::Null)
    );
    let (listed, told) = call(&["runs", "--until", "2020-12-31"]);
    assert!(
        listed.is_empty() && told.contains("no run in s.db meets these"),
        "{told}"
    );
    let told = refused(
        path,
        &["runs", "--study", "overbookings", "--store", "s.db"],
    );
    assert!(told.contains("no study is called `overbookings`"), "{told}");
    let told = refused(path, &["runs", "--since", "yesterday", "--store", "s.db"]);
    assert!(told.contains("2026-11-24"), "{told}");
}

/// A limit on the size of files stands for a full disk: what is removed fits below it, the copy of
/// what stays does not.
#[cfg(target_os = "linux")]
#[test]
fn where_the_room_of_an_old_store_cannot_be_given_back_the_run_is_gone_and_a_warning_says_what_to_do()
 {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let store = path.join("s.db");
    night(&store, 1);
    for number in 2..40 {
        night(&store, number);
    }
    rusqlite::Connection::open(&store)
        .unwrap()
        .execute_batch("PRAGMA auto_vacuum = NONE; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    let blocks = fs::metadata(&store).unwrap().len() / 512 / 3;
    let mut shell = std::process::Command::new("bash");
    let limited = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"", blocks / 2);
    shell.args(["-c", &limited, env!("CARGO_BIN_EXE_bookahead")]);
    shell.args(["runs", "delete", "1", "--yes", "--store", "s.db"]);
    let done = output({
        shell.current_dir(path);
        shell
    });
    let told = said(&done.stderr);
    assert!(done.status.success(), "{told}");
    assert!(told.contains("made by an older version"), "{told}");
    assert!(told.contains("its room was not given back"), "{told}");
    assert!(
        told.contains("bookahead runs compact --store s.db"),
        "{told}"
    );
    verified(&store);
    let runs = || {
        Store::open_read_only(STUDIES, &store)
            .unwrap()
            .runs()
            .unwrap()
            .len()
    };
    assert_eq!(runs(), 38);
    let done = output(program(path, &["runs", "compact", "--store", "s.db"]));
    assert!(done.status.success(), "{done:?}");
    assert_eq!(runs(), 38);
    verified(&store);
}
