//! Files that are broken, files that are read, files that are written and read again.

use proptest::prelude::*;

use super::*;
use crate::memory::MemoryBudget;
use crate::random::stream;
use crate::units::Nodes;

const DAX: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- two tasks -->
<adag xmlns="http://pegasus.isi.edu/schema/DAX" name="pair" jobCount="2">
  <job id="A" namespace="N" name="first &amp; only" runtime="1.5" cores="3">
    <argument>-x <file name="f"/></argument>
    <uses file="f" link="output" size="100"/>
    <uses file="g" link="output" size="20"/>
    <uses file="unused" link="output" size="7"/>
  </job>
  <job id="B" name="second" runtime="2">
    <uses file="f" link="input" size="999"/>
    <uses file="g" link="input" size="20"/>
    <uses file="outside" link="input" size="5"/>
  </job>
  <child ref="B">
    <parent ref="A"/>
  </child>
</adag>
"#;

const JSON: &str = r#"{
  "name": "pair",
  "schemaVersion": "1.5",
  "workflow": {
    "specification": {
      "tasks": [
        {"id": "A", "name": "a", "parents": [], "children": ["B"],
         "inputFiles": [], "outputFiles": ["f", "g"]},
        {"id": "B", "name": "second", "parents": ["A"], "children": [],
         "inputFiles": ["f", "g"], "outputFiles": []}
      ],
      "files": [
        {"id": "f", "sizeInBytes": 100},
        {"id": "g", "sizeInBytes": 20}
      ]
    },
    "execution": {
      "makespanInSeconds": 3.5,
      "executedAt": "2024-01-01T00:00:00Z",
      "tasks": [
        {"id": "B", "runtimeInSeconds": 2},
        {"id": "A", "runtimeInSeconds": 1.5, "coreCount": 3.0, "command": {"program": "first & only", "arguments": ["-x"]}}
      ]
    }
  }
}
"#;

const OLDER: &str = r#"{"name": "pair", "schemaVersion": "1.3", "workflow": {"tasks": [
  {"name": "a_1", "id": "A", "parents": [], "children": ["b_2"], "runtime": 1.5, "cores": 3, "category": "first & only",
   "files": [{"link": "output", "name": "f", "size": 100}, {"link": "output", "name": "g", "size": 20}]},
  {"name": "b_2", "id": "B", "parents": ["a_1"], "children": [], "runtimeInSeconds": 2, "program": "second",
   "files": [{"link": "input", "name": "f", "size": 999}, {"link": "input", "id": "g", "sizeInBytes": 20}]}
]}}"#;

fn pair() -> Workflow {
    let task = |name: &str, module: &str, nodes, seconds| Task {
        name: name.to_owned(),
        module: module.to_owned(),
        nodes: Nodes(nodes),
        seconds,
        seconds_by_resource: Vec::new(),
    };
    let edge = Edge {
        parent: TaskId(0),
        child: TaskId(1),
        bytes: 120,
    };
    let tasks = vec![
        task("A", "first & only", 3, 1.5),
        task("B", "second", 1, 2.0),
    ];
    Workflow::new("pair", tasks, vec![edge]).unwrap()
}

fn read(text: &str) -> Result<ReadWorkflow, WorkflowError> {
    parse_workflow(text, "pair.file", "pair", Negatives::Zero)
}

/// What reading says about a text in which something was replaced.
fn fault(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    read(&text.replace(from, to))
        .expect_err("a broken file")
        .to_string()
}

#[test]
fn both_formats_and_the_older_layout_say_the_same() {
    for text in [DAX, JSON, OLDER] {
        let read = read(text).unwrap();
        assert_eq!(read.workflow, pair(), "{text}");
        assert_eq!(read.notes, ReadingNotes::default());
    }
    let marked = format!("\u{feff}{DAX}");
    assert_eq!(read(&marked).unwrap().workflow, pair());
}

