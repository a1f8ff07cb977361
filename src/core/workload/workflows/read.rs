//! Reading a workflow from a file of either format.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::{WorkflowError, WorkflowFault};
use super::workflow::Workflow;
use super::{dax, wf_commons};
use crate::memory::MemoryBudget;
use crate::workload::input_file;

/// A workflow as it was read, and what was done to make it one.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadWorkflow {
    /// The workflow.
    pub workflow: Workflow,
    /// What a reader of its numbers must know.
    pub notes: ReadingNotes,
}

/// What a file says that no workflow can have, or that this one leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReadingNotes {
    /// Negative run times, taken as 0. The published Epigenomics file with 997 tasks has some.
    pub negative_run_times: usize,
    /// Negative file sizes, taken as 0.
    pub negative_sizes: usize,
    /// Pairs of tasks of which one reads what the other writes, without a dependency between them:
    /// no edge is made of them.
    pub undeclared_transfers: usize,
}

/// What to do with negative run times and sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Negatives {
    /// Take them as 0 and count them.
    #[default]
    Zero,
    /// Refuse the file.
    Refuse,
}

impl ReadingNotes {
    /// One sentence a note; none where there is nothing to know.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        [
            (self.negative_run_times, "negative run times taken as 0"),
            (self.negative_sizes, "negative file sizes taken as 0"),
            (
                self.undeclared_transfers,
                "pairs of tasks that share a file without a dependency between them, which get no edge",
            ),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{what}: {count}"))
        .collect()
    }
}

/// Reads a DAX file or a WfCommons instance; the first character decides which.
///
/// # Errors
///
/// When the file cannot be read, is broken, or holds no workflow that can be; with file, line and
/// element.
pub fn read_workflow(
    path: &Path,
    negatives: Negatives,
    memory: MemoryBudget,
) -> Result<ReadWorkflow, WorkflowError> {
    let origin = path.display().to_string();
    let bytes = input_file::read_whole(path, memory)
        .map_err(|error| WorkflowFault::Unreadable(error).at(&origin, None))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let whole = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..whole]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
            + 1;
        let fault = WorkflowFault::Syntax {
            format: "text",
            problem: "not UTF-8".to_owned(),
        };
        fault.at(&origin, Some(line))
    })?;
    let stem = path
        .file_stem()
        .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    parse_workflow(&text, &origin, &stem, negatives)
}

/// As [`read_workflow`], from a text. `origin` names it in errors; `name` is the workflow's where
/// the text has none.
///
/// # Errors
///
/// As [`read_workflow`].
pub fn parse_workflow(
    text: &str,
    origin: &str,
    name: &str,
    negatives: Negatives,
) -> Result<ReadWorkflow, WorkflowError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match text.trim_start().chars().next() {
        Some('<') => dax::parse(text, origin, name, negatives),
        Some('{') => wf_commons::parse(text, origin, name, negatives),
        _ => Err(WorkflowFault::UnknownFormat.at(origin, None)),
    }
}

/// Lines of a text by place.
#[derive(Debug)]
pub(super) struct Lines {
    ends: Vec<usize>,
}

impl Lines {
    pub(super) fn new(text: &str) -> Self {
        Self {
            ends: memchr::memchr_iter(b'\n', text.as_bytes()).collect(),
        }
    }

    /// The line, from 1, of the byte at `place`.
    pub(super) fn at(&self, place: usize) -> usize {
        self.ends.partition_point(|end| *end < place) + 1
    }
}

/// A run time or size as a number, with negative ones taken as the rule says.
pub(super) fn not_negative(number: f64, negatives: Negatives, count: &mut usize) -> Option<f64> {
    match negatives {
        Negatives::Zero if number < 0.0 && number.is_finite() => {
            *count += 1;
            Some(0.0)
        }
        _ => (0.0..f64::INFINITY).contains(&number).then_some(number),
    }
}

/// A whole number of bytes, possibly written with a point or an exponent.
pub(super) fn whole_bytes(text: &str, negatives: Negatives, count: &mut usize) -> Option<u64> {
    let text = text.trim();
    if let Ok(bytes) = text.parse() {
        return Some(bytes);
    }
    let number = not_negative(text.parse().ok()?, negatives, count)?;
    (number.fract() == 0.0 && number < 1e18).then_some(number as u64)
}
