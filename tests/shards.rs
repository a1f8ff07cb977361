//! An experiment in shares: whatever runs them, in whatever order, the joined store has the tables
//! of one machine's.

mod folder;

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::Value;

use crate::support::program::{folder, output, program, report, run, text};

/// What clocks, machines and processes say; everything else must be the same, the numbers of rows
/// too.
const OF_THE_MACHINE: [(&str, &[&str]); 3] = [
    (
        "run",
        &[
            "source",
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
    ("simulation_timing", &["wall_seconds", "finished"]),
    ("simulation", &["attempts"]),
];

/// Every row of every table in the order of its key.
pub fn tables(store: &Path) -> Vec<String> {
    let connection = Connection::open(store).expect("a store");
    let texts = |sql: &str, of: &str| -> Vec<String> {
        let mut statement = connection.prepare(sql).expect("a question");
        let rows = statement
            .query_map([of], |row| row.get(0))
            .expect("an answer");
        rows.map(|row| row.expect("a text")).collect()
    };
    let names = texts(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE ?1 ORDER BY name",
        "sqlite_%",
    );
    let mut lines = Vec::new();
    for name in &names {
        let left_out = OF_THE_MACHINE
            .iter()
            .find(|(table, _)| table == name)
            .map_or(&[][..], |(_, columns)| columns);
        let columns: Vec<String> = texts("SELECT name FROM pragma_table_info(?1)", name)
            .into_iter()
            .filter(|column| !left_out.contains(&column.as_str()))
            .map(|column| format!("\"{column}\""))
            .collect();
        let key = texts(
            "SELECT '\"' || name || '\"' FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk",
            name,
        );
        let mut statement = connection
            .prepare(&format!(
                "SELECT {} FROM \"{name}\" ORDER BY {}",
                columns.join(", "),
                key.join(", ")
            ))
            .expect("a table");
        let mut rows = statement.query([]).expect("rows");
        while let Some(row) = rows.next().expect("a row") {
            let values: Vec<Value> = (0..columns.len())
                .map(|column| row.get_unwrap(column))
                .collect();
            lines.push(format!("{name} {values:?}"));
        }
    }
    lines
}

/// Holds two stores against each other.
pub fn same_tables(one: &Path, other: &Path) {
    let (left, right) = (tables(one), tables(other));
    if left != right {
        let pair = left.iter().zip(&right).find(|(left, right)| left != right);
        panic!("{} and {} rows, first {pair:?}", left.len(), right.len());
    }
}

/// Runs a share into `shards/shard-I-of-N.db`.
fn share(path: &Path, shard: &str, more: &[&str]) -> (i32, String) {
    let (number, of) = shard.split_once('/').expect("I/N");
    let store = format!("shards/shard-{number}-of-{of}.db");
    let arguments = ["run", "small.toml", "--store", &store, "--shard", shard];
    said(path, &[&arguments, more].concat())
}

/// Exit code and everything that the program printed.
pub fn said(path: &Path, arguments: &[&str]) -> (i32, String) {
    let ended = output(program(path, arguments));
    (
        ended.status.code().unwrap_or(-1),
        text(&ended.stdout) + &text(&ended.stderr),
    )
}

/// The same of a command that must end well.
pub fn succeeds(path: &Path, arguments: &[&str]) -> String {
    let (code, said) = said(path, arguments);
    assert_eq!(code, 0, "{arguments:?}: {said}");
    said
}

/// A folder with the store of one machine and those of three shares.
fn three_shares() -> tempfile::TempDir {
    let folder = folder();
    let path = folder.path();
    assert!(
        run(path, "single", &["--workers", "2"])
            .status()
            .expect("runs")
            .success()
    );
    for (shard, workers) in [("3/3", "1"), ("1/3", "4"), ("2/3", "2")] {
        let (code, said) = share(path, shard, &["--workers", workers]);
        assert_eq!(code, 0, "{said}");
    }
    folder
}

#[test]
fn shares_run_in_any_order_and_joined_are_the_tables_and_the_report_of_one_machine_byte_for_byte() {
    let folder = three_shares();
    let path = folder.path();
    let said = succeeds(path, &["merge", "all.db", "shards"]);
    assert!(said.contains("80 of 80 points done"), "{said}");
    assert!(tables(&path.join("single.db")).len() > 10_000);
    same_tables(&path.join("single.db"), &path.join("all.db"));
    succeeds(
        path,
        &[
            "report",
            "latest",
            "--store",
            "all.db",
            "--out",
            "all-report",
        ],
    );
    assert!(report(&path.join("all-report")) == report(&path.join("single-report")));
    // A run of the whole finds nothing left to do.
    let again = succeeds(
        path,
        &["run", "small.toml", "--store", "all.db", "--dry-run"],
    );
    assert!(
        again.contains("80 points done already, 0 points"),
        "{again}"
    );
}

#[test]
fn joining_again_or_one_after_the_other_changes_nothing() {
    let folder = three_shares();
    let path = folder.path();
    for (shares, code) in [
        (&["shards/shard-2-of-3.db"][..], 1),
        (&["shards/shard-3-of-3.db", "shards/shard-2-of-3.db"], 1),
        (&["shards"], 0),
        (&["shards"], 0),
    ] {
        let (ended, said) = said(path, &[&["merge", "slow.db"], shares].concat());
        assert_eq!(ended, code, "{said}");
    }
    same_tables(&path.join("single.db"), &path.join("slow.db"));
    let said = succeeds(path, &["merge", "slow.db", "shards"]);
    assert!(
        said.contains("0 simulations added, 48 already there"),
        "{said}"
    );
    assert!(said.contains("0 rows written"), "{said}");
    let connection = Connection::open(path.join("slow.db")).expect("a store");
    let (runs, check): (i64, String) = (
        connection
            .query_row("SELECT count(*) FROM run", [], |row| row.get(0))
            .expect("a count"),
        connection
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .expect("checked"),
    );
    assert_eq!((runs, check.as_str()), (1, "ok"));
}

#[test]
fn a_lost_share_is_missing_until_it_is_run_again_alone() {
    let folder = three_shares();
    let path = folder.path();
    for lost in fs::read_dir(path.join("shards")).expect("a folder") {
        let lost = lost.expect("an entry").path();
        if lost.to_string_lossy().contains("shard-2-of-3") {
            fs::remove_file(lost).expect("removed");
        }
    }
    let (code, said) = said(path, &["merge", "all.db", "shards"]);
    assert!(code == 1 && said.contains("missing"), "{said}");
    let (code, said) = share(path, "2/3", &[]);
    assert_eq!(code, 0, "{said}");
    succeeds(path, &["merge", "all.db", "shards"]);
    same_tables(&path.join("single.db"), &path.join("all.db"));
}

#[test]
fn a_share_says_what_it_is_and_where_and_another_command_line_for_it_does_nothing_twice() {
    let folder = folder();
    let path = folder.path();
    let said = succeeds(path, &["run", "small.toml", "--shard", "2/3", "--dry-run"]);
    assert!(said.contains("share 2/3 of 80 points: "), "{said}");
    let said = succeeds(path, &["run", "small.toml", "--shard", "2/3"]);
    assert!(
        said.contains("data/small.shards/shard-2-of-3.db") && said.contains("bookahead merge"),
        "{said}"
    );
    assert!(!path.join("reports").exists(), "a share has no report");
    let again = succeeds(path, &["run", "small.toml", "--shard", "2/3"]);
    assert!(again.contains("0 points from 0 simulations"), "{again}");
    for wrong in ["0/3", "4/3", "2", "x/y"] {
        let (code, said) = self::said(path, &["run", "small.toml", "--shard", wrong]);
        assert!(code == 2 && said.contains("I/N"), "{said}");
    }
}

#[test]
fn other_configurations_seeds_and_results_are_refused_and_nothing_is_written() {
    let folder = three_shares();
    let path = folder.path();
    let refused = |arguments: &[&str], words: &[&str]| {
        let (code, said) = said(path, arguments);
        assert_eq!(code, 2, "{said}");
        for word in words {
            assert!(said.contains(word), "no `{word}` in: {said}");
        }
        assert!(!path.join("out.db").exists(), "nothing is written");
    };
    let one = "shards/shard-1-of-3.db";
    let changed = fs::read_to_string(path.join("small.toml"))
        .expect("a file")
        .replace("nodes = 64", "nodes = 32");
    fs::write(path.join("changed.toml"), changed).expect("written");
    for (name, arguments) in [
        ("other.db", &["changed.toml", "--shard", "2/3"][..]),
        ("seed.db", &["small.toml", "--shard", "2/3", "--seed", "7"]),
    ] {
        let command = [&["run", "--store", name], arguments].concat();
        succeeds(path, &command);
    }
    refused(
        &["merge", "out.db", one, "other.db"],
        &[one, "other.db", "configuration", "Nothing was written"],
    );
    refused(&["merge", "out.db", one, "seed.db"], &["seed", "--seed"]);
    refused(&["merge", "out.db", "missing.db"], &["missing.db"]);
    refused(&["merge", one, one], &["into itself"]);
    let other_name = path.join("hard.db");
    fs::hard_link(path.join(one), &other_name).expect("linked");
    refused(&["merge", "hard.db", one], &["into itself"]);
    fs::remove_file(other_name).expect("removed");

    // The same simulation with another result, and the same place with another point, of an older
    // version: without digests.
    fs::copy(path.join("single.db"), path.join("forged.db")).expect("copied");
    let forged = Connection::open(path.join("forged.db")).expect("a store");
    forged
        .execute_batch(
            "UPDATE simulation SET digest = NULL; UPDATE run SET digest = NULL;
             UPDATE job_outcome SET start = start + 1 WHERE job = 7 AND start IS NOT NULL",
        )
        .expect("changed");
    refused(
        &["merge", "out.db", one, "forged.db"],
        &["contradict", "job_outcome", "forged.db"],
    );
    let before = tables(&path.join("single.db"));
    let (code, said) = said(path, &["merge", "forged.db", one]);
    assert!(code == 2 && said.contains("job_outcome"), "{said}");
    let (code, said) = self::said(path, &["merge", "single.db", "forged.db"]);
    assert!(code == 2 && said.contains("job_outcome"), "{said}");
    assert!(
        tables(&path.join("single.db")) == before,
        "nothing is written"
    );
    forged
        .execute_batch(
            "UPDATE job_outcome SET start = start - 1 WHERE job = 7 AND start IS NOT NULL;
             UPDATE run SET program_version = '0.0.1'",
        )
        .expect("changed");
    refused(
        &["merge", "out.db", one, "forged.db"],
        &["0.0.1", "--mixed-programs"],
    );
    let (code, said) = self::said(
        path,
        &["merge", "mixed.db", one, "forged.db", "--mixed-programs"],
    );
    assert_eq!(code, 0, "{said}");
    forged
        .execute_batch("UPDATE run SET program_version = (SELECT '0.1.0'); UPDATE run_input SET content = 'other'")
        .expect("changed");
    refused(
        &["merge", "out.db", one, "forged.db", "--mixed-programs"],
        &["other content", "workload"],
    );
}

#[test]
fn shares_of_every_kind_of_study_are_joined_with_all_their_tables() {
    for (text, filled) in [
        (
            include_str!("goldens/experiments/co-reservation.toml"),
            &[
                "cluster_measure",
                "co_request",
                "co_part",
                "co_probe",
                "time_line",
            ][..],
        ),
        (
            include_str!("goldens/experiments/reservations.toml"),
            &["reservation_outcome", "offer", "simulation_measure"],
        ),
        (
            include_str!("goldens/experiments/closed-loop.toml"),
            &["job_outcome", "simulation_measure"],
        ),
        (
            include_str!("goldens/experiments/virtual-reservations.toml"),
            &["virtual_trial"],
        ),
        (
            include_str!("goldens/experiments/provisioning-advertised.toml"),
            &["workflow_submission", "workflow_task", "workflow_effect"],
        ),
        (
            include_str!("goldens/experiments/provisioning-sites.toml"),
            &[
                "workflow_site",
                "workflow_submission",
                "workflow_front",
                "workflow_slot",
                "workflow_task",
            ],
        ),
    ] {
        let folder = folder();
        let path = folder.path();
        fs::write(path.join("small.toml"), text).expect("written");
        assert!(run(path, "single", &[]).status().expect("runs").success());
        for shard in ["1/2", "2/2"] {
            let (code, said) = share(path, shard, &[]);
            assert_eq!(code, 0, "{said}");
        }
        succeeds(path, &["merge", "all.db", "shards"]);
        same_tables(&path.join("single.db"), &path.join("all.db"));
        let lines = tables(&path.join("all.db"));
        for table in filled {
            let rows = lines
                .iter()
                .filter(|line| line.starts_with(&format!("{table} ")));
            assert!(rows.count() > 1, "{table} is empty");
        }
    }
}

#[test]
fn a_join_that_is_killed_at_any_instant_goes_on_with_the_same_command() {
    let folder = three_shares();
    let path = folder.path();
    let mut in_the_middle = 0;
    for milliseconds in (0..).step_by(15) {
        let mut child = program(path, &["merge", "all.db", "shards"])
            .spawn()
            .expect("starts");
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        let ended = child.try_wait().expect("a child").is_some();
        child.kill().expect("a child may be killed");
        child.wait().expect("a child");
        if ended {
            break;
        }
        in_the_middle += 1;
    }
    assert!(in_the_middle > 0, "no kill met a join");
    succeeds(path, &["merge", "all.db", "shards"]);
    same_tables(&path.join("single.db"), &path.join("all.db"));
}

#[test]
fn results_with_more_detail_take_the_place_of_those_with_less_and_never_the_other_way_round() {
    let folder = folder();
    let path = folder.path();
    assert!(run(path, "single", &[]).status().expect("runs").success());
    assert!(
        run(path, "totals", &["--outcomes", "metrics"])
            .status()
            .expect("runs")
            .success()
    );
    succeeds(path, &["merge", "all.db", "totals.db"]);
    same_tables(&path.join("totals.db"), &path.join("all.db"));
    succeeds(path, &["merge", "all.db", "single.db"]);
    same_tables(&path.join("single.db"), &path.join("all.db"));
    let again = succeeds(path, &["merge", "all.db", "totals.db", "single.db"]);
    assert!(again.contains("0 rows written"), "{again}");
    same_tables(&path.join("single.db"), &path.join("all.db"));
}

#[test]
fn more_stores_than_sqlite_reads_at_once_are_joined_to_the_same_bytes() {
    let folder = folder();
    let path = folder.path();
    assert!(run(path, "single", &[]).status().expect("runs").success());
    for number in 1..=12 {
        let (code, said) = share(path, &format!("{number}/12"), &["--workers", "1"]);
        assert_eq!(code, 0, "{said}");
    }
    succeeds(path, &["merge", "all.db", "shards"]);
    same_tables(&path.join("single.db"), &path.join("all.db"));
}

#[test]
fn of_two_joins_into_one_store_at_once_each_ends_well_or_says_that_the_other_is_there() {
    let folder = three_shares();
    let path = folder.path();
    for round in 0..3 {
        let out = format!("all-{round}.db");
        let both: Vec<_> = (0..2)
            .map(|_| {
                program(path, &["merge", &out, "shards"])
                    .stderr(std::process::Stdio::piped())
                    .spawn()
                    .expect("starts")
            })
            .collect();
        for child in both {
            let ended = child.wait_with_output().expect("a child");
            let said = text(&ended.stderr);
            assert!(
                ended.status.success()
                    || said.contains("wait until it is done")
                    || said.contains("run the same command again"),
                "{said}"
            );
            assert!(
                ended.status.success()
                    || !said.contains("`small`")
                    || said.contains("nothing of `small` was written"),
                "{said}"
            );
        }
        succeeds(path, &["merge", &out, "shards"]);
        same_tables(&path.join("single.db"), &path.join(&out));
    }
}

#[test]
fn a_store_that_is_damaged_is_named_with_what_to_do() {
    let folder = three_shares();
    let path = folder.path();
    let damaged = Connection::open(path.join("shards/shard-2-of-3.db")).expect("a store");
    damaged
        .execute_batch("UPDATE point SET identity = CAST(x'ff6f' AS TEXT) WHERE id = (SELECT min(id) FROM point)")
        .expect("changed");
    let (code, said) = said(path, &["merge", "all.db", "shards"]);
    assert_eq!(code, 2, "{said}");
    for words in ["shard-2-of-3.db", "not as it was written", "check --store"] {
        assert!(said.contains(words), "no `{words}` in: {said}");
    }
    let (code, said) = self::said(path, &["check", "--store", "shards/shard-2-of-3.db"]);
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("run 1 (`small`) is not as it was written"),
        "{said}"
    );
    let (code, said) = self::said(
        path,
        &[
            "report",
            "latest",
            "--verify",
            "--store",
            "shards/shard-2-of-3.db",
            "--out",
            "report",
        ],
    );
    assert_eq!(code, 2, "{said}");
    assert!(!path.join("report").exists(), "{said}");
    succeeds(path, &["check", "--store", "single.db"]);
}

#[test]
fn hidden_files_of_a_folder_are_no_shares() {
    let folder = three_shares();
    let path = folder.path();
    fs::write(path.join("shards/.copy-under-way.db"), "half a store").expect("written");
    succeeds(path, &["merge", "all.db", "shards"]);
    same_tables(&path.join("single.db"), &path.join("all.db"));
}

#[test]
fn a_backup_is_a_store_that_is_read_and_written_like_the_first() {
    let folder = three_shares();
    let path = folder.path();
    let said = succeeds(path, &["backup", "single.db", "copy.db"]);
    assert!(said.contains("are compared with their digests"), "{said}");
    same_tables(&path.join("single.db"), &path.join("copy.db"));
    let (code, said) = self::said(path, &["backup", "single.db", "copy.db"]);
    assert!(
        code == 2 && said.contains("nothing is overwritten"),
        "{said}"
    );
    succeeds(path, &["run", "small.toml", "--store", "copy.db"]);
}