#[test]
fn broken_xml_names_file_line_and_element() {
    for (from, to, says) in [
        (
            r#"id="B""#,
            r#"id="A""#,
            "pair.file:10: task `A` is there twice (first in line 4)",
        ),
        (r#"id="B" "#, "", "pair.file:10: a `job` has no `id`"),
        (
            r#" runtime="2""#,
            "",
            "pair.file:10: task `B` has no run time (`runtime`)",
        ),
        (
            r#"runtime="2""#,
            r#"runtime="soon""#,
            "pair.file:10: job `B`: `runtime` is `soon`; allowed is a number",
        ),
        (
            r#"runtime="2""#,
            r#"runtime="inf""#,
            "pair.file:10: job `B`: `runtime` is `inf`",
        ),
        (
            r#"runtime="2""#,
            r#"runtime="NaN""#,
            "pair.file:10: job `B`: `runtime` is `NaN`",
        ),
        (
            r#"runtime="2""#,
            r#"runtime="2" runtimes="1 2 3""#,
            "pair.file:10: task `B` has run times for 3 resources",
        ),
        (
            r#"cores="3""#,
            r#"cores="0""#,
            "pair.file:4: task `A` asks for 0 processors",
        ),
        (
            r#"cores="3""#,
            r#"cores="-1""#,
            "pair.file:4: job `A`: `cores` is `-1`; allowed is a whole number of 1 or more",
        ),
        (
            r#"cores="3""#,
            r#"cores="2.5""#,
            "pair.file:4: job `A`: `cores` is `2.5`",
        ),
        (
            r#"<parent ref="A"/>"#,
            r#"<parent ref="C"/>"#,
            "pair.file:16: task `B` names the parent `C`, which does not exist",
        ),
        (
            r#"<parent ref="A"/>"#,
            "<parent/>",
            "pair.file:16: a `parent` has no `ref`",
        ),
        (
            r#"<child ref="B">"#,
            r#"<child ref="C">"#,
            "pair.file:16: a dependency is about task `C`, which does not exist",
        ),
        (
            r#"<parent ref="A"/>"#,
            r#"<parent ref="B"/>"#,
            "pair.file:10: tasks wait for each other in a cycle: `B` → `B`",
        ),
        (
            r#"link="output" size="20""#,
            r#"link="output""#,
            "pair.file:7: a `uses` of job `A` (file `g`) has no `size`",
        ),
        (
            r#"size="20""#,
            r#"size="big""#,
            "pair.file:7: a `uses` of job `A` (file `g`): `size` is `big`",
        ),
        (
            r#"link="output" size="20""#,
            r#"link="both" size="20""#,
            "pair.file:7: a `uses` of job `A` (file `g`): `link` is `both`",
        ),
        (
            r#"file="g" link="output""#,
            r#"link="output""#,
            "pair.file:7: a `uses` of job `A` has no `file`",
        ),
        (
            "</adag>",
            "",
            "pair.file:17: XML is broken: the file ends inside of `adag`",
        ),
        ("</job>", "</jobs>", "pair.file:9: XML is broken:"),
        (r#"id="B""#, r#"id="B"#, "XML is broken:"),
        (
            "adag",
            "html",
            "pair.file:3: the outermost element is `html`; a DAX file has one `adag`",
        ),
        (
            r#"<child ref="B">"#,
            r#"<dax id="x"/><child ref="B">"#,
            "pair.file:15: a nested workflow (`dax`)",
        ),
    ] {
        let text = fault(DAX, from, to);
        assert!(text.contains(says), "{from} → {to}: {text}");
    }
    let empty = r#"<adag name="nothing"></adag>"#;
    assert!(
        read(empty)
            .unwrap_err()
            .to_string()
            .contains("pair.file: the workflow has no task")
    );
}

#[test]
fn broken_json_names_file_line_and_element() {
    for (from, to, says) in [
        (
            r#"{"id": "B", "name": "second""#,
            r#"{"id": "A", "name": "second""#,
            "pair.file:9: task `A` is there twice (first in line 7)",
        ),
        (
            r#"{"id": "B", "name""#,
            r#"{"name""#,
            "pair.file:9: an entry of `workflow.specification.tasks` has no `id`",
        ),
        (
            r#"{"id": "B", "runtimeInSeconds": 2}"#,
            r#"{"id": "B"}"#,
            "pair.file:21: task `B` has no run time (`runtimeInSeconds`)",
        ),
        (
            r#"{"id": "B", "runtimeInSeconds": 2},"#,
            "",
            "pair.file:9: task `B` has no run time",
        ),
        (
            r#"{"id": "B", "runtimeInSeconds": 2}"#,
            r#"{"id": "C", "runtimeInSeconds": 2}"#,
            "pair.file:9: task `B` has no run time",
        ),
        (
            r#"{"id": "B", "runtimeInSeconds": 2}"#,
            r#"{"id": "B", "runtimeInSeconds": 2}, {"id": "C", "runtimeInSeconds": 2}"#,
            "pair.file:21: an entry of `workflow.execution.tasks` is about task `C`, which does not exist",
        ),
        (
            r#"{"id": "B", "runtimeInSeconds": 2}"#,
            r#"{"id": "A", "runtimeInSeconds": 2}"#,
            "pair.file:22: task `A` is there twice (first in line 21)",
        ),
        (
            r#""runtimeInSeconds": 2}"#,
            r#""runtimeInSeconds": "2"}"#,
            "pair.file:21: task `B`: `runtimeInSeconds` is \"2\"; allowed is a number",
        ),
        (
            r#""coreCount": 3.0"#,
            r#""coreCount": 0"#,
            "pair.file:7: task `A` asks for 0 processors",
        ),
        (
            r#""coreCount": 3.0"#,
            r#""coreCount": 1.5"#,
            "pair.file:22: task `A`: `coreCount` is 1.5",
        ),
        (
            r#""parents": ["A"]"#,
            r#""parents": ["C"]"#,
            "pair.file:9: task `B` names the parent `C`, which does not exist",
        ),
        (
            r#""children": ["B"]"#,
            r#""children": ["C"]"#,
            "pair.file:7: task `A` names the child `C`, which does not exist",
        ),
        (
            r#""parents": []"#,
            r#""parents": ["B"]"#,
            "pair.file:7: tasks wait for each other in a cycle: `A` → `B` → `A`",
        ),
        (
            r#""parents": []"#,
            r#""parents": "B""#,
            "pair.file:7: JSON is broken: an entry of `workflow.specification.tasks`: invalid type",
        ),
        (
            r#"{"id": "g", "sizeInBytes": 20}"#,
            r#"{"id": "g"}"#,
            "pair.file:14: an entry of `workflow.specification.files` (`g`) has no `sizeInBytes`",
        ),
        (
            r#"{"id": "g", "sizeInBytes": 20}"#,
            r#"{"id": "h", "sizeInBytes": 20}"#,
            "pair.file:7: task `A` uses the file `g`, which has no size in `files`",
        ),
        (
            r#""sizeInBytes": 20"#,
            r#""sizeInBytes": 20.5"#,
            "pair.file:14: an entry of `workflow.specification.files` (`g`): `sizeInBytes` is 20.5",
        ),
        (
            r#""files": ["#,
            r#""files": [,"#,
            "pair.file:12: JSON is broken: ",
        ),
        (
            r#""workflow""#,
            r#""work""#,
            "pair.file: the file has no `workflow`; give a WfCommons instance",
        ),
        (
            r#""specification""#,
            r#""spec""#,
            "pair.file:4: `workflow` has no `specification`",
        ),
    ] {
        let text = fault(JSON, from, to);
        assert!(text.contains(says), "{from} → {to}: {text}");
    }
    let empty = r#"{"workflow": {"specification": {"tasks": []}}}"#;
    assert!(
        read(empty)
            .unwrap_err()
            .to_string()
            .contains("pair.file: the workflow has no task")
    );
    for (from, to, says) in [
        (
            r#""link": "output", "name": "f""#,
            r#""link": "up", "name": "f""#,
            "pair.file:3: a file of task `A` (`f`): `link` is up",
        ),
        (
            r#""runtime": 1.5, "#,
            "",
            "pair.file:2: task `A` has no run time",
        ),
        (
            r#""parents": ["a_1"]"#,
            r#""parents": ["c_3"]"#,
            "pair.file:4: task `B` names the parent `c_3`",
        ),
    ] {
        let text = fault(OLDER, from, to);
        assert!(text.contains(says), "{from} → {to}: {text}");
    }
}

#[test]
fn what_is_neither_format_or_no_file_says_so() {
    assert!(
        read("1 2 3")
            .unwrap_err()
            .to_string()
            .contains("neither a DAX file")
    );
    assert!(
        read("")
            .unwrap_err()
            .to_string()
            .contains("neither a DAX file")
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.xml");
    let text = read_workflow(&path, Negatives::Zero, MemoryBudget::UNLIMITED)
        .unwrap_err()
        .to_string();
    assert!(text.contains("none.xml: cannot be read"), "{text}");
    std::fs::write(&path, b"<adag>\n\xff</adag>").unwrap();
    let text = read_workflow(&path, Negatives::Zero, MemoryBudget::UNLIMITED)
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("none.xml:2: text is broken: not UTF-8"),
        "{text}"
    );
    let text = write_workflow(&pair(), &folder.path().join("w.txt"))
        .unwrap_err()
        .to_string();
    assert!(text.contains("the ending decides the format"), "{text}");
}

#[test]
fn negative_numbers_are_taken_as_zero_and_counted_or_refused() {
    let text = DAX
        .replace("runtime=\"2\"", "runtime=\"-1.64\"")
        .replace("size=\"100\"", "size=\"-3\"");
    let repaired = read(&text).unwrap();
    assert_eq!(repaired.workflow.tasks()[1].seconds, 0.0);
    assert_eq!(repaired.workflow.edges()[0].bytes, 20);
    assert_eq!(
        (
            repaired.notes.negative_run_times,
            repaired.notes.negative_sizes
        ),
        (1, 1)
    );
    assert_eq!(repaired.notes.sentences().len(), 2);
    let refused = parse_workflow(&text, "pair.file", "pair", Negatives::Refuse).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("pair.file:6: a `uses` of job `A` (file `f`): `size` is `-3`"),
        "{refused}"
    );
}

#[test]
fn a_file_that_passes_without_a_dependency_is_no_edge_but_told() {
    let text = DAX.replace("<parent ref=\"A\"/>", "");
    let read = read(&text).unwrap();
    assert!(read.workflow.edges().is_empty());
    assert_eq!(read.notes.undeclared_transfers, 1);
}

#[test]
fn names_with_every_kind_of_letter_survive_both_formats() {
    let mut tasks = pair().tasks().to_vec();
    tasks[0].name = "a<b>&\"'\n\t é".to_owned();
    tasks[0].module = "m\\/".to_owned();
    let odd = Workflow::new("x & y", tasks, pair().edges().to_vec()).unwrap();
    for text in [dax_text(&odd), wf_commons_text(&odd)] {
        assert_eq!(read(&text).unwrap().workflow, odd, "{text}");
    }
}

proptest! {
    #[test]
    fn generated_workflows_survive_writing_and_reading(
        tasks in 1_u32..60,
        mean_bytes in 0_u64..1_000_000_000_000,
        factor in 0.0_f64..10.0,
        seed: u64,
    ) {
        let settings = SyntheticSettings {
            tasks,
            mean_bytes,
            volumes: VolumeShape::Uniform,
            ..SyntheticSettings::default()
        };
        let drawn = synthetic(&settings, &mut stream(seed, "s", 0, "w")).unwrap();
        // Fractions in all their digits, and run times for each of two resources.
        let rows: Vec<Vec<f64>> = drawn
            .tasks()
            .iter()
            .map(|task| vec![task.seconds * factor, task.seconds / 3.0])
            .collect();
        let varied = drawn.clone().with_seconds_by_resource(&rows).unwrap();
        for workflow in [drawn, varied] {
            for text in [dax_text(&workflow), wf_commons_text(&workflow)] {
                let again = parse_workflow(&text, "again", "again", Negatives::Refuse).unwrap();
                prop_assert_eq!(&again.workflow, &workflow);
                prop_assert_eq!(again.notes, ReadingNotes::default());
            }
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(place in 0_usize..2_000, with in "[<>/\"{}a0,\\-]{0,3}", which in 0_usize..3) {
        let text = [DAX, JSON, OLDER][which];
        let place = place % text.len();
        if let Some((head, tail)) = text.split_at_checked(place) {
            let mut rest = tail.chars();
            rest.next();
            let _ = read(&format!("{head}{with}{}", rest.as_str()));
            let _ = read(head);
        }
    }
}
