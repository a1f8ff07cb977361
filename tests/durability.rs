//! What a store outlives: kills at any instant, full disks, read-only folders, two programs at
//! once, copies of a store that is open, a journal that was cut. `docs/durability.md` says what is
//! promised and how often it was tried.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod faults;
#[cfg(unix)]
mod interruption;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod power;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::support::program::{dump, folder, output, program, report, run, text};

/// A sweep of about a second with many commits on the way: kills meet it in every phase.
const LONG: &str = r#"
[experiment]
name = "long"
replications = 24
[workload]
model = "lublin-feitelson"
jobs = 24000
nodes = 64
battery_jobs = 800
load.value = 2.0
[failures]
source = "generated"
[[axis]]
key = "scheduling.strategy"
values = ["easy-backfilling", "heuristic-planning", "comprehensive-overbooking", "heuristic-overbooking"]
[[axis]]
key = "acceptance.pof_max"
range = { from = 0.1, to = 0.5, step = 0.1 }
"#;

/// Kills of the test, unless `BOOKAHEAD_KILLS` asks for more.
const KILLS: usize = 50;

fn succeeds(mut command: Command) {
    let ended = output_of(&mut command);
    assert!(ended.0, "{}", ended.1);
}

fn output_of(command: &mut Command) -> (bool, String) {
    let ended = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .expect("the program starts");
    (ended.status.success(), text(&ended.stderr))
}

fn kill(mut child: Child) -> bool {
    let ended = child.try_wait().expect("a child").is_some();
    child.kill().expect("a child may be killed");
    child.wait().expect("a child");
    !ended
}

fn rows(store: &Path, query: &str) -> BTreeSet<String> {
    if !store.exists() {
        return BTreeSet::new();
    }
    let connection = rusqlite::Connection::open(store).expect("a store opens");
    let Ok(mut statement) = connection.prepare(query) else {
        // Killed before the tables were made: an empty file.
        return BTreeSet::new();
    };
    let mut rows = statement.query([]).expect("rows");
    let mut found = BTreeSet::new();
    while let Some(row) = rows.next().expect("a row") {
        found.insert(row.get(0).expect("a text"));
    }
    found
}

/// Identities of the simulations that the store says are done.
fn done(store: &Path) -> BTreeSet<String> {
    rows(store, "SELECT identity FROM simulation WHERE state = 2")
}

/// Simulations that are marked as done and lack a part of their rows: there must never be one.
fn half_done(store: &Path) -> BTreeSet<String> {
    rows(
        store,
        "SELECT m.identity FROM simulation m LEFT JOIN simulation_metrics k ON k.simulation = m.id
         WHERE m.state = 2 AND (k.simulation IS NULL
            OR k.submitted <> (SELECT count(*) FROM job_outcome o WHERE o.simulation = m.id)
            OR NOT EXISTS (SELECT 1 FROM point p WHERE p.simulation = m.id))",
    )
}

fn whole(store: &Path) {
    let connection = rusqlite::Connection::open(store).expect("a store opens");
    let check: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("checked");
    assert_eq!(check, "ok");
    let orphans: bool = connection
        .prepare("PRAGMA foreign_key_check")
        .and_then(|mut statement| statement.exists([]))
        .expect("checked");
    assert!(!orphans, "rows without the row that they refer to");
}

fn remove_store(store: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{suffix}", store.display()));
    }
}

fn long_folder() -> tempfile::TempDir {
    let folder = folder();
    fs::write(folder.path().join("small.toml"), LONG).expect("written");
    folder
}

#[test]
fn one_two_and_four_workers_leave_the_same_bytes() {
    let folder = folder();
    let path = folder.path();
    for workers in ["1", "2", "4"] {
        succeeds(run(path, workers, &["--workers", workers]));
    }
    let (tables, files) = (dump(&path.join("1.db")), report(&path.join("1-report")));
    assert!(tables.len() > 10_000 && files.len() > 3);
    for name in ["2", "4"] {
        same(path, name, &tables, &files);
    }
}

