use clap::Parser;

use super::*;
use crate::workload::TraceSummary;

#[derive(Parser)]
struct Program {
    #[command(flatten)]
    trace: TraceArguments,
}

const LOG: &str = "; Version: 2.2\n; MaxProcs: 8\n; Acknowledge: Ada\n; Note: first\n\
    1 0 5 50 4 1.5 -1 4 100 -1 1 1 1 1 1 -1 -1 -1\n\
    2 100 5 10 -1 -1 -1 2 300 -1 5 2 1 1 1 -1 -1 -1\n\
    3 150 5 0 4 -1 -1 4 100 -1 1 1 1 1 1 -1 -1 -1\n\
    4 200 5 120 2 -1 -1 2 100 -1 1 1 1 2 1 -1 -1 -1\n";

fn run(arguments: &[&str]) -> miette::Result<Answer> {
    let program = Program::try_parse_from([&["trace"], arguments].concat()).unwrap();
    answer(&program.trace, &TraceFolder::default())
}

fn log() -> (tempfile::TempDir, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("log.swf");
    std::fs::write(&input, LOG).unwrap();
    let output = folder.path().join("out.swf.gz").display().to_string();
    (folder, input.display().to_string(), output)
}

#[test]
fn info_prints_loads_accuracy_and_what_cleaning_drops() {
    let (_folder, input, _) = log();
    let text = run(&["info", &input]).unwrap().data;
    // Usable: jobs 1, 2, 4. Σ n·x = 400 + 600 + 200 = 1,200; Σ n·min(ω, x) = 200 + 20 + 200 = 420; 8 nodes for 200 s.
    for part in [
        "load by estimate  75.00 %",
        "load by runtime   26.25 %",
        "median 0.5000",
        "under 10 %: 33.33 %",
        "over 100 %: 33.33 %",
        "1  zero-runtime: run time 0",
        "1  other-processors-field",
        "acknowledge  Ada",
    ] {
        assert!(text.contains(part), "{text}\nlacks {part:?}");
    }
    let json = run(&["info", &input, "--json", "--nodes", "3"])
        .unwrap()
        .data;
    let summary: TraceSummary = serde_json::from_str(&json).unwrap();
    assert_eq!(summary.cleaning.wider_than_machine, 1);
    assert_eq!(summary.cleaning.usable, 3);
    // Only jobs 2 and 4 fit 3 nodes: (600 + 200) / (3 · 200).
    assert_eq!(summary.load_by_estimate, Some(800.0 / 600.0));
}

#[test]
fn convert_writes_scaled_jobs_below_the_old_header_and_new_notes() {
    let (_folder, input, output) = log();
    let said = run(&["convert", &input, &output, "--target-load", "1.5"]).unwrap();
    assert!(said.data.contains("compression  0.5") && said.messages.contains("wrote"));
    let trace = ParsedTrace::read(Path::new(&output)).unwrap();
    assert_eq!(
        trace.header.lines[..4],
        LOG.lines().take(4).collect::<Vec<_>>()
    );
    assert!(
        trace.header.lines[4..]
            .iter()
            .all(|line| line.starts_with("; Note: "))
    );
    assert!(
        trace
            .header
            .lines
            .iter()
            .any(|line| line.contains("zero-runtime 1"))
    );
    let times: Vec<(i64, i64, i64)> = trace
        .records
        .iter()
        .map(|record| (record.job_number, record.submit, record.wait))
        .collect();
    assert_eq!(times, [(1, 0, -1), (2, 50, -1), (4, 100, -1)]);
    let kept = run(&[
        "convert",
        &input,
        &output,
        "--last",
        "2",
        "--keep-zero-runtime",
    ])
    .unwrap();
    assert!(kept.data.contains("written      2"));
    let trace = ParsedTrace::read(Path::new(&output)).unwrap();
    assert_eq!(
        (
            trace.records[0].job_number,
            trace.records[0].submit,
            trace.records[0].wait
        ),
        (3, 150, 5)
    );
}

#[test]
fn synthesized_traces_offer_the_load_asked_for() {
    let (_folder, _, output) = log();
    for arguments in [
        &["--model", "lublin-feitelson", "--nodes", "64"][..],
        &["--model", "uniform-ratio", "--nodes", "64"],
        &["--model", "arminius"],
    ] {
        let mut all = vec![
            "synthesize",
            &output,
            "--jobs",
            "1500",
            "--target-load",
            "2",
        ];
        all.extend(arguments);
        run(&all).unwrap();
        let json = run(&["info", &output, "--json"]).unwrap().data;
        let summary: TraceSummary = serde_json::from_str(&json).unwrap();
        assert_eq!(summary.cleaning.usable, 1_500);
        assert!((summary.load_by_estimate.unwrap() - 2.0).abs() < 1e-3);
    }
}

#[test]
fn bad_input_is_an_error_that_says_what_to_do() {
    let (_folder, input, output) = log();
    for (arguments, part) in [
        (vec!["info", "absent.swf"], "BOOKAHEAD_TRACES"),
        (vec!["convert", &input, &input], "is the trace itself"),
        (
            vec!["convert", &input, &output, "--last", "9"],
            "3 usable jobs of 4 records",
        ),
        (
            vec!["convert", &input, &output, "--compression", "0"],
            "above 0",
        ),
        (
            vec![
                "synthesize",
                &output,
                "--model",
                "arminius",
                "--jobs",
                "5",
                "--nodes",
                "9",
            ],
            "200 nodes",
        ),
        (
            vec![
                "synthesize",
                "/nowhere/out.swf",
                "--model",
                "arminius",
                "--jobs",
                "5",
            ],
            "cannot write",
        ),
    ] {
        let error = run(&arguments).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}
