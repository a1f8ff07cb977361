//! `bookahead simulate --store`: what became of every job, as a run of a store.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::support::program::{folder, output, program, text};

/// Three jobs of four nodes, and one that is too wide.
const TRACE: &str = "\
; MaxProcs: 4
1 10 -1 50 3 -1 -1 3 100 -1 1 7 1 1 1 -1 -1 -1
2 20 -1 60 4 -1 -1 4 60 -1 1 8 1 1 1 -1 -1 -1
3 30 -1 90 1 -1 -1 1 80 -1 1 9 1 1 1 -1 -1 -1
4 40 -1 10 9 -1 -1 9 20 -1 1 1 1 1 1 -1 -1 -1
";

fn said(place: &Path, arguments: &[&str]) -> Output {
    let output = output(program(place, arguments));
    assert!(output.status.success(), "{}", text(&output.stderr));
    output
}

fn asked(place: &Path, question: &str) -> String {
    let csv = ["sql", "--store", "jobs.db", "--format", "csv", question];
    let text = text(&said(place, &csv).stdout);
    text.lines().skip(1).collect::<Vec<_>>().join(" ")
}

#[test]
fn every_job_of_a_hand_made_trace_is_stored_with_its_start_and_its_verdict() {
    let place = folder();
    let place = place.path();
    fs::write(place.join("trace.swf"), TRACE).unwrap();
    let jobs = "SELECT trace_number, user, start, \"end\", reason FROM v_job
        WHERE simulation = (SELECT max(simulation) FROM v_job) ORDER BY job";
    let simulated = |arguments: &[&str]| {
        let command = [&["simulate", "trace.swf", "--store", "jobs.db"], arguments].concat();
        said(place, &command);
        asked(place, jobs)
    };
    // As on paper in tests of the schedule; the third job uses more than it asked for, and gets no
    // more than that.
    let wide = "4,1,,,dropped-too-wide";
    for policy in ["easy-backfilling", "heuristic-planning"] {
        assert_eq!(
            simulated(&["--policy", policy]),
            format!(
                "1,7,10,60,successful-finished 2,8,110,170,successful-finished 3,9,30,110,successful-full-grant {wide}"
            )
        );
    }
    let exact = ["--policy", "easy-backfilling", "--estimates", "perfect"];
    assert_eq!(
        simulated(&exact),
        format!(
            "1,7,10,60,successful-finished 2,8,60,120,successful-finished 3,9,120,200,successful-full-grant {wide}"
        )
    );
    assert_eq!(
        simulated(&["--fixed-starts", "--lead", "100"]),
        format!(
            "1,7,110,160,successful-finished 2,8,,,dropped-no-slot 3,9,130,210,successful-full-grant {wide}"
        )
    );
    assert_eq!(
        asked(place, "SELECT count(*), count(DISTINCT name) FROM v_run"),
        "4,3"
    );
    // Users' jobs are the same under two policies; exact estimates and fixed starts make others of
    // them.
    assert_eq!(asked(place, "SELECT count(*) FROM workload"), "3");
}

#[test]
fn a_stored_simulation_agrees_with_what_is_printed_and_is_a_run_like_any_other() {
    let place = folder();
    let place = place.path();
    let model = [
        "simulate",
        "--model",
        "lublin-feitelson",
        "--jobs",
        "6000",
        "--nodes",
        "64",
    ];
    let command = [
        &model[..],
        &[
            "--policy",
            "easy-backfilling",
            "--load",
            "0.8",
            "--store",
            "jobs.db",
            "--json",
        ],
    ]
    .concat();
    let first = said(place, &command);
    assert!(text(&first.stderr).contains("run 1 is in jobs.db"));
    let printed: Value = serde_json::from_slice(&first.stdout).unwrap();
    let number = |question: &str| -> f64 { asked(place, question).parse().unwrap() };
    for (question, figure) in [
        ("SELECT avg(waiting) FROM v_job", "mean_wait_seconds"),
        ("SELECT max(waiting) FROM v_job", "longest_wait_seconds"),
        ("SELECT count(*) FROM v_job", "jobs"),
        ("SELECT accepted FROM v_point", "started"),
        ("SELECT utilisation FROM v_point", "utilisation"),
        (
            "SELECT sum(count) FROM v_histogram WHERE quantity = 'wait'",
            "started",
        ),
    ] {
        let (found, wanted) = (number(question), printed[figure].as_f64().unwrap());
        assert!(
            (found - wanted).abs() <= 1e-9 * wanted.abs(),
            "{question}: {found} {wanted}"
        );
    }
    let shown = text(&said(place, &["show", "latest", "--store", "jobs.db"]).stdout);
    assert!(
        shown.contains("simulate-lublin-feitelson-easy-backfilling"),
        "{shown}"
    );
    let told = ["show", "latest", "--configuration", "--store", "jobs.db"];
    assert!(text(&said(place, &told).stdout).contains("policy = \"easy-backfilling\""));
    let exported = [
        "export", "latest", "--format", "csv", "--what", "jobs", "--out", "-", "--store", "jobs.db",
    ];
    assert_eq!(text(&said(place, &exported).stdout).lines().count(), 6_001);
    said(
        place,
        &["report", "latest", "--store", "jobs.db", "--out", "report"],
    );
    assert!(place.join("report/index.html").exists());
    // It names no nodes, so that its plan is how many were held.
    let draw = ["gantt", "latest", "--store", "jobs.db", "--out", "plan.svg"];
    said(place, &draw);
    let drawing = fs::read_to_string(place.join("plan.svg")).unwrap();
    assert!(drawing.contains("nodes held") && drawing.contains("jobs: "));

    let again = said(place, &command);
    assert!(
        text(&again.stderr).contains("run 2 is in jobs.db; the store had this simulation already")
    );
    let counts = "SELECT (SELECT count(*) FROM simulation), (SELECT count(*) FROM run), (SELECT count(*) FROM job_outcome)";
    assert_eq!(asked(place, counts), "1,2,6000");
    assert_eq!(
        asked(place, "SELECT points_done, state FROM v_run ORDER BY run"),
        "1,done 1,done"
    );
}
