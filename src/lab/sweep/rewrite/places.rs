//! Where keys stand in an experiment file.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

/// A key at one place of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Its dotted path.
    pub(super) path: String,
    /// Where and how it is written.
    pub(super) place: Place,
}

/// How a key is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// As a text: the key of an axis, or one of the keys of a zip.
    Varied(Range<usize>),
    /// As a name in an exclusion: the whole path in quotes, or the last name of it.
    Excluded(Range<usize>),
    /// In a table, with a value.
    Given {
        /// The key's own name.
        name: Range<usize>,
        /// Its value.
        value: Range<usize>,
    },
}

impl Found {
    /// Where it begins.
    pub(super) fn at(&self) -> usize {
        match &self.place {
            Place::Varied(place) | Place::Excluded(place) => place.start,
            Place::Given { name, .. } => name.start,
        }
    }
}

/// Every key of the file that `is_wanted`, by its place.
pub(super) fn found(root: &DeTable<'_>, is_wanted: impl Fn(&str) -> bool) -> Vec<Found> {
    let mut all = Vec::new();
    for (name, node) in root {
        match (name.get_ref().as_ref(), node.get_ref()) {
            ("axis", DeValue::Array(list)) => list.iter().for_each(|axis| {
                if let DeValue::Table(axis) = axis.get_ref() {
                    axis.get("key")
                        .into_iter()
                        .for_each(|key| varied(key, &mut all));
                }
            }),
            ("zip", DeValue::Array(list)) => list.iter().for_each(|zip| {
                if let DeValue::Table(zip) = zip.get_ref()
                    && let Some(DeValue::Array(keys)) = zip.get("keys").map(|keys| keys.get_ref())
                {
                    keys.iter().for_each(|key| varied(key, &mut all));
                }
            }),
            ("exclude", DeValue::Array(list)) => list.iter().for_each(|exclude| {
                if let DeValue::Table(exclude) = exclude.get_ref() {
                    below("", exclude, &mut |path, name, _| {
                        all.push(Found {
                            path,
                            place: Place::Excluded(name),
                        });
                    });
                }
            }),
            (section, DeValue::Table(table)) => {
                below(section, table, &mut |path, name, value| {
                    all.push(Found {
                        path,
                        place: Place::Given { name, value },
                    });
                });
            }
            _ => {}
        }
    }
    all.retain(|found| is_wanted(&found.path));
    all.sort_by_key(Found::at);
    all
}

fn varied(key: &toml::Spanned<DeValue<'_>>, all: &mut Vec<Found>) {
    if let DeValue::String(path) = key.get_ref() {
        all.push(Found {
            path: path.to_string(),
            place: Place::Varied(key.span()),
        });
    }
}

/// Every key below a table, with its path and the places of its name and its value. Lists of tables
/// are passed over: no key of theirs stands alone.
fn below(
    path: &str,
    table: &DeTable<'_>,
    each: &mut impl FnMut(String, Range<usize>, Range<usize>),
) {
    for (name, child) in table {
        let path = match path {
            "" => name.get_ref().to_string(),
            path => format!("{path}.{}", name.get_ref()),
        };
        match child.get_ref() {
            DeValue::Table(table) => below(&path, table, each),
            _ => each(path, name.span(), child.span()),
        }
    }
}
