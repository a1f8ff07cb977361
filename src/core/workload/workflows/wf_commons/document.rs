//! The parts of a WfCommons instance, as they stand in its JSON.

use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
pub(super) struct Instance<'a> {
    pub(super) name: Option<String>,
    #[serde(borrow)]
    pub(super) workflow: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Parts<'a> {
    #[serde(borrow)]
    pub(super) specification: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) execution: Option<&'a RawValue>,
    /// Called `jobs` up to version 1.2.
    #[serde(borrow, alias = "jobs")]
    pub(super) tasks: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
pub(super) struct Specification<'a> {
    #[serde(borrow)]
    pub(super) tasks: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    pub(super) files: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Execution<'a> {
    #[serde(borrow, default)]
    pub(super) tasks: Vec<&'a RawValue>,
}

/// A task in any of the lists; each has some of the fields.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskEntry<'a> {
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) parents: Vec<String>,
    #[serde(default)]
    pub(super) children: Vec<String>,
    #[serde(default)]
    pub(super) input_files: Vec<String>,
    #[serde(default)]
    pub(super) output_files: Vec<String>,
    #[serde(borrow, default)]
    pub(super) files: Vec<&'a RawValue>,
    #[serde(borrow, alias = "runtime")]
    pub(super) runtime_in_seconds: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) runtimes_in_seconds: Vec<&'a RawValue>,
    #[serde(borrow, alias = "cores")]
    pub(super) core_count: Option<&'a RawValue>,
    pub(super) command: Option<CommandEntry>,
    pub(super) program: Option<String>,
    pub(super) category: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct CommandEntry {
    pub(super) program: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileEntry<'a> {
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) link: Option<String>,
    #[serde(borrow, alias = "size")]
    pub(super) size_in_bytes: Option<&'a RawValue>,
}
