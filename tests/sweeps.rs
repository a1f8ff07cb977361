//! Sweeps with real inputs and a real store: the same content with any number of workers, resumed
//! or not, and the command line.

use std::path::Path;

use assert_cmd::Command;
use bookahead::store::{AxisColumn, RunSelector, Store, run_sweep};
use bookahead::studies::STUDIES;
use bookahead::sweep::{
    Experiment, InputFolders, OutcomeDetail, RunState, SweepOptions, SweepSummary,
};
use bookahead_overbooking::registry::STRATEGIES;

const TEXT: &str = r#"
[experiment]
name = "small"
replications = 3
[workload]
model = "lublin-feitelson"
jobs = 1500
nodes = 64
battery_jobs = 100
load.value = 2.0
[failures]
source = "generated"
[[axis]]
key = "scheduling.strategy"
values = ["conservative-backfilling", "comprehensive-overbooking", "heuristic-overbooking"]
[[axis]]
key = "acceptance.pof_max"
values = [0.05, 0.2, 0.5]
"#;

fn run(text: &str, store: &Path, workers: usize) -> SweepSummary {
    let sweep = Experiment::parse(STUDIES, "small.toml", text, None)
        .expect("valid")
        .sweep;
    let options = SweepOptions {
        workers,
        quiet: true,
        outcomes: OutcomeDetail::All,
        folders: InputFolders::default(),
        ..SweepOptions::new(STUDIES, store.to_owned())
    };
    run_sweep(sweep, &options).expect("inputs and store are sound")
}

/// The points of the latest run without anything that depends on the clock, in an order of their
/// own.
fn content(store: &Path) -> Vec<String> {
    let store = Store::open(STUDIES, store).expect("a store");
    let run = store.run(&RunSelector::Latest).expect("a run");
    let points = store.points(run.id).expect("points");
    let mut rows: Vec<String> = (0..points.len())
        .map(|row| {
            let value = |axis: &AxisColumn| {
                axis.positions[row].map(|at| axis.axis.values[at as usize].clone())
            };
            let axes: Vec<_> = points.axes.iter().map(value).collect();
            let metrics: Vec<_> = points
                .metrics
                .iter()
                .map(|(name, values)| (name, values[row]))
                .collect();
            format!(
                "{} {axes:?} #{} {metrics:?}",
                points.strategy[row], points.replication[row]
            )
        })
        .collect();
    rows.sort();
    rows
}

#[test]
fn one_worker_and_four_leave_the_same_points() {
    let folder = tempfile::tempdir().expect("a folder");
    let (one, four) = (folder.path().join("one.db"), folder.path().join("four.db"));
    let summary = run(TEXT, &one, 1);
    assert_eq!((summary.points, summary.tally.simulations), (27, 21));
    assert_eq!(summary.exit_code(), 0);
    run(TEXT, &four, 4);
    assert_eq!(content(&one).len(), 27);
    assert_eq!(content(&one), content(&four));
}

#[test]
fn an_interrupted_sweep_goes_on_where_it_stopped_and_ends_with_the_same_points() {
    let folder = tempfile::tempdir().expect("a folder");
    let (whole, parts) = (
        folder.path().join("whole.db"),
        folder.path().join("parts.db"),
    );
    run(TEXT, &whole, 2);
    // A part of the axis first, as if the rest had been cut off.
    let first = run(&TEXT.replace("[0.05, 0.2, 0.5]", "[0.2, 0.5]"), &parts, 2);
    assert_eq!(first.tally.simulations, 15);
    let sweep = Experiment::parse(STUDIES, "small.toml", TEXT, None)
        .expect("valid")
        .sweep;
    let options = SweepOptions {
        quiet: true,
        folders: InputFolders::default(),
        ..SweepOptions::new(STUDIES, parts.clone())
    };
    options.interrupt.request();
    let stopped = run_sweep(sweep, &options).expect("sound");
    assert_eq!(
        (stopped.state, stopped.exit_code()),
        (RunState::Interrupted, 130)
    );
    // The new threshold: one simulation for each overbooking strategy and battery; the baseline has
    // its own already.
    assert_eq!(stopped.tally.left_out, 6);
    let rest = run(TEXT, &parts, 3);
    assert_eq!((rest.done_before, rest.tally.simulations), (21, 6));
    assert_eq!(content(&whole), content(&parts));
    let again = run(TEXT, &parts, 3);
    assert_eq!((again.done_before, again.tally.simulations), (27, 0));
    assert_eq!(content(&whole), content(&parts));
}

