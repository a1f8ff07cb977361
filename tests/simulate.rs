//! `bookahead simulate` as people call it.

use std::fs;
use std::path::Path;
use std::process::Output;

use bookahead::workload::ParsedTrace;
use serde_json::Value;

use crate::support::program::{folder, output, program, text};

fn simulate(place: &Path, arguments: &[&str]) -> Output {
    output(program(place, &[&["simulate"], arguments].concat()))
}

fn figures(place: &Path, arguments: &[&str]) -> Value {
    let output = simulate(place, &[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn refusal(place: &Path, arguments: &[&str]) -> String {
    let output = simulate(place, arguments);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    text(&output.stderr)
}

/// Three jobs of four nodes: the second is too wide beside the first, the third fits beside it and
/// is short enough to pass.
const TRACE: &str = "\
; MaxProcs: 4
1 10 -1 50 3 -1 -1 3 100 -1 1 1 1 1 1 -1 -1 -1
2 20 -1 60 4 -1 -1 4 60 -1 1 1 1 1 1 -1 -1 -1
3 30 -1 80 1 -1 -1 1 80 -1 1 1 1 1 1 -1 -1 -1
4 40 -1 10 9 -1 -1 9 20 -1 1 1 1 1 1 -1 -1 -1
";

#[test]
fn a_hand_made_trace_is_scheduled_as_on_paper_under_every_policy() {
    let place = folder();
    fs::write(place.path().join("trace.swf"), TRACE).unwrap();
    let waits = |arguments: &[&str]| {
        let found = figures(place.path(), &[&["trace.swf"], arguments].concat());
        assert_eq!(found["nodes"], 4, "the header names the machine");
        assert_eq!(found["too_wide"], 1);
        found["mean_wait_seconds"].as_f64().unwrap() * found["started"].as_f64().unwrap()
    };
    // Job 1 runs from 10 to 60. Job 3 passes job 2, whose place would be 110, and runs until 110;
    // so job 2 waits until then.
    assert_eq!(waits(&["--policy", "easy-backfilling"]), 90.0);
    assert_eq!(waits(&["--policy", "heuristic-planning"]), 90.0);
    // Exact estimates: job 2 is expected at 60, and job 3 does not fit in front of it; it runs from
    // 120 on.
    assert_eq!(
        waits(&["--policy", "easy-backfilling", "--estimates", "perfect"]),
        130.0
    );
    let exact = ["--policy", "heuristic-planning", "--estimates", "perfect"];
    assert_eq!(waits(&exact), 130.0);
    let found = figures(
        place.path(),
        &["trace.swf", "--fixed-starts", "--lead", "100"],
    );
    assert_eq!(
        (&found["started"], &found["refused"]),
        (&Value::from(2), &Value::from(1))
    );
    assert_eq!(found["mean_wait_seconds"], 0.0);
}

#[test]
fn the_schedule_is_a_trace_in_order_of_submission_with_the_wait_of_every_job_that_started() {
    let place = folder();
    fs::write(place.path().join("trace.swf"), TRACE).unwrap();
    let arguments = [
        "trace.swf",
        "--policy",
        "easy-backfilling",
        "--schedule",
        "out.swf",
    ];
    let output = simulate(place.path(), &arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("mean wait               30.0 s"));
    let schedule = ParsedTrace::read(&place.path().join("out.swf")).unwrap();
    let waits: Vec<_> = schedule
        .records
        .iter()
        .map(|record| (record.job_number, record.wait, record.run))
        .collect();
    assert_eq!(waits, [(1, 0, 50), (2, 90, 60), (3, 0, 80)]);
    let header = schedule.header.lines.join("\n");
    assert!(
        header.contains("MaxProcs: 4") && header.contains("easy-backfilling"),
        "{header}"
    );
}

#[test]
fn a_wanted_load_is_reached_and_a_file_out_of_order_is_sorted() {
    let place = folder();
    let model = [
        "--model",
        "lublin-feitelson",
        "--jobs",
        "3000",
        "--nodes",
        "64",
    ];
    let easy = [
        "--policy",
        "easy-backfilling",
        "--load",
        "0.7",
        "--schedule",
        "made.swf",
    ];
    let first = figures(place.path(), &[&model[..], &easy].concat());
    let offered = first["offered_load"].as_f64().unwrap();
    assert!((offered - 0.7).abs() < 1e-3, "{offered}");
    let by_estimates = ["--policy", "easy-backfilling", "--load", "0.7"];
    let by_estimates = [&by_estimates[..], &["--load-by", "estimates"]].concat();
    let asked = figures(place.path(), &[&model[..], &by_estimates].concat());
    let offered = asked["offered_load_by_estimates"].as_f64().unwrap();
    assert!((offered - 0.7).abs() < 1e-3, "{offered}");
    let made = fs::read_to_string(place.path().join("made.swf")).unwrap();
    let mut lines: Vec<&str> = made.lines().collect();
    lines.rotate_right(1);
    fs::write(place.path().join("shuffled.swf"), lines.join("\n")).unwrap();
    let again = figures(
        place.path(),
        &[
            "shuffled.swf",
            "--policy",
            "easy-backfilling",
            "--nodes",
            "64",
        ],
    );
    for key in ["jobs", "longest_wait_seconds", "makespan_seconds"] {
        assert_eq!(again[key], first[key], "{key}");
    }
}

#[test]
fn a_stream_needs_no_more_memory_when_it_is_ten_times_as_long() {
    let place = folder();
    let peak = |jobs: &str| {
        let arguments = [
            "--model",
            "lublin-feitelson",
            "--jobs",
            jobs,
            "--nodes",
            "256",
            "--load",
            "0.6",
            "--policy",
            "easy-backfilling",
            "--estimates",
            "perfect",
        ];
        figures(place.path(), &arguments)["peak_memory_bytes"].as_u64()
    };
    let (Some(short), Some(long)) = (peak("30000"), peak("300000")) else {
        println!("skipped: this system does not say how much memory a process used");
        return;
    };
    assert!(long < short + 4_000_000, "{short} and {long} bytes");
}

#[test]
fn wrong_use_and_wrong_files_are_refused_with_what_to_do() {
    let place = folder();
    fs::write(place.path().join("trace.swf"), TRACE).unwrap();
    fs::write(
        place.path().join("bare.swf"),
        &TRACE["; MaxProcs: 4\n".len()..],
    )
    .unwrap();
    fs::write(place.path().join("cut.swf"), &TRACE[..40]).unwrap();
    let refused = |arguments: &[&str]| refusal(place.path(), arguments);
    assert!(refused(&["bare.swf", "--policy", "easy-backfilling"]).contains("say --nodes N"));
    assert!(refused(&["cut.swf", "--policy", "easy-backfilling"]).contains("line 2"));
    assert!(refused(&["none.swf", "--policy", "easy-backfilling"]).contains("was not found"));
    assert!(
        refused(&["trace.swf", "--policy", "easy-backfilling", "--load", "-1"]).contains("above 0")
    );
    let tiny = refused(&[
        "trace.swf",
        "--policy",
        "easy-backfilling",
        "--load",
        "1e-15",
    ]);
    assert!(tiny.contains("say a larger load"), "{tiny}");
    fs::write(
        place.path().join("huge.swf"),
        TRACE.replace("MaxProcs: 4", "MaxProcs: 4000000000"),
    )
    .unwrap();
    assert!(
        refused(&["huge.swf", "--policy", "easy-backfilling"]).contains("4000000000 processors")
    );
    assert!(refused(&["trace.swf"]).contains("--policy"));
    let onto_itself = [
        "trace.swf",
        "--policy",
        "easy-backfilling",
        "--schedule",
        "trace.swf",
    ];
    assert!(refused(&onto_itself).contains("is the trace itself"));
    assert_eq!(
        fs::read_to_string(place.path().join("trace.swf")).unwrap(),
        TRACE
    );
}

#[test]
fn perfect_estimates_need_no_estimates_of_users() {
    let place = folder();
    let trace = TRACE.replace(" 3 100 -1", " 3 -1 -1");
    fs::write(place.path().join("trace.swf"), trace).unwrap();
    let jobs = |estimates| {
        let arguments = [
            "trace.swf",
            "--policy",
            "easy-backfilling",
            "--estimates",
            estimates,
        ];
        let found = figures(place.path(), &arguments);
        (found["jobs"].clone(), found["unusable"].clone())
    };
    assert_eq!(jobs("user"), (2.into(), 1.into()));
    assert_eq!(jobs("perfect"), (3.into(), 0.into()));
}
