//! Pegasus DAX files: version 2.1, as the published workflow gallery has them, with `cores`.

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};

use super::draft::{DeclaredAt, Dependency, Draft, DraftTask};
use super::error::{LONGEST_SECONDS, WorkflowError, WorkflowFault};
use super::read::{Lines, Negatives, ReadWorkflow, not_negative, whole_bytes};
use super::workflow::Task;
use crate::units::Nodes;

/// The name that the generator of the published gallery gives to every workflow: the file's says
/// more.
const PLACEHOLDER: &str = "test";

/// Reads a DAX: `job` elements with `id`, `name` (the module), `runtime` in seconds and `cores` (1
/// where it is not there), their `uses` with `file`, `link` and `size` in bytes, and `child`
/// elements with their `parent`s. An attribute `runtimes` of our own gives a run time for each
/// resource, separated by spaces. Everything else is skipped; nested workflows (`dax`, `dag`) are
/// refused.
pub(super) fn parse(
    text: &str,
    origin: &str,
    name: &str,
    negatives: Negatives,
) -> Result<ReadWorkflow, WorkflowError> {
    let lines = Lines::new(text);
    let mut reading = Reading {
        negatives,
        draft: Draft {
            name: name.to_owned(),
            ..Draft::default()
        },
        open: Vec::new(),
        rooted: false,
        job: None,
        child: None,
    };
    let mut reader = Reader::from_str(text);
    loop {
        let line = lines.at(reader.buffer_position() as usize);
        let event = reader.read_event().map_err(|error| {
            let line = lines.at(reader.error_position() as usize);
            broken(error).at(origin, Some(line))
        })?;
        let step = match &event {
            Event::Start(start) => reading.opened(start, line).map(|()| {
                reading.open.push(local(start));
            }),
            Event::Empty(start) => reading.opened(start, line).map(|()| {
                reading.closed(&local(start));
            }),
            Event::End(_) => {
                // The reader has checked that it is the end of what is open.
                if let Some(element) = reading.open.pop() {
                    reading.closed(&element);
                }
                Ok(())
            }
            Event::Eof => break,
            _ => Ok(()),
        };
        step.map_err(|fault| fault.at(origin, Some(line)))?;
    }
    if let Some(element) = reading.open.last() {
        let fault = WorkflowFault::Syntax {
            format: "XML",
            problem: format!("the file ends inside of `{element}`"),
        };
        return Err(fault.at(origin, Some(lines.at(text.trim_end().len()))));
    }
    reading.draft.finish(origin)
}

struct Reading {
    negatives: Negatives,
    draft: Draft,
    open: Vec<String>,
    rooted: bool,
    job: Option<DraftTask>,
    child: Option<String>,
}

