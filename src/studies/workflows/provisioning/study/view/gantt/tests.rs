use super::*;
use crate::provisioning::study::stored::{SlotRow, SubmissionRow, WorkflowSite};

fn slot(site: u32, nodes: u32, start: i64, end: i64) -> SlotRow {
    SlotRow {
        site,
        nodes,
        start,
        end,
        cost: 8.0,
        used: 4.0,
    }
}

fn run(task: u32, nodes: u32, (start, end): (i64, i64), slot: Option<u32>, fate: &str) -> TaskRow {
    TaskRow {
        task,
        site: 0,
        nodes,
        start,
        end,
        slot,
        fate: fate.to_owned(),
    }
}

fn workflow(slots: Vec<SlotRow>, tasks: Vec<TaskRow>) -> PlannedWorkflow {
    PlannedWorkflow {
        search: "greedy".to_owned(),
        given: "tasks 100".to_owned(),
        submission: SubmissionRow {
            submission: 0,
            search: "greedy".to_owned(),
            alpha: Some(0.5),
            submitted: 1_000,
            planned: Some((16.0, 7_200)),
            best_effort: None,
            realised: (16.0, 7_200),
        },
        sites: vec![WorkflowSite {
            label: "CTC <SP2>".to_owned(),
            nodes: 430,
            utilisation_percent: 63.0,
        }],
        slots,
        tasks,
    }
}

#[test]
fn tasks_lie_within_their_slots_and_slots_of_one_time_beside_each_other() {
    let planned = workflow(
        vec![slot(0, 4, 0, 7_200), slot(0, 3, 3_600, 9_000)],
        vec![
            run(0, 2, (0, 3_600), Some(0), "lost"),
            run(0, 2, (3_600, 7_200), Some(0), "done"),
            run(1, 2, (3_600, 7_200), Some(1), "done"),
            run(2, 1, (3_600, 5_400), Some(0), "done"),
        ],
    );
    let gantt = WorkflowGantt::new(&planned);
    let offsets: Vec<u32> = gantt.slots.iter().map(|slot| slot.offset).collect();
    assert_eq!(offsets, [0, 4]);
    // The second slot is paid for longer than any task runs.
    assert_eq!(gantt.slots[1].end, 7_200);
    for (task, _) in &gantt.tasks {
        let inside = gantt.slots.iter().any(|slot| {
            slot.offset <= task.offset
                && task.offset + task.nodes <= slot.offset + slot.nodes
                && slot.start <= task.start
                && task.end <= slot.end
        });
        assert!(inside, "{task:?}");
    }
    for (number, (one, _)) in gantt.tasks.iter().enumerate() {
        for (other, _) in &gantt.tasks[number + 1..] {
            let apart = one.end <= other.start
                || other.end <= one.start
                || one.offset + one.nodes <= other.offset
                || other.offset + other.nodes <= one.offset;
            assert!(apart, "{one:?} over {other:?}");
        }
    }
    let svg = gantt.file();
    assert!(svg.contains("CTC &lt;SP2&gt;, 430 processors"), "{svg}");
    // Two outlines, three runs, and one that was lost with its cross.
    assert_eq!(svg.matches("<rect class=\"s2").count(), 2);
    assert_eq!(svg.matches("<rect class=\"f0").count(), 3);
    assert_eq!(svg.matches("<rect class=\"f1").count(), 1);
    assert_eq!(svg.matches("m0 -").count(), 1);
    assert!(!gantt.inline().contains("<style>"));
}

#[test]
fn equal_runs_are_one_rectangle_so_that_thousands_of_tasks_stay_small() {
    let tasks = (0..4_000).map(|task| {
        let start = i64::from(task / 400) * 519;
        run(task, 1, (start, start + 519), Some(task), "done")
    });
    let slots = (0..4_000_u32).map(|task| {
        let start = i64::from(task / 400) * 519;
        slot(0, 1, start, start + 519)
    });
    let planned = workflow(slots.collect(), tasks.collect());
    let gantt = WorkflowGantt::new(&planned);
    assert_eq!((gantt.slots.len(), gantt.tasks.len()), (10, 10));
    assert_eq!(gantt.left_out, 0);
    assert!(
        gantt.tasks[0]
            .0
            .words
            .starts_with("400 tasks, 0 to 399: done")
    );
    assert!(gantt.file().len() < 20_000);
}

#[test]
fn what_does_not_fit_is_left_out_and_said() {
    let tasks = (0..2_000).map(|task| {
        let start = i64::from(task) * 10;
        run(task, 1 + task % 3, (start, start + 500), None, "done")
    });
    let planned = workflow(Vec::new(), tasks.collect());
    let gantt = WorkflowGantt::new(&planned);
    assert_eq!(gantt.tasks.len(), MOST_SHAPES);
    assert!(
        gantt.note().contains("1500 more rectangles"),
        "{}",
        gantt.note()
    );
    assert!(gantt.file().len() < 120_000, "{}", gantt.file().len());
}

#[test]
fn an_application_without_tasks_is_an_empty_drawing() {
    let planned = workflow(Vec::new(), Vec::new());
    let svg = WorkflowGantt::new(&planned).file();
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
}
