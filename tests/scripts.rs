//! What scripts rely on: an experiment on standard input, answers as JSON, some rows of an export,
//! parameters of a question.

use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::support::program::{TEXT, folder, output, program, run, text};

fn given(folder: &Path, arguments: &[&str], input: &str) -> Output {
    let mut child = program(folder, arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(input.as_bytes()).expect("it reads");
    drop(pipe);
    child.wait_with_output().expect("it ends")
}

fn object(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("JSON on standard output")
}

#[test]
fn an_experiment_on_standard_input_is_the_same_points_as_its_file_and_is_told_as_json() {
    let folder = folder();
    assert!(run(folder.path(), "file", &[]).status().unwrap().success());
    let arguments = ["run", "-", "--store", "given.db", "--json", "--no-report"];
    let said = given(folder.path(), &arguments, TEXT);
    assert!(said.status.success(), "{}", text(&said.stderr));
    let told = object(&said);
    assert_eq!(told["run"], 1);
    assert_eq!(told["state"], "done");
    assert_eq!(told["points_done"], 80);
    assert_eq!(told["source"], Value::Null);
    assert_eq!(told["report"], Value::Null);
    assert!(!folder.path().join("reports").exists());
    let identities = |store: &str| {
        let question = "SELECT identity FROM v_point ORDER BY place";
        let arguments = ["sql", "--format", "csv", "--store", store, question];
        text(&output(program(folder.path(), &arguments)).stdout)
    };
    assert_eq!(identities("given.db"), identities("file.db"));
    // A report is named where there is one, and its table is not in the way of the object.
    let arguments = [
        "run",
        "small.toml",
        "--store",
        "file.db",
        "--json",
        "--report",
        "here",
    ];
    assert_eq!(
        object(&output(program(folder.path(), &arguments)))["report"],
        "here"
    );
}

#[test]
fn what_is_wrong_with_an_experiment_is_told_as_json_key_by_key() {
    let folder = folder();
    let wrong = TEXT.replace("jobs = ", "jobz = ");
    let said = given(folder.path(), &["run", "-", "--json"], &wrong);
    assert_eq!(said.status.code(), Some(2));
    let told = object(&said);
    let problems = told["error"]["problems"].as_array().expect("problems");
    let unknown = problems
        .iter()
        .find(|problem| problem["key"] == "workload.jobz")
        .expect("it is named");
    assert_eq!(unknown["file"], "standard input");
    assert!(
        unknown["help"].as_str().unwrap().contains("`jobs`"),
        "{unknown}"
    );
    assert!(
        told["error"]["message"]
            .as_str()
            .unwrap()
            .contains("`workload.jobz`")
    );
    assert_eq!(
        object(&given(folder.path(), &["check", "-", "--json"], &wrong)),
        told
    );
    let said = output(program(folder.path(), &["run", "none.toml", "--json"]));
    assert_eq!(object(&said)["error"]["problems"], serde_json::json!([]));
}

#[test]
fn an_export_can_be_of_some_points_and_of_rows_that_meet_a_condition() {
    let folder = folder();
    assert!(run(folder.path(), "all", &[]).status().unwrap().success());
    let export = |more: &[&str]| {
        let arguments = [
            "export", "1", "--store", "all.db", "--format", "csv", "--out", "-",
        ];
        output(program(folder.path(), &[&arguments, more].concat()))
    };
    let column = |said: &Output, name: &str| -> Vec<String> {
        let mut rows = csv::Reader::from_reader(said.stdout.as_slice());
        let at = rows
            .headers()
            .unwrap()
            .iter()
            .position(|header| header == name)
            .expect(name);
        rows.records()
            .map(|row| row.expect("a row")[at].to_owned())
            .collect()
    };
    assert_eq!(
        column(&export(&["--point", "7,1-3,2"]), "place"),
        ["1", "2", "3", "7"]
    );
    let all = export(&["--what", "jobs"]);
    let of_two = export(&["--what", "jobs", "--point", "2,3"]);
    let simulations = column(&export(&["--point", "2,3"]), "simulation");
    let wanted: Vec<_> = text(&all.stdout)
        .lines()
        .skip(1)
        .filter(|row| {
            simulations
                .iter()
                .any(|number| row.split(',').next() == Some(number))
        })
        .map(str::to_owned)
        .collect();
    assert!(!wanted.is_empty());
    assert_eq!(
        text(&of_two.stdout).lines().skip(1).collect::<Vec<_>>(),
        wanted
    );
    // A dotted axis, and a comment that would swallow the rest.
    let some = export(&[
        "--where",
        "\"acceptance.pof_max\" = 0.3 AND replication = 1 -- mine",
    ]);
    assert_eq!(column(&some, "acceptance.pof_max"), ["0.3"; 4]);
    assert_eq!(column(&some, "replication"), ["1"; 4]);
    let failed = export(&[
        "--what",
        "jobs",
        "--where",
        "overbooked AND outcome = 'failed'",
    ]);
    let all_failed = column(&all, "overbooked")
        .iter()
        .zip(column(&all, "outcome"))
        .filter(|(overbooked, outcome)| *overbooked == "true" && outcome == "failed")
        .count();
    assert_eq!(column(&failed, "outcome").len(), all_failed);
    for (wrong, words) in [
        (["--point", "5-2"], "allowed are places and ranges of them"),
        (["--point", "0-99999999999"], "more than 1000000 places"),
        (["--where", "gainn > 1"], "near names: gain"),
    ] {
        let said = export(&wrong);
        assert_eq!(said.status.code(), Some(2));
        assert!(text(&said.stderr).contains(words), "{}", text(&said.stderr));
    }
    let said = export(&["--what", "run_loss", "--point", "1"]);
    assert!(text(&said.stderr).contains("belong to no single point"));
}

#[test]
fn a_question_takes_its_parameters_in_order_or_by_name() {
    let folder = folder();
    assert!(run(folder.path(), "all", &[]).status().unwrap().success());
    let ask = |parameters: &str, question: &str, format: &str| {
        let arguments = [
            "sql",
            "--store",
            "all.db",
            "--format",
            format,
            "--parameters",
            parameters,
            question,
        ];
        output(program(folder.path(), &arguments))
    };
    let rows = |parameters: &str, question: &str| text(&ask(parameters, question, "csv").stdout);
    let name = "x'; DROP TABLE run; --";
    assert_eq!(
        rows(
            &serde_json::json!([name, 2, 0.5, true, null]).to_string(),
            "SELECT ? AS a, ? AS b, ? AS c, ? AS d, ? AS e"
        ),
        format!("a,b,c,d,e\n{name},2,0.5,1,\n")
    );
    assert_eq!(
        rows(
            r#"{"name": "small", "done": "done"}"#,
            "SELECT :name AS n, run FROM v_run WHERE name = :name AND state = :done"
        ),
        "n,run\nsmall,1\n"
    );
    // Parquet asks twice.
    assert!(
        ask("[1]", "SELECT run FROM v_run WHERE run = ?", "parquet")
            .stdout
            .starts_with(b"PAR1")
    );
    for (parameters, question, words) in [
        ("[1]", "SELECT ?, ?", "nothing to put there"),
        ("[1, 2]", "SELECT ?", "there are 2 values for 1 parameters"),
        (
            r#"{"b": 1}"#,
            "SELECT :a",
            "a parameter `:a` and nothing to put there",
        ),
        (
            r#"{"a": 1, "b": 1}"#,
            "SELECT :a",
            "a value for `:b`, which the question does not have",
        ),
        ("[[1]]", "SELECT ?", "[1] is no single value"),
        ("3", "SELECT ?", "allowed are a JSON array"),
    ] {
        let said = ask(parameters, question, "csv");
        assert_eq!(said.status.code(), Some(2), "{parameters}");
        assert!(text(&said.stderr).contains(words), "{}", text(&said.stderr));
    }
}
