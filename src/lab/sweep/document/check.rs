//! Tables held against the list of keys, and values against the types of their keys.

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::tree::empty_table;
use crate::keys::problem::{ProblemKind, Problems};
use crate::keys::reader::Node;
use crate::sweep::keys::{FormerKey, Key, Keys, Kind, suggest};

/// Checks keys and types of a table against the list of keys and leaves out what is wrong, so that
/// each error is told once.
pub(super) fn check_table<'i>(
    keys: Keys,
    path: &str,
    node: Node<'i>,
    problems: &mut Problems,
) -> Node<'i> {
    let span = node.span();
    if keys.is_list(path) {
        return check_tables(keys, path, node, problems);
    }
    let DeValue::Table(table) = node.into_inner() else {
        let help = format!("write [{path}] and its keys below it");
        problems.add(
            ProblemKind::WrongType,
            path,
            span.clone(),
            "this must be a table",
            help,
        );
        return Spanned::new(span, empty_table());
    };
    Spanned::new(span, check_keys(keys, path, table, problems))
}

/// Checks each of a list of tables.
fn check_tables<'i>(keys: Keys, path: &str, node: Node<'i>, problems: &mut Problems) -> Node<'i> {
    let span = node.span();
    let DeValue::Array(array) = node.into_inner() else {
        problems.add(
            ProblemKind::WrongType,
            path,
            span.clone(),
            "this must be a list of tables",
            format!("write [[{path}]] with two brackets"),
        );
        return Spanned::new(span, DeValue::Array(DeArray::new()));
    };
    let mut kept = DeArray::new();
    for element in array {
        let span = element.span();
        if let DeValue::Table(table) = element.into_inner() {
            kept.push(Spanned::new(span, check_keys(keys, path, table, problems)));
        } else {
            problems.add(
                ProblemKind::WrongType,
                path,
                span,
                "this must be a table",
                format!("write [[{path}]] and its keys below it"),
            );
        }
    }
    Spanned::new(span, DeValue::Array(kept))
}

fn check_keys<'i>(
    keys: Keys,
    path: &str,
    table: DeTable<'i>,
    problems: &mut Problems,
) -> DeValue<'i> {
    let allowed = keys.children(path);
    let mut kept = DeTable::new();
    for (name, child) in table {
        let child_path = format!("{path}.{}", name.get_ref());
        if let Some(key) = keys.find(&child_path) {
            if check_kind(key, &child, problems) {
                kept.insert(name, child);
            }
        } else if allowed.contains(&name.get_ref().as_ref()) {
            let child = check_table(keys, &child_path, child, problems);
            kept.insert(name, child);
        } else if let Some(former) = keys.former_key(&child_path) {
            problems.add(
                ProblemKind::FormerKey,
                &child_path,
                name.span(),
                FormerKey::MESSAGE,
                former.help(),
            );
        } else {
            let help = suggest(name.get_ref(), &allowed);
            problems.add(
                ProblemKind::UnknownKey,
                &child_path,
                name.span(),
                "there is no such key",
                help,
            );
        }
    }
    DeValue::Table(kept)
}

/// Whether a value has the type that its key wants; says so where it has not.
pub(in crate::sweep) fn check_kind(key: &Key, node: &Node<'_>, problems: &mut Problems) -> bool {
    let kind = key.kind;
    let fits = matches!(
        (kind, node.get_ref()),
        (Kind::Integer | Kind::Real, DeValue::Integer(_))
            | (Kind::Real, DeValue::Float(_))
            | (Kind::Text, DeValue::String(_))
            | (Kind::Flag, DeValue::Boolean(_))
            | (Kind::List, DeValue::Array(_))
    );
    if !fits {
        let allowed = key.allowed();
        problems.add(
            ProblemKind::WrongType,
            key.path,
            node.span(),
            format!(
                "this must be {}, not {}",
                kind.words(),
                found(node.get_ref())
            ),
            format!("allowed: {allowed}"),
        );
    }
    fits
}

fn found(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
