//! Values of the TOML tree: paths in it, and values put in the place of others.

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::keys::reader::Node;

pub(super) fn empty_table<'i>() -> DeValue<'i> {
    DeValue::Table(DeTable::new())
}

/// Removes the value at a path below a table; whether there was one.
pub(super) fn take(node: &mut Node<'_>, path: &[&str]) -> bool {
    match (node.get_mut(), path) {
        (DeValue::Table(table), [last]) => table.remove(*last).is_some(),
        (DeValue::Table(table), [first, rest @ ..]) => {
            table.get_mut(*first).is_some_and(|child| take(child, rest))
        }
        _ => false,
    }
}

/// Puts a value at a path below a table, making tables on the way.
pub(super) fn put<'i>(node: &mut Node<'i>, path: &[&str], value: &Node<'i>) {
    let Some((first, rest)) = path.split_first() else {
        *node = value.clone();
        return;
    };
    if !matches!(node.get_ref(), DeValue::Table(_)) {
        *node.get_mut() = empty_table();
    }
    if let DeValue::Table(table) = node.get_mut() {
        let key = Spanned::new(value.span(), Cow::Owned((*first).to_owned()));
        let child = table
            .entry(key)
            .or_insert_with(|| Spanned::new(value.span(), empty_table()));
        put(child, rest, value);
    }
}

/// The dotted path of the deepest value that covers a place.
pub(super) fn path_of(path: &str, node: &Node<'_>, span: &Range<usize>) -> Option<String> {
    if let DeValue::Table(table) = node.get_ref() {
        let below = table
            .iter()
            .find_map(|(key, child)| path_of(&format!("{path}.{}", key.get_ref()), child, span));
        if below.is_some() {
            return below;
        }
    }
    let own = node.span();
    (own.start <= span.start && span.end <= own.end).then(|| path.to_owned())
}

/// The tree of a value's TOML text, at this place of the file.
pub(in crate::sweep) fn node_of(text: &str, span: Range<usize>) -> Option<Node<'_>> {
    let mut node = Spanned::new(span.clone(), DeValue::parse(text).ok()?.into_inner());
    respan(&mut node, &span);
    Some(node)
}

fn respan(node: &mut Node<'_>, span: &Range<usize>) {
    if let DeValue::Array(array) = node.get_mut() {
        for element in array.iter_mut() {
            *element = Spanned::new(span.clone(), element.get_ref().clone());
            respan(element, span);
        }
    }
}
