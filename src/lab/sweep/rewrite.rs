//! The text of an experiment file with its keys by their present names: comments and order are
//! kept, and the file means what it meant.
//!
//! The text is changed and not the parsed tree, one key after the other. What came out is read
//! again and held against what went in; a way of writing that this module does not know is left to
//! whoever wrote it.

mod edit;
mod places;

use std::collections::BTreeMap;

use toml::de::DeTable;

use super::keys::{FormerKey, Keys};
use places::{Found, Place, found};

/// A key that was written by its present name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// The line in which the file had it, from 1.
    pub line: usize,
    /// The key.
    pub key: FormerKey,
}

/// An experiment file with its keys by their present names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// Its text.
    pub text: String,
    /// What was changed, in the order of the file; empty where nothing was.
    pub renamed: Vec<Renamed>,
}

/// Why a file was not rewritten.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RewriteError {
    /// The experiment file is no TOML.
    #[error("the experiment file is not valid TOML: {0}")]
    Syntax(String),
    /// The key that took the place of another one is given as well.
    #[error(
        "line {line}: `{was}` is `{now}` now, which line {other} gives already: keep one of them"
    )]
    Taken {
        /// The line of the former key, from 1.
        line: usize,
        /// The former key.
        was: &'static str,
        /// The key that took its place.
        now: &'static str,
        /// The line that gives this one, from 1.
        other: usize,
    },
    /// The key is written in a way that is left to people.
    #[error("line {line}: `{was}` is `{now}` now; as it is written here, change it by hand")]
    ByHand {
        /// The line of the former key, from 1.
        line: usize,
        /// The former key.
        was: &'static str,
        /// The key that took its place.
        now: &'static str,
    },
}

/// The same experiment with its keys by their present names.
///
/// # Errors
///
/// When the text is no TOML, gives a key by both of its names, or has one where only people can
/// change it.
pub fn rewritten(keys: Keys, text: &str) -> Result<Rewritten, RewriteError> {
    let before = parse(text)?;
    let former = found(&before, |path| keys.former_key(path).is_some());
    let renamed = each_once(keys, text, &before, &former)?;
    let mut changed = text.to_owned();
    // One at a time: every change moves the places of the others.
    for Renamed { line, .. } in &renamed {
        let root = parse(&changed)?;
        let next = found(&root, |path| keys.former_key(path).is_some());
        let Some((next, key)) = next.first().and_then(|next| {
            let key = keys.former_key(&next.path)?;
            Some((next, key))
        }) else {
            break;
        };
        let by_hand = RewriteError::ByHand {
            line: *line,
            was: key.was,
            now: key.now,
        };
        let section = keys.sections().find(|one| one.former.contains(&key));
        let stays = section.is_none_or(|section| section.is_switch);
        changed = edit::renamed(&changed, &root, next, key, stays).ok_or(by_hand)?;
    }
    let changed = edit::with_switches(&changed, &lost_switches(keys, &before, &changed)?);
    if let (Some(first), false) = (renamed.first(), is_same(keys, text, &changed)) {
        return Err(RewriteError::ByHand {
            line: first.line,
            was: first.key.was,
            now: first.key.now,
        });
    }
    Ok(Rewritten {
        text: changed,
        renamed,
    })
}

fn parse(text: &str) -> Result<DeTable<'_>, RewriteError> {
    let root = DeTable::parse(text);
    let root = root.map_err(|error| RewriteError::Syntax(error.message().to_owned()))?;
    Ok(root.into_inner())
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text[..at.min(text.len())].matches('\n').count()
}

/// What will be renamed; refuses a key that the file gives by another name, too.
fn each_once(
    keys: Keys,
    text: &str,
    root: &DeTable<'_>,
    former: &[Found],
) -> Result<Vec<Renamed>, RewriteError> {
    let mut renamed = Vec::new();
    for place in former {
        let Some(key) = keys.former_key(&place.path) else {
            continue;
        };
        let line = line_of(text, place.at());
        let others = found(root, |path| {
            path != key.was && keys.present(path) == key.now
        });
        if let Some(other) = others.first() {
            return Err(RewriteError::Taken {
                line,
                was: key.was,
                now: key.now,
                other: line_of(text, other.at()),
            });
        }
        renamed.push(Renamed { line, key });
    }
    Ok(renamed)
}

/// The tables that a file had by an axis on one of their keys alone, and that mean something by
/// being there.
fn lost_switches(
    keys: Keys,
    before: &DeTable<'_>,
    after: &str,
) -> Result<Vec<&'static str>, RewriteError> {
    let after = parse(after)?;
    let switches = keys.sections().filter(|section| section.is_switch);
    let has = |root: &DeTable<'_>, table: &str| {
        let below = |path: &str| {
            let rest = path.strip_prefix(table);
            rest.is_some_and(|rest| rest.starts_with('.'))
        };
        let varied = found(root, below);
        let is_varied = |place: &Found| matches!(place.place, Place::Varied(_));
        root.contains_key(table) || varied.iter().any(is_varied)
    };
    let lost = switches.map(|section| section.path);
    Ok(lost
        .filter(|table| has(before, table) && !has(&after, table))
        .collect())
}

/// Whether two texts mean the same, whichever names of keys they use.
fn is_same(keys: Keys, one: &str, other: &str) -> bool {
    meaning(keys, one)
        .zip(meaning(keys, other))
        .is_some_and(|(one, other)| one == other)
}

/// What a text says: every value by its key, and axes, zips and exclusions in their order.
fn meaning(keys: Keys, text: &str) -> Option<BTreeMap<String, toml::Value>> {
    let table: toml::Table = toml::from_str(text).ok()?;
    let mut values = BTreeMap::new();
    flatten(keys, "", toml::Value::Table(table), &mut values);
    Some(values)
}

fn flatten(keys: Keys, path: &str, value: toml::Value, into: &mut BTreeMap<String, toml::Value>) {
    let below = |name: &str| match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    match value {
        toml::Value::Table(table) => {
            for (name, value) in table {
                flatten(keys, &below(&name), value, into);
            }
        }
        toml::Value::Array(list) if ["axis", "zip", "exclude"].contains(&path) => {
            for (place, element) in list.into_iter().enumerate() {
                let mut own = BTreeMap::new();
                flatten(keys, "", element, &mut own);
                let own = own.into_iter().map(|(name, value)| {
                    let value = match name.as_str() {
                        "key" | "keys" => present(keys, value),
                        _ => value,
                    };
                    (format!("{path}[{place}].{name}"), value)
                });
                into.extend(own);
            }
        }
        value => {
            into.insert(keys.present(path).to_owned(), value);
        }
    }
}

/// Names of keys on axes, by their present names.
fn present(keys: Keys, value: toml::Value) -> toml::Value {
    match value {
        toml::Value::String(key) => keys.present(&key).into(),
        toml::Value::Array(list) => {
            let names = list.into_iter().map(|key| present(keys, key));
            toml::Value::Array(names.collect())
        }
        other => other,
    }
}
