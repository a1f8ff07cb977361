//! The ten tasks of Topcuoglu, Hariri and Wu (2002), as a file and with the run times of their
//! Table 1.

use clap::Parser;
use std::fs;

use super::super::{WorkflowArguments, answer};
use super::*;

#[derive(Parser)]
struct Program {
    #[command(flatten)]
    workflow: WorkflowArguments,
}

/// Edges with their communication costs.
const EDGES: [(u32, u32, u32); 15] = [
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

const COSTS: &str = "# Topcuoglu, Hariri and Wu 2002, Table 1
task,P1,P2,P3
T1,14,16,9
T2,13,19,18
T3,11,13,19
T4,13,8,17
T5,12,13,10
T6,13,16,9
T7,7,15,11
T8,5,11,14
T9,18,12,20
T10,21,7,16
";

/// A folder with the workflow, one byte a unit of communication, and the run times.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let mut xml = String::from("<adag name=\"classic\">\n");
    for task in 1..=10 {
        let _ = writeln!(xml, "<job id=\"T{task}\" name=\"heft\" runtime=\"10\">");
        for (parent, child, bytes) in EDGES {
            let link = match task {
                task if task == parent => "output",
                task if task == child => "input",
                _ => continue,
            };
            let _ = writeln!(
                xml,
                "<uses file=\"f{parent}_{child}\" link=\"{link}\" size=\"{bytes}\"/>"
            );
        }
        xml.push_str("</job>\n");
    }
    for (parent, child, _) in EDGES {
        let _ = writeln!(
            xml,
            "<child ref=\"T{child}\"><parent ref=\"T{parent}\"/></child>"
        );
    }
    // A child may be told of once only.
    let mut children = String::from("</adag>\n");
    for child in 2..=10 {
        let parents: String = EDGES
            .iter()
            .filter(|edge| edge.1 == child)
            .map(|edge| format!("<parent ref=\"T{}\"/>", edge.0))
            .collect();
        children = format!("<child ref=\"T{child}\">{parents}</child>\n{children}");
    }
    let jobs = xml.split("<child").next().unwrap_or_default().to_owned();
    fs::write(home.path().join("classic.xml"), jobs + &children).unwrap();
    fs::write(home.path().join("costs.csv"), COSTS).unwrap();
    home
}

fn run(home: &Path, more: &[&str]) -> Result<Answer, WorkflowCommandError> {
    let file = |name: &str| home.join(name).display().to_string();
    let (workflow, costs) = (file("classic.xml"), file("costs.csv"));
    // 8 bit/s: a byte takes a second.
    let fixed = [
        "workflow",
        "schedule",
        workflow.as_str(),
        "--latency",
        "0",
        "--bandwidth",
        "8e-9",
    ];
    let more: Vec<&str> = more
        .iter()
        .map(|argument| {
            if *argument == "COSTS" {
                costs.as_str()
            } else {
                *argument
            }
        })
        .collect();
    let program = Program::try_parse_from([&fixed[..], &more].concat()).unwrap();
    answer(&program.workflow, None)
}

#[test]
fn the_classic_example_ends_after_80_on_the_three_processors_of_the_paper() {
    let home = home();
    let said = run(home.path(), &["--runtimes", "COSTS"]).unwrap().data;
    for part in [
        "resources           3 (0.000000008 Gbit/s and 0 s between two of them)",
        "makespan            80 s",
        // The processors need 127, 130 and 143 for all tasks.
        "speed-up            1.59, against 127 s on one resource",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    let row = |name: &str| {
        let line = said.lines().find(|line| line.starts_with(name));
        let cells = line.unwrap_or_default().split_whitespace();
        cells.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row("T3 "), "T3 80 3 9 28");
    assert_eq!(row("T10 "), "T10 14.667 2 73 80");
    let json = run(home.path(), &["--runtimes", "COSTS", "--json"]).unwrap();
    let value: serde_json::Value = serde_json::from_str(&json.data).unwrap();
    assert_eq!(value["makespan_seconds"], 80.0);
    let order: Vec<&str> = value["placements"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["task"].as_str().unwrap())
        .collect();
    assert_eq!(
        order,
        ["T1", "T3", "T4", "T2", "T5", "T6", "T9", "T7", "T8", "T10"]
    );
}

#[test]
fn equal_resources_need_no_file_of_run_times_but_their_number() {
    let home = home();
    let one = run(home.path(), &["--resources", "1"]).unwrap().data;
    assert!(one.contains("makespan            100 s"), "{one}");
    let error = run(home.path(), &[]).unwrap_err().to_string();
    assert!(error.contains("--resources N"), "{error}");
    let other = run(home.path(), &["--runtimes", "COSTS", "--resources", "2"]);
    let error = other.unwrap_err().to_string();
    assert!(
        error.contains("run times for 3 resources, but there are 2"),
        "{error}"
    );
}

#[test]
fn the_schedule_is_drawn_where_asked() {
    let home = home();
    let out = home.path().join("s.svg").display().to_string();
    let said = run(home.path(), &["--runtimes", "COSTS", "--out", &out]).unwrap();
    assert_eq!(said.messages, [format!("drawn into {out}")]);
    let svg = fs::read_to_string(&out).unwrap();
    assert!(svg.contains("classic: 10 tasks on 3 resources, 80 s") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("class=\"task").count(), 10);
    let wrong = run(home.path(), &["--resources", "2", "--out", "s.png"]).unwrap_err();
    assert!(wrong.to_string().contains("does not end in .svg"));
}

#[test]
fn a_faulty_file_of_run_times_is_named_with_its_line() {
    let home = home();
    let says = |text: &str, part: &str| {
        fs::write(home.path().join("costs.csv"), text).unwrap();
        let error = run(home.path(), &["--runtimes", "COSTS"])
            .unwrap_err()
            .to_string();
        assert!(error.contains(part), "{error}\nlacks {part}");
    };
    says(
        "task,P1\nT0,1\n",
        "costs.csv:2: the workflow has no task `T0`",
    );
    says("T1,1,2\nT1,1,2\n", "costs.csv:2: task `T1` is there twice");
    says("T1,1,x\n", "costs.csv:1: `x` is no run time");
    says("T1,1,-2\n", "costs.csv:1: `-2` is no run time");
    says(
        "T1,1,2\nT2,1\n",
        "costs.csv:2: task `T2` has 1 run times, not 2",
    );
    says(
        "T1\n",
        "costs.csv:1: task `T1` has 0 run times, not at least one",
    );
    says("T1,1\n", "there is no row for task `T2`");
    std::fs::remove_file(home.path().join("costs.csv")).unwrap();
    let error = run(home.path(), &["--runtimes", "COSTS"])
        .unwrap_err()
        .to_string();
    assert!(error.contains("cannot read"), "{error}");
}
