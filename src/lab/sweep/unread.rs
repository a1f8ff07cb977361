//! Keys that a file sets and nothing reads: `[failures] rate_per_hour = …` without a `source` that
//! draws failures.
//!
//! A key is read when the simulations are others without it. What the file sets to the declared
//! default says nothing either way and is passed over.

use std::borrow::Cow;

use toml::Spanned;
use toml::de::DeValue;

use super::axes::Dimension;
use super::combination::{CellNodes, nodes_of, resolved};
use super::document::{Document, Node};

use super::keys::{Key, Keys};
use crate::keys::problem::{ProblemKind, Problems};
use crate::study::inputs::canonical_json;

/// Axis values, by key.
pub(super) type Combination<'n, 'i> = Vec<(&'static str, &'n Node<'i>)>;

/// Combinations of axis values that are looked at; more are thinned out.
const MOST_COMBINATIONS: usize = 64;

/// Warns of every key that is set, has no effect, and is not set to its default; names the key that
/// would make it count, where there is one.
pub(super) fn warn(
    text: &str,
    document: &Document<'_>,
    dimensions: &[Dimension],
    problems: &mut Problems,
) {
    let nodes = nodes_of(dimensions);
    let combinations = sampled(dimensions, &nodes);
    let simulations = |document: &Document<'_>| simulations(document, &combinations, 1, text);
    let is_on_axis = |path: &str| {
        let keys = dimensions.iter().flat_map(|dimension| &dimension.keys);
        keys.into_iter().any(|key| key.path == path)
    };
    let as_it_is = simulations(document);
    for (path, node) in document.given() {
        let is_default = |written: &str| {
            let mut declared = document.keys.declared(&path);
            declared.any(|(_, key)| is_default(key, written))
        };
        let is_header = Keys::is_of_whole_sweep(&path);
        // Without it a log says the size of its machine, which may be the same.
        let is_size = path == "workload.nodes";
        if is_header || is_size || is_on_axis(&path) || is_default(&text[node.span()]) {
            continue;
        }
        let reads = |document: &Document<'_>, found: &[Option<(String, u64)>]| {
            let without = simulations(&document.changed(&path, None));
            found.iter().any(Option::is_some) && without != found
        };
        if reads(document, &as_it_is) {
            continue;
        }
        let help = alternatives(document.keys, &path)
            .into_iter()
            .filter(|(other, _)| !is_on_axis(other.path))
            .find_map(|(other, name)| {
                let value: Node<'_> = Spanned::new(0..0, DeValue::String(Cow::Borrowed(name)));
                let changed = document.changed(other.path, Some(&value));
                reads(&changed, &simulations(&changed)).then(|| {
                    format!(
                        "add `{} = \"{name}\"`, which reads it, or delete the key",
                        other.path
                    )
                })
            });
        problems.warn(
            ProblemKind::Conflict,
            &path,
            node.span(),
            "nothing in this sweep reads this key: without it all results are the same",
            help.unwrap_or_else(|| {
                "delete the key, or choose the strategy, test, source or model that reads it"
                    .to_owned()
            }),
        );
    }
}

/// The values of each combination that is looked at, by key.
pub(super) fn sampled<'n, 'i>(
    dimensions: &[Dimension],
    nodes: &'n CellNodes<'i>,
) -> Vec<Combination<'n, 'i>> {
    thinned(dimensions)
        .iter()
        .map(|rows| {
            let cells = dimensions.iter().zip(rows).enumerate();
            cells
                .flat_map(|(at, (dimension, row))| {
                    let columns = dimension.keys.iter().zip(&nodes[at][*row]);
                    columns.filter_map(|(key, node)| Some((key.path, node.as_ref()?)))
                })
                .collect()
        })
        .collect()
}

/// What is simulated at each of these combinations: the specification, and the bits of the penalty
/// ratio; `None` where something is wrong.
pub(super) fn simulations(
    document: &Document<'_>,
    combinations: &[Combination<'_, '_>],
    replications: u32,
    text: &str,
) -> Vec<Option<(String, u64)>> {
    let mut scratch = Problems::new("", text);
    let each = combinations.iter();
    each.map(|values| {
        let (spec, ratio) = resolved(document, values, replications, 1, &mut scratch)?;
        Some((canonical_json(&spec).ok()?, ratio.to_bits()))
    })
    .collect()
}

/// The rows of each dimension that are looked at: all names (of values that are swept together each
/// set of names once), the first and the last of numbers; of the first names only where that are
/// still too many.
fn thinned(dimensions: &[Dimension]) -> Vec<Vec<usize>> {
    let mut rows = vec![Vec::new()];
    for dimension in dimensions {
        let last = dimension.rows.len().saturating_sub(1);
        let mut known: Vec<Vec<&str>> = Vec::new();
        let mut is_new = |row: usize| {
            let cells = dimension.rows[row].iter();
            let names = cells.filter_map(|cell| match &cell.value {
                super::spec::AxisValue::Text(name) => Some(name.as_str()),
                _ => None,
            });
            let names: Vec<&str> = names.collect();
            let is_new = !names.is_empty() && !known.contains(&names);
            known.push(names);
            is_new
        };
        let mut chosen: Vec<usize> = (0..dimension.rows.len().max(1))
            .filter(|row| {
                (dimension.rows.len() > *row && is_new(*row)) || *row == 0 || *row == last
            })
            .collect();
        if rows.len() * chosen.len() > MOST_COMBINATIONS {
            chosen.truncate((MOST_COMBINATIONS / rows.len()).max(1));
        }
        rows = rows
            .iter()
            .flat_map(|before: &Vec<usize>| {
                chosen
                    .iter()
                    .map(|row| [before.as_slice(), &[*row]].concat())
            })
            .collect();
    }
    rows
}

/// Keys of the same table that choose by name, with each of their names.
fn alternatives(keys: Keys, path: &str) -> Vec<(&'static Key, &'static str)> {
    let table = path.rsplit_once('.').map_or("", |(table, _)| table);
    let beside = |key: &&Key| {
        key.path != path && key.path.rsplit_once('.').is_some_and(|(of, _)| of == table)
    };
    keys.all()
        .filter(beside)
        .flat_map(|key| {
            let names = keys.names(key);
            names.into_iter().map(move |name| (key, name))
        })
        .collect()
}

/// Whether a value as it stands in the file is the declared default.
fn is_default(key: &Key, written: &str) -> bool {
    let plain = |text: &str| -> String {
        let kept = |letter: &char| !letter.is_whitespace() && !"\"'_".contains(*letter);
        text.chars().filter(kept).collect()
    };
    let Some(default) = key.default() else {
        return false;
    };
    let (default, written) = (plain(&default), plain(written));
    match (default.parse::<f64>(), written.parse::<f64>()) {
        (Ok(default), Ok(written)) => default == written,
        _ => default == written,
    }
}
