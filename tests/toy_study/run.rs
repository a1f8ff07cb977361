//! The toy study through every layer: keys, checks, specification, simulation, store, export,
//! report, resuming.

use std::path::Path;
use std::process::Command;

use bookahead::studies::STUDIES;
use bookahead::sweep::{Experiment, SimulationSpec, canonical_json, keys};

const TEXT: &str = r#"
[experiment]
name = "toy"
[workload]
model = "lublin-feitelson"
jobs = 300
nodes = 64
battery_jobs = 100
target_load = 1.0
[scheduling]
strategy = "toy"
[[axis]]
key = "toy.weight"
values = [2.0, 3.0]
"#;

fn refusal(text: &str) -> String {
    let error = Experiment::parse(STUDIES, "toy.toml", text, None).map(|_| ());
    error.expect_err("it is refused").to_string()
}

#[test]
fn a_study_that_was_added_passes_through_every_layer() {
    // Keys, with their schema.
    let key = keys::find("toy.weight").expect("a key");
    assert_eq!(key.allowed(), "0 to 10 (default 2)");
    assert!(keys::schema().to_string().contains("toy.weight"));
    // Checks.
    let too_much = refusal(&TEXT.replace("3.0]", "11.0]"));
    assert!(too_much.contains("11 is impossible"), "{too_much}");
    let elsewhere = refusal(&TEXT.replace("strategy = \"toy\"", "strategy = \"slots\""));
    assert!(
        elsewhere.contains("belongs to the toy study"),
        "{elsewhere}"
    );
    // Specification, there and back.
    let sweep = || {
        Experiment::parse(STUDIES, "toy.toml", TEXT, None)
            .expect("valid")
            .sweep
    };
    for spec in sweep().simulations.iter() {
        let text = canonical_json(&spec).expect("JSON");
        assert!(
            text.contains(r#""study":{"machine":"toy","weight":"#),
            "{text}"
        );
        assert_eq!(
            serde_json::from_str::<SimulationSpec>(&text).expect("a specification"),
            spec
        );
    }
    // Simulation, store, report.
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("toy.toml"), TEXT).expect("room on the disk");
    let call = |arguments: &[&str]| said(folder.path(), arguments);
    let run = ["run", "toy.toml", "--store", "toy.db", "--report", "report"];
    assert!(call(&run).contains("2 points from 2 simulations"));
    let page = std::fs::read_to_string(folder.path().join("report/index.html")).expect("a page");
    assert!(page.contains("Toys that were counted"));
    assert!(page.contains("Weight of all jobs"));
    // Export, comparison, questions.
    let of_store = |arguments: &[&str]| call(&[arguments, &["--store", "toy.db"]].concat());
    of_store(&[
        "export", "1", "--what", "toys", "--format", "csv", "--out", "toys.csv",
    ]);
    let rows = std::fs::read_to_string(folder.path().join("toys.csv")).expect("an export");
    assert!(rows.contains("100,200"), "{rows}");
    assert!(rows.contains("100,300"), "{rows}");
    let compared = of_store(&["compare", "1", "1", "--metric", "toy_weight"]);
    assert!(compared.contains("toy_weight"), "{compared}");
    let weights = of_store(&[
        "sql",
        "--format",
        "csv",
        "SELECT weight FROM v_toy ORDER BY 1",
    ]);
    assert!(weights.starts_with("weight\n200.0\n300.0\n"), "{weights}");
    // Resuming: nothing is left.
    assert!(call(&run).contains("2 points done before"));
}

/// What the program says, on both streams, when all goes well.
fn said(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_bookahead"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}