#[test]
fn more_fresh_replications_run_alone_and_leave_the_bytes_of_one_run_of_all() {
    let fresh = TEXT
        .replace("jobs = 1500", "fresh = true\njobs = 500")
        .replace("load.value", "load.each_battery");
    let folder = tempfile::tempdir().expect("a folder");
    let (grown, whole) = (
        folder.path().join("grown.db"),
        folder.path().join("whole.db"),
    );
    let first = run(&fresh, &grown, 2);
    assert_eq!((first.done_before, first.tally.simulations), (0, 21));
    let before = content(&grown);
    let twice = fresh.replace("replications = 3", "replications = 6");
    let second = run(&twice, &grown, 2);
    assert_eq!((second.done_before, second.tally.simulations), (27, 21));
    run(&twice, &whole, 1);
    let after = content(&grown);
    assert_eq!(after, content(&whole));
    assert!(before.iter().all(|row| after.contains(row)));
    // Without it, other jobs are evaluated where there are more batteries.
    let shared = folder.path().join("shared.db");
    run(TEXT, &shared, 2);
    let more = TEXT.replace("replications = 3", "replications = 6");
    assert_eq!(run(&more, &shared, 2).done_before, 0);
}

#[test]
fn keeping_nothing_touches_no_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("none.db");
    let sweep = Experiment::parse(STUDIES, "small.toml", TEXT, None)
        .expect("valid")
        .sweep;
    let options = SweepOptions {
        quiet: true,
        outcomes: OutcomeDetail::None,
        ..SweepOptions::new(STUDIES, store.clone())
    };
    let summary = run_sweep(sweep, &options).expect("sound");
    assert_eq!((summary.run, summary.tally.points), (None, 27));
    assert!(!store.exists());
}

fn command(arguments: &[&str], folder: &Path) -> assert_cmd::assert::Assert {
    Command::cargo_bin("bookahead")
        .expect("the binary")
        .args(arguments)
        .current_dir(folder)
        .env_remove("BOOKAHEAD_TRACES")
        .env_remove("RUST_LOG")
        .assert()
}

#[test]
fn every_registered_policy_serves_a_broker_with_every_source_of_failures_from_the_check_to_the_store()
 {
    let names: Vec<&str> = STRATEGIES.iter().map(|strategy| strategy.name).collect();
    let mut sources = vec!["none", "generated"];
    // The table of LANL is looked for in a folder.
    sources.extend(std::env::var_os("BOOKAHEAD_FAILURES").map(|_| "lanl"));
    let text = format!(
        r#"
[experiment]
name = "risk"
replications = 1
[workload]
model = "lublin-feitelson"
jobs = 1500
nodes = 64
fresh = true
whole_trace = true
load.value = 0.9
[scheduling]
strategy = "co-reservation"
[clusters]
count = 2
days = 2
[requests]
count = 20
[grid_failures]
cluster_mtbf_days = 1
[failures]
rate_per_hour = 0.01
[risk]
choice = "limit"
pof_limit = 0.3
[[axis]]
key = "clusters.policy"
values = {names:?}
[[axis]]
key = "failures.source"
values = {sources:?}
"#
    );
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("risk.toml");
    std::fs::write(&file, &text).expect("an experiment");
    command(&["check", "risk.toml"], folder.path()).success();
    command(&["run", "risk.toml", "--store", "s.db"], folder.path()).success();
    let ask = |question: &str| -> Vec<usize> {
        let asked = ["sql", question, "--store", "s.db", "--format", "csv"];
        let answer = command(&asked, folder.path()).success();
        let answer = String::from_utf8_lossy(&answer.get_output().stdout).into_owned();
        let row = answer.lines().nth(1).expect("a row");
        let numbers = row.split(',').map(|number| number.parse());
        numbers.map(|number| number.expect("a number")).collect()
    };
    let granted = ask("SELECT count(*), min(granted) FROM \
        (SELECT sum(granted) AS granted FROM v_co_request GROUP BY simulation)");
    assert_eq!(granted[0], STRATEGIES.len() * sources.len());
    assert!(granted[1] > 0, "{granted:?}");
    let hit = ask(
        "SELECT count(*), min(hit) FROM (SELECT sum(node_failures) AS hit \
        FROM v_all_jobs WHERE axes LIKE '%generated%' \
        GROUP BY simulation)",
    );
    assert_eq!(hit[0], STRATEGIES.len());
    assert!(hit[1] > 0, "{hit:?}");

    std::fs::write(&file, text.replace("fcfs", "luck")).expect("an experiment");
    let refused = command(&["check", "risk.toml"], folder.path()).failure();
    let said = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(
        said.contains("clusters.policy") && said.contains("easy-backfilling"),
        "{said}"
    );
}

