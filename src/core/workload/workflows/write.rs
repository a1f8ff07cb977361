//! Writing a workflow as a WfCommons instance or as a DAX file.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;

use super::error::{WorkflowError, WorkflowFault};
use super::summary::critical_path_seconds;
use super::workflow::{Edge, TaskId, Workflow};
use crate::output::write_file;

/// Writes a workflow; the ending of the file decides the format: `.json` for WfCommons, `.xml` or
/// `.dax` for DAX.
///
/// # Errors
///
/// For any other ending, or when the file cannot be written.
pub fn write_workflow(workflow: &Workflow, path: &Path) -> Result<(), WorkflowError> {
    let fault = |fault: WorkflowFault| fault.at(&path.display().to_string(), None);
    let text = match path.extension().and_then(|ending| ending.to_str()) {
        Some("json") => wf_commons_text(workflow),
        Some("xml" | "dax") => dax_text(workflow),
        _ => return Err(fault(WorkflowFault::UnknownEnding)),
    };
    write_file(path, text).map_err(|error| fault(WorkflowFault::Unwritable(error)))
}

/// A DAX: each edge with a volume is a file of its own.
#[must_use]
pub fn dax_text(workflow: &Workflow) -> String {
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <adag xmlns=\"http://pegasus.isi.edu/schema/DAX\" version=\"2.1\" name=\"{}\" jobCount=\"{}\">\n",
        attribute(workflow.name()),
        workflow.tasks().len()
    );
    for (id, task) in numbered(workflow) {
        let _ = write!(
            text,
            "  <job id=\"{}\" name=\"{}\" runtime=\"{}\" cores=\"{}\"",
            attribute(&task.name),
            attribute(&task.module),
            task.seconds,
            task.nodes.0
        );
        if !task.seconds_by_resource.is_empty() {
            let times: Vec<String> = task
                .seconds_by_resource
                .iter()
                .map(f64::to_string)
                .collect();
            let _ = write!(text, " runtimes=\"{}\"", times.join(" "));
        }
        text.push_str(">\n");
        for (edges, link) in [
            (workflow.parents(id), "input"),
            (workflow.children(id), "output"),
        ] {
            for edge in edges.iter().filter(|edge| edge.bytes > 0) {
                let _ = writeln!(
                    text,
                    "    <uses file=\"{}\" link=\"{link}\" size=\"{}\"/>",
                    file(edge),
                    edge.bytes
                );
            }
        }
        text.push_str("  </job>\n");
    }
    for (id, task) in numbered(workflow) {
        if workflow.parents(id).is_empty() {
            continue;
        }
        let _ = writeln!(text, "  <child ref=\"{}\">", attribute(&task.name));
        for edge in workflow.parents(id) {
            let parent = attribute(&workflow.task(edge.parent).name);
            let _ = writeln!(text, "    <parent ref=\"{parent}\"/>");
        }
        text.push_str("  </child>\n");
    }
    text.push_str("</adag>\n");
    text
}

/// A WfCommons instance (WfFormat 1.5): each edge with a volume is a file of its own.
///
/// The format cannot say run times without an execution, so there is one that never was; its
/// description says so, its makespan is the critical path.
#[must_use]
pub fn wf_commons_text(workflow: &Workflow) -> String {
    let name = |id: TaskId| workflow.task(id).name.as_str();
    let files = |edges: &[Edge]| -> Vec<String> {
        edges
            .iter()
            .filter(|edge| edge.bytes > 0)
            .map(file)
            .collect()
    };
    let instance = Instance {
        name: workflow.name(),
        description: "Written by bookahead. Nothing was executed: makespanInSeconds is the critical path, executedAt a placeholder.",
        schema_version: "1.5",
        workflow: Parts {
            specification: Specification {
                tasks: numbered(workflow)
                    .map(|(id, task)| SpecifiedTask {
                        name: &task.module,
                        id: &task.name,
                        parents: workflow
                            .parents(id)
                            .iter()
                            .map(|edge| name(edge.parent))
                            .collect(),
                        children: workflow
                            .children(id)
                            .iter()
                            .map(|edge| name(edge.child))
                            .collect(),
                        input_files: files(workflow.parents(id)),
                        output_files: files(workflow.children(id)),
                    })
                    .collect(),
                files: workflow
                    .edges()
                    .iter()
                    .filter(|edge| edge.bytes > 0)
                    .map(|edge| SpecifiedFile {
                        id: file(edge),
                        size_in_bytes: edge.bytes,
                    })
                    .collect(),
            },
            execution: Execution {
                makespan_in_seconds: critical_path_seconds(workflow, None),
                executed_at: "1970-01-01T00:00:00Z",
                tasks: workflow
                    .tasks()
                    .iter()
                    .map(|task| ExecutedTask {
                        id: &task.name,
                        runtime_in_seconds: task.seconds,
                        runtimes_in_seconds: &task.seconds_by_resource,
                        core_count: task.nodes.0,
                        command: Command {
                            program: &task.module,
                        },
                    })
                    .collect(),
            },
        },
    };
    // Numbers, texts and lists: nothing that JSON could not hold.
    let mut text = serde_json::to_string_pretty(&instance).unwrap_or_default();
    text.push('\n');
    text
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Instance<'a> {
    name: &'a str,
    description: &'a str,
    schema_version: &'a str,
    workflow: Parts<'a>,
}

#[derive(Serialize)]
struct Parts<'a> {
    specification: Specification<'a>,
    execution: Execution<'a>,
}

#[derive(Serialize)]
struct Specification<'a> {
    tasks: Vec<SpecifiedTask<'a>>,
    files: Vec<SpecifiedFile>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SpecifiedTask<'a> {
    name: &'a str,
    id: &'a str,
    parents: Vec<&'a str>,
    children: Vec<&'a str>,
    input_files: Vec<String>,
    output_files: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SpecifiedFile {
    id: String,
    size_in_bytes: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Execution<'a> {
    makespan_in_seconds: f64,
    executed_at: &'a str,
    tasks: Vec<ExecutedTask<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExecutedTask<'a> {
    id: &'a str,
    runtime_in_seconds: f64,
    #[serde(skip_serializing_if = "<[f64]>::is_empty")]
    runtimes_in_seconds: &'a [f64],
    core_count: u32,
    command: Command<'a>,
}

#[derive(Serialize)]
struct Command<'a> {
    program: &'a str,
}

fn numbered(workflow: &Workflow) -> impl Iterator<Item = (TaskId, &super::workflow::Task)> {
    (0..).map(TaskId).zip(workflow.tasks())
}

/// The file that stands for the data of an edge.
fn file(edge: &Edge) -> String {
    format!("data_{}_{}", edge.parent.0, edge.child.0)
}

/// A text as the value of an attribute: line breaks and tabs would otherwise be read as spaces.
fn attribute(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\r' => escaped.push_str("&#13;"),
            '\t' => escaped.push_str("&#9;"),
            other => escaped.push(other),
        }
    }
    escaped
}
