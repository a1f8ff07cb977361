use clap::Parser;

use super::*;
use crate::workload::{ParsedTrace, TraceSummary};

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
    // Usable: jobs 1, 2, 4. Σ n·x = 400 + 600 + 200 = 1,200; Σ n·min(ω, x) = 200 + 20 + 200 = 420;
    // 8 nodes for 200 s.
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
    let said = run(&["convert", &input, &output, "--load", "1.5"]).unwrap();
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
        let mut all = vec!["synthesize", &output, "--jobs", "1500", "--load", "2"];
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
                "/dev/null/out.swf",
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

/// Four jobs of user 1 that use 10, 10, 10 and 90 % of their estimates, four of user 2 that use 10,
/// 90, 90 and 90 %, a job without an estimate and one of user 3 that ran longer than its estimate;
/// queue 4 has the first four.
const ESTIMATES: &str = "; Version: 2.2\n; MaxProcs: 8\n\
    1 0 0 10 1 -1 -1 1 100 -1 1 1 1 1 4 1 -1 -1\n\
    2 1 0 10 1 -1 -1 1 100 -1 1 1 1 1 4 1 -1 -1\n\
    3 2 0 20 2 -1 -1 2 200 -1 1 1 1 1 4 1 -1 -1\n\
    4 3 0 90 1 -1 -1 1 100 -1 1 1 1 1 4 1 -1 -1\n\
    5 4 0 700 1 -1 -1 1 7000 -1 1 2 1 1 5 1 -1 -1\n\
    6 5 0 90 1 -1 -1 1 100 -1 1 2 1 1 5 1 -1 -1\n\
    7 6 0 90 1 -1 -1 1 100 -1 1 2 1 1 5 1 -1 -1\n\
    8 7 0 90 1 -1 -1 1 100 -1 1 2 1 1 5 1 -1 -1\n\
    9 8 0 90 1 -1 -1 1 -1 -1 1 2 1 1 5 1 -1 -1\n";

fn written(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.swf");
    std::fs::write(&path, text).unwrap();
    (folder, path.display().to_string())
}

#[test]
fn estimates_show_gains_and_classes_in_eighty_columns() {
    let (_folder, log) = written(ESTIMATES);
    let answer = run(&["estimates", &log]).unwrap();
    // Users gain 1 − 0.811278 bits, as in the test of the gain itself.
    let row = |name: &str| {
        let row = answer
            .data
            .lines()
            .find(|line| line.trim_start().starts_with(name));
        let cells = row
            .unwrap_or_else(|| panic!("{name} in {}", answer.data))
            .split_whitespace();
        cells.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("user ")[1..4], ["2", "100.0", "0.189"]);
    assert_eq!(
        row("all jobs")[2..],
        ["8", "100.0", "50.0", "10", "0.0", "50.0"]
    );
    assert_eq!(
        row("user 1")[2..],
        ["4", "50.0", "30.0", "10", "0.0", "25.0"]
    );
    assert_eq!(
        row("1 h – 2 h")[5..],
        ["1", "12.5", "10.0", "10", "0.0", "0.0"]
    );
    assert_eq!(row("queue 4")[2..4], ["4", "50.0"]);
    for part in ["usable       8", "missing-estimate", "1.000 bits"] {
        assert!(answer.data.contains(part), "{} lacks {part:?}", answer.data);
    }
    let widest = answer.data.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{}", answer.data);
}

#[test]
fn estimates_are_written_as_tables_and_drawn_as_figures() {
    let (folder, log) = written(ESTIMATES);
    let out = folder.path().join("out");
    run(&[
        "estimates",
        &log,
        "--classes",
        "user,runtime+resources",
        "--out",
        &out.display().to_string(),
    ])
    .unwrap();
    let read =
        |name: &str| std::fs::read_to_string(out.join(name)).unwrap_or_else(|_| panic!("{name}"));
    // Of user 2, one of four jobs used 10 % and three 90 %.
    let distributions = read("tables/distributions.csv");
    let rows: Vec<&str> = distributions
        .lines()
        .filter(|line| line.starts_with("user,user 2,"))
        .collect();
    assert_eq!(rows.len(), 101);
    assert_eq!(
        (rows[9], rows[10]),
        ("user,user 2,9,0,0,0", "user,user 2,10,1,0.25,0.25")
    );
    assert_eq!(
        (rows[89], rows[90], rows[100]),
        (
            "user,user 2,89,0,0,0.25",
            "user,user 2,90,3,0.75,1",
            "user,user 2,100,0,0,1"
        )
    );
    assert!(read("tables/classes-runtime-resources.csv").contains("\"< 10 min, 1\",6,75"));
    assert!(read("plots/cdf-user.csv").contains("user 2,10,0.25,"));
    for drawing in ["plots/cdf-user.svg", "plots/pdf-runtime-resources.svg"] {
        assert!(read(drawing).starts_with("<svg "));
    }
    assert!(read("estimates.md").contains("![log: use of estimates by user](plots/cdf-user.svg)"));
}

