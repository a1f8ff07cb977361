//! The lists of tables of an experiment file: axes, zips and exclusions.

use std::ops::Range;

use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeValue, ValueDeserializer};

use crate::keys::problem::{ProblemKind, Problems};
use crate::keys::reader::Node;

/// One `[[exclude]]`: its place, and each key with the value or list of values that it must have.
pub(in crate::sweep) type Exclude = (Range<usize>, Vec<(Spanned<String>, Spanned<toml::Value>)>);

/// Reads an array of tables; a wrong element becomes a problem.
pub(super) fn read_all<T: DeserializeOwned>(
    node: Node<'_>,
    name: &str,
    problems: &mut Problems,
) -> Vec<Spanned<T>> {
    let span = node.span();
    let DeValue::Array(array) = node.into_inner() else {
        let help = format!("write [[{name}]] with two brackets");
        problems.add(
            ProblemKind::WrongType,
            name,
            span,
            "this must be a list of tables",
            help,
        );
        return Vec::new();
    };
    let mut read = Vec::new();
    for element in array {
        match Spanned::<T>::deserialize(ValueDeserializer::from(element.clone())) {
            Ok(value) => read.push(value),
            Err(error) => {
                let span = error.span().unwrap_or_else(|| element.span());
                let message = error.message().trim().replace('\n', " ");
                let kind = if message.starts_with("unknown field") {
                    ProblemKind::UnknownKey
                } else if message.starts_with("missing field") {
                    ProblemKind::Missing
                } else {
                    ProblemKind::WrongType
                };
                problems.add(kind, name, span, message, axis_help(name));
            }
        }
    }
    read
}

fn axis_help(name: &str) -> &'static str {
    match name {
        "axis" => {
            "an axis has a `key` and either `values = […]` or `range = { from = …, to = …, step = … }`"
        }
        _ => "a zip has `keys = […]` and `values = [[…], …]`, one value a key in each row",
    }
}

pub(super) fn read_excludes(node: Node<'_>, problems: &mut Problems) -> Vec<Exclude> {
    let span = node.span();
    let DeValue::Array(array) = node.into_inner() else {
        let help = "write [[exclude]] with two brackets";
        problems.add(
            ProblemKind::WrongType,
            "exclude",
            span,
            "this must be a list of tables",
            help,
        );
        return Vec::new();
    };
    let mut excludes = Vec::new();
    for element in array {
        let span = element.span();
        let mut conditions = Vec::new();
        flatten("", element, &mut conditions);
        conditions.sort_by_key(|(key, _)| key.span().start);
        excludes.push((span, conditions));
    }
    excludes
}

/// Quoted dotted keys and nested tables mean the same in an exclusion.
fn flatten(prefix: &str, node: Node<'_>, into: &mut Vec<(Spanned<String>, Spanned<toml::Value>)>) {
    if let DeValue::Table(table) = node.into_inner() {
        for (key, child) in table {
            let path = if prefix.is_empty() {
                key.get_ref().to_string()
            } else {
                format!("{prefix}.{}", key.get_ref())
            };
            if matches!(child.get_ref(), DeValue::Table(_)) {
                flatten(&path, child, into);
            } else if let Ok(value) =
                Spanned::<toml::Value>::deserialize(ValueDeserializer::from(child))
            {
                into.push((Spanned::new(key.span(), path), value));
            }
        }
    }
}
