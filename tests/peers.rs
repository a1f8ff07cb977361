//! The driver that runs other simulators beside bookahead, without any of them; and the small
//! traces of benches/peers/README.md in which they start jobs at other times.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use bookahead::workload::ParsedTrace;
use serde_json::Value;

use crate::support::program::{folder, output, program, text};

/// What the driver of one policy says with no peer but the one that `other` is a command for; None
/// where there is no Python 3.
fn compare(trace: &Path, other: Option<&str>, arguments: &[&str]) -> Option<Output> {
    let ours = ["--nodes", "4", "--policy", "easy", "--pairs", "2"];
    driven("compare.py", trace, other, &[&ours, arguments].concat())
}

/// The same of a driver by name.
fn driven(driver: &str, trace: &Path, other: Option<&str>, arguments: &[&str]) -> Option<Output> {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: needs python3");
        return None;
    }
    let mut command = Command::new("python3");
    for (name, _) in std::env::vars_os() {
        if name
            .to_str()
            .is_some_and(|name| name.starts_with("BOOKAHEAD_PEER"))
        {
            command.env_remove(name);
        }
    }
    command.env("BOOKAHEAD_PEER_BATSIM", "/nowhere");
    if let Some(other) = other {
        command.env("BOOKAHEAD_PEER_OTHER", other);
    }
    let driver = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("benches/peers")
        .join(driver);
    let program: &OsStr = OsStr::new(env!("CARGO_BIN_EXE_bookahead"));
    command
        .arg(driver)
        .arg(trace)
        .arg("--bookahead")
        .arg(program)
        .args(arguments);
    Some(command.output().expect("python3 runs"))
}

fn record(number: u32, [submit, run, nodes, estimate]: [u32; 4]) -> String {
    format!("{number} {submit} -1 {run} {nodes} -1 -1 {nodes} {estimate} -1 1 1 1 1 1 -1 -1 -1\n")
}

/// A trace of 4 nodes from submission, run time, nodes and estimate of each job.
fn trace(place: &Path, jobs: &[[u32; 4]]) -> PathBuf {
    let path = place.join("trace.swf");
    let records = jobs.iter().zip(1..);
    let records: String = records.map(|(job, number)| record(number, *job)).collect();
    fs::write(&path, format!("; MaxProcs: 4\n{records}")).expect("a folder of its own");
    path
}

const JOBS: [[u32; 4]; 3] = [[10, 50, 3, 100], [20, 60, 4, 60], [30, 80, 1, 80]];

#[test]
fn the_driver_needs_no_peer_and_names_those_that_are_missing() {
    let place = folder();
    let Some(output) = compare(&trace(place.path(), &JOBS), None, &["--json"]) else {
        return;
    };
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    for peer in [
        "pyss", "batsim", "batsim4", "accasim", "alea", "servsim", "other",
    ] {
        assert!(said.contains(&format!("left out: {peer}: ")), "{said}");
    }
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let [found] = answer["simulators"].as_array().unwrap().as_slice() else {
        panic!("{answer}");
    };
    assert_eq!((&answer["jobs"], &found["runs"]), (&3.into(), &2.into()));
    assert_eq!(found["mean_wait"], 30.0, "job 2 waits from 20 to 110");
    assert_eq!(found["other_starts"], 0);
}

