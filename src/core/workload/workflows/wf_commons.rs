//! WfCommons instances: WfFormat 1.5 (and 1.6, which only adds to it), and the older layout with
//! one list of tasks.

mod document;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use self::document::{Execution, FileEntry, Instance, Parts, Specification, TaskEntry};
use super::draft::{DeclaredAt, Dependency, Draft, DraftTask};
use super::error::{LONGEST_SECONDS, WorkflowError, WorkflowFault};
use super::read::{Lines, Negatives, ReadWorkflow, not_negative, whole_bytes};
use super::workflow::Task;
use crate::units::Nodes;
use crate::workload::input_file::json_fault;

/// Reads an instance: tasks, parents, children and files of `workflow.specification`, run times and
/// cores (1 where they are not there) of `workflow.execution`. The module of a task is the program
/// of its command, or its name. A field `runtimesInSeconds` of our own gives a run time for each
/// resource.
pub(super) fn parse(
    text: &str,
    origin: &str,
    name: &str,
    negatives: Negatives,
) -> Result<ReadWorkflow, WorkflowError> {
    let mut reading = Reading {
        text,
        origin,
        lines: Lines::new(text),
        negatives,
        draft: Draft::default(),
    };
    let instance: Instance<'_> = serde_json::from_str(text).map_err(|error| {
        let line = Some(error.line()).filter(|line| *line > 0);
        syntax(&error, "").at(origin, line)
    })?;
    reading.draft.name = instance.name.unwrap_or_else(|| name.to_owned());
    let Some(workflow) = instance.workflow else {
        let fault = WorkflowFault::NotAWorkflow {
            found: "the file has no `workflow`".to_owned(),
            wanted: "give a WfCommons instance",
        };
        return Err(fault.at(origin, None));
    };
    let parts: Parts<'_> = reading.part(workflow, "workflow")?;
    match (parts.specification, parts.tasks) {
        (Some(specification), _) => reading.specified(specification, parts.execution)?,
        (None, Some(tasks)) => reading.older(&tasks)?,
        (None, None) => {
            let fault = WorkflowFault::Missing {
                element: "`workflow`".to_owned(),
                missing: "specification",
            };
            return Err(fault.at(origin, Some(reading.line(workflow))));
        }
    }
    reading.draft.finish(origin)
}

/// What the execution of a task says about it.
struct Cost {
    seconds: f64,
    seconds_by_resource: Vec<f64>,
    nodes: Nodes,
    module: Option<String>,
    line: usize,
}

struct Reading<'a> {
    text: &'a str,
    origin: &'a str,
    lines: Lines,
    negatives: Negatives,
    draft: Draft,
}

impl<'a> Reading<'a> {
    /// WfFormat 1.5: structure and execution apart.
    fn specified(
        &mut self,
        specification: &'a RawValue,
        execution: Option<&'a RawValue>,
    ) -> Result<(), WorkflowError> {
        let specified: Specification<'a> = self.part(specification, "workflow.specification")?;
        let Some(tasks) = specified.tasks else {
            let fault = WorkflowFault::Missing {
                element: "`workflow.specification`".to_owned(),
                missing: "tasks",
            };
            return Err(self.fault(specification, fault));
        };
        let sizes = self.sizes(&specified.files)?;
        let mut costs = match execution {
            Some(execution) => {
                let executed: Execution<'a> = self.part(execution, "workflow.execution")?;
                self.costs(&executed.tasks)?
            }
            None => BTreeMap::new(),
        };
        for raw in tasks {
            let entry: TaskEntry<'a> =
                self.part(raw, "an entry of `workflow.specification.tasks`")?;
            let id = self.id(raw, entry.id, "an entry of `workflow.specification.tasks`")?;
            let line = self.line(raw);
            let Some(cost) = costs.remove(&id) else {
                // A task that is there twice has its run time used up; the fault is the second
                // task.
                let fault = match self.draft.tasks.iter().find(|task| task.task.name == id) {
                    Some(first) => WorkflowFault::DuplicateTask {
                        first_line: Some(first.line),
                        task: id,
                    },
                    None => WorkflowFault::MissingRuntime {
                        task: id,
                        key: "runtimeInSeconds of workflow.execution.tasks",
                    },
                };
                return Err(fault.at(self.origin, Some(line)));
            };
            let size_of = |file: &String| {
                sizes.get(file).copied().ok_or_else(|| {
                    let fault = WorkflowFault::UnknownFile {
                        task: id.clone(),
                        file: file.clone(),
                    };
                    fault.at(self.origin, Some(line))
                })
            };
            for file in &entry.input_files {
                size_of(file)?;
            }
            let outputs = entry
                .output_files
                .iter()
                .map(|file| Ok((file.clone(), size_of(file)?)))
                .collect::<Result<_, WorkflowError>>()?;
            self.depend(&id, entry.parents, entry.children, line);
            self.draft.tasks.push(DraftTask {
                task: Task {
                    module: cost.module.or(entry.name).unwrap_or_else(|| id.clone()),
                    name: id,
                    nodes: cost.nodes,
                    seconds: cost.seconds,
                    seconds_by_resource: cost.seconds_by_resource,
                },
                line,
                inputs: entry.input_files.into_iter().collect(),
                outputs,
            });
        }
        match costs.into_iter().next() {
            Some((task, cost)) => {
                let fault = WorkflowFault::UnknownTask {
                    element: "an entry of `workflow.execution.tasks`",
                    task,
                };
                Err(fault.at(self.origin, Some(cost.line)))
            }
            None => Ok(()),
        }
    }

