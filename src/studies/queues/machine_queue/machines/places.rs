//! Where the keys of a machine file stand in its text.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The tree of a file, with places.
pub(super) struct Places<'t> {
    root: DeTable<'t>,
}

impl<'t> Places<'t> {
    /// The tree of a text that is TOML.
    pub(super) fn of(text: &'t str) -> Self {
        let (root, _) = DeTable::parse_recoverable(text);
        Self {
            root: root.into_inner(),
        }
    }

    /// The bytes of the value at a dotted path, in which numbers count the tables of a list from 0;
    /// of the deepest table above it that there is, where the value is missing.
    pub(super) fn span(&self, path: &str) -> Range<usize> {
        let mut steps = path.split('.');
        let mut node = match steps.next().and_then(|first| self.root.get(first)) {
            Some(node) => node,
            None => return 0..0,
        };
        for step in steps {
            let below = match node.get_ref() {
                DeValue::Table(table) => table.get(step),
                DeValue::Array(list) => step.parse().ok().and_then(|at: usize| list.get(at)),
                _ => None,
            };
            match below {
                Some(below) => node = below,
                None => break,
            }
        }
        node.span()
    }

    /// The dotted path, without numbers, of the deepest value that covers some bytes.
    pub(super) fn path(&self, span: &Range<usize>) -> String {
        (self.root.iter())
            .find_map(|(key, node)| deepest(key.get_ref().to_string(), node, span))
            .unwrap_or_default()
    }
}

fn deepest(path: String, node: &Spanned<DeValue<'_>>, span: &Range<usize>) -> Option<String> {
    let below = match node.get_ref() {
        DeValue::Table(table) => (table.iter()).find_map(|(key, child)| {
            let path = format!("{path}.{}", key.get_ref());
            // A key that is unknown is itself the place.
            let is_key = key.span().start <= span.start && span.end <= key.span().end;
            if is_key {
                return Some(path);
            }
            deepest(path, child, span)
        }),
        DeValue::Array(list) => list
            .iter()
            .find_map(|child| deepest(path.clone(), child, span)),
        _ => None,
    };
    let own = node.span();
    below.or_else(|| (own.start <= span.start && span.end <= own.end).then_some(path))
}

/// A path without the numbers of list elements: the key that people know.
pub(super) fn key(path: &str) -> String {
    let steps: Vec<&str> = path
        .split('.')
        .filter(|step| step.parse::<usize>().is_err())
        .collect();
    steps.join(".")
}
