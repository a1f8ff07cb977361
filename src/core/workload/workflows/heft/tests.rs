use proptest::prelude::*;

use super::super::workflow::{Edge, Task};
use super::*;

/// The run times of the ten tasks on the three processors, Topcuoglu et al., Table 1.
const COSTS: [[f64; 3]; 10] = [
    [14.0, 16.0, 9.0],
    [13.0, 19.0, 18.0],
    [11.0, 13.0, 19.0],
    [13.0, 8.0, 17.0],
    [12.0, 13.0, 10.0],
    [13.0, 16.0, 9.0],
    [7.0, 15.0, 11.0],
    [5.0, 11.0, 14.0],
    [18.0, 12.0, 20.0],
    [21.0, 7.0, 16.0],
];

/// The edges with their communication costs, Figure 2 there, tasks from 1.
const EDGES: [(u32, u32, u64); 15] = [
    (1, 2, 18),
    (1, 3, 12),
    (1, 4, 9),
    (1, 5, 11),
    (1, 6, 14),
    (2, 8, 19),
    (2, 9, 16),
    (3, 7, 23),
    (4, 8, 27),
    (4, 9, 23),
    (5, 9, 13),
    (6, 8, 15),
    (7, 10, 17),
    (8, 10, 11),
    (9, 10, 13),
];

/// One byte a second: volumes are transfer times.
const UNIT: Network = Network {
    bandwidth_bits_per_second: 8.0,
    latency_seconds: 0.0,
    mean: super::super::network::TransferMean::DistinctPairs,
};

fn classic() -> Workflow {
    let tasks = (1..)
        .zip(COSTS)
        .map(|(number, costs)| Task {
            name: format!("n{number}"),
            module: "task".to_owned(),
            nodes: Nodes(1),
            seconds: costs[0],
            seconds_by_resource: costs.to_vec(),
        })
        .collect();
    let edges = EDGES
        .iter()
        .map(|&(parent, child, bytes)| Edge {
            parent: TaskId(parent - 1),
            child: TaskId(child - 1),
            bytes,
        })
        .collect();
    Workflow::new("classic", tasks, edges).unwrap()
}

#[test]
fn tasks_that_follow_each_other_are_passed_as_one() {
    let task = |number| Task {
        name: format!("t{number}"),
        module: "task".to_owned(),
        nodes: Nodes(1),
        seconds: 1.0,
        seconds_by_resource: Vec::new(),
    };
    let wide = Workflow::new("wide", (0..100_000).map(task).collect(), Vec::new()).unwrap();
    // Looking at each task that lies before took 25 seconds for so many.
    let begun = std::time::Instant::now();
    assert_eq!(heft(&wide, 1, &UNIT).unwrap().makespan_seconds, 100_000.0);
    assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
}

proptest! {
    #[test]
    fn the_earliest_gap_is_that_of_a_list_of_all_spans(
        tasks in prop::collection::vec((0_u8..40, 0_u8..5), 1..60)
    ) {
        let mut timeline = Timeline::default();
        let mut slow: Vec<(f64, f64)> = Vec::new();
        for (ready, length) in tasks {
            let (ready, length) = (f64::from(ready), f64::from(length));
            let mut expected = ready;
            for &(from, to) in &slow {
                if expected + length <= from {
                    break;
                }
                expected = expected.max(to);
            }
            let start = timeline.earliest(ready, length);
            prop_assert_eq!(start, expected);
            let span = (start, start + length);
            timeline.add(Placement { task: TaskId(0), resource: 0, start_seconds: span.0, end_seconds: span.1 });
            let place = slow.partition_point(|other| *other <= span);
            slow.insert(place, span);
        }
    }
}

#[test]
fn the_classic_example_has_the_ranks_of_the_paper() {
    // Table 2 there: 108.000, 77.000, 80.000, 80.000, 69.000, 63.333, 42.667, 35.667, 44.333,
    // 14.667.
    let found = ranks(&classic(), 3, &UNIT).unwrap();
    let published = [
        108.0,
        77.0,
        80.0,
        80.0,
        69.0,
        190.0 / 3.0,
        128.0 / 3.0,
        107.0 / 3.0,
        133.0 / 3.0,
        44.0 / 3.0,
    ];
    for (found, published) in found.iter().zip(published) {
        assert!((found - published).abs() < 1e-9, "{found} {published}");
    }
    let order: Vec<u32> = order_by_rank(&classic(), &found)
        .into_iter()
        .map(|id| id.0 + 1)
        .collect();
    assert_eq!(order, [1, 3, 4, 2, 5, 6, 9, 7, 8, 10]);
}

