//! Signals in the middle of a long simulation: how soon the program ends, what it leaves, and that
//! the same command goes on.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{done, half_done, remove_store, same, succeeds, whole};
use crate::support::program::{dump, folder, output, program, report, run, text};

/// A short simulation and a long one: a machine that is asked for ten times what it has, with a
/// queue that only grows.
pub(super) fn heavy_folder(jobs: u32, instants: u32) -> tempfile::TempDir {
    let folder = folder();
    let experiment = format!(
        r#"
[experiment]
name = "heavy"
[workload]
model = "lublin-feitelson"
jobs = {jobs}
nodes = 64
whole_trace = true
load.value = 10.0
[scheduling]
strategy = "virtual-reservations"
[virtual]
nodes = 8
warm_up_days = 2
[[axis]]
key = "virtual.instants"
values = [1, {instants}]
"#
    );
    fs::write(folder.path().join("small.toml"), experiment).expect("written");
    folder
}

/// Starts the sweep and waits until its short simulation is in the store; the long one is under way
/// then.
fn started_heavy(path: &Path) -> Child {
    let mut child = run(path, "stopped", &["--workers", "2"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    while done(&path.join("stopped.db")).is_empty() {
        assert_eq!(child.try_wait().expect("a child"), None, "it ended early");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

/// Sends a process a signal.
fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .args(["-s", name, &child.id().to_string()])
        .status();
    assert!(sent.expect("a system with kill").success());
}

/// The exit code of a process that was told to stop while its long simulation was under way, after
/// a look at what it left.
fn stopped(path: &Path, mut child: Child) -> Option<i32> {
    let code = child.wait().expect("its end").code();
    let store = path.join("stopped.db");
    whole(&store);
    assert_eq!(half_done(&store), BTreeSet::new());
    assert_eq!(
        done(&store).len(),
        1,
        "the long simulation was not waited for"
    );
    code
}

#[test]
fn a_second_signal_ends_a_long_simulation_at_once_and_the_same_command_goes_on_to_the_same_bytes() {
    let folder = heavy_folder(60_000, 100);
    let path = folder.path();
    succeeds(run(path, "whole", &["--workers", "2"]));
    for (first, second) in [("INT", "INT"), ("TERM", "INT"), ("INT", "TERM")] {
        let child = started_heavy(path);
        signal(&child, first);
        // Two signals of one kind that come together are one.
        std::thread::sleep(Duration::from_millis(50));
        signal(&child, second);
        let begun = Instant::now();
        assert_eq!(stopped(path, child), Some(130), "{first}, {second}");
        assert!(begun.elapsed() < Duration::from_secs(3), "at once");
        remove_store(&path.join("stopped.db"));
    }
    let child = started_heavy(path);
    signal(&child, "TERM");
    std::thread::sleep(Duration::from_millis(50));
    signal(&child, "TERM");
    assert_eq!(stopped(path, child), Some(130));
    succeeds(run(path, "stopped", &[]));
    whole(&path.join("stopped.db"));
    same(
        path,
        "stopped",
        &dump(&path.join("whole.db")),
        &report(&path.join("whole-report")),
    );
}

#[test]
fn one_termination_signal_ends_a_simulation_of_minutes_within_seconds() {
    // Minutes, so that it is not over by itself.
    let folder = heavy_folder(200_000, 300);
    let path = folder.path();
    let child = started_heavy(path);
    let begun = Instant::now();
    signal(&child, "TERM");
    assert_eq!(stopped(path, child), Some(130));
    let took = begun.elapsed();
    assert!(
        took >= Duration::from_secs(4),
        "it had time to finish: {took:?}"
    );
    assert!(took < Duration::from_secs(20), "{took:?}");
    let planned = output(program(
        path,
        &["run", "small.toml", "--dry-run", "--store", "stopped.db"],
    ));
    let said = text(&planned.stdout) + &text(&planned.stderr);
    assert!(said.contains("1 points done already"), "{said}");
}
