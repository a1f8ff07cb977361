//! What goes wrong around the program: killed, interrupted, nobody who listens, no place for a report. Each test is named
//! for what went wrong once, or for what must not.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const TEXT: &str = r#"
[experiment]
name = "small"
replications = 4
[workload]
model = "lublin-feitelson"
jobs = 4000
nodes = 64
battery_jobs = 400
target_load = 2.0
[failures]
source = "generated"
[[axis]]
key = "scheduling.strategy"
values = ["easy-backfilling", "heuristic-planning", "comprehensive-overbooking", "heuristic-overbooking"]
[[axis]]
key = "acceptance.pof_max"
range = { from = 0.1, to = 0.5, step = 0.1 }
"#;

/// Everything that a store keeps, by identity, without clocks, processes and row numbers.
const TABLES: [&str; 6] = [
    "SELECT m.identity, m.spec, m.workload_label, w.identity, m.strategy, m.replication, m.state, m.detail
     FROM simulation m LEFT JOIN workload w ON w.id = m.workload ORDER BY 1",
    "SELECT m.identity, k.* FROM simulation_metrics k JOIN simulation m ON m.id = k.simulation ORDER BY 1",
    "SELECT p.identity, m.identity, p.penalty_ratio, p.replication
     FROM point p JOIN simulation m ON m.id = p.simulation ORDER BY 1",
    "SELECT m.identity, o.* FROM job_outcome o JOIN simulation m ON m.id = o.simulation ORDER BY 1, o.job",
    "SELECT m.identity, e.* FROM node_event e JOIN simulation m ON m.id = e.simulation ORDER BY 1, e.sequence",
    "SELECT w.identity, j.* FROM job j JOIN workload w ON w.id = j.workload ORDER BY 1, j.job",
];

fn dump(store: &Path) -> Vec<String> {
    let connection = rusqlite::Connection::open(store).expect("a store");
    let mut lines = Vec::new();
    for table in TABLES {
        let mut statement = connection.prepare(table).expect("a table");
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([]).expect("rows");
        while let Some(row) = rows.next().expect("a row") {
            let shown = columns
                .iter()
                .enumerate()
                // Row numbers depend on the order in which simulations end.
                .filter(|(_, name)| !matches!(name.as_str(), "simulation" | "workload"))
                .map(|(column, _)| format!("{:?}", row.get_ref_unwrap(column)));
            lines.push(shown.collect::<Vec<_>>().join("|"));
        }
    }
    lines
}

/// Every file of a report but the one that tells when and how long the run was.
fn report(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a report") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("run.md") && !path.ends_with("tables/run.csv") {
                let name = path.strip_prefix(folder).expect("inside").to_owned();
                files.push((name, fs::read(&path).expect("readable")));
            }
        }
    }
    files.sort();
    files
}

