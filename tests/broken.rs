//! What goes wrong around the program: killed, interrupted, nobody who listens, no place for a
//! report. Each test is named for what went wrong once, or for what must not.

use std::fs;
use std::path::Path;

use crate::support::program::{dump, folder, output, program, run, text};

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
        said.contains("The results of run 1 are in kept.db") && said.contains(advice),
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
