//! What is wrong with a workflow, in which file, at which line, at which element.

use std::fmt;

use thiserror::Error;

/// The longest run time of a task, in seconds (over 30,000 years): sums of such times stay far from
/// overflow.
pub(super) const LONGEST_SECONDS: f64 = 1e12;

/// Names of a cycle that are printed; the rest is counted.
const PRINTED_NAMES: usize = 12;

/// A workflow that cannot be used: where, and why.
#[derive(Debug, Error)]
pub struct WorkflowError {
    /// The file, or the workflow's name where it was not read from one.
    pub origin: String,
    /// The line, from 1, where the origin has lines.
    pub line: Option<usize>,
    /// What is wrong.
    pub fault: WorkflowFault,
}

impl fmt::Display for WorkflowError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(formatter, "{}:{line}: {}", self.origin, self.fault),
            None => write!(formatter, "{}: {}", self.origin, self.fault),
        }
    }
}

/// What is wrong with a workflow, with the element that it is wrong at.
#[derive(Debug, Error)]
pub enum WorkflowFault {
    /// There is no such file.
    #[error(
        "not found; looked for {}; {}",
        looked.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "),
        if *folder_is_set {
            "give its path, or put it into the folder that BOOKAHEAD_WORKFLOWS names"
        } else {
            "give its path, or name the folder of workflows: BOOKAHEAD_WORKFLOWS is not set"
        }
    )]
    NotFound {
        /// Where it was looked for.
        looked: Vec<std::path::PathBuf>,
        /// Whether a folder of workflows is named.
        folder_is_set: bool,
    },
    /// The file cannot be opened or read.
    #[error("cannot be read: {0}; give the path of a DAX or WfCommons file")]
    Unreadable(std::io::Error),
    /// The file cannot be written.
    #[error("cannot be written: {0}; choose another file")]
    Unwritable(std::io::Error),
    /// Neither format.
    #[error(
        "neither a DAX file (it begins with `<`) nor a WfCommons instance (it begins with `{{`)"
    )]
    UnknownFormat,
    /// The ending of a file to be written says no format.
    #[error("the ending decides the format: .json for WfCommons, .xml or .dax for DAX")]
    UnknownEnding,
    /// The XML or JSON itself is broken.
    #[error("{format} is broken: {problem}")]
    Syntax {
        /// XML or JSON.
        format: &'static str,
        /// What the parser says.
        problem: String,
    },
    /// Well-formed, but something else.
    #[error("{found}; {wanted}")]
    NotAWorkflow {
        /// What was found.
        found: String,
        /// What was expected.
        wanted: &'static str,
    },
    /// An element lacks something that it needs.
    #[error("{element} has no `{missing}`")]
    Missing {
        /// The element, with its name where it has one.
        element: String,
        /// The attribute or field.
        missing: &'static str,
    },
    /// A value that cannot be.
    #[error("{element}: `{key}` is {found}; allowed is {allowed}")]
    Impossible {
        /// The element.
        element: String,
        /// The attribute or field.
        key: &'static str,
        /// The value found.
        found: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A task without a run time.
    #[error("task `{task}` has no run time (`{key}`)")]
    MissingRuntime {
        /// The task.
        task: String,
        /// Where the run time would be.
        key: &'static str,
    },
    /// A task on no processor.
    #[error("task `{task}` asks for 0 processors; every task needs at least one")]
    ZeroNodes {
        /// The task.
        task: String,
    },
    /// Nothing to do.
    #[error("the workflow has no task; it needs at least one")]
    NoTasks,
    /// Two tasks have the same name.
    #[error("task `{task}` is there twice{}; every task needs a name of its own", first_line.map_or_else(String::new, |line| format!(" (first in line {line})")))]
    DuplicateTask {
        /// The task.
        task: String,
        /// Where it was first.
        first_line: Option<usize>,
    },
    /// A dependency names a task that does not exist.
    #[error("task `{task}` names the {relation} `{name}`, which does not exist")]
    Dangling {
        /// The task whose dependency it is.
        task: String,
        /// `parent` or `child`.
        relation: &'static str,
        /// The name that leads nowhere.
        name: String,
    },
    /// A dependency is about a task that does not exist.
    #[error("{element} is about task `{task}`, which does not exist")]
    UnknownTask {
        /// The element.
        element: &'static str,
        /// The name that leads nowhere.
        task: String,
    },
    /// An edge between tasks of which at least one does not exist.
    #[error("edge {parent} → {child}: the workflow has tasks 0 to {last}")]
    EdgeOutside {
        /// Index of the parent.
        parent: u32,
        /// Index of the child.
        child: u32,
        /// The last index there is.
        last: usize,
    },
    /// Two edges between the same tasks.
    #[error("the edge from `{parent}` to `{child}` is there twice; add their volumes to one edge")]
    DuplicateEdge {
        /// The parent.
        parent: String,
        /// The child.
        child: String,
    },
    /// A file that a task uses has no size.
    #[error("task `{task}` uses the file `{file}`, which has no size in `files`")]
    UnknownFile {
        /// The task.
        task: String,
        /// The file.
        file: String,
    },
    /// Tasks wait for each other.
    #[error("tasks wait for each other in a cycle: {}", cycle(tasks))]
    Cycle {
        /// The names of one cycle, each a parent of the next, the last one of the first.
        tasks: Vec<String>,
    },
    /// Tasks have run times for different numbers of resources.
    #[error(
        "task `{task}` has run times for {found} resources, task `{other}` for {wanted}; every task needs one for each"
    )]
    ResourceCount {
        /// The task.
        task: String,
        /// How many it has.
        found: usize,
        /// A task with another number.
        other: String,
        /// How many that one has.
        wanted: usize,
    },
}

impl WorkflowFault {
    /// The task that it is about, where it is about one.
    pub(super) fn task(&self) -> Option<&str> {
        match self {
            Self::MissingRuntime { task, .. }
            | Self::ZeroNodes { task }
            | Self::DuplicateTask { task, .. }
            | Self::Dangling { task, .. }
            | Self::UnknownTask { task, .. }
            | Self::UnknownFile { task, .. }
            | Self::ResourceCount { task, .. } => Some(task),
            Self::DuplicateEdge { child, .. } => Some(child),
            Self::Cycle { tasks } => tasks.first().map(String::as_str),
            _ => None,
        }
    }

    /// The same with its place.
    pub(super) fn at(self, origin: &str, line: Option<usize>) -> WorkflowError {
        WorkflowError {
            origin: origin.to_owned(),
            line,
            fault: self,
        }
    }
}

fn cycle(tasks: &[String]) -> String {
    let mut names: Vec<String> = tasks
        .iter()
        .take(PRINTED_NAMES)
        .map(|name| format!("`{name}`"))
        .collect();
    if tasks.len() > PRINTED_NAMES {
        names.push(format!("… ({} more)", tasks.len() - PRINTED_NAMES));
    }
    if let Some(first) = tasks.first() {
        names.push(format!("`{first}`"));
    }
    names.join(" → ")
}
