//! Which nodes a job gets, and what partitions, windows and reservations do to it: vectors worked
//! out by hand.

use super::*;

/// One node of 8 cores, 16 megabytes and 2 graphics processors on a shared partition.
fn shared() -> QueueMachine {
    let mut machine = machine(vec![class(1, 8)]);
    machine.classes[0].each.memory_megabytes = 16;
    machine.classes[0].each.gpus = 2;
    machine.partitions[0].sharing = NodeSharing::Shared;
    machine
}

#[test]
fn jobs_share_a_node_while_cores_memory_and_graphics_processors_last() {
    let machine = shared();
    let three_cores = job(0, 3, 10);
    assert_eq!(
        starts(&machine, &[three_cores; 3]),
        [Some(0), Some(0), Some(10)]
    );
    let much_memory = MachineQueueJob {
        memory_megabytes_per_core: 6,
        ..job(0, 1, 10)
    };
    assert_eq!(
        starts(&machine, &[much_memory; 3]),
        [Some(0), Some(0), Some(10)]
    );
    let one_gpu = MachineQueueJob {
        gpus_per_node: 1,
        ..job(0, 1, 10)
    };
    assert_eq!(
        starts(&machine, &[one_gpu; 3]),
        [Some(0), Some(0), Some(10)]
    );
    let mut exclusive = machine;
    exclusive.partitions[0].sharing = NodeSharing::Exclusive;
    assert_eq!(starts(&exclusive, &[one_gpu; 2]), [Some(0), Some(10)]);
}

#[test]
fn memory_and_the_cores_per_node_decide_how_many_nodes_a_job_needs() {
    let mut machine = shared();
    let held = |machine: &QueueMachine, job: MachineQueueJob| -> usize {
        worked_off(machine, &[job]).held[0].len()
    };
    machine.classes[0].nodes = Nodes(8);
    assert_eq!(held(&machine, job(0, 8, 10)), 1);
    assert_eq!(held(&machine, job(0, 9, 10)), 2);
    let spread = MachineQueueJob {
        cores_per_node: Some(2),
        ..job(0, 8, 10)
    };
    assert_eq!(held(&machine, spread), 4);
    let with_memory = MachineQueueJob {
        memory_megabytes_per_core: 3,
        ..job(0, 8, 10)
    };
    assert_eq!(held(&machine, with_memory), 2, "five of 3 MB on a node");
    let beyond = MachineQueueJob {
        memory_megabytes_per_core: 17,
        ..job(0, 1, 10)
    };
    assert_eq!(held(&machine, beyond), 0);
    let three_gpus = MachineQueueJob {
        gpus_per_node: 3,
        ..job(0, 1, 10)
    };
    assert_eq!(held(&machine, three_gpus), 0);
    machine.classes[0].each.memory_megabytes = 0;
    assert_eq!(held(&machine, beyond), 1, "nobody counts it");
}

#[test]
fn a_job_goes_where_it_fits_best_and_keeps_empty_nodes_free() {
    let mut machine = shared();
    machine.classes[0].nodes = Nodes(3);
    // 5 cores on the first node, 6 on the second; 2 more fit both and go to the fuller one.
    let jobs = [job(0, 5, 10), job(0, 6, 10), job(0, 2, 10), job(0, 3, 10)];
    let site = worked_off(&machine, &jobs);
    assert_eq!(site.held, [vec![0], vec![1], vec![1], vec![0]]);
}

#[test]
fn two_partitions_share_a_class_and_fall_back_on_their_others() {
    let mut machine = machine(vec![class(1, 1), class(1, 1)]);
    machine.partitions = vec![partition(&[0]), partition(&[0, 1])];
    let second = MachineQueueJob {
        partition: PartitionIndex(1),
        ..job(0, 1, 10)
    };
    let jobs = [second, second, job(0, 1, 10), second];
    let site = worked_off(&machine, &jobs);
    assert_eq!(site.held, [vec![0], vec![1], vec![0], vec![1]]);
    assert_eq!(
        starts(&machine, &jobs),
        [Some(0), Some(0), Some(10), Some(10)]
    );
}

#[test]
fn who_waits_in_one_partition_is_not_passed_by_another_on_the_same_nodes() {
    let mut machine = machine(vec![class(2, 1)]);
    machine.partitions.push(partition(&[0]));
    let second = MachineQueueJob {
        partition: PartitionIndex(1),
        ..job(2, 1, 10)
    };
    let jobs = [job(0, 1, 10), job(1, 2, 10), second];
    assert_eq!(starts(&machine, &jobs), [Some(0), Some(10), Some(20)]);
    machine.backfilling = Backfilling::None;
    assert_eq!(starts(&machine, &jobs), [Some(0), Some(10), Some(20)]);
    machine.classes.push(class(1, 1));
    machine.partitions[1] = partition(&[1]);
    assert_eq!(starts(&machine, &jobs), [Some(0), Some(10), Some(2)]);
}

#[test]
fn nobody_starts_who_would_run_into_a_window_but_those_to_whom_it_is_open() {
    let mut machine = machine(vec![class(2, 1)]);
    machine.windows = vec![Window {
        name: "maintenance".to_owned(),
        begin: Seconds(100),
        end: Seconds(200),
        nodes: vec![(ClassIndex(0), Nodes(2))],
        users: vec![7],
    }];
    let jobs = [job(0, 1, 100), job(1, 1, 100), of_user(7, job(50, 1, 500))];
    // The second one ends a second too late. Nothing happens at 200 but the end of the window.
    assert_eq!(starts(&machine, &jobs), [Some(0), Some(200), Some(50)]);
    machine.windows[0].nodes[0].1 = Nodes(1);
    let site = worked_off(&machine, &jobs);
    assert_eq!(
        site.held,
        [vec![1], vec![0], vec![1]],
        "the last node is closed"
    );
    assert_eq!(starts(&machine, &jobs), [Some(0), Some(1), Some(100)]);
}

