//! Jobs that get nodes near each other: vectors worked out by hand.

use super::*;

/// Eight nodes of one core, four below each of two switches.
fn two_switches(nodes_by: NodesBy) -> QueueMachine {
    QueueMachine {
        topology: Topology {
            nodes_by,
            nodes_per_switch: Some(4),
            crossing_slowdown: 0.0,
        },
        ..machine(vec![class(8, 1)])
    }
}

#[test]
fn three_nodes_are_the_first_those_of_a_switch_or_in_a_row() {
    let held = |nodes_by| {
        let machine = two_switches(nodes_by);
        let mut pool = nodes::NodePool::new(&machine);
        let shape = |nodes| shapes::Shape {
            class: 0,
            nodes,
            each: machine.classes[0].each,
        };
        pool.hold(&[0, 1, 6], &shape(3), Seconds(100), 0);
        let request = nodes::NodeRequest {
            shape: shape(3),
            duration: Seconds(10),
            user: 1,
        };
        pool.choose(&request, Seconds(0))
    };
    assert_eq!(held(NodesBy::Number), Some(vec![2, 3, 4]));
    assert_eq!(held(NodesBy::Switch), Some(vec![4, 5, 7]));
    assert_eq!(held(NodesBy::Contiguous), Some(vec![2, 3, 4]));
    assert_eq!(
        held(NodesBy::Buddy),
        None,
        "neither 0 to 2 nor 4 to 6 are free"
    );
}

#[test]
fn who_needs_a_row_waits_for_one_and_is_not_passed() {
    // The first two leave nodes 0 to 3 busy until 100, and 4 to 7 until 50 but for 5 and 7, which
    // one-node jobs leave at 10 and 20 (by number: 4, 5, 6, 7).
    let first = [
        job(0, 4, 100),
        job(0, 1, 50),
        job(0, 1, 10),
        job(0, 1, 50),
        job(0, 1, 20),
    ];
    let two = job(1, 2, 30);
    let late = job(2, 1, 40);
    let with = |nodes_by| {
        let mut jobs = first.to_vec();
        jobs.extend([two, late]);
        starts(&two_switches(nodes_by), &jobs)[5..].to_vec()
    };
    // Any two nodes are free at 20, the third at 50.
    assert_eq!(with(NodesBy::Number), [Some(20), Some(50)]);
    // Nodes 4 and 5 are free together at 50. The late one takes 5 at 10, and leaves it at 50.
    assert_eq!(with(NodesBy::Contiguous), [Some(50), Some(10)]);
    assert_eq!(with(NodesBy::Buddy), [Some(50), Some(10)]);
}

#[test]
fn wide_jobs_take_whole_switches_and_the_rest_from_the_smallest_that_holds_it() {
    let topology = Topology {
        nodes_by: NodesBy::Switch,
        nodes_per_switch: Some(4),
        crossing_slowdown: 0.0,
    };
    // Two, four, one and three nodes are open below four switches.
    let open = [0, 1, 4, 5, 6, 7, 8, 12, 13, 14];
    let chosen = |wanted| topology.below_few_switches(&open, wanted);
    assert_eq!(chosen(1), [8]);
    assert_eq!(chosen(2), [0, 1]);
    assert_eq!(chosen(3), [12, 13, 14]);
    assert_eq!(chosen(5), [4, 5, 6, 7, 8]);
    assert_eq!(chosen(6), [4, 5, 6, 7, 0, 1]);
    assert_eq!(chosen(8), [4, 5, 6, 7, 12, 13, 14, 8]);
}

#[test]
fn a_row_of_buddies_begins_at_a_multiple_of_a_power_of_two_within_its_class() {
    // The second class begins with node 3; rows of three begin at its nodes 0 and 4.
    let mut machine = two_switches(NodesBy::Buddy);
    machine.classes = vec![class(3, 1), class(8, 1)];
    machine.partitions = vec![partition(&[1])];
    let jobs = [job(0, 1, 10), job(1, 3, 10), job(2, 3, 10), job(3, 8, 10)];
    let site = worked_off(&machine, &jobs);
    assert_eq!(
        site.held,
        [vec![3], vec![7, 8, 9], vec![3, 4, 5], (3..11).collect()]
    );
    assert_eq!(
        starts(&machine, &jobs),
        [Some(0), Some(1), Some(10), Some(20)]
    );
}

#[test]
fn a_job_on_two_switches_runs_longer_and_is_killed_at_its_request() {
    let mut machine = two_switches(NodesBy::Number);
    machine.topology.crossing_slowdown = 0.3;
    let run = |nodes, request, runtime| {
        let wide = MachineQueueJob {
            runtime: Seconds(runtime),
            ..job(0, nodes, request)
        };
        match outcomes_of(&machine, &[wide])[0] {
            MachineQueueOutcome::Ran { end, crosses, .. } => (end.0, crosses),
            MachineQueueOutcome::Refused(_) => panic!("it fits"),
        }
    };
    assert_eq!(run(4, 100, 50), (50, false));
    assert_eq!(run(5, 100, 50), (65, true));
    assert_eq!(run(5, 60, 50), (60, true), "killed");
}

#[test]
fn crossing_jobs_are_counted_where_there_are_switches() {
    let mut machine = two_switches(NodesBy::Number);
    machine.topology.crossing_slowdown = 0.3;
    let of = |nodes, submit| MachineQueueJob {
        runtime: Seconds(50),
        ..job(submit, nodes, 60)
    };
    let jobs = [of(4, 0), of(6, 100), of(8, 200), of(9, 300)];
    let placed = PlacedJobs {
        jobs: jobs.into(),
        positions: vec![0, 1, 2, 3],
        recorded: vec![None; 4],
    };
    let outcomes = outcomes_of(&machine, &jobs);
    let measured = crossing_measures(&machine.topology, &placed, &outcomes);
    let third = 100.0 / 3.0;
    assert_eq!(measured.get("crossing_percent"), Some(2.0 * third));
    assert_eq!(measured.get("crossing_killed_percent"), Some(2.0 * third));
    // 50, 60 and 60 s.
    assert_eq!(measured.get("response_minutes"), Some(170.0 / 60.0 / 3.0));
    machine.topology.nodes_per_switch = None;
    let none = crossing_measures(&machine.topology, &placed, &outcomes);
    assert_eq!(none.get("crossing_percent"), None);
}
