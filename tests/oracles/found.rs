//! Minimal cases in which the engine and the specification disagreed, one test each. A case that the engine still gets
//! wrong is ignored, with what is wrong as the reason.

use std::sync::mpsc;
use std::time::Duration;

use bookahead::scheduling::{DownHorizon, PolicySettings};

use super::workloads::{Case, job, outages};

/// Fails if the simulation takes longer than ten seconds (it has one job).
fn comes_to_an_end(case: Case, settings: PolicySettings) {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let (_, outcomes) = case.simulate(&settings);
        sender.send(outcomes.len())
    });
    assert_eq!(receiver.recv_timeout(Duration::from_secs(10)), Ok(1));
}

fn one_job_on_a_node_that_is_down() -> Case {
    Case {
        nodes: 1,
        jobs: vec![job(0, [10, 10, 20, 20, 50, 1])],
        failures: outages([(0, 5, 15)]),
        history: vec![100],
        threshold: 0.5,
        failure_rate: 0.0,
        mean_time_to_repair: 60,
    }
}

#[test]
#[ignore = "engine: with down_horizon = none a failed start is planned again for the same instant, forever (A-30, A-33)"]
fn a_job_whose_nodes_are_down_does_not_stop_time_when_down_nodes_count_as_free() {
    for strategy in ["heuristic-planning", "heuristic-overbooking"] {
        let case = one_job_on_a_node_that_is_down();
        let settings = PolicySettings {
            down_horizon: DownHorizon::None,
            ..case.settings(strategy)
        };
        comes_to_an_end(case, settings);
    }
}

#[test]
#[ignore = "engine: a repair rate above 7200/h makes the horizon 0 s, and a failed start is planned again for the same instant"]
fn a_job_whose_nodes_are_down_does_not_stop_time_when_repairs_take_less_than_half_a_second() {
    let case = one_job_on_a_node_that_is_down();
    let mut settings = case.settings("heuristic-overbooking");
    settings.reliability.repair_rate_per_hour = 10_000.0;
    comes_to_an_end(case, settings);
}