#[test]
fn the_log_says_in_a_line_each_what_every_worker_the_writer_and_the_coordinator_did() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("small.toml"), TEXT).expect("an experiment");
    let arguments = "run small.toml --workers 2 --store log.db --no-report --log log.jsonl";
    let words: Vec<&str> = arguments.split(' ').collect();
    command(&words, folder.path()).success();
    let log = std::fs::read_to_string(folder.path().join("log.jsonl")).expect("a log");
    let fields: Vec<serde_json::Value> = log
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"))
        .map(|line| line["fields"].clone())
        .collect();
    let of = |actor: &str| -> &serde_json::Value {
        let mut lines = fields.iter().filter(|line| line["actor"] == actor);
        let line = lines.next().expect(actor);
        assert!(lines.next().is_none(), "{actor} has one line");
        line
    };
    let number = |actor: &str, what: &str| of(actor)[what].as_u64().expect(what);
    let of_workers = |what| number("worker-1", what) + number("worker-2", what);
    assert_eq!(of_workers("simulations"), 21);
    assert_eq!(of_workers("restarts"), 0);
    assert_eq!(number("coordinator", "simulations"), 21);
    // A report for each message.
    assert_eq!(of_workers("messages"), number("coordinator", "messages"));
    assert_eq!(number("store", "simulations"), 21);
    // Each begins and ends, and the run ends once.
    assert_eq!(number("store", "messages"), 21 + 21 + 1);
    assert!(number("store", "transactions") >= 1);

    let played: Vec<&str> = fields
        .iter()
        .filter_map(|line| line["message"].as_str())
        .filter(|message| message.starts_with("simulated by actors (messages handled): "))
        .collect();
    assert_eq!(played.len(), 21, "a line each simulation");
    for line in played {
        for actor in ["clock ", "cluster ", "client "] {
            let handled = line.split(", ").find_map(|part| part.split_once(actor));
            let (_, handled) = handled.expect(actor);
            assert!(handled.parse::<u64>().expect("a count") > 0, "{line}");
        }
    }
}

#[test]
fn a_dry_run_prints_every_point_to_standard_output_and_makes_no_store() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("small.toml"), TEXT).expect("written");
    let assert = command(&["run", "small.toml", "--dry-run"], folder.path()).code(0);
    let text = String::from_utf8(assert.get_output().stdout.clone()).expect("text");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines
            .iter()
            .filter(|line| line.contains("-overbooking") || line.contains("-backfilling"))
            .count(),
        27
    );
    let last = lines.last().expect("a last line");
    assert!(
        last.starts_with("27 points (21 simulations), 0 points done already, 27 points"),
        "{last}"
    );
    assert!(!folder.path().join("data").exists());
}

/// A trace of 60 jobs of which every third has no requested time, and an experiment on it.
fn with_missing_estimates(folder: &Path, rule: &str) {
    let mut trace = String::from("; MaxProcs: 8\n");
    for job in 1..=60 {
        let requested = if job % 3 == 0 { -1 } else { 100 };
        trace += &format!(
            "{job} {} -1 {} 2 -1 -1 2 {requested} -1 1 1 1 1 1 -1 -1 -1\n",
            job * 10,
            40 + job
        );
    }
    std::fs::write(folder.join("thirds.swf"), trace).expect("written");
    let text = format!(
        "[experiment]\nname = \"lossy\"\nreplications = 2\n[workload]\ntrace = \"thirds.swf\"\nnodes = 8\nbattery_jobs = 10\n\
         compression = 1.0\n{rule}[scheduling]\nstrategy = \"heuristic-planning\"\n"
    );
    std::fs::write(folder.join("lossy.toml"), text).expect("written");
}

#[test]
fn records_that_cleaning_drops_are_warned_of_before_during_and_after_a_run() {
    let folder = tempfile::tempdir().expect("a folder");
    with_missing_estimates(folder.path(), "");
    let sentence = "thirds: 20 of 60 records (33.3 %) are not used: requested time missing, zero or negative (20)";
    for arguments in [
        &["run", "lossy.toml", "--dry-run"][..],
        &["run", "lossy.toml", "--dry-run", "--json"],
        &["run", "lossy.toml"],
    ] {
        let assert = command(arguments, folder.path()).code(0);
        let said = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(said.contains(sentence), "{arguments:?}: {said}");
    }
    let page = folder.path().join("reports/lossy/index.html");
    let page = std::fs::read_to_string(page).expect("a page");
    let bad = format!("<li class=\"bad\">{sentence}");
    assert!(page.contains(&bad), "{page}");

    // Booked for its run time, a job without requested time is a job.
    with_missing_estimates(folder.path(), "missing_estimate = \"runtime\"\n");
    let assert = command(&["run", "lossy.toml"], folder.path()).code(0);
    let said = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(!said.contains("are not used"), "{said}");
    with_missing_estimates(folder.path(), "missing_estimate = \"error\"\n");
    let assert = command(&["run", "lossy.toml"], folder.path()).code(2);
    let said = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(
        said.contains("20 of 60 records have no requested time"),
        "{said}"
    );
}

