//! What is generated from the declarations of the keys: the tables of the page of the configuration
//! and the JSON Schema that the program prints, which accepts every shipped experiment.
//!
//! `BOOKAHEAD_PAGES=write cargo test --release experiment_files` writes the page again.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use bookahead::studies::STUDIES;
use bookahead::sweep::Experiment;
use bookahead::sweep::keys::{Keys, Kind};
use serde_json::Value;

use crate::support::decisions::{is_decision, linked};
use crate::support::json_schema;
use crate::support::pages::{assert_current, project};
use crate::support::program::{output, program, text};

/// The table of the keys of a table and of the tables in it. What a key decides is a link whose
/// target stands at the end of the page.
fn rows(table: &str) -> String {
    let mut rows = "| Key | What it is | Type | Allowed, unit, default | Decides |\n\
                    |---|---|---|---|---|\n"
        .to_owned();
    let within = format!("{table}.");
    for key in Keys::of(STUDIES)
        .all()
        .filter(|key| key.path.starts_with(&within))
    {
        let kind = match key.kind {
            Kind::Integer => "whole number",
            Kind::Real => "number",
            Kind::Text => "text",
            Kind::Flag => "true/false",
            Kind::List => "list",
        };
        let declared: Vec<_> = Keys::of(STUDIES).declared(key.path).collect();
        let is_one = declared.iter().all(|(_, of)| of.allowed() == key.allowed());
        let each = declared.iter().map(|(study, of)| {
            let study = study.unwrap_or("every study");
            format!("in {study}: {}", of.allowed())
        });
        let allowed = match is_one {
            true => key.allowed(),
            false => each.collect::<Vec<_>>().join("; "),
        };
        let decides: Vec<String> = (key.decides.split(", "))
            .map(|name| match is_decision(name) {
                true => format!("[{name}]"),
                false => name.to_owned(),
            })
            .collect();
        rows += &format!(
            "| `{}` | {} | {kind} | {allowed} | {} |\n",
            key.path,
            key.about,
            decides.join(", ")
        );
    }
    rows
}

#[test]
fn the_page_of_the_configuration_has_the_table_of_every_key() {
    const BEGIN: &str = "<!-- the keys of ";
    const END: &str = "<!-- end of the keys -->\n";
    let page = fs::read_to_string(project().join("docs/configuration.md")).expect("readable");
    let mut parts = page.split(BEGIN);
    let mut current = parts.next().unwrap_or_default().to_owned();
    let mut tables = Vec::new();
    for part in parts {
        let (table, rest) = part.split_once(" -->\n").expect("a table is named");
        let (_, text) = rest.split_once(END).expect("every table of keys ends");
        current += &format!("{BEGIN}{table} -->\n{}{END}{text}", rows(table));
        tables.push(table);
    }
    let all: Vec<&str> = Keys::of(STUDIES).tables();
    assert_eq!(
        tables,
        all[..all.len() - 3],
        "axis, zip and exclude have no keys"
    );
    let current = linked(&current, "");
    assert_current("docs/configuration.md", &current, "experiment_files");
}

/// What `bookahead list schema` prints.
fn printed() -> String {
    let done = output(program(project(), &["list", "schema"]));
    assert!(done.status.success(), "{}", text(&done.stderr));
    text(&done.stdout)
}

/// The printed schema.
static SCHEMA: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(&printed()).expect("a schema in JSON"));

#[test]
fn the_schema_is_printed_as_it_is_written_into_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["list", "schema", "--out", "experiment.schema.json"];
    let done = output(program(folder.path(), &arguments));
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert_eq!((text(&done.stdout), text(&done.stderr)), Default::default());
    let written = fs::read_to_string(folder.path().join("experiment.schema.json"));
    assert_eq!(written.expect("readable"), printed());
    for key in Keys::of(STUDIES).all() {
        let declared = &SCHEMA["$defs"][key.path]["description"];
        let about = declared.as_str().expect("every key is in the schema");
        assert!(about.starts_with(key.about), "{}: {about}", key.path);
    }
}

/// Every shipped experiment with its text.
fn shipped() -> Vec<(PathBuf, String)> {
    fn below(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                below(&path, found);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "toml")
            {
                let text = fs::read_to_string(&path).expect("readable");
                if text.lines().any(|line| line == "[experiment]") {
                    found.push((path, text));
                }
            }
        }
    }
    let mut found = Vec::new();
    below(&project().join("configs"), &mut found);
    assert!(found.len() > 100, "{}", found.len());
    found
}

#[test]
fn every_shipped_experiment_names_the_schema_in_its_first_line() {
    // The file is not kept, so the way to it is gone by hand.
    const SCHEMA: &str = "docs/experiment.schema.json";
    for (path, text) in shipped() {
        let first = text.lines().next().unwrap_or_default();
        let schema = first.strip_prefix("#:schema ").unwrap_or_default();
        let mut named = path.parent().expect("a folder").to_owned();
        for part in Path::new(schema).components() {
            match part {
                Component::ParentDir => assert!(named.pop(), "{}", path.display()),
                part => named.push(part),
            }
        }
        assert_eq!(named, project().join(SCHEMA), "{}", path.display());
    }
    let ignored = fs::read_to_string(project().join(".gitignore")).expect("readable");
    assert!(ignored.lines().any(|line| line == format!("/{SCHEMA}")));
}