#[test]
fn a_reservation_is_made_around_a_window() {
    let mut machine = machine(vec![class(2, 1)]);
    machine.windows = vec![Window {
        name: "maintenance".to_owned(),
        begin: Seconds(30),
        end: Seconds(40),
        nodes: vec![(ClassIndex(0), Nodes(2))],
        users: Vec::new(),
    }];
    // The wide job cannot end before the window. What ends before it may pass.
    let jobs = [job(0, 1, 15), job(1, 2, 20), job(2, 1, 28), job(3, 1, 28)];
    assert_eq!(
        starts(&machine, &jobs),
        [Some(0), Some(40), Some(2), Some(60)]
    );
}

#[test]
fn a_depth_of_two_keeps_the_second_from_being_passed() {
    // 4 nodes: 3 are held until 10. The wide job waits for 10, the next for 20; the last would be
    // in its way alone.
    let mut machine = machine(vec![class(4, 1)]);
    let jobs = [job(0, 3, 10), job(1, 3, 10), job(2, 4, 10), job(3, 1, 50)];
    assert_eq!(
        starts(&machine, &jobs),
        [Some(0), Some(10), Some(53), Some(3)]
    );
    machine.backfilling = Backfilling::Reserving {
        depth: 2,
        tested: None,
        interval: Seconds::ZERO,
        window: None,
    };
    assert_eq!(
        starts(&machine, &jobs),
        [Some(0), Some(10), Some(20), Some(30)]
    );
}

#[test]
fn only_so_many_are_tested_for_backfilling() {
    let mut machine = machine(vec![class(4, 1)]);
    let backfilling = |tested| Backfilling::Reserving {
        depth: 1,
        tested: Some(tested),
        interval: Seconds::ZERO,
        window: None,
    };
    let jobs = [job(0, 3, 10), job(1, 4, 10), job(2, 2, 5), job(3, 1, 5)];
    machine.backfilling = backfilling(3);
    assert_eq!(starts(&machine, &jobs)[3], Some(3));
    machine.backfilling = backfilling(2);
    assert_eq!(starts(&machine, &jobs)[3], Some(20));
}

#[test]
fn backfilling_waits_for_its_interval_and_starts_in_order_do_not() {
    let mut machine = machine(vec![class(4, 1)]);
    machine.backfilling = Backfilling::Reserving {
        depth: 1,
        tested: None,
        interval: Seconds(60),
        window: None,
    };
    let jobs = [
        job(1, 3, 300),
        job(2, 4, 10),
        job(3, 1, 50),
        job(400, 2, 10),
    ];
    assert_eq!(
        starts(&machine, &jobs),
        [Some(1), Some(301), Some(60), Some(400)]
    );
}

#[test]
fn the_widest_job_of_a_partition_is_counted_in_the_nodes_that_it_needs_of_each_class() {
    let mut machine = machine(vec![class(4, 1), class(4, 2)]);
    machine.partitions[0].widest = Some(Nodes(2));
    // Four cores are four nodes of the first class and two of the second, three cores three and
    // two: the second class alone would do, although the first is idle. Two cores are two nodes of
    // the first. Five cores are too many nodes of either.
    let jobs = [
        job(0, 4, 10),
        job(0, 4, 10),
        job(1, 3, 10),
        job(2, 2, 10),
        job(3, 5, 10),
    ];
    assert_eq!(
        starts(&machine, &jobs),
        [Some(0), Some(0), Some(10), Some(2), None]
    );
    let site = worked_off(&machine, &jobs);
    assert_eq!(site.held[..4], [[4, 5], [6, 7], [4, 5], [0, 1]]);
}

/// Two nodes of two cores, of which one is held until 20 on each; a job that wants both cores of a
/// node; a long one that wants one core now, beside the place that is kept for the other.
fn a_place_on_either_node() -> (QueueMachine, [MachineQueueJob; 3]) {
    let mut machine = machine(vec![class(2, 2)]);
    machine.partitions[0].sharing = NodeSharing::Shared;
    let one_on_each = MachineQueueJob {
        cores_per_node: Some(1),
        ..job(0, 2, 20)
    };
    (machine, [one_on_each, job(1, 2, 20), job(2, 1, 100)])
}

#[test]
fn of_nodes_that_open_together_a_reservation_takes_the_first() {
    let (machine, jobs) = a_place_on_either_node();
    assert_eq!(starts(&machine, &jobs), [Some(0), Some(20), Some(2)]);
    assert_eq!(
        worked_off(&machine, &jobs).held,
        [vec![0, 1], vec![0], vec![1]]
    );
}

#[test]
fn of_nodes_that_open_together_a_reservation_takes_the_one_that_closes_first() {
    let (mut machine, jobs) = a_place_on_either_node();
    machine.windows = vec![Window {
        name: "maintenance".to_owned(),
        begin: Seconds(100),
        end: Seconds(110),
        nodes: vec![(ClassIndex(0), Nodes(1))],
        users: Vec::new(),
    }];
    // On the other one, the long job would have to wait for it.
    assert_eq!(starts(&machine, &jobs), [Some(0), Some(20), Some(2)]);
    assert_eq!(
        worked_off(&machine, &jobs).held,
        [vec![0, 1], vec![1], vec![0]]
    );
}