fn same(path: &Path, name: &str, tables: &[String], files: &[(std::path::PathBuf, Vec<u8>)]) {
    assert!(
        dump(&path.join(format!("{name}.db"))) == tables,
        "{name}: other rows"
    );
    let other = report(&path.join(format!("{name}-report")));
    for (one, two) in files.iter().zip(&other) {
        if one != two {
            let (left, right) = (text(&one.1), text(&two.1));
            let pair = left
                .lines()
                .zip(right.lines())
                .find(|(left, right)| left != right);
            panic!(
                "{name}: {} and {} differ: {pair:?}",
                one.0.display(),
                two.0.display()
            );
        }
    }
    assert_eq!(files.len(), other.len(), "{name}: as many files");
}

#[test]
fn a_sweep_killed_at_random_instants_loses_nothing_that_was_done_and_ends_with_the_same_bytes() {
    let folder = long_folder();
    let path = folder.path();
    let begun = Instant::now();
    succeeds(run(path, "whole", &["--workers", "2"]));
    let undisturbed = begun.elapsed();
    let (tables, files) = (
        dump(&path.join("whole.db")),
        report(&path.join("whole-report")),
    );

    let wanted = std::env::var("BOOKAHEAD_KILLS")
        .ok()
        .and_then(|kills| kills.parse().ok())
        .unwrap_or(KILLS);
    let mut random = ChaCha8Rng::seed_from_u64(50);
    let store = path.join("killed.db");
    let (mut kills, mut with_work, mut endings) = (0, 0, 0);
    while kills < wanted || endings == 0 {
        let before = done(&store);
        let child = run(path, "killed", &["--workers", "2"])
            .spawn()
            .expect("the program starts");
        std::thread::sleep(undisturbed.mul_f64(random.random_range(0.0..0.6)));
        let killed = kill(child);
        kills += usize::from(killed);
        let after = done(&store);
        assert!(after.is_superset(&before), "what was done is still done");
        assert_eq!(half_done(&store), BTreeSet::new());
        with_work += usize::from(killed && after.len() > before.len());
        if !killed {
            // A run to its end, undisturbed or the last of many: the same bytes, and a new
            // beginning.
            succeeds(run(path, "killed", &["--workers", "2"]));
            same(path, "killed", &tables, &files);
            whole(&store);
            endings += 1;
            remove_store(&store);
        }
    }
    println!("{kills} kills, {with_work} after new results, {endings} sweeps to their end");
    assert!(
        with_work * 4 > kills,
        "most kills met a sweep that had done something: {with_work}"
    );
}

/// A full disk, a bigger disk, the same command: nothing is lost and nothing is done twice.
fn outlives_a_full_disk(
    path: &Path,
    name: &str,
    full: Command,
    said_full: &[&str],
    bigger: Command,
) {
    let (ended_well, said) = output_of(&mut { full });
    assert!(!ended_well, "{said}");
    for words in said_full {
        assert!(said.contains(words), "no `{words}` in: {said}");
    }
    let store = path.join(format!("{name}.db"));
    assert_eq!(half_done(&store), BTreeSet::new());
    let kept = done(&store).len();
    assert!(
        kept > 0,
        "something had been committed before the disk was full: {said}"
    );
    let (ended_well, said) = output_of(&mut { bigger });
    assert!(ended_well, "{said}");
    whole(&store);
}

#[cfg(target_os = "linux")]
#[test]
fn a_limit_to_the_size_of_files_is_said_and_the_same_command_goes_on_without_it() {
    let folder = long_folder();
    let path = folder.path();
    succeeds(run(path, "whole", &[]));
    let program = env!("CARGO_BIN_EXE_bookahead");
    let mut limited = Command::new("bash");
    limited.current_dir(path).args([
        "-c",
        "trap '' XFSZ; ulimit -f 5000; exec \"$@\"",
        "limited",
        program,
        "run",
        "small.toml",
        "--store",
        "limited.db",
        "--report",
        "limited-report",
    ]);
    outlives_a_full_disk(
        path,
        "limited",
        limited,
        &["limited.db", "size limit", "run the same command again"],
        run(path, "limited", &[]),
    );
    same(
        path,
        "limited",
        &dump(&path.join("whole.db")),
        &report(&path.join("whole-report")),
    );
}

