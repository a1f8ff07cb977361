use std::sync::Arc;

use super::*;
use crate::brokering::interleaving_tests::situation;
use crate::brokering::{StudySettings, simulate_grid};
use crate::failures::FailureTrace;
use crate::scheduling::PolicySettings;
use crate::simulation::{SimulationInputs, StreamSeed, run};

#[test]
fn actors_and_the_direct_call_give_equal_results() {
    let mut granted = 0;
    for number in 0..150 {
        let situation = situation(number);
        let grid = Arc::new(situation.inputs);
        let seed = GridSeed {
            seed: number,
            workload_key: "random".to_owned(),
            replication: 3,
        };
        let inputs = SimulationInputs {
            nodes: Nodes(0),
            policy: PolicySettings::default(),
            jobs: Arc::new([]),
            estimates: None,
            failures: Arc::new(FailureTrace::default()),
            requests: Arc::new([]),
            study: Some(StudySettings::CoReservation(Box::new(
                situation.settings.clone(),
            ))),
            grid: Some(Arc::clone(&grid)),
            seed: StreamSeed {
                seed: seed.seed,
                workload_key: seed.workload_key.clone(),
                replication: seed.replication,
            },
        };
        let direct = simulate_grid(&grid, &situation.settings, &seed);
        let result = run(&inputs, true).unwrap();
        assert_eq!(result.outcomes, direct.jobs);
        assert_eq!(result.metrics, direct.metrics);
        // The jobs are among the outcomes, and nowhere twice.
        let mut direct = direct;
        direct.jobs = Vec::new();
        let same = result.grid.as_ref() == Some(&direct);
        assert!(same, "situation {number}: {:?}\n{direct:?}", result.grid);
        granted += direct
            .requests
            .iter()
            .filter(|it| it.start.is_some())
            .count();
        assert!(run(&inputs, false).unwrap().grid.is_none());
    }
    assert!(granted > 150);
}

#[test]
fn a_study_of_several_clusters_without_any_is_an_error() {
    let inputs = SimulationInputs {
        nodes: Nodes(1),
        policy: PolicySettings::default(),
        jobs: Arc::new([]),
        estimates: None,
        failures: Arc::default(),
        requests: Arc::new([]),
        study: Some(StudySettings::CoReservation(Box::default())),
        grid: None,
        seed: StreamSeed::default(),
    };
    let error = run(&inputs, true).unwrap_err();
    assert!(matches!(error, SimulationError::NoClusters), "{error}");
}
