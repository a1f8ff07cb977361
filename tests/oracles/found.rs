//! Minimal cases in which the engine once disagreed with its slow twin, one test each.

use std::sync::mpsc;
use std::time::Duration;

use bookahead::scheduling::{DownHorizon, PolicySpec, Verdict};
use bookahead::units::Seconds;

use super::workloads::{Case, job, outages};

/// Fails if the simulation takes longer than ten seconds (it has one job).
fn comes_to_an_end(case: Case, settings: PolicySpec) {
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
        habits: Vec::new(),
        asks: None,
        threshold: 0.5,
        failure_rate: 0.0,
        mean_time_to_repair: 60,
    }
}

#[test]
fn a_job_whose_nodes_are_down_does_not_stop_time_when_down_nodes_count_as_free() {
    for strategy in ["heuristic-planning", "heuristic-overbooking"] {
        let case = one_job_on_a_node_that_is_down();
        let settings = PolicySpec {
            down_horizon: DownHorizon::None,
            ..case.settings(strategy)
        };
        comes_to_an_end(case, settings);
    }
}

#[test]
fn a_job_whose_nodes_are_down_does_not_stop_time_when_repairs_take_less_than_half_a_second() {
    let case = one_job_on_a_node_that_is_down();
    let mut settings = case.settings("heuristic-overbooking");
    settings.reliability.repair_rate_per_hour = 10_000.0;
    comes_to_an_end(case, settings);
}

#[test]
fn a_queue_moves_on_when_a_job_ends_exactly_when_it_would_have_left_the_queue() {
    // The first job would leave at d − x + 1 = 13 − 10 + 1 = 4 if it still waited, and ends at 4.
    // The second fits from then on, and nothing else happens that would look at the queue again.
    for strategy in ["fcfs", "easy-backfilling"] {
        let case = Case {
            nodes: 1,
            jobs: vec![job(0, [0, 0, 10, 4, 13, 1]), job(1, [0, 0, 10, 3, 25, 1])],
            failures: outages([]),
            ..one_job_on_a_node_that_is_down()
        };
        let (_, outcomes) = case.simulate(&case.settings(strategy));
        assert_eq!(outcomes[1].start, Some(Seconds(4)), "{strategy}");
    }
}

#[test]
fn a_rejected_arrival_does_not_change_what_a_give_up_sets_free() {
    // Node 0 is down from 5 on, so jobs 0 (both nodes, 10–20) and 1 (node 0, 20–60) never start.
    // Job 2 holds node 1 on 20–50 and ends at 22. Job 3 has node 1 on 50–60 and may start from 25
    // on: the next occasion is 30, when job 0 is given up. Job 4 arrives at 28 and is rejected.
    let case = Case {
        nodes: 2,
        jobs: vec![
            job(0, [0, 10, 10, 5, 30, 2]),
            job(1, [0, 20, 40, 1, 120, 1]),
            job(2, [0, 20, 30, 2, 80, 1]),
            job(3, [0, 25, 10, 1, 60, 1]),
            job(4, [28, 28, 5, 1, 29, 2]),
        ],
        failures: outages([(0, 5, 1_000)]),
        ..one_job_on_a_node_that_is_down()
    };
    let settings = case.settings("comprehensive-overbooking");
    for jobs in [case.jobs[..4].to_vec(), case.jobs.clone()] {
        let (_, outcomes) = Case {
            jobs,
            ..case.clone()
        }
        .simulate(&settings);
        assert_eq!(
            outcomes[3].promise.map(|slot| slot.start),
            Some(Seconds(50))
        );
        assert_eq!(outcomes[3].start, Some(Seconds(30)));
    }
}

#[test]
fn a_restarted_job_still_stands_in_front_of_its_successors() {
    // Everybody is known to need the full estimate. Job 1 is planned for 30–50, starts early at 5
    // (window 5–25), crashes at 10 and runs again from 35 to 55. Job 2 arrives when that first
    // window is over and is rejected. Job 3 can only have 55–62 and needs 20 s: it must not be
    // accepted.
    let case = Case {
        nodes: 1,
        jobs: vec![
            job(0, [0, 0, 30, 5, 30, 1]),
            job(1, [1, 1, 20, 20, 100, 1]),
            job(2, [26, 26, 5, 1, 27, 1]),
            job(3, [40, 40, 20, 20, 62, 1]),
        ],
        failures: outages([(0, 10, 35)]),
        ..one_job_on_a_node_that_is_down()
    };
    let (_, outcomes) = case.simulate(&case.settings("comprehensive-overbooking"));
    assert_eq!(outcomes[1].start, Some(Seconds(35)));
    assert_eq!(outcomes[3].verdict, Verdict::DroppedNoSlot);
}