/// A file system of six megabytes in a name space of its own, which not every machine lets a
/// program make.
#[cfg(target_os = "linux")]
#[test]
fn a_small_file_system_that_is_full_is_said_and_the_same_command_goes_on_when_there_is_room() {
    let folder = long_folder();
    let path = folder.path();
    let script = r#"
set -u
mkdir small && mount -t tmpfs -o size=6m none small || exit 77
"$1" run small.toml --store small/s.db --report r1 >/dev/null 2>full.txt; echo "$?" >code.txt
cp small/s.db before.db; cp small/s.db-wal before.db-wal 2>/dev/null
mount -o remount,size=200m small || exit 78
"$1" run small.toml --store small/s.db --report small-report >/dev/null 2>again.txt || exit 79
cp small/s.db* .
"#;
    let ended = Command::new("unshare")
        .args([
            "-rm",
            "sh",
            "-c",
            script,
            "small",
            env!("CARGO_BIN_EXE_bookahead"),
        ])
        .current_dir(path)
        .output();
    match ended.map(|ended| (ended.status.code(), text(&ended.stderr))) {
        Ok((Some(0), _)) => {}
        Ok((Some(79), said)) => panic!("it did not go on: {said}"),
        other => {
            println!("skipped: this machine lets nobody mount a small file system ({other:?})");
            return;
        }
    }
    let said = fs::read_to_string(path.join("full.txt")).expect("kept");
    assert!(
        said.contains("is full") && said.contains("run the same command again"),
        "{said}"
    );
    assert_eq!(
        fs::read_to_string(path.join("code.txt"))
            .expect("kept")
            .trim(),
        "1"
    );
    let before = done(&path.join("before.db"));
    assert!(
        !before.is_empty(),
        "something was committed before the disk was full"
    );
    whole(&path.join("s.db"));
    assert!(done(&path.join("s.db")).is_superset(&before));
    fs::rename(path.join("s.db"), path.join("small.db")).expect("moved");
    succeeds(run(path, "whole", &[]));
    same(
        path,
        "small",
        &dump(&path.join("whole.db")),
        &report(&path.join("whole-report")),
    );
}

/// The owner of everything may write everywhere: then the test becomes nobody.
#[cfg(target_os = "linux")]
#[test]
fn a_read_only_folder_is_said_at_once_and_its_store_can_still_be_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    let path = folder.path();
    succeeds(run(path, "kept", &[]));
    fs::create_dir(path.join("locked")).expect("made");
    fs::copy(path.join("kept.db"), path.join("locked/kept.db")).expect("copied");
    let mode = |name: &str, mode: u32| {
        fs::set_permissions(path.join(name), fs::Permissions::from_mode(mode)).expect("allowed");
    };
    let copy = path.join("bookahead");
    fs::copy(env!("CARGO_BIN_EXE_bookahead"), &copy).expect("copied");
    mode("", 0o755);
    mode("locked/kept.db", 0o444);
    // A writer that was killed left a journal, and no file of shared memory.
    let writer = rusqlite::Connection::open(path.join("kept.db")).expect("a store");
    writer
        .execute_batch("UPDATE run SET description = 'in the journal'")
        .expect("written");
    for ending in ["", "-wal"] {
        let from = path.join(format!("kept.db{ending}"));
        let to = path.join(format!("locked/left.db{ending}"));
        fs::copy(from, to).expect("copied");
    }
    drop(writer);
    mode("locked", 0o555);
    let owner_of_everything = fs::write(path.join("locked/probe"), "").is_ok();
    let command = |arguments: &[&str]| {
        let mut command = if owner_of_everything {
            let mut command = Command::new("setpriv");
            command
                .args(["--reuid", "65534", "--clear-groups"])
                .arg(&copy);
            command
        } else {
            Command::new(&copy)
        };
        command.args(arguments).current_dir(path);
        command
    };
    let call = |arguments: &[&str]| output_of(&mut command(arguments));
    for store in ["locked/kept.db", "locked/new.db"] {
        let (well, said) = call(&["run", "small.toml", "--store", store]);
        assert!(
            !well && said.contains(store) && said.contains("read-only"),
            "{said}"
        );
        assert!(said.contains("--store"), "what to do: {said}");
    }
    let read = command(&["runs", "--json", "--store", "locked/left.db"])
        .output()
        .expect("the program starts");
    let said = text(&read.stderr);
    assert!(
        read.status.success() && text(&read.stdout).contains("in the journal"),
        "{said}"
    );
    let out = tempfile::tempdir().expect("a folder");
    fs::set_permissions(out.path(), fs::Permissions::from_mode(0o777)).expect("allowed");
    let to = out.path().join("report");
    let to = to.to_str().expect("a path");
    let (well, said) = call(&["report", "latest", "--store", "locked/kept.db", "--out", to]);
    assert!(well, "{said}");
    mode("locked", 0o755);
}

