//! The plan, seen: what is replayed agrees with the store and with itself, and the drawing says
//! what it cannot show.

use std::collections::BTreeMap;
use std::process::Command;

use bookahead::store::{RunId, Store};
use bookahead::studies::STUDIES;
use bookahead::sweep::{InputFolders, ReplayError, replay_point};
use bookahead::units::Seconds;

use crate::support::program::{folder, output, program, run, text};

#[test]
fn a_replay_agrees_with_the_store_and_no_node_is_held_twice_or_while_it_is_down() {
    let folder = folder();
    let status = run(folder.path(), "plans", &[]).status();
    assert!(status.expect("it starts").success());
    let store = Store::open_read_only(STUDIES, &folder.path().join("plans.db")).expect("a store");
    let places = store.best_places(RunId(1)).expect("places");
    assert_eq!(places.len(), 4, "one of every strategy");
    let mut lost = 0;
    for (place, strategy) in places {
        let source = store
            .replay_source(RunId(1), place)
            .expect("read")
            .expect("done");
        let point =
            replay_point(STUDIES, &source, &InputFolders::default(), false).expect("it agrees");
        assert!(point.agrees);
        let replay = point.plan;
        // Every node's holders follow each other.
        let mut free_from: BTreeMap<u32, Seconds> = BTreeMap::new();
        let mut last = BTreeMap::new();
        for allocation in &replay.allocations {
            lost += usize::from(allocation.lost);
            assert!(allocation.start <= allocation.end);
            for node in allocation.nodes.iter() {
                let free = free_from.entry(node.0).or_insert(Seconds::ZERO);
                assert!(
                    *free <= allocation.start,
                    "{strategy}: node {} is held twice",
                    node.0
                );
                *free = allocation.end;
            }
            last.insert(allocation.job, allocation);
        }
        // No node is down in the middle of an allocation.
        for event in replay.failures.events.iter().filter(|event| !event.up) {
            let holder = replay.allocations.iter().find(|allocation| {
                allocation.start < event.time
                    && event.time < allocation.end
                    && allocation.nodes.contains(event.node)
            });
            assert!(
                holder.is_none(),
                "{strategy}: {holder:?} outlives {event:?}"
            );
        }
        // The last attempt of every job is the one of its outcome.
        for outcome in &replay.outcomes {
            let attempt = last.get(&outcome.job.id);
            assert_eq!(
                outcome.start,
                attempt.map(|attempt| attempt.start),
                "{strategy}"
            );
            if let Some(attempt) = attempt {
                assert_eq!(attempt.nodes.count(), outcome.job.nodes);
                if outcome.verdict.is_successful() {
                    assert_eq!(outcome.end, Some(attempt.end));
                }
            }
        }
    }
    assert!(lost > 0, "failures hit jobs in this sweep");
}

#[test]
fn a_stored_result_that_does_not_come_out_again_is_refused_unless_somebody_insists() {
    let folder = folder();
    let status = run(folder.path(), "moved", &[]).status();
    assert!(status.expect("it starts").success());
    let path = folder.path().join("moved.db");
    let store = rusqlite::Connection::open(&path).expect("a store");
    store
        .execute("UPDATE simulation_metrics SET fees = fees + 3600", [])
        .expect("written");
    let source = Store::open_read_only(STUDIES, &path)
        .expect("a store")
        .replay_source(RunId(1), 0)
        .expect("read")
        .expect("done");
    let folders = InputFolders::default();
    assert!(matches!(
        replay_point(STUDIES, &source, &folders, false),
        Err(ReplayError::OtherTotals { .. })
    ));
    assert!(
        !replay_point(STUDIES, &source, &folders, true)
            .expect("forced")
            .agrees
    );
    let draw = |more: &[&str]| {
        let arguments = [
            "gantt", "latest", "--store", "moved.db", "--point", "0", "--out", "p.html",
        ];
        output(program(folder.path(), &[&arguments, more].concat()))
    };
    let refused = draw(&[]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        text(&refused.stderr).contains("--fresh"),
        "{}",
        text(&refused.stderr)
    );
    assert!(draw(&["--force"]).status.success());
    let page = std::fs::read_to_string(folder.path().join("p.html")).expect("written");
    assert!(page.contains("NOT those of the store"));
}

