//! Fresh replications: more of them change none of those that were run.

use std::collections::BTreeMap;

use super::*;
use bookahead::actors::Player;
use bookahead::studies::STUDIES;
use bookahead::study::inputs::{InputFolders, InputSources, Inputs};
use bookahead::sweep::{Identity, starter};

/// The first experiment of a study with so many replications, identified, and what it reads.
fn begun(text: &str, replications: u32) -> (Sweep, Inputs) {
    let with = text.replace(
        "replications = 3",
        &format!("replications = {replications}"),
    );
    let mut sweep = sweep(&with);
    let inputs = Inputs::new(STUDIES, InputSources::new(&InputFolders::default()), true);
    inputs.identify(&mut sweep).expect("inputs can be made");
    (sweep, inputs)
}

#[test]
fn twice_as_many_fresh_replications_of_every_study_reuse_all_that_were_run() {
    let mut studies = 0;
    for study in STUDIES.iter() {
        let name = study.name();
        let text = starter(STUDIES, name).expect("every study has a first experiment");
        if !text.contains("\nfresh = true") {
            continue;
        }
        studies += 1;
        let ((few, of_few), (many, of_many)) = (begun(&text, 2), begun(&text, 4));
        let place = |sweep: &Sweep| -> BTreeMap<Identity, usize> {
            (sweep.simulation_ids.iter().copied()).zip(0..).collect()
        };
        let places = place(&many);
        assert!(
            few.simulation_ids.iter().all(|id| places.contains_key(id)),
            "{name}: simulations of two replications are not among those of four"
        );
        let points: Vec<Identity> = many.points.iter().map(|point| point.id).collect();
        assert!(
            few.points.iter().all(|point| points.contains(&point.id)),
            "{name}"
        );
        // The last replication of the first kind: what it reads and gives is the same.
        let number = (0..few.simulations.len())
            .rfind(|number| few.simulations.get(*number).replication == 1)
            .expect("there are two replications");
        let same = places[&few.simulation_ids[number]];
        let run = |inputs: &Inputs, sweep: &Sweep, number| {
            let simulation = inputs.simulation(&sweep.simulations.get(number));
            let simulation = simulation.expect("inputs can be made");
            simulation.run(true, &Player::by_actors()).expect("it runs")
        };
        assert_eq!(
            run(&of_few, &few, number),
            run(&of_many, &many, same),
            "{name}"
        );
    }
    // All but provisioning, which refuses it.
    assert_eq!(studies, STUDIES.iter().count() - 1);
}

#[test]
fn fresh_replications_share_neither_jobs_nor_learning_sets_nor_failures() {
    let text = starter(STUDIES, "overbooking").expect("there is one");
    let (sweep, inputs) = begun(&text, 3);
    let mut sources: Vec<&str> = sweep.inputs.iter().map(|input| &*input.source).collect();
    sources.dedup();
    assert_eq!(sources.len(), 3, "each is an input of its own");
    let specs: Vec<_> = (sweep.simulations.iter())
        .filter(|spec| spec.scheduling.strategy == "heuristic-planning")
        .collect();
    assert_eq!(specs.len(), 3);
    let mut seen: Vec<(Vec<i64>, Vec<i64>, String)> = Vec::new();
    for spec in &specs {
        let workload = inputs.workload(spec).expect("jobs");
        let [battery] = &workload.batteries[..] else {
            panic!("a fresh replication has one battery");
        };
        let load = bookahead::workload::battery::offered_load(
            battery,
            spec.workload.nodes,
            bookahead::workload::LoadTime::Estimates,
        );
        assert!((load.expect("a span") - 2.0).abs() < 0.01, "its own load");
        let estimates =
            |jobs: &[bookahead::workload::Job]| jobs.iter().map(|job| job.estimate.0).collect();
        let failures = inputs.failures_with(spec, battery, spec.replication);
        let own = (
            estimates(battery),
            estimates(&workload.learning),
            failures.expect("failures").content_hash(),
        );
        for other in &seen {
            assert!(own.0 != other.0 && own.1 != other.1 && own.2 != other.2);
        }
        seen.push(own);
    }
}

#[test]
fn what_contradicts_fresh_replications_is_refused_with_its_key() {
    let fresh = with("load.value = 2.0", "load.value = 2.0\nfresh = true");
    let two = sweep(&fresh);
    let three = sweep(&fresh.replace("replications = 2", "replications = 3"));
    assert_eq!(two.simulations.kinds(), three.simulations.kinds());
    let settings = &two.simulations.kind(0).workload;
    assert_eq!(
        (settings.evaluation_jobs, settings.battery_jobs),
        (100, 100)
    );
    let log = "model = \"lublin-feitelson\"\njobs = 5000";
    let whole = fresh
        .replace(log, "trace = \"x.swf\"\nwhole_trace = true")
        .replace("battery_jobs = 100\n", "");
    let evaluated = fresh.replace("fresh = true", "fresh = true\nevaluation_jobs = 400");
    let sites = starter(STUDIES, "provisioning")
        .expect("there is one")
        .replace("whole_trace = true", "whole_trace = true\nfresh = true");
    for (text, key) in [
        (whole, "workload.fresh"),
        (evaluated, "workload.evaluation_jobs"),
        (sites, "workload.fresh"),
    ] {
        let error = Experiment::parse(STUDIES, "test.toml", &text, None).unwrap_err();
        assert!(
            error.problems().iter().any(|problem| problem.key == key),
            "{error}"
        );
    }
}