#[test]
fn two_programs_that_run_the_same_sweep_into_one_store_both_end_well_with_the_same_bytes() {
    let folder = long_folder();
    let path = folder.path();
    succeeds(run(path, "whole", &[]));
    let (tables, files) = (
        dump(&path.join("whole.db")),
        report(&path.join("whole-report")),
    );
    for round in 0..5 {
        let store = path.join("shared.db");
        let start = |report: &str| {
            let mut command = program(
                path,
                &[
                    "run",
                    "small.toml",
                    "--workers",
                    "2",
                    "--store",
                    "shared.db",
                    "--report",
                    report,
                ],
            );
            command.stderr(Stdio::piped());
            command.spawn().expect("the program starts")
        };
        let (one, two) = (start("one-report"), start("shared-report"));
        for child in [one, two] {
            let ended = child.wait_with_output().expect("it ends");
            assert!(
                ended.status.success(),
                "round {round}: {}",
                text(&ended.stderr)
            );
        }
        whole(&store);
        same(path, "shared", &tables, &files);
        let connection = rusqlite::Connection::open(&store).expect("a store");
        let runs: Vec<(String, i64, i64)> = connection
            .prepare("SELECT state, points_done, points FROM v_run ORDER BY run")
            .and_then(|mut statement| {
                statement
                    .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                    .and_then(Iterator::collect)
            })
            .expect("runs");
        let complete = ("done".to_owned(), 480, 480);
        assert_eq!(runs, [complete.clone(), complete], "round {round}");
        drop(connection);
        remove_store(&store);
    }
}

#[test]
fn a_store_that_is_copied_while_a_sweep_writes_to_it_opens_and_goes_on_from_what_it_has() {
    let folder = long_folder();
    let path = folder.path();
    succeeds(run(path, "whole", &[]));
    let (tables, files) = (
        dump(&path.join("whole.db")),
        report(&path.join("whole-report")),
    );
    let mut child = run(path, "open", &["--workers", "2"])
        .spawn()
        .expect("the program starts");
    let mut copies = Vec::new();
    // Seldomer and seldomer, so that a busy machine makes few more of them than an idle one.
    let mut pause = Duration::from_millis(150);
    while child.try_wait().expect("a child").is_none() {
        std::thread::sleep(pause);
        pause = pause.mul_f64(1.3);
        let name = format!("copy-{}", copies.len());
        if path.join("open.db").exists() {
            for suffix in ["", "-wal"] {
                let _ = fs::copy(
                    path.join(format!("open.db{suffix}")),
                    path.join(format!("{name}.db{suffix}")),
                );
            }
            copies.push(name);
        }
    }
    assert!(copies.len() > 2, "{} copies", copies.len());
    for (index, name) in copies.iter().enumerate() {
        let store = path.join(format!("{name}.db"));
        let before = done(&store);
        // Some while the first program is still there, some after it has gone: both go on at once.
        let mut again = run(path, name, &[]);
        let (well, said) = output_of(&mut again);
        assert!(
            well,
            "copy {index} with {} simulations: {said}",
            before.len()
        );
        assert!(done(&store).is_superset(&before));
        whole(&store);
        same(path, name, &tables, &files);
    }
}

