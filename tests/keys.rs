//! Keys of experiment files, those of every study included.

use bookahead::studies::STUDIES;
use bookahead::sweep::keys::{Keys, Kind, nearest};
use bookahead::sweep::{Experiment, canonical_json};

const KEYS: Keys = Keys::of(STUDIES);

#[test]
fn a_slip_finds_its_key_and_nonsense_finds_none() {
    let names = KEYS.children("acceptance");
    assert_eq!(nearest("pofmax", &names), Some("pof_max"));
    assert_eq!(nearest("penalty_raito", &names), Some("penalty_ratio"));
    assert_eq!(nearest("colour", &names), None);
}

#[test]
fn subtables_are_listed_once_among_the_children() {
    let names = KEYS.children("workload");
    assert_eq!(names.iter().filter(|name| **name == "cleaning").count(), 1);
    assert!(names.contains(&"laxity"));
}

#[test]
fn every_name_of_a_key_stands_in_what_is_said_to_be_allowed() {
    for key in KEYS.all() {
        let allowed = key.allowed();
        let names = KEYS.names(key);
        let is_listed = allowed.starts_with("a registered strategy");
        for name in names {
            assert!(
                is_listed || allowed.contains(&format!("\"{name}\"")),
                "{}: {name} is not in {allowed}",
                key.path
            );
        }
        assert!(
            !allowed.is_empty() && key.about.ends_with('.'),
            "{}",
            key.path
        );
    }
}

/// What an experiment with these lines below `[requests]` comes to.
fn with_requests(lines: &str) -> String {
    let text = format!(
        r#"
[experiment]
name = "base"
[workload]
trace = "trace.swf"
nodes = 128
whole_trace = true
[scheduling]
strategy = "co-reservation"
[requests]
{lines}
"#
    );
    let experiment = Experiment::parse(STUDIES, "base.toml", &text, None).expect("valid");
    canonical_json(experiment.sweep.simulations.kind(0)).expect("a JSON form")
}

/// Other defaults are read from their declaration.
#[test]
fn keys_of_requests_declare_what_the_default_workload_of_requests_has() {
    let sections = KEYS.sections_for("co-reservation").into_iter();
    let requests = sections.filter(|section| section.path == "requests");
    for key in requests.flat_map(|section| section.keys) {
        let Some(default) = key.default() else {
            continue;
        };
        let value = match key.kind {
            Kind::Text => format!("\"{default}\""),
            _ => default,
        };
        let (_, name) = key.path.rsplit_once('.').expect("a table and a name");
        let given = with_requests(&format!("{name} = {value}"));
        assert_eq!(given, with_requests(""), "{}", key.path);
    }
}
