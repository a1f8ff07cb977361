//! Actors and plain calls play the same simulation.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use bookahead::actors::Player;
use bookahead::estimates::{
    Binning, ClassFamily, EstimateModel, EstimateSettings, LearningJobs, Overrun,
};
use bookahead::scheduling::PolicySpec;
use bookahead::studies::STUDIES;
use bookahead::study::Simulation as _;
use bookahead::sweep::{Experiment, InputFolders, InputSources, Inputs};
use bookahead::units::Nodes;
use bookahead::workload::Job;
use bookahead_overbooking::registry::STRATEGIES;
use bookahead_overbooking::simulate;
use bookahead_overbooking::study::PolicySimulation;

use crate::support::{job, outages};

#[test]
fn every_strategy_gives_the_same_outcomes_through_actors_and_without_them() {
    // Sixty jobs over ten weeks, so that the clock grants several windows; two nodes fail in
    // between.
    let jobs: Vec<Job> = (0..60)
        .map(|id| {
            let estimate = 3 + i64::from(id * 7 % 40);
            let runtime = 1 + i64::from(id * 5) % estimate;
            job(id, i64::from(id) * 28, 1 + id % 4, estimate, runtime)
        })
        .collect();
    let failures = outages(&[(0, 30, 90), (2, 400, 410), (1, 900, 1_000)]);
    let settings = EstimateSettings {
        family: ClassFamily::All,
        binning: Binning::Round,
        learn_from: LearningJobs::Before,
        overrun: Overrun::Clamp,
        minimum_class_size: 1,
        ..EstimateSettings::default()
    };
    let estimates = Arc::new(EstimateModel::learn(&jobs, &settings).expect("there are jobs"));
    for strategy in STRATEGIES {
        let policy = PolicySpec::named(strategy.name);
        let learned = strategy.overbooks.then(|| Arc::clone(&estimates));
        let direct = simulate(Nodes(4), &policy, learned.clone(), &jobs, &failures)
            .expect("a registered strategy");
        let inputs = PolicySimulation {
            clients: None,
            customers: None,
            longer_estimates: None,
            best_effort: None,
            before: Vec::new(),
            nodes: Nodes(4),
            strategy: Some(strategy),
            policy,
            jobs: jobs.clone().into(),
            estimates: learned,
            failures: failures.clone().into(),
            recorded: None,
        };
        let actors = inputs
            .run(true, &Player::by_actors())
            .expect("a sound simulation");
        let hit = direct.1.iter().any(|outcome| outcome.node_failures > 0);
        assert!(hit, "no job of {} met a failure", strategy.name);
        assert_eq!(
            (actors.metrics, actors.outcomes),
            direct,
            "{}",
            strategy.name
        );
    }
}

#[test]
fn every_study_is_played_by_actors_and_comes_to_what_plain_calls_come_to() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens/experiments");
    let mut covered = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let sweep = Experiment::load(STUDIES, &path, None)
            .expect("a sound experiment")
            .sweep;
        let inputs = Inputs::new(STUDIES, InputSources::new(&InputFolders::default()), true);
        for spec in sweep.simulations.iter() {
            let simulation = inputs.simulation(&spec).expect("the inputs can be made");
            let (actors, calls) = (Player::by_actors(), Player::by_calls());
            let acted = simulation.run(true, &actors).expect("it runs");
            let called = simulation.run(true, &calls).expect("it runs");
            let strategy = &spec.scheduling.strategy;
            assert!(acted == called, "{}: {strategy} differs", path.display());
            assert!(
                actors.messages() > 2 && calls.messages() == 0,
                "{strategy} is not played by actors"
            );
            covered.insert(strategy.clone());
        }
    }
    let studies = STUDIES.strategies().map(|study| study.name);
    for study in studies.chain(["heuristic-overbooking"]) {
        assert!(covered.contains(study), "no experiment of `{study}`");
    }
}