/// Somebody who has no traces runs the tests, too: those that read every shipped experiment pass
/// without them.
#[test]
fn shipped_experiments_are_valid_where_their_traces_are_not_there() {
    let tests = [
        "experiment_files::no_shipped_experiment_sets_a_key_that_nothing_reads",
        "goldens::every_shipped_configuration_resolves_to_the_specifications_it_had",
        "sweeps::the_quick_start_and_every_configuration_of_the_project_is_valid",
    ];
    let ended = std::process::Command::new(std::env::current_exe().expect("this program"))
        .arg("--exact")
        .args(tests)
        .env_remove("BOOKAHEAD_TRACES")
        .env_remove("BOOKAHEAD_GOLDENS")
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success(), "{said}");
    assert!(said.contains("3 passed"), "{said}");
}

#[test]
fn no_shipped_experiment_sets_a_key_that_nothing_reads() {
    let mut found = Vec::new();
    for (path, text) in shipped() {
        let experiment = Experiment::parse(STUDIES, "it", &text, None).expect("valid");
        let name = path
            .strip_prefix(project())
            .expect("a shipped file")
            .display()
            .to_string();
        found.extend(
            experiment
                .warnings
                .iter()
                .map(|warning| format!("{name}: {}", warning.key)),
        );
    }
    assert_eq!(found, [""; 0]);
}

/// What the schema says against an experiment.
fn refused(text: &str) -> Vec<String> {
    let value: toml::Value = toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let value: Value = serde_json::to_value(value).expect("a JSON form");
    json_schema::errors(&SCHEMA, &value)
}

#[test]
fn the_schema_accepts_every_shipped_experiment_and_every_example() {
    for (path, text) in shipped() {
        assert_eq!(refused(&text), [""; 0], "{}", path.display());
    }
    let page = fs::read_to_string(project().join("docs/configuration.md")).expect("readable");
    for example in page.split("```toml\n").skip(1) {
        let text = example.split("```").next().unwrap_or_default();
        let text = if text.starts_with("[experiment]") {
            text.to_owned()
        } else {
            format!("[experiment]\nname = \"axes\"\n{text}")
        };
        assert_eq!(refused(&text), [""; 0], "{text}");
    }
}

#[test]
fn the_schema_refuses_what_no_experiment_may_say() {
    let base = fs::read_to_string(project().join("configs/quickstart.toml")).expect("readable");
    let changed = |key: &str, value: toml::Value| {
        bookahead::sweep::with_values(Keys::of(STUDIES), &base, [(key, &value)])
            .expect("a key that can be set")
    };
    let axis = |rest: &str| format!("{base}\n[[axis]]\nkey = \"scheduling.user_factor\"\n{rest}\n");
    assert_eq!(refused(&base), [""; 0]);
    assert_eq!(refused(&axis("values = [0.0, 1]")), [""; 0]);
    assert_eq!(
        refused(&axis("range = { from = 0, to = 1, step = 0.5 }")),
        [""; 0]
    );
    let wrong = [
        ("an unknown table", format!("{base}\n[shedding]\n")),
        (
            "an unknown key",
            format!("{base}\n[planning]\noder = \"fcfs\"\n"),
        ),
        ("a wrong type", format!("{base}\n[planning]\norder = 1\n")),
        ("no name", base.replace("\nname = \"quickstart\"\n", "\n")),
        ("too low", changed("workload.laxity", 0.5.into())),
        (
            "at a bound that is excluded",
            changed("failures.shape", 0.into()),
        ),
        ("too high", changed("workload.nodes", 10_000_001.into())),
        (
            "an unknown name",
            changed("scheduling.retry", "never".into()),
        ),
        (
            "an unknown strategy",
            format!("{base}\n[[exclude]]\n\"scheduling.stategy\" = \"fcfs\"\n"),
        ),
        ("a wrong value on an axis", axis("values = [2.0]")),
        ("an axis without values", axis("")),
        (
            "values and range",
            axis("values = [0.0]\nrange = { from = 0, to = 1, step = 1 }"),
        ),
        (
            "an axis on nothing",
            axis("values = [0.0]").replace("user_factor", "user_fact"),
        ),
        (
            "a range of names",
            axis("range = { from = 0, to = 1, step = 1 }").replace("user_factor", "retry"),
        ),
        (
            "a zip on nothing",
            format!("{base}\n[[zip]]\nkeys = [\"workload.node\"]\nvalues = [[1]]\n"),
        ),
    ];
    for (what, text) in wrong {
        assert!(!refused(&text).is_empty(), "{what} is accepted");
    }
}