#[test]
fn wrong_use_and_missing_traces_end_with_code_2_and_say_where() {
    let folder = tempfile::tempdir().expect("a folder");
    command(&["run"], folder.path()).code(2);
    command(&["run", "absent.toml"], folder.path()).code(2);
    std::fs::write(
        folder.path().join("bad.toml"),
        TEXT.replace("nodes = 64", "nodes = 0"),
    )
    .expect("written");
    let assert = command(&["run", "bad.toml"], folder.path()).code(2);
    let text = String::from_utf8(assert.get_output().stderr.clone()).expect("text");
    assert!(
        text.contains("bad.toml:8") && text.contains("workload.nodes"),
        "{text}"
    );
    let trace = TEXT.replace(
        "model = \"lublin-feitelson\"\njobs = 1500",
        "trace = \"ABSENT-1.swf\"",
    );
    std::fs::write(folder.path().join("trace.toml"), trace).expect("written");
    let assert = command(&["run", "trace.toml"], folder.path()).code(2);
    let text = String::from_utf8(assert.get_output().stderr.clone()).expect("text");
    assert!(text.contains("ABSENT-1.swf"), "{text}");
    assert!(assert.get_output().stdout.is_empty());
}

#[test]
fn the_quick_start_and_every_configuration_of_the_project_is_valid() {
    let mut seen = 0;
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("configs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("readable") {
            let path = entry.expect("an entry").path();
            // Machine files are no experiments; `machines.rs` reads them.
            if path.is_dir() && !path.ends_with("machines") {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "toml")
                && !path.ends_with("paper.toml")
                && !path.ends_with("explanations.toml")
                && !path.ends_with("findings.toml")
                && !path.ends_with("readings.toml")
            {
                if let Err(error) = Experiment::load(STUDIES, &path, None) {
                    panic!("{error}");
                }
                seen += 1;
            }
        }
    }
    assert!(seen > 0);
}

/// A sweep in the words of `resume`: what it says before it starts, and how it ends.
fn resume(folder: &Path, more: &[&str]) -> (Option<i32>, String) {
    let ended = std::process::Command::new(env!("CARGO_BIN_EXE_bookahead"))
        .args(["run", "small.toml", "--store", "s.db", "--report", "r"])
        .args(more)
        .current_dir(folder)
        .env_remove("RUST_LOG")
        .output()
        .expect("the program starts");
    (
        ended.status.code(),
        String::from_utf8_lossy(&ended.stderr).into_owned(),
    )
}

#[test]
fn failed_points_are_left_alone_until_they_are_to_be_retried_and_fresh_runs_leave_the_old_ones() {
    let folder = crate::support::program::folder();
    let path = folder.path();
    assert_eq!(resume(path, &[]).0, Some(0));
    let store = rusqlite::Connection::open(path.join("s.db")).expect("a store");
    // As a panic would leave them.
    store
        .execute(
            "UPDATE simulation SET state = 3, error = 'it panicked' WHERE id IN (SELECT p.simulation FROM run_point rp
             JOIN point p ON p.id = rp.point GROUP BY p.simulation HAVING count(*) = 1 ORDER BY 1 LIMIT 2)",
            [],
        )
        .expect("written");
    let (code, said) = resume(path, &[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("2 points failed before and are not tried again without --retry-failed"),
        "{said}"
    );
    let (code, said) = resume(path, &["--retry-failed"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("2 points from 2 simulations, 78 points done before"),
        "{said}"
    );
    let (code, said) = resume(path, &["--fresh"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("80 points from 48 simulations"), "{said}");
    let (_, said) = resume(path, &[]);
    assert!(said.contains("80 points done already"), "{said}");
    let count = |query: &str| -> i64 { store.query_row(query, [], |row| row.get(0)).expect(query) };
    assert_eq!(count("SELECT count(*) FROM simulation"), 96);
    assert_eq!(count("SELECT max(attempts) FROM simulation"), 2);
    assert_eq!(
        count(
            "SELECT count(DISTINCT identity) FROM v_point WHERE run = 1 AND generation = 1 AND state = 'done'"
        ),
        count(
            "SELECT count(DISTINCT identity) FROM v_point WHERE run = 4 AND generation = 2 AND state = 'done'"
        ),
    );
    // The results of a program of another version are used, and said to be.
    store
        .execute("UPDATE run SET program_version = '0.0.9'", [])
        .expect("written");
    let (_, said) = resume(path, &[]);
    assert!(said.contains("were computed by bookahead 0.0.9"), "{said}");
    store
        .execute("UPDATE run_input SET content = 'other'", [])
        .expect("written");
    let (_, said) = resume(path, &["--dry-run"]);
    assert!(!said.contains("panicked"), "{said}");
    let (_, said) = resume(path, &[]);
    assert!(
        said.contains("has changed since the last run that read it"),
        "{said}"
    );
}