#[test]
fn few_jobs_are_drawn_one_by_one_and_many_as_shares() {
    let folder = folder();
    let many = crate::support::program::TEXT
        .replace("nodes = 64", "nodes = 4000")
        .replace("replications = 4", "replications = 1");
    std::fs::write(folder.path().join("many.toml"), many).expect("written");
    let call = |arguments: &[&str]| {
        let ended = Command::new(env!("CARGO_BIN_EXE_bookahead"))
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .expect("it starts");
        (ended.status.success(), text(&ended.stderr))
    };
    for name in ["small", "many"] {
        let (well, said) = call(&[
            "run",
            &format!("{name}.toml"),
            "--store",
            &format!("{name}.db"),
            "--report",
            name,
        ]);
        assert!(well, "{said}");
        let svg = format!("{name}.svg");
        let (well, said) = call(&[
            "gantt",
            "latest",
            "--store",
            &format!("{name}.db"),
            "--out",
            &svg,
        ]);
        assert!(well, "{said}");
        let drawing = std::fs::read_to_string(folder.path().join(&svg)).expect("written");
        assert!(drawing.len() < 6_000_000, "{} bytes", drawing.len());
        assert_eq!(drawing.contains("fill-opacity"), name == "many");
        assert_eq!(drawing.contains("estimate "), name == "small");
    }
    for (arguments, words) in [
        (["--point", "99999"], "has no finished point 99999"),
        (["--cluster", "3"], "no cluster 3"),
        (["--from", "900d"], "nothing lies between"),
        (["--to", "soon"], "36h"),
        (["--out", "p.png"], "neither in .svg nor in .html"),
    ] {
        let (well, said) =
            call(&[&["gantt", "latest", "--store", "small.db"], &arguments[..]].concat());
        assert!(!well && said.contains(words), "{arguments:?}: {said}");
    }
}

/// The small experiments of the goldens, one for each study.
fn experiments() -> Vec<(String, String)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens/experiments");
    let mut found: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            let name = path
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            (name, std::fs::read_to_string(path).expect("a file"))
        })
        .collect();
    found.sort();
    found
}

#[test]
fn every_study_shows_its_plan_and_no_machine_holds_more_than_it_has() {
    let mut studies: Vec<String> = Vec::new();
    for (name, text_of_file) in experiments() {
        let folder = folder();
        std::fs::write(folder.path().join("it.toml"), text_of_file).expect("written");
        let call = |arguments: &[&str]| {
            let ended = output(program(
                folder.path(),
                &[arguments, &["--store", "it.db"]].concat(),
            ));
            (ended.status.success(), text(&ended.stderr))
        };
        let (well, said) = call(&["run", "it.toml", "--report", "report"]);
        assert!(well, "{name}: {said}");
        let store = Store::open_read_only(STUDIES, &folder.path().join("it.db")).expect("a store");
        for (place, strategy) in store.best_places(RunId(1)).expect("places") {
            let source = store
                .replay_source(RunId(1), place)
                .expect("read")
                .expect("done");
            if !source.names_nodes(STUDIES).expect("a specification") {
                let machines = store
                    .held_by_machines(&strategy, source.simulation)
                    .expect("read");
                for (number, machine) in machines.iter().enumerate() {
                    assert!(!machine.held.is_empty(), "{name}: {}", machine.name);
                    // What others of a site without applications and what applications bought may
                    // meet in the drawing.
                    let exact = strategy != "provisioning";
                    let mut changes: BTreeMap<Seconds, i64> = BTreeMap::new();
                    for held in &machine.held {
                        assert!(held.start <= held.end && held.nodes <= machine.nodes);
                        *changes.entry(held.start).or_default() += i64::from(held.nodes.0);
                        *changes.entry(held.end).or_default() -= i64::from(held.nodes.0);
                    }
                    let mut held = 0;
                    for (time, change) in changes {
                        held += change;
                        assert!(
                            !exact || held <= i64::from(machine.nodes.0),
                            "{name}: {} at {time:?}",
                            machine.name
                        );
                    }
                    let cluster = number.to_string();
                    let place = place.to_string();
                    for file in ["plan.svg", "plan.html"] {
                        let (well, said) = call(&[
                            "gantt",
                            "1",
                            "--point",
                            &place,
                            "--cluster",
                            &cluster,
                            "--out",
                            file,
                        ]);
                        assert!(well, "{name}: {said}");
                        let drawing =
                            std::fs::read_to_string(folder.path().join(file)).expect("written");
                        assert!(
                            drawing.contains("nodes held")
                                && drawing.contains(&*machine.held[0].kind)
                        );
                    }
                }
                let beyond = machines.len().to_string();
                let (well, said) = call(&["gantt", "1", "--cluster", &beyond, "--out", "plan.svg"]);
                assert!(
                    !well && said.contains(&format!("no cluster {beyond}")),
                    "{said}"
                );
                studies.push(strategy);
            } else {
                let place = place.to_string();
                let (well, said) = call(&["gantt", "1", "--point", &place, "--out", "plan.svg"]);
                assert!(well, "{name}: {said}");
            }
        }
    }
    studies.sort();
    studies.dedup();
    let known: Vec<&str> = STUDIES.strategies().map(|study| study.name).collect();
    assert_eq!(studies.len(), known.len(), "{studies:?} of {known:?}");
}