#[test]
fn the_driver_counts_jobs_that_start_at_another_time() {
    let place = folder();
    let program = env!("CARGO_BIN_EXE_bookahead");
    let same = format!(
        "{program} simulate {{trace}} --nodes {{nodes}} --policy easy-backfilling --schedule {{schedule}}"
    );
    for (other, differ) in [
        (same.clone(), 0),
        (format!("{same} --estimates perfect"), 2),
    ] {
        let path = trace(place.path(), &JOBS);
        let Some(output) = compare(&path, Some(&other), &["--json"]) else {
            return;
        };
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let found = &answer["simulators"][1];
        assert_eq!(found["name"], "other", "{}", text(&output.stderr));
        assert_eq!(found["other_starts"], differ);
        assert!(found["times_wall"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn a_peer_that_fails_is_left_out_with_the_reason_and_the_rest_is_printed() {
    let place = folder();
    for (other, reason) in [
        ("false", "ended with status 1"),
        ("true", "left no schedule"),
        ("sleep 60", "was ended after 1 s"),
        ("/nowhere/simulator {trace}", "cannot be started"),
        ("echo {nobody}", "cannot be prepared"),
    ] {
        let path = trace(place.path(), &JOBS);
        let Some(output) = compare(&path, Some(other), &["--timeout", "1"]) else {
            return;
        };
        let said = text(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert!(
            said.contains(&format!("left out: other: {reason}")),
            "{said}"
        );
        let printed = text(&output.stdout);
        assert!(printed.contains("\nbookahead "), "{printed}");
        assert!(!printed.contains("\nother "), "{printed}");
    }
}

#[test]
fn a_table_has_every_program_that_is_there_and_says_who_used_up_the_time() {
    let place = folder();
    let path = trace(place.path(), &JOBS);
    let program = env!("CARGO_BIN_EXE_bookahead");
    let same = format!(
        "{program} simulate {{trace}} --nodes {{nodes}} --policy easy-backfilling --schedule {{schedule}}"
    );
    let busy = "python3 -c 'while True: pass'".to_owned();
    for (other, row) in [
        (same, " | 3 | 30.0 | 0 |\n| conservative | bookahead | 2 | "),
        (busy, "| easy | other | 1 | not done after 1 s | more than "),
    ] {
        let ours = ["--nodes", "4", "--rounds", "2", "--limit", "1"];
        let Some(output) = driven("beside.py", &path, Some(&other), &ours) else {
            return;
        };
        let (printed, said) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{said}");
        assert!(printed.contains(row), "{printed}");
        assert!(said.contains("left out: pyss, easy: "), "{said}");
    }
}

#[test]
fn the_table_with_failures_or_reservations_needs_no_peer() {
    let place = folder();
    let path = trace(place.path(), &JOBS);
    for (kind, note) in [
        ("failures", " runs lost |"),
        ("reservations", " runs stopped |"),
    ] {
        let ours = ["--nodes", "4", "--with", kind];
        let Some(output) = driven("beside.py", &path, None, &ours) else {
            return;
        };
        let (printed, said) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{said}");
        assert!(printed.contains("| easy | bookahead | 3 | "), "{printed}");
        assert!(printed.contains(note), "{printed}");
        assert!(said.contains("left out: batsim4, conservative: "), "{said}");
    }
}

fn starts(policy: &str, jobs: &[[u32; 4]]) -> Vec<i64> {
    let place = folder();
    trace(place.path(), jobs);
    let arguments = ["simulate", "trace.swf", "--policy", policy];
    let arguments = [&arguments[..], &["--schedule", "out.swf"]].concat();
    let output = output(program(place.path(), &arguments));
    assert!(output.status.success(), "{}", text(&output.stderr));
    let schedule = ParsedTrace::read(&place.path().join("out.swf")).expect("a schedule");
    let records = schedule.records.iter();
    records.map(|job| job.submit + job.wait).collect()
}

#[test]
fn the_small_traces_in_which_peers_differ_start_here_as_the_table_says() {
    for (policy, jobs, expected) in [
        // pyss: a submission is handled before an early end of the same second.
        (
            "easy-backfilling",
            &[[0, 4, 1, 12], [1, 2, 4, 2], [4, 5, 1, 5], [7, 8, 1, 8]][..],
            &[0, 4, 6, 7][..],
        ),
        // AccaSim: what is backfilled may delay the head; the head is not tried before its first
        // reservation.
        (
            "easy-backfilling",
            &[[0, 10, 2, 10], [1, 5, 4, 5], [2, 20, 2, 20]],
            &[0, 10, 15],
        ),
        (
            "easy-backfilling",
            &[[0, 3, 4, 10], [1, 5, 4, 5], [20, 5, 4, 5]],
            &[0, 3, 20],
        ),
        // servsim: an end backfills nothing while the head waits; a head that fits beside its own
        // booking is started twice.
        (
            "easy-backfilling",
            &[[1, 10, 3, 10], [1, 4, 1, 4], [2, 5, 4, 5], [3, 3, 1, 3]],
            &[1, 1, 11, 5],
        ),
        (
            "easy-backfilling",
            &[[4, 7, 4, 7], [7, 2, 2, 2], [9, 4, 1, 4]],
            &[4, 11, 11],
        ),
        // Alea: processors of a job that is looked at for the first time count as free.
        (
            "easy-backfilling",
            &[[2, 10, 2, 10], [4, 2, 3, 2], [9, 1, 1, 1]],
            &[2, 12, 9],
        ),
        // batsched4: beside the head is only what the first end that suffices leaves.
        (
            "easy-backfilling",
            &[[0, 10, 1, 10], [0, 10, 1, 10], [1, 5, 3, 5], [2, 20, 1, 20]],
            &[0, 0, 10, 2],
        ),
        // servsim, batsched, Alea: plans hold concrete nodes.
        (
            "heuristic-planning",
            &[[2, 12, 1, 12], [4, 12, 3, 12], [6, 2, 3, 2], [7, 9, 1, 9]],
            &[2, 4, 16, 14],
        ),
    ] {
        assert_eq!(starts(policy, jobs), expected, "{jobs:?}");
    }
}
