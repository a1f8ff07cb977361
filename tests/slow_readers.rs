//! Readers who are slow, or read nothing at all: that no writer waits for them, and that they come
//! to an end.

use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::support::program::{folder, output, program, run, text};

/// How long these tests wait for what takes a second on an idle machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder with a store of 48 simulations of 400 jobs.
fn with_store() -> tempfile::TempDir {
    let folder = folder();
    let done = run(folder.path(), "seen", &[]).status();
    assert!(done.expect("it starts").success());
    folder
}

/// 38 MB of rows: more than waits in memory.
const LARGE: &str = "SELECT simulation, job, hex(zeroblob(1000)) FROM v_job";

/// The program with an output that nobody reads yet.
fn unread(folder: &Path, arguments: &[&str]) -> Child {
    let mut command = program(folder, arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("it starts")
}

/// The exit code and what was said, of a program that ends by itself.
fn end(mut child: Child) -> (Option<i32>, String) {
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a state") {
            break status;
        }
        assert!(began.elapsed() < PATIENCE, "it does not end");
        std::thread::sleep(Duration::from_millis(10));
    };
    let mut said = String::new();
    let stderr = child.stderr.as_mut().expect("it is piped");
    stderr.read_to_string(&mut said).expect("text");
    (status.code(), said)
}

/// A writer beside the program, with a journal that is taken into the store every megabyte where
/// nobody reads.
fn writer(folder: &Path) -> Connection {
    let writer = Connection::open(folder.join("seen.db")).expect("a store");
    writer
        .execute_batch(
            "PRAGMA wal_autocheckpoint = 64; PRAGMA journal_size_limit = 1048576; CREATE TABLE scratch (x)",
        )
        .expect("set");
    writer
}

fn write(writer: &Connection, megabytes: u32) {
    for _ in 0..megabytes {
        writer
            .execute("INSERT INTO scratch VALUES (zeroblob(1000000))", [])
            .expect("written");
    }
}

fn journal(folder: &Path) -> u64 {
    std::fs::metadata(folder.join("seen.db-wal")).map_or(0, |journal| journal.len())
}

#[test]
fn a_journal_does_not_grow_behind_rows_that_nobody_reads() {
    let folder = with_store();
    for command in [
        &["sql", "--format", "csv", "--timeout", "0", LARGE][..],
        &["sql", "--format", "json", "--timeout", "0", LARGE],
        &["sql", "--format", "table", "--timeout", "0", LARGE],
        &[
            "sql",
            "--format",
            "parquet",
            "--timeout",
            "0",
            "SELECT hex(randomblob(1000)) FROM v_job",
        ],
        &[
            "export", "1", "--format", "csv", "--what", "jobs", "--out", "-",
        ],
        &["show", "1", "--points", "--json"],
        &["compare", "1", "1", "--json"],
    ] {
        let mut child = unread(folder.path(), &[command, &["--store", "seen.db"]].concat());
        let writer = writer(folder.path());
        // Its answer has begun.
        let mut first = [0];
        let stdout = child.stdout.as_mut().expect("it is piped");
        stdout.read_exact(&mut first).expect("a byte");
        // As soon as the question is answered, a checkpoint takes in everything.
        let began = Instant::now();
        loop {
            write(&writer, 1);
            let blocked: i64 = writer
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
                .expect("a checkpoint");
            if blocked == 0 {
                break;
            }
            assert!(began.elapsed() < PATIENCE, "{command:?} keeps its snapshot");
        }
        write(&writer, 20);
        let size = journal(folder.path());
        assert!(size < 4 << 20, "{command:?}: {size}");
        writer.execute_batch("DROP TABLE scratch").expect("dropped");
        if command.contains(&"csv") {
            assert_eq!(child.try_wait().expect("a state"), None, "{command:?}");
            // Whoever reads late misses nothing.
            let mut rows = first.to_vec();
            let stdout = child.stdout.as_mut().expect("it is piped");
            stdout.read_to_end(&mut rows).expect("rows");
            assert_eq!(text(&rows).lines().count(), 48 * 400 + 1, "{command:?}");
            assert_eq!(end(child).0, Some(0));
        } else {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn a_time_limit_holds_for_rows_that_nobody_reads() {
    let folder = with_store();
    for command in [
        &["sql", "--format", "csv", LARGE][..],
        &["sql", LARGE],
        &[
            "export", "1", "--format", "csv", "--what", "jobs", "--out", "-",
        ],
        &[
            "export", "1", "--format", "parquet", "--what", "jobs", "--out", "-",
        ],
    ] {
        let limited = [command, &["--store", "seen.db", "--timeout", "1"]].concat();
        let (code, said) = end(unread(folder.path(), &limited));
        assert_eq!(code, Some(2), "{command:?}: {said}");
        assert!(
            said.contains("1 s") && said.contains("--timeout"),
            "{command:?}: {said}"
        );
    }
}

#[test]
fn a_condition_of_an_export_has_the_limits_of_a_question() {
    let folder = with_store();
    let export = |condition: &str, more: &[&str]| {
        let common = [
            "export", "1", "--store", "seen.db", "--format", "csv", "--out", "rows.csv", "--where",
        ];
        let done = output(program(
            folder.path(),
            &[&common, &[condition][..], more].concat(),
        ));
        (done.status.code(), text(&done.stderr))
    };
    let endless = "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n) > 0";
    let (code, said) = export(endless, &["--timeout", "1"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("takes more than 1 s"), "{said}");
    let (code, said) = export("length(randomblob(1000000000)) > 0", &[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("more memory"), "{said}");
    // Nothing is left of either.
    let left = std::fs::read_dir(folder.path()).expect("a folder");
    let left = left.map(|entry| entry.expect("an entry").file_name());
    let rows: Vec<_> = left
        .filter(|name| name == "rows.csv" || name.to_string_lossy().ends_with(".part"))
        .collect();
    assert!(rows.is_empty(), "{rows:?}");
    let (code, said) = export("place < 5", &[]);
    assert_eq!(code, Some(0), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_sweep_names_the_reader_that_makes_its_journal_grow() {
    let folder = with_store();
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) + (SELECT count(*) FROM run) FROM n";
    let mut reader = unread(folder.path(), &["sql", "--store", "seen.db", endless]);
    // It has its snapshot when a checkpoint cannot take in everything.
    let writer = writer(folder.path());
    let began = Instant::now();
    let name = format!("process {} (`", reader.id());
    let said = loop {
        write(&writer, 1);
        let (_, pages, taken): (i64, i64, i64) = writer
            .query_row("PRAGMA wal_checkpoint", [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .expect("a checkpoint");
        if taken < pages {
            write(&writer, 70);
            let done = output(run(folder.path(), "seen", &["--fresh"]));
            let said = text(&done.stderr);
            assert!(done.status.success(), "{said}");
            // It also has one for a moment while it looks at the store, before the question.
            if said.contains(&name) {
                break said;
            }
        }
        assert!(began.elapsed() < PATIENCE);
    };
    assert!(journal(folder.path()) > 64 << 20);
    assert!(said.contains("seen.db-wal has grown to"), "{said}");
    assert_eq!(said.matches("has grown to").count(), 1, "{said}");
    let _ = reader.kill();
    let _ = reader.wait();
    // Without it nothing is said, though the journal is as large until the next checkpoint.
    let done = output(run(folder.path(), "seen", &["--fresh"]));
    assert!(!text(&done.stderr).contains("has grown to"));
}
