//! The actor system and the direct call are the same simulation.

use std::sync::Arc;

use bookahead::estimates::{
    Binning, ClassFamily, EstimateModel, EstimateSettings, LearningJobs, Overrun,
};
use bookahead::scheduling::registry::STRATEGIES;
use bookahead::scheduling::{PolicySettings, simulate};
use bookahead::studies::Simulation as _;
use bookahead::studies::overbooking::PolicySimulation;
use bookahead::units::Nodes;
use bookahead::workload::Job;

use crate::support::{job, outages};

#[test]
fn every_strategy_gives_the_same_outcomes_through_actors_and_without_them() {
    // Sixty jobs over ten weeks, so that the clock grants several windows; two nodes fail in between.
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
        let policy = PolicySettings {
            strategy: strategy.name.to_owned(),
            ..PolicySettings::default()
        };
        let learned = strategy.overbooks.then(|| Arc::clone(&estimates));
        let direct = simulate(Nodes(4), &policy, learned.clone(), &jobs, &failures)
            .expect("a registered strategy");
        let inputs = PolicySimulation {
            clients: None,
            before: Vec::new(),
            nodes: Nodes(4),
            policy,
            jobs: jobs.clone().into(),
            estimates: learned,
            failures: Arc::new(failures.clone()),
            recorded: Arc::default(),
        };
        let actors = inputs.run(true).expect("a sound simulation");
        assert_eq!(
            (actors.metrics, actors.outcomes),
            direct,
            "{}",
            strategy.name
        );
        assert!(!actors.node_events.is_empty(), "{}", strategy.name);
    }
}
