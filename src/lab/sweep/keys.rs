//! All keys of an experiment file: one declaration each, in `keys` and in the folders of studies.
//!
//! From a declaration come the structure that serde reads, "unknown key" errors and what they say
//! is allowed, the check of axis keys, the type that an axis value has in the store, the tables of
//! `docs/configuration.md` and the JSON Schema ([`schema()`]). Where a key is read, its default and
//! its range are applied as they are declared (`keys/field.rs`).

mod schema;

pub use crate::keys::declaration::{Given, Key, Kind, Section};
use crate::keys::{estimates, failures, scheduling, workload};
pub use crate::keys::{nearest, suggest};

use crate::studies;
pub use schema::schema;

/// The tables of every study.
const COMMON: &[Section] = &[
    workload::EXPERIMENT,
    workload::WORKLOAD,
    workload::WORKLOAD_CLEANING,
    estimates::ESTIMATES,
    failures::FAILURES,
    scheduling::SCHEDULING,
    scheduling::ACCEPTANCE,
    failures::RELIABILITY,
    scheduling::CHECKPOINT,
    scheduling::PENALTY,
];

/// Every table with keys, in the order of the documentation.
pub fn sections() -> impl Iterator<Item = &'static Section> {
    COMMON
        .iter()
        .chain(studies::SECTIONS.iter().copied().flatten())
}

/// The study whose table it is; `None` for tables of every study.
#[must_use]
pub fn study_of(section: &Section) -> Option<String> {
    let is_its = |study: &&studies::StartedStudy| {
        let mut own = study.sections.iter();
        own.any(|own| own.path == section.path)
    };
    studies::STARTED
        .iter()
        .find(is_its)
        .map(studies::StartedStudy::name)
}

/// Whether there may be several tables with this path.
#[must_use]
pub fn is_list(table: &str) -> bool {
    sections().any(|section| section.is_list && section.path == table)
}

/// The path of the table around a key, if there may be several of them.
#[must_use]
pub fn list_around(key: &str) -> Option<&'static str> {
    let mut lists = sections()
        .filter(|section| section.is_list)
        .map(|section| section.path);
    lists.find(|list| {
        key.strip_prefix(list)
            .is_some_and(|rest| rest.starts_with('.'))
    })
}

/// Every key that may stand in a table, in the order of the documentation.
pub fn all() -> impl Iterator<Item = &'static Key> {
    sections().flat_map(|section| section.keys)
}

/// Whether an axis can vary this key.
#[must_use]
pub fn is_axis(key: &Key) -> bool {
    list_around(key.path).is_none() && !key.path.starts_with("experiment.")
}

/// The tables that may stand at the top of the file.
#[must_use]
pub fn tables() -> Vec<&'static str> {
    let with_keys = sections().map(|section| section.path);
    with_keys
        .filter(|path| !path.contains('.'))
        .chain(["axis", "zip", "exclude"])
        .collect()
}

/// Finds a key by its dotted path.
#[must_use]
pub fn find(path: &str) -> Option<&'static Key> {
    all().find(|key| key.path == path)
}

/// The names that may stand directly in a table: keys and subtables.
#[must_use]
pub fn children(table: &str) -> Vec<&'static str> {
    let prefix = format!("{table}.");
    let mut names: Vec<&'static str> = Vec::new();
    for key in all() {
        if let Some(rest) = key.path.strip_prefix(prefix.as_str()) {
            let name = rest.split('.').next().unwrap_or(rest);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

#[cfg(test)]
mod tests;
