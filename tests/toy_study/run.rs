//! The toy study through every layer: keys, checks, specification, simulation, store, export, resuming.

use bookahead_lab::store::{ExportKind, OutcomeDetail, RunId, Store, run_sweep};
use bookahead_lab::sweep::{Experiment, SimulationSpec, SweepOptions, canonical_json, keys};
use rusqlite::Connection;

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
    let error = Experiment::parse("toy.toml", text, None).map(|_| ());
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
        Experiment::parse("toy.toml", TEXT, None)
            .expect("valid")
            .sweep
    };
    for spec in sweep().simulations {
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
    // Simulation, store, export.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("toy.db");
    let options = SweepOptions {
        quiet: true,
        outcomes: OutcomeDetail::Metrics,
        ..SweepOptions::new(path.clone())
    };
    let summary = run_sweep(sweep(), &options).expect("sound");
    assert_eq!((summary.points, summary.tally.simulations), (2, 2));
    let kind = ExportKind::all()
        .find(|kind| kind.name == "toys")
        .expect("an export");
    let store = Store::open_read_only(&path).expect("a store");
    let export = store.export(RunId(1), kind).expect("a question");
    let connection = Connection::open(&path).expect("a database");
    let mut statement = connection.prepare(&export.sql).expect("SQL");
    let rows = statement.query_map([], |row| Ok((row.get(1)?, row.get(2)?)));
    let rows: Vec<(i64, f64)> = rows.expect("rows").map(|row| row.expect("a row")).collect();
    assert_eq!(rows, [(100, 200.0), (100, 300.0)]);
    // Resuming: nothing is left.
    let again = run_sweep(sweep(), &options).expect("sound");
    assert_eq!((again.done_before, again.tally.simulations), (2, 0));
}