#[test]
fn the_classic_example_ends_after_80_as_in_the_figure_of_the_paper() {
    let schedule = heft(&classic(), 3, &UNIT).unwrap();
    assert_eq!(schedule.makespan_seconds, 80.0);
    let mut rows: Vec<(u32, usize, f64, f64)> = schedule
        .placements
        .iter()
        .map(|at| {
            (
                at.task.0 + 1,
                at.resource + 1,
                at.start_seconds,
                at.end_seconds,
            )
        })
        .collect();
    rows.sort_by_key(|row| row.0);
    assert_eq!(
        rows,
        [
            (1, 3, 0.0, 9.0),
            (2, 1, 27.0, 40.0),
            (3, 3, 9.0, 28.0),
            (4, 2, 18.0, 26.0),
            (5, 3, 28.0, 38.0),
            (6, 2, 26.0, 42.0),
            (7, 3, 38.0, 49.0),
            (8, 1, 57.0, 62.0),
            (9, 2, 56.0, 68.0),
            (10, 2, 73.0, 80.0),
        ]
    );
}

#[test]
fn a_short_task_is_put_into_an_earlier_gap() {
    let mut timeline = Timeline::default();
    for (start, end) in [(10.0, 20.0), (0.0, 5.0)] {
        timeline.add(Placement {
            task: TaskId(0),
            resource: 0,
            start_seconds: start,
            end_seconds: end,
        });
    }
    assert_eq!(timeline.earliest(0.0, 5.0), 5.0);
    assert_eq!(timeline.earliest(6.0, 5.0), 20.0);
    assert_eq!(timeline.earliest(6.0, 4.0), 6.0);
}

#[test]
fn what_cannot_be_ranked_or_scheduled_says_why() {
    let workflow = classic();
    let text = |error: HeftError| error.to_string();
    assert!(text(ranks(&workflow, 0, &UNIT).unwrap_err()).contains("no resource"));
    assert!(
        text(ranks(&workflow, 2, &UNIT).unwrap_err()).contains("for 3 resources, but there are 2")
    );
    let mut tasks = workflow.tasks().to_vec();
    tasks[4].nodes = Nodes(2);
    let wide = Workflow::new("wide", tasks, workflow.edges().to_vec()).unwrap();
    assert!(text(heft(&wide, 3, &UNIT).unwrap_err()).contains("`n5` needs 2 nodes"));
    let broken = Network {
        latency_seconds: -1.0,
        ..UNIT
    };
    assert!(text(heft(&workflow, 3, &broken).unwrap_err()).contains("latency_seconds is -1"));
}

/// Any workflow of up to 23 single-processor tasks. Edges lead from higher to lower numbers, so
/// that a topological order is not the order of the tasks.
fn any_workflow() -> impl Strategy<Value = Workflow> {
    (1_usize..24, 1_usize..4).prop_flat_map(|(tasks, resources)| {
        let costs = prop::collection::vec(prop::collection::vec(0_u32..9, resources), tasks);
        let links = prop::collection::vec(prop::option::of(0_u64..20), tasks * tasks);
        (costs, links).prop_map(move |(costs, links)| {
            let rows = (0..)
                .zip(costs)
                .map(|(number, row): (u32, Vec<u32>)| Task {
                    name: format!("t{number}"),
                    module: String::new(),
                    nodes: Nodes(1),
                    seconds: 0.0,
                    seconds_by_resource: row.into_iter().map(f64::from).collect(),
                })
                .collect();
            let mut edges = Vec::new();
            for low in 0..tasks {
                for high in low + 1..tasks {
                    if let Some(bytes) = links[low * tasks + high] {
                        edges.push(Edge {
                            parent: TaskId(high as u32),
                            child: TaskId(low as u32),
                            bytes,
                        });
                    }
                }
            }
            Workflow::new("any", rows, edges).expect("edges lead from high to low")
        })
    })
}

proptest! {
    #[test]
    fn the_order_by_ranks_is_topological(workflow in any_workflow()) {
        let resources = workflow.resources().unwrap_or(1);
        let ranks = ranks(&workflow, resources, &UNIT).unwrap();
        let order = order_by_rank(&workflow, &ranks);
        let place = |id| order.iter().position(|other| *other == id);
        prop_assert!((0..).zip(workflow.tasks()).all(|(id, _)| place(TaskId(id)).is_some()));
        for edge in workflow.edges() {
            prop_assert!(place(edge.parent) < place(edge.child));
        }
    }

    #[test]
    fn a_schedule_keeps_dependencies_and_no_processor_runs_two_tasks_at_once(workflow in any_workflow()) {
        let resources = workflow.resources().unwrap_or(1);
        let schedule = heft(&workflow, resources, &UNIT).unwrap();
        prop_assert_eq!(schedule.placements.len(), workflow.tasks().len());
        let of = |id: TaskId| schedule.placements.iter().find(|at| at.task == id).unwrap();
        for edge in workflow.edges() {
            let (parent, child) = (of(edge.parent), of(edge.child));
            let transfer = UNIT.seconds_between(parent.resource, child.resource, edge.bytes);
            prop_assert!(child.start_seconds >= parent.end_seconds + transfer);
        }
        for (number, one) in schedule.placements.iter().enumerate() {
            for other in &schedule.placements[number + 1..] {
                prop_assert!(
                    one.resource != other.resource
                        || one.end_seconds <= other.start_seconds
                        || other.end_seconds <= one.start_seconds
                );
            }
        }
    }
}
