//! Failures that follow the load (`failures.load_factor`): the keys, and what the store has of
//! them.

use bookahead::store::{RunId, Store};
use bookahead::studies::STUDIES;
use bookahead::sweep::{Experiment, InputFolders, canonical_json, replay_point};
use bookahead_overbooking::registry::STRATEGIES;

use crate::support::program::{folder, program, text};

const HEAD: &str = r#"[experiment]
name = "by-load"
replications = 2
[workload]
model = "lublin-feitelson"
jobs = 1200
battery_jobs = 120
nodes = 64
fresh = true
load.each_battery = 1.5
"#;

/// The experiment with these lines of its tables `scheduling`, `failures` and `reliability`.
fn file(scheduling: &str, failures: &str, reliability: &str) -> String {
    format!(
        "{HEAD}[scheduling]\n{scheduling}\n[failures]\nsource = \"generated\"\n{failures}\n\
         [reliability]\n{reliability}\n"
    )
}

#[test]
fn without_a_factor_no_specification_has_changed_and_only_plans_that_tell_their_load_believe_in_one()
 {
    let of_each = |failures: &str, reliability: &str| -> Vec<(&str, String)> {
        let each = STRATEGIES.iter().map(|strategy| {
            let scheduling = format!("strategy = \"{}\"\ntest_full_length = true", strategy.name);
            let text = file(&scheduling, failures, reliability);
            let sweep = Experiment::parse(STUDIES, "it.toml", &text, None);
            let sweep = sweep.expect("valid").sweep;
            let spec = sweep.simulations.iter().next().expect("a simulation");
            (strategy.name, canonical_json(&spec).expect("JSON"))
        });
        each.collect()
    };
    let plain = of_each("", "");
    assert!(plain.iter().all(|(_, text)| !text.contains("load_factor")));
    let unread = of_each(
        "load_factor = 0.0\nmean_load = 0.7",
        "load_factor = 0.0\nmean_load = 0.7",
    );
    assert_eq!(unread, plain);
    let met = of_each("load_factor = 1.0", "");
    assert!(plain.iter().zip(&met).all(|(one, other)| one.1 != other.1));
    let believed = of_each("", "load_factor = 1.0");
    let differing = plain
        .iter()
        .zip(&believed)
        .filter(|(one, other)| one != other);
    let names: Vec<&str> = differing.map(|(one, _)| one.0).collect();
    assert_eq!(
        names,
        [
            "conservative-backfilling",
            "heuristic-planning",
            "comprehensive-overbooking",
            "heuristic-overbooking"
        ]
    );
}

#[test]
fn what_cannot_follow_the_load_is_refused_by_name() {
    let planning = "strategy = \"heuristic-planning\"";
    let by_load = "load_factor = 1.0";
    for (scheduling, failures, rest, word) in [
        (planning, "survival = \"weibull\"", "", "Poisson"),
        (planning, "burst_followers = 1.0", "", "follow others"),
        ("strategy = \"market\"", "", "", "one cluster"),
        (
            planning,
            "",
            "[best_effort]\nshare_percent = 20",
            "ask for promises",
        ),
        (planning, "mean_load = 1.5", "", "mean_load"),
    ] {
        let text = file(scheduling, &format!("{by_load}\n{failures}"), "") + rest;
        let error = Experiment::parse(STUDIES, "it.toml", &text, None).expect_err(word);
        let told: Vec<String> = error.problems().iter().map(ToString::to_string).collect();
        let told = told.join("\n");
        assert!(told.contains(word) && told.contains("load"), "{told}");
    }
}

#[test]
fn the_store_has_the_failures_that_happened_and_a_replay_agrees_with_it() {
    let folder = folder();
    let text_of = |failures: &str| {
        let strategies = "[[axis]]\nkey = \"scheduling.strategy\"\nvalues = [\"fcfs\", \"conservative-backfilling\", \
                          \"heuristic-planning\"]\n";
        file("", failures, "") + strategies
    };
    let by_load = "rate_per_hour = 0.01\nload_factor = 1.0\nmean_load = 0.6";
    std::fs::write(folder.path().join("it.toml"), text_of(by_load)).expect("written");
    let arguments = [
        "run",
        "it.toml",
        "--store",
        "it.db",
        "--outcomes",
        "all",
        "--quiet",
    ];
    let done = program(folder.path(), &arguments)
        .output()
        .expect("it runs");
    assert!(done.status.success(), "{}", text(&done.stderr));
    let store = Store::open_read_only(STUDIES, &folder.path().join("it.db")).expect("a store");
    let mut met = Vec::new();
    for (place, _) in store.best_places(RunId(1)).expect("places") {
        let source = store
            .replay_source(RunId(1), place)
            .expect("read")
            .expect("done");
        let point = replay_point(STUDIES, &source, &InputFolders::default(), false);
        let point = point.expect("it can be replayed");
        assert!(point.agrees);
        assert!(point.plan.failures.validate().is_ok());
        met.push(point.plan.failures.events.len());
        // No failure hits an idle machine: γ = 1.
        for event in point.plan.failures.events.iter().filter(|event| !event.up) {
            let mut runs = point.plan.allocations.iter();
            assert!(runs.any(|run| run.start <= event.time && event.time <= run.end));
        }
    }
    met.sort_unstable();
    met.dedup();
    assert!(met.len() > 1 && met[0] > 0, "{met:?}");
}