#[test]
fn a_journal_that_was_cut_or_lost_costs_what_stood_in_it_and_nothing_else() {
    let folder = long_folder();
    let path = folder.path();
    let begun = Instant::now();
    succeeds(run(path, "whole", &["--workers", "2"]));
    let undisturbed = begun.elapsed();
    let (tables, files) = (
        dump(&path.join("whole.db")),
        report(&path.join("whole-report")),
    );
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let (store, journal) = (path.join("cut.db"), path.join("cut.db-wal"));
    for round in 0..8 {
        let child = run(path, "cut", &["--workers", "2"])
            .spawn()
            .expect("the program starts");
        std::thread::sleep(undisturbed.mul_f64(random.random_range(0.4..0.8)));
        kill(child);
        if let Ok(length) = fs::metadata(&journal).map(|file| file.len()) {
            let left = if round == 0 {
                0
            } else {
                random.random_range(0..=length)
            };
            fs::OpenOptions::new()
                .write(true)
                .open(&journal)
                .and_then(|file| file.set_len(left))
                .expect("cut");
        }
        if round == 1 {
            let _ = fs::remove_file(&journal);
        }
        assert_eq!(half_done(&store), BTreeSet::new(), "round {round}");
        succeeds(run(path, "cut", &[]));
        whole(&store);
        same(path, "cut", &tables, &files);
        remove_store(&store);
    }
}

#[test]
fn a_store_that_lost_its_second_half_is_said_to_be_damaged_by_everything_that_opens_it() {
    let folder = folder();
    let path = folder.path();
    succeeds(run(path, "half", &[]));
    let store = path.join("half.db");
    let length = fs::metadata(&store).expect("a store").len();
    fs::OpenOptions::new()
        .write(true)
        .open(&store)
        .and_then(|file| file.set_len(length / 2))
        .expect("cut");
    for arguments in [
        ["run", "small.toml", "--store", "half.db", "--report", "r"],
        ["report", "latest", "--store", "half.db", "--out", "r"],
    ] {
        let failed = output(program(path, &arguments));
        let said = text(&failed.stderr);
        assert!(!failed.status.success(), "{arguments:?} went on: {said}");
        assert!(
            said.contains("half.db") && said.contains("damaged") && said.contains(".recover"),
            "{arguments:?}: {said}"
        );
    }
}

#[test]
fn a_program_that_waits_for_another_one_says_so_after_a_second() {
    let folder = folder();
    let path = folder.path();
    succeeds(run(path, "held", &[]));
    let holder = rusqlite::Connection::open(path.join("held.db")).expect("a store opens");
    holder
        .execute_batch("BEGIN IMMEDIATE; UPDATE run SET state = 0")
        .expect("nobody else writes");
    let mut waiting = run(path, "held", &["--fresh"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let begun = Instant::now();
    let mut said = String::new();
    let mut lines = BufReader::new(waiting.stderr.take().expect("piped"));
    while !said.contains("waiting for another program") {
        assert_ne!(lines.read_line(&mut said).expect("text"), 0, "{said}");
    }
    assert!(said.contains("held.db"), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(20), "{said}");
    holder.execute_batch("ROLLBACK").expect("let go");
    std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
    assert!(waiting.wait().expect("its end").success());
}

#[test]
fn what_a_killed_report_left_is_taken_away_by_the_next_unless_somebody_writes_it() {
    let folder = folder();
    let path = folder.path();
    succeeds(run(path, "left", &[]));
    let report = path.join("left-report");
    let (left, tables) = (
        report.join(".writing-a1b2c3"),
        report.join("tables/.bookahead-a1b2c3d4e5f6.part"),
    );
    let held = report.join(".bookahead-d4d4d4d4d4d4.part");
    for name in [&left, &tables, &held] {
        fs::write(name, "half a fi").expect("written");
    }
    let lock = fs::File::open(&held).expect("a file");
    lock.lock().expect("a file system with locks");
    let again = [
        "report",
        "latest",
        "--store",
        "left.db",
        "--out",
        "left-report",
    ];
    succeeds(program(path, &again));
    assert!(!left.exists() && !tables.exists() && held.exists());
    drop(lock);
    succeeds(program(path, &again));
    assert!(!held.exists());
}
