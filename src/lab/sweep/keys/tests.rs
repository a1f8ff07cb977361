use std::ops::Bound::{Excluded, Included, Unbounded};

use super::*;
use crate::sweep::{Experiment, canonical_json, with_values};

#[test]
fn a_slip_finds_its_key_and_nonsense_finds_none() {
    let names = children("acceptance");
    assert_eq!(nearest("pofmax", &names), Some("pof_max"));
    assert_eq!(nearest("penalty_raito", &names), Some("penalty_ratio"));
    assert_eq!(nearest("colour", &names), None);
}

#[test]
fn subtables_are_listed_once_among_the_children() {
    let names = children("workload");
    assert_eq!(names.iter().filter(|name| **name == "cleaning").count(), 1);
    assert!(names.contains(&"laxity"));
}

#[test]
fn every_name_of_a_key_stands_in_what_is_said_to_be_allowed() {
    for key in all() {
        let allowed = key.allowed();
        let names = key.names.map_or_else(Vec::new, |names| names());
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

/// Experiments in which, together, every key is read.
const EXPERIMENTS: &[&str] = &[
    r#"
[workload]
model = "lublin-feitelson"
jobs = 4000
nodes = 128
target_load = 1.0
[failures]
source = "generated"
[scheduling]
strategy = "heuristic-overbooking"
"#,
    r#"
[workload]
trace = "trace.swf"
nodes = 128
battery_load = 1.0
[estimates]
classes = "resources+user"
[failures]
source = "generated"
survival = "weibull"
[scheduling]
strategy = "overbooking-2008"
[acceptance]
test = "risk"
calibration = "isotonic"
[reliability]
survival = "weibull"
"#,
    r#"
[workload]
trace = "trace.swf"
nodes = 128
compression = 1.0
[estimates]
classes = "runtime+application"
[failures]
source = "lanl"
[scheduling]
strategy = "comprehensive-overbooking"
[acceptance]
calibration = "isotonic"
"#,
    r#"
[workload]
trace = "trace.swf"
nodes = 128
whole_trace = true
[scheduling]
strategy = "replanning"
[reservations]
[admission]
rule = "move"
"#,
    r#"
[workload]
trace = "trace.swf"
nodes = 128
whole_trace = true
days = 30
[scheduling]
strategy = "replanning"
[reservations]
start = "lead"
[admission]
rule = "move-price"
"#,
    r#"
[workload]
trace = "trace.swf"
nodes = 128
whole_trace = true
copy_percent = 10
[scheduling]
strategy = "replanning"
[reservations]
start = "choice"
"#,
    r#"
[workload]
trace = "trace.swf"
nodes = 128
whole_trace = true
[scheduling]
strategy = "slots"
"#,
    r#"
[workload]
trace = "trace.swf"
nodes = 128
whole_trace = true
[scheduling]
strategy = "virtual-reservations"
"#,
    r#"
[workload]
trace = "trace.swf"
nodes = 128
whole_trace = true
[scheduling]
strategy = "co-reservation"
[requests]
[broker]
algorithm = "a5"
[grid_failures]
cluster_mtbf_days = 100
[risk]
"#,
    r#"
[workload]
trace = "trace.swf"
nodes = 128
whole_trace = true
[scheduling]
strategy = "co-reservation"
[requests]
bursts = 3
[broker]
latency_seconds = 1
[grid_failures]
node_mtbf_days = 100
[risk]
choice = "limit"
"#,
    r#"
[workload]
trace = "trace.swf"
nodes = 128
whole_trace = true
exact_estimates = true
[failures]
source = "generated"
[scheduling]
strategy = "provisioning"
[sites]
utilisation_percent = 70
[[sites.more]]
[workflow]
[provisioning]
search = "moga"
"#,
    r#"
[workload]
trace = "trace.swf"
nodes = 128
whole_trace = true
exact_estimates = true
[failures]
source = "generated"
[scheduling]
strategy = "provisioning"
[provisioning]
commitment = "committed"
latency_seconds = 60
"#,
    r#"
[workload]
trace = "trace.swf"
nodes = 128
whole_trace = true
[scheduling]
strategy = "provisioning"
[workflow]
source = "cyber-shake"
"#,
];

/// Keys whose ends are possible together with other keys only.
const DEPENDENT: &[&str] = &[
    "workload.jobs",
    "workload.evaluation_jobs",
    "requests.burst_hours",
    "sites.count",
    "workflow.depth",
];

/// What an experiment comes to: its simulations, or the keys that it is refused for.
fn resolved(text: &str) -> Result<String, Vec<String>> {
    match Experiment::parse("base.toml", text, None) {
        Ok(experiment) => {
            let sweep = experiment.sweep;
            let mut all = format!("{} {}\n", sweep.seed, sweep.points.len());
            for simulation in &sweep.simulations {
                all += &canonical_json(simulation).expect("a JSON form");
            }
            Ok(all)
        }
        Err(error) => {
            let problems = error.problems().iter();
            Err(problems.map(|problem| problem.key.clone()).collect())
        }
    }
}

/// An experiment with a value.
struct Tried {
    /// Whether the experiment sets the key itself.
    sets: bool,
    without: String,
    with: Result<String, Vec<String>>,
}

/// Every experiment that may have the table of a key, as it is and with this value.
fn tried(key: &Key, value: &toml::Value) -> Vec<Tried> {
    let (path, name) = key.path.rsplit_once('.').expect("a table and a name");
    let mut found = Vec::new();
    for text in EXPERIMENTS {
        let mut text = format!("[experiment]\nname = \"base\"\n{text}");
        let file: toml::Table = toml::from_str(&text).expect("TOML");
        let table = path
            .split('.')
            .try_fold(&file, |table, part| table.get(part)?.as_table());
        if table.is_none() {
            // That a table is there may mean something by itself.
            text += &format!("[{path}]\n");
        }
        if let Ok(without) = resolved(&text) {
            let text = with_values(&text, [(key.path, value)]).expect("a key that can be set");
            found.push(Tried {
                sets: table.is_some_and(|table| table.contains_key(name)),
                without,
                with: resolved(&text),
            });
        }
    }
    found
}

#[test]
fn a_key_left_out_is_the_same_as_its_default() {
    let mut wrong = Vec::new();
    for key in all().filter(|key| !is_list(parent(key))) {
        let Some(default) = key.default() else {
            continue;
        };
        let value: toml::Value = match key.kind {
            Kind::Text => default.into(),
            _ => {
                toml::from_str::<toml::Table>(&format!("value = {default}")).expect("TOML")["value"]
                    .clone()
            }
        };
        let tried = tried(key, &value);
        if !tried.iter().any(|tried| !tried.sets && tried.with.is_ok()) {
            wrong.push(format!("{} = {value} is refused everywhere", key.path));
        }
        for Tried {
            sets,
            without,
            with,
        } in tried
        {
            if !sets && with.as_ref().is_ok_and(|with| *with != without) {
                wrong.push(format!(
                    "{} = {value} is not the default:\n{with:?}\n{without}",
                    key.path
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn parent(key: &Key) -> &'static str {
    key.path.rsplit_once('.').map_or("", |(parent, _)| parent)
}

#[test]
fn a_number_outside_of_the_range_of_its_key_is_refused_and_one_at_its_end_is_not() {
    let mut wrong = Vec::new();
    let numbers =
        all().filter(|key| is_axis(key) && matches!(key.kind, Kind::Integer | Kind::Real));
    for key in numbers {
        let number = |value: f64| match key.kind {
            Kind::Integer => toml::Value::Integer(value as i64),
            _ => toml::Value::Float(value),
        };
        for (bound, outwards) in [(key.range.0, -1.0), (key.range.1, 1.0)] {
            let step = |value: f64| match key.kind {
                Kind::Integer => outwards,
                _ => outwards * (value.abs() * 1e-6).max(1e-9),
            };
            let (inside, outside) = match bound {
                Included(value) => (value, value + step(value)),
                Excluded(value) => (value - step(value), value),
                Unbounded => continue,
            };
            let refused = |tried: &Tried| {
                let keys = tried.with.as_ref().err();
                keys.is_some_and(|keys| keys.iter().any(|one| one == key.path))
            };
            if !tried(key, &number(outside)).iter().any(refused) {
                wrong.push(format!(
                    "{} = {} is refused nowhere",
                    key.path,
                    number(outside)
                ));
            }
            let accepted = tried(key, &number(inside))
                .iter()
                .any(|tried| tried.with.is_ok());
            if !accepted && !DEPENDENT.contains(&key.path) {
                wrong.push(format!(
                    "{} = {} is refused everywhere",
                    key.path,
                    number(inside)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