impl Reading {
    fn opened(&mut self, start: &BytesStart<'_>, line: usize) -> Result<(), WorkflowFault> {
        let element = local(start);
        if self.open.is_empty() {
            if element != "adag" || self.rooted {
                return Err(WorkflowFault::NotAWorkflow {
                    found: format!("the outermost element is `{element}`"),
                    wanted: "a DAX file has one `adag`",
                });
            }
            self.rooted = true;
            let name = Attributes::of(start)?.take("name");
            if let Some(name) = name.filter(|name| name != PLACEHOLDER) {
                self.draft.name = name;
            }
            return Ok(());
        }
        match (self.open.len(), element.as_str()) {
            (1, "job") => self.job = Some(self.job(start, line)?),
            (1, "child") => self.child = Some(required(start, "child", "ref")?),
            (1, "dax" | "dag") => {
                return Err(WorkflowFault::NotAWorkflow {
                    found: format!("a nested workflow (`{element}`)"),
                    wanted: "give a file with `job` elements only",
                });
            }
            (2, "uses") => self.uses(start)?,
            (2, "parent") => {
                if let Some(child) = self.child.clone() {
                    self.draft.dependencies.push(Dependency {
                        parent: required(start, "parent", "ref")?,
                        child,
                        line,
                        declared_at: DeclaredAt::Child,
                    });
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn closed(&mut self, element: &str) {
        if self.open.len() == 1 {
            match element {
                "job" => self.draft.tasks.extend(self.job.take()),
                "child" => self.child = None,
                _ => {}
            }
        }
    }

    fn job(&mut self, start: &BytesStart<'_>, line: usize) -> Result<DraftTask, WorkflowFault> {
        let mut attributes = Attributes::of(start)?;
        let name = attributes
            .take("id")
            .filter(|id| !id.is_empty())
            .ok_or_else(|| WorkflowFault::Missing {
                element: "a `job`".to_owned(),
                missing: "id",
            })?;
        let seconds = match attributes.take("runtime") {
            Some(text) => self.seconds(&name, "runtime", &text)?,
            None => {
                return Err(WorkflowFault::MissingRuntime {
                    task: name,
                    key: "runtime",
                });
            }
        };
        let seconds_by_resource = match attributes.take("runtimes") {
            Some(text) => text
                .split_ascii_whitespace()
                .map(|text| self.seconds(&name, "runtimes", text))
                .collect::<Result<_, _>>()?,
            None => Vec::new(),
        };
        let nodes = match attributes.take("cores") {
            Some(text) => text.trim().parse().map_err(|_| WorkflowFault::Impossible {
                element: format!("job `{name}`"),
                key: "cores",
                found: quoted(&text),
                allowed: "a whole number of 1 or more",
            })?,
            None => 1,
        };
        let module = attributes.take("name").unwrap_or_else(|| name.clone());
        Ok(DraftTask {
            task: Task {
                name,
                module,
                nodes: Nodes(nodes),
                seconds,
                seconds_by_resource,
            },
            line,
            inputs: std::collections::BTreeSet::new(),
            outputs: std::collections::BTreeMap::new(),
        })
    }

    fn seconds(&mut self, job: &str, key: &'static str, text: &str) -> Result<f64, WorkflowFault> {
        let count = &mut self.draft.notes.negative_run_times;
        text.trim()
            .parse()
            .ok()
            .and_then(|number| not_negative(number, self.negatives, count))
            .filter(|seconds| *seconds <= LONGEST_SECONDS)
            .ok_or_else(|| WorkflowFault::Impossible {
                element: format!("job `{job}`"),
                key,
                found: quoted(text),
                allowed: "a number of seconds from 0 to 1e12",
            })
    }

    fn uses(&mut self, start: &BytesStart<'_>) -> Result<(), WorkflowFault> {
        let Some(job) = &mut self.job else {
            return Ok(());
        };
        let element = || format!("a `uses` of job `{}`", job.task.name);
        let mut attributes = Attributes::of(start)?;
        // Version 3 says `name`.
        let file = attributes
            .take("file")
            .or_else(|| attributes.take("name"))
            .ok_or_else(|| WorkflowFault::Missing {
                element: element(),
                missing: "file",
            })?;
        let link = attributes
            .take("link")
            .ok_or_else(|| WorkflowFault::Missing {
                element: format!("{} (file `{file}`)", element()),
                missing: "link",
            })?;
        let size = attributes.take("size");
        let (reads, writes) = match link.to_ascii_lowercase().as_str() {
            "input" => (true, false),
            "output" => (false, true),
            "inout" => (true, true),
            "none" => (false, false),
            _ => {
                return Err(WorkflowFault::Impossible {
                    element: format!("{} (file `{file}`)", element()),
                    key: "link",
                    found: quoted(&link),
                    allowed: "input, output, inout or none",
                });
            }
        };
        let bytes = match size {
            Some(text) => {
                let count = &mut self.draft.notes.negative_sizes;
                whole_bytes(&text, self.negatives, count).ok_or_else(|| {
                    WorkflowFault::Impossible {
                        element: format!("{} (file `{file}`)", element()),
                        key: "size",
                        found: quoted(&text),
                        allowed: "a whole number of bytes",
                    }
                })?
            }
            // What is read has the size that its writer says.
            None if !writes => 0,
            None => {
                return Err(WorkflowFault::Missing {
                    element: format!("{} (file `{file}`)", element()),
                    missing: "size",
                });
            }
        };
        if reads {
            job.inputs.insert(file.clone());
        }
        if writes {
            job.outputs.insert(file, bytes);
        }
        Ok(())
    }
}

/// The attributes of an element.
struct Attributes(Vec<(String, String)>);

impl Attributes {
    fn of(start: &BytesStart<'_>) -> Result<Self, WorkflowFault> {
        let mut attributes = Vec::new();
        for attribute in start.attributes() {
            let attribute = attribute.map_err(broken)?;
            let value = attribute
                .normalized_value(XmlVersion::Implicit1_0)
                .map_err(broken)?;
            attributes.push((attribute.key.as_ref().to_owned(), value.into_owned()));
        }
        Ok(Self(attributes))
    }

    fn take(&mut self, key: &str) -> Option<String> {
        let place = self.0.iter().position(|(name, _)| name == key)?;
        Some(self.0.swap_remove(place).1)
    }
}

fn required(
    start: &BytesStart<'_>,
    element: &str,
    missing: &'static str,
) -> Result<String, WorkflowFault> {
    Attributes::of(start)?
        .take(missing)
        .ok_or_else(|| WorkflowFault::Missing {
            element: format!("a `{element}`"),
            missing,
        })
}

/// The name of an element without the prefix of its namespace.
fn local(start: &BytesStart<'_>) -> String {
    start.local_name().as_ref().to_owned()
}

fn quoted(text: &str) -> String {
    format!("`{text}`")
}

fn broken(error: impl std::fmt::Display) -> WorkflowFault {
    WorkflowFault::Syntax {
        format: "XML",
        problem: error.to_string(),
    }
}