    /// WfFormat 1.4 and before: one list with everything. Parents and children are ids in some of
    /// its versions, names in others.
    fn older(&mut self, tasks: &[&'a RawValue]) -> Result<(), WorkflowError> {
        const ENTRY: &str = "an entry of `workflow.tasks`";
        let mut ids: BTreeMap<String, String> = BTreeMap::new();
        let mut entries = Vec::new();
        for raw in tasks {
            let mut entry: TaskEntry<'a> = self.part(raw, ENTRY)?;
            let name = entry.name.clone();
            let id = entry.id.take().or_else(|| name.clone());
            let id = self.id(raw, id, ENTRY)?;
            ids.extend(name.map(|name| (name, id.clone())));
            entries.push((*raw, id, entry));
        }
        for (_, id, _) in &entries {
            ids.insert(id.clone(), id.clone());
        }
        for (raw, id, entry) in entries {
            let line = self.line(raw);
            let cost = self.cost(raw, &id, &entry)?;
            let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
            for raw in &entry.files {
                let file: FileEntry<'a> = self.part(raw, "a file")?;
                let element = format!("a file of task `{id}`");
                let link = file.link.clone();
                let (name, bytes) = self.file(raw, file, &element)?;
                match link.as_deref() {
                    Some("input") => inputs.push(name),
                    Some("output") => outputs.push((name, bytes)),
                    other => {
                        let fault = WorkflowFault::Impossible {
                            element: format!("{element} (`{name}`)"),
                            key: "link",
                            found: other.unwrap_or("not there").to_owned(),
                            allowed: "input or output",
                        };
                        return Err(self.fault(raw, fault));
                    }
                }
            }
            let known = |names: Vec<String>| -> Vec<String> {
                names
                    .into_iter()
                    .map(|name| ids.get(&name).cloned().unwrap_or(name))
                    .collect()
            };
            self.depend(&id, known(entry.parents), known(entry.children), line);
            let module = cost.module.or(entry.category).or(entry.name);
            self.draft.tasks.push(DraftTask {
                task: Task {
                    module: module.unwrap_or_else(|| id.clone()),
                    name: id,
                    nodes: cost.nodes,
                    seconds: cost.seconds,
                    seconds_by_resource: cost.seconds_by_resource,
                },
                line,
                inputs: inputs.into_iter().collect(),
                outputs: outputs.into_iter().collect(),
            });
        }
        Ok(())
    }

    fn depend(&mut self, id: &str, parents: Vec<String>, children: Vec<String>, line: usize) {
        let of_parents = parents.into_iter().map(|parent| Dependency {
            parent,
            child: id.to_owned(),
            line,
            declared_at: DeclaredAt::Child,
        });
        let of_children = children.into_iter().map(|child| Dependency {
            parent: id.to_owned(),
            child,
            line,
            declared_at: DeclaredAt::Parent,
        });
        self.draft
            .dependencies
            .extend(of_parents.chain(of_children));
    }

    fn sizes(&mut self, files: &[&'a RawValue]) -> Result<BTreeMap<String, u64>, WorkflowError> {
        let mut sizes = BTreeMap::new();
        for raw in files {
            let element = "an entry of `workflow.specification.files`";
            let file: FileEntry<'a> = self.part(raw, element)?;
            let (name, bytes) = self.file(raw, file, element)?;
            sizes.insert(name, bytes);
        }
        Ok(sizes)
    }

    /// The name and the size of a file.
    fn file(
        &mut self,
        raw: &'a RawValue,
        file: FileEntry<'a>,
        element: &str,
    ) -> Result<(String, u64), WorkflowError> {
        let name = self.id(raw, file.id.or(file.name), element)?;
        let element = format!("{element} (`{name}`)");
        let Some(size) = file.size_in_bytes else {
            let missing = "sizeInBytes";
            return Err(self.fault(raw, WorkflowFault::Missing { element, missing }));
        };
        let count = &mut self.draft.notes.negative_sizes;
        match whole_bytes(size.get(), self.negatives, count) {
            Some(bytes) => Ok((name, bytes)),
            None => {
                let fault = WorkflowFault::Impossible {
                    element,
                    key: "sizeInBytes",
                    found: size.get().to_owned(),
                    allowed: "a whole number of bytes",
                };
                Err(self.fault(size, fault))
            }
        }
    }

    fn costs(&mut self, tasks: &[&'a RawValue]) -> Result<BTreeMap<String, Cost>, WorkflowError> {
        const ENTRY: &str = "an entry of `workflow.execution.tasks`";
        let mut costs: BTreeMap<String, Cost> = BTreeMap::new();
        for raw in tasks {
            let mut entry: TaskEntry<'a> = self.part(raw, ENTRY)?;
            let id = entry.id.take();
            let id = self.id(raw, id, ENTRY)?;
            let cost = self.cost(raw, &id, &entry)?;
            if let Some(first) = costs.get(&id) {
                let fault = WorkflowFault::DuplicateTask {
                    task: id,
                    first_line: Some(first.line),
                };
                return Err(self.fault(raw, fault));
            }
            costs.insert(id, cost);
        }
        Ok(costs)
    }

    fn cost(
        &mut self,
        raw: &'a RawValue,
        id: &str,
        entry: &TaskEntry<'a>,
    ) -> Result<Cost, WorkflowError> {
        let Some(runtime) = entry.runtime_in_seconds else {
            let fault = WorkflowFault::MissingRuntime {
                task: id.to_owned(),
                key: "runtimeInSeconds",
            };
            return Err(self.fault(raw, fault));
        };
        let seconds = self.seconds(runtime, id, "runtimeInSeconds")?;
        let seconds_by_resource = entry
            .runtimes_in_seconds
            .iter()
            .map(|raw| self.seconds(raw, id, "runtimesInSeconds"))
            .collect::<Result<_, _>>()?;
        let nodes = match entry.core_count {
            Some(raw) => self.cores(raw, id)?,
            None => Nodes(1),
        };
        let program = entry
            .command
            .as_ref()
            .and_then(|command| command.program.clone());
        Ok(Cost {
            seconds,
            seconds_by_resource,
            nodes,
            module: program.or_else(|| entry.program.clone()),
            line: self.line(raw),
        })
    }

    fn seconds(
        &mut self,
        raw: &'a RawValue,
        id: &str,
        key: &'static str,
    ) -> Result<f64, WorkflowError> {
        let count = &mut self.draft.notes.negative_run_times;
        raw.get()
            .parse()
            .ok()
            .and_then(|number| not_negative(number, self.negatives, count))
            .filter(|seconds| *seconds <= LONGEST_SECONDS)
            .ok_or_else(|| {
                let fault = WorkflowFault::Impossible {
                    element: format!("task `{id}`"),
                    key,
                    found: raw.get().to_owned(),
                    allowed: "a number of seconds from 0 to 1e12",
                };
                self.fault(raw, fault)
            })
    }

    /// The schema allows any number; only whole ones are processors.
    fn cores(&self, raw: &'a RawValue, id: &str) -> Result<Nodes, WorkflowError> {
        match raw.get().parse::<f64>() {
            Ok(cores) if cores.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&cores) => {
                Ok(Nodes(cores as u32))
            }
            _ => {
                let fault = WorkflowFault::Impossible {
                    element: format!("task `{id}`"),
                    key: "coreCount",
                    found: raw.get().to_owned(),
                    allowed: "a whole number of 1 or more",
                };
                Err(self.fault(raw, fault))
            }
        }
    }

    fn id(
        &self,
        raw: &'a RawValue,
        id: Option<String>,
        element: &str,
    ) -> Result<String, WorkflowError> {
        id.filter(|id| !id.is_empty()).ok_or_else(|| {
            let fault = WorkflowFault::Missing {
                element: element.to_owned(),
                missing: "id",
            };
            self.fault(raw, fault)
        })
    }

    /// A part of the instance, with the line of what is wrong in it.
    fn part<T: Deserialize<'a>>(
        &self,
        raw: &'a RawValue,
        element: &str,
    ) -> Result<T, WorkflowError> {
        serde_json::from_str(raw.get()).map_err(|error| {
            let line = self.line(raw) + error.line().saturating_sub(1);
            syntax(&error, element).at(self.origin, Some(line))
        })
    }

    fn fault(&self, raw: &RawValue, fault: WorkflowFault) -> WorkflowError {
        fault.at(self.origin, Some(self.line(raw)))
    }

    /// The line on which a part of the text begins.
    fn line(&self, raw: &RawValue) -> usize {
        let place = raw.get().as_ptr() as usize - self.text.as_ptr() as usize;
        self.lines.at(place)
    }
}

/// What the parser says, without its own line, which counts from the beginning of the part.
fn syntax(error: &serde_json::Error, element: &str) -> WorkflowFault {
    let problem = json_fault(error);
    WorkflowFault::Syntax {
        format: "JSON",
        problem: if element.is_empty() {
            problem
        } else {
            format!("{element}: {problem}")
        },
    }
}