#[test]
fn estimates_of_broken_logs_are_errors_that_say_why() {
    let (folder, log) = written(ESTIMATES);
    let (_empty, empty) = written("; Version: 2.2\n");
    let none = ESTIMATES.lines().last().unwrap();
    let (_none, none) = written(&format!("; Version: 2.2\n{none}\n"));
    let (_torn, torn) = written("1 0 0 10 1 -1\n");
    let blocked = folder.path().join("file");
    std::fs::write(&blocked, "").unwrap();
    let blocked = blocked.join("out").display().to_string();
    for (arguments, part) in [
        (vec!["estimates", "absent.swf"], "BOOKAHEAD_TRACES"),
        (vec!["estimates", &empty], "log.swf"),
        (vec!["estimates", &none], "none of the 1 records is usable"),
        (vec!["estimates", &torn], "18 fields"),
        (
            vec!["estimates", &log, "--classes", "colour"],
            "no classes by `colour`",
        ),
        (
            vec!["estimates", &log, "--classes", "queue+user"],
            "no classes by `queue+user`",
        ),
        (
            vec!["estimates", &log, "--runtime-borders", "60,60"],
            "--runtime-borders",
        ),
        (
            vec!["estimates", &log, "--resource-bounds", "0"],
            "--resource-bounds",
        ),
        (vec!["estimates", &log, "--out", &blocked], "cannot write"),
    ] {
        let error = run(&arguments).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn failures_are_counted_by_system_cause_and_hour() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("failures.csv");
    std::fs::write(
        &input,
        "System,nodes,nodenumz,Prob Started,Prob Fixed,Hardware,Software\n\
         5,3,0,1/1/2000 9:00,1/1/2000 9:30,CPU,\n\
         5,3,1,1/3/2000 9:30,1/3/2000 10:30,,Kernel\n\
         5,3,1,1/3/2000 9:50,,,\n\
         5,3,,1/3/2000 9:50,,,\n",
    )
    .unwrap();
    let input = input.display().to_string();
    let text = run(&["failures", &input]).unwrap().data;
    for part in [
        "failures     3\n",
        "left out     1 rows",
        "hardware",
        "none named",
        "the node itself",
    ] {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
    let json = run(&["failures", &input, "--json"]).unwrap().data;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["hours"][9], 3);
    assert_eq!(json["weekdays"][0], 2);
    assert_eq!(json["systems"][0]["failures"], 3);
    let error = run(&["failures", &input, "--systems", "7"]).unwrap_err();
    assert!(error.to_string().contains("no failures of system 7"));
}

#[test]
fn convert_counts_the_time_of_jobs_that_the_load_is_by() {
    let (_folder, input, output) = log();
    let converted = |more: &[&str]| {
        let all = [&["convert", &input, &output], more].concat();
        run(&all).unwrap().data
    };
    // The estimates offer 75 %, run times 26.25 %.
    assert!(converted(&["--load", "0.375"]).contains("compression  2\n"));
    let by_estimates = converted(&["--load", "0.375", "--load-by", "estimates"]);
    assert!(by_estimates.contains("compression  2\n"));
    let by_runtimes = converted(&["--load", "0.525", "--load-by", "runtimes"]);
    assert!(by_runtimes.contains("compression  0.5\n"), "{by_runtimes}");
    let trace = ParsedTrace::read(Path::new(&output)).unwrap();
    let notes = trace.header.lines.join("\n");
    assert!(
        notes.contains("with this factor the run times offer a load of 0.525 on 8 nodes"),
        "{notes}"
    );
}