fn program(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bookahead"));
    command
        .args(arguments)
        .current_dir(folder)
        .env_remove("RUST_LOG")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn run(folder: &Path, name: &str, more: &[&str]) -> Command {
    let (store, out) = (format!("{name}.db"), format!("{name}-report"));
    let arguments = [
        "run",
        "small.toml",
        "--quiet",
        "--store",
        &store,
        "--report",
        &out,
    ];
    program(folder, &[&arguments, more].concat())
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("small.toml"), TEXT).expect("written");
    folder
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn output(mut command: Command) -> Output {
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .expect("the program starts")
}

#[test]
fn one_two_and_four_workers_and_a_sweep_killed_again_and_again_leave_the_same_bytes() {
    let folder = folder();
    let path = folder.path();
    for workers in ["1", "2", "4"] {
        let mut command = run(path, workers, &["--workers", workers]);
        assert!(command.status().expect("it starts").success());
    }
    let mut pause = Duration::from_millis(15);
    for attempt in 0.. {
        let mut child = run(path, "killed", &["--workers", "2"])
            .spawn()
            .expect("it starts");
        std::thread::sleep(pause);
        let ended = child.try_wait().expect("a child").is_some();
        child.kill().expect("a child may be killed");
        child.wait().expect("a child");
        if ended || attempt == 40 {
            break;
        }
        pause += Duration::from_millis(5);
    }
    assert!(
        run(path, "killed", &[])
            .status()
            .expect("it starts")
            .success()
    );
    let (tables, files) = (dump(&path.join("1.db")), report(&path.join("1-report")));
    assert!(
        tables.len() > 10_000 && files.len() > 3,
        "{} rows",
        tables.len()
    );
    for name in ["2", "4", "killed"] {
        assert!(
            dump(&path.join(format!("{name}.db"))) == tables,
            "{name}: other rows"
        );
        let other = report(&path.join(format!("{name}-report")));
        for (one, two) in files.iter().zip(&other) {
            assert!(one == two, "{name}: {} differs", one.0.display());
        }
        assert_eq!(files.len(), other.len());
    }
}

#[test]
fn outcomes_are_simulated_again_where_only_metrics_were_kept() {
    let folder = folder();
    let path = folder.path();
    assert!(
        run(path, "whole", &[])
            .status()
            .expect("it starts")
            .success()
    );
    for (detail, jobs) in [("metrics", 0), ("all", 48 * 400), ("metrics", 48 * 400)] {
        let status = run(path, "parts", &["--outcomes", detail]).status();
        assert!(status.expect("it starts").success());
        let connection = rusqlite::Connection::open(path.join("parts.db")).expect("a store");
        let found = connection.query_row("SELECT count(*) FROM job_outcome", [], |row| row.get(0));
        assert_eq!(found, Ok(jobs), "after {detail}");
    }
    assert!(dump(&path.join("whole.db")) == dump(&path.join("parts.db")));
}

#[test]
fn a_report_that_could_not_be_written_did_not_say_that_the_results_are_kept() {
    let folder = folder();
    fs::write(folder.path().join("kept-report"), "a file").expect("written");
    let failed = output(run(folder.path(), "kept", &[]));
    let said = text(&failed.stderr);
    assert_eq!(failed.status.code(), Some(2), "{said}");
    let advice = "`bookahead report 1 --store kept.db --out DIR`";
    assert!(
        said.contains("Nothing is lost") && said.contains(advice),
        "{said}"
    );
    let again = output(program(
        folder.path(),
        &["report", "1", "--store", "kept.db", "--out", "other"],
    ));
    assert!(again.status.success(), "{}", text(&again.stderr));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_error_ended_a_good_run_with_a_panic() {
    let folder = folder();
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .expect("linux has it");
    let status = run(folder.path(), "full", &[]).stderr(full).status();
    assert_eq!(status.expect("it starts").code(), Some(0));
}

#[test]
fn a_reader_that_has_seen_enough_of_a_list_was_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = program(
        Path::new(env!("CARGO_MANIFEST_DIR")),
        &["reproduce", "birkenheuer2012", "--list"],
    );
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let complaints = folder.path().join("complaints");
    let status = command
        .stdout(writer)
        .stderr(fs::File::create(&complaints).expect("a file"))
        .status();
    assert_eq!(status.expect("it starts").code(), Some(0));
    assert_eq!(fs::read_to_string(complaints).expect("readable"), "");
}

#[test]
fn an_empty_file_as_a_store_was_said_to_be_read_only() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("empty.db"), "").expect("written");
    let failed = output(program(
        folder.path(),
        &["report", "latest", "--store", "empty.db"],
    ));
    let said = text(&failed.stderr);
    assert_eq!(failed.status.code(), Some(2));
    assert!(said.contains("there is no store at `empty.db`"), "{said}");
}

#[test]
fn no_workers_at_all_is_refused_with_what_is_allowed() {
    let folder = folder();
    let failed = output(run(folder.path(), "none", &["--workers", "0"]));
    let said = text(&failed.stderr);
    assert_eq!(failed.status.code(), Some(2));
    assert!(
        said.contains("allowed is a whole number of 1 or more"),
        "{said}"
    );
    assert!(!folder.path().join("none.db").exists());
}
