//! The settings in which runs differ.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::pairs::{Pair, Pairing};

/// Values of settings by their dotted keys.
pub(super) type Flat = BTreeMap<String, String>;

/// What stands for the value of a key that a run does not give.
const NOTHING: &str = "not given";

/// As many values of one setting are named.
const MOST_VALUES: usize = 4;

/// A setting with its value in every run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) key: String,
    pub(super) values: Vec<String>,
}

/// The keys that do not have the same value in all of these configuration texts. A text that is no
/// TOML has no keys.
pub(super) fn that_differ(texts: &[&str]) -> Vec<Setting> {
    let flat: Vec<Flat> = texts
        .iter()
        .map(|text| of_text(text).unwrap_or_default())
        .collect();
    let keys: BTreeSet<&String> = flat.iter().flat_map(BTreeMap::keys).collect();
    let value = |flat: &Flat, key| flat.get(key).map_or(NOTHING, String::as_str).to_owned();
    let settings = keys.into_iter().map(|key| Setting {
        key: key.clone(),
        values: flat.iter().map(|flat| value(flat, key)).collect(),
    });
    settings
        .filter(|setting| {
            setting
                .values
                .iter()
                .any(|value| *value != setting.values[0])
        })
        .collect()
}

/// The same for what the engine made of the configurations, at the points that each run shares with
/// the first: all values that a key has at any of them.
pub(super) fn resolved_that_differ(pairings: &[Pairing<'_>]) -> Vec<Setting> {
    let mut changed = BTreeSet::new();
    for pairing in pairings {
        for (one, two) in simulations(&pairing.pairs) {
            let keys = one.keys().chain(two.keys());
            changed.extend(keys.filter(|key| one.get(*key) != two.get(*key)).cloned());
        }
    }
    let mut values: BTreeMap<&String, Vec<BTreeSet<String>>> = changed
        .iter()
        .map(|key| (key, vec![BTreeSet::new(); pairings.len() + 1]))
        .collect();
    for (run, pairing) in pairings.iter().enumerate() {
        for (one, two) in simulations(&pairing.pairs) {
            for (key, values) in &mut values {
                let value = |flat: &Flat| flat.get(*key).map_or(NOTHING, String::as_str).to_owned();
                values[0].insert(value(&one));
                values[run + 1].insert(value(&two));
            }
        }
    }
    let settings = values.into_iter().map(|(key, values)| Setting {
        key: key.clone(),
        values: values.iter().map(listed).collect(),
    });
    settings.collect()
}

fn listed(values: &BTreeSet<String>) -> String {
    let mut shown: Vec<&str> = values
        .iter()
        .take(MOST_VALUES)
        .map(String::as_str)
        .collect();
    if values.len() > MOST_VALUES {
        shown.push("…");
    }
    shown.join(", ")
}

/// The settings of the two simulations of each pair, as far as they are not the same, once.
fn simulations(pairs: &[Pair<'_>]) -> impl Iterator<Item = (Flat, Flat)> {
    let mut seen = BTreeSet::new();
    let differ = move |pair: &&Pair<'_>| {
        pair.one.spec != pair.two.spec && seen.insert((pair.one.simulation, pair.two.simulation))
    };
    pairs
        .iter()
        .filter(differ)
        .map(|pair| (of_spec(&pair.one.spec), of_spec(&pair.two.spec)))
}

fn of_text(text: &str) -> Option<Flat> {
    let document: Value = toml::from_str(text).ok()?;
    let mut flat = Flat::new();
    flatten(&document, String::new(), &mut flat);
    Some(flat)
}

/// The settings of a specification by their dotted keys.
pub(super) fn of_spec(spec: &str) -> Flat {
    let mut flat = Flat::new();
    if let Ok(document) = serde_json::from_str::<Value>(spec) {
        flatten(&document, String::new(), &mut flat);
    }
    flat
}

/// The keys of two configuration texts that do not have the same value, each as `key: one → other`.
#[must_use]
pub fn of_texts(first: &str, second: &str) -> Vec<String> {
    if first == second {
        return Vec::new();
    }
    match of_text(first).zip(of_text(second)) {
        Some((first, second)) => {
            let changes = changes(&first, &second);
            if changes.is_empty() {
                vec!["only comments and layout differ".to_owned()]
            } else {
                changes
            }
        }
        None => vec!["the texts differ, and one of them is not TOML".to_owned()],
    }
}

/// The same for what the engine made of the configurations, at the points of each pair: here a
/// trace with another content shows, and a default that changed.
#[must_use]
pub fn of_specs(pairs: &[Pair<'_>]) -> Vec<String> {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for (one, two) in simulations(pairs) {
        for change in changes(&one, &two) {
            *found.entry(change).or_default() += 1;
        }
    }
    found
        .into_iter()
        .map(|(change, count)| format!("{change} ({count} simulations)"))
        .collect()
}

fn changes(first: &Flat, second: &Flat) -> Vec<String> {
    let keys: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
    let nothing = NOTHING.to_owned();
    keys.into_iter()
        .filter_map(|key| {
            let (one, two) = (first.get(key), second.get(key));
            (one != two).then(|| {
                format!(
                    "{key}: {} → {}",
                    one.unwrap_or(&nothing),
                    two.unwrap_or(&nothing)
                )
            })
        })
        .collect()
}

/// Dotted keys with their values; a table with a `key` in a list (an axis) is known by that key and
/// not by its place.
fn flatten(value: &Value, path: String, flat: &mut Flat) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let path = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                flatten(member, path, flat);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (at, item) in items.iter().enumerate() {
                let name = match item.get("key").and_then(Value::as_str) {
                    Some(key) => format!("{path}[{key}]"),
                    None => format!("{path}[{at}]"),
                };
                flatten(item, name, flat);
            }
        }
        value => {
            flat.insert(path, value.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_keys_are_named_with_both_values() {
        let first = "[a]\nx = 1\ny = \"t\"\n[[axis]]\nkey = \"p\"\nvalues = [1, 2]\n";
        let second = "# note\n[a]\nx = 2\nz = true\n[[axis]]\nkey = \"p\"\nvalues = [1]\n";
        assert_eq!(
            of_texts(first, second),
            [
                "a.x: 1 → 2",
                "a.y: \"t\" → not given",
                "a.z: not given → true",
                "axis[p].values: [1,2] → [1]",
            ]
        );
        assert_eq!(of_texts(first, first), Vec::<String>::new());
        assert_eq!(
            of_texts("a = 1\n", "a = 1 # x\n"),
            ["only comments and layout differ"]
        );
    }

    #[test]
    fn settings_of_several_runs_stand_beside_each_other_where_any_of_them_differs() {
        let texts = ["a = 1\nb = 2\n", "a = 1\nb = 3\n", "a = 1\n"];
        assert_eq!(
            that_differ(&texts),
            [Setting {
                key: "b".to_owned(),
                values: ["2", "3", "not given"].map(str::to_owned).to_vec(),
            }]
        );
    }
}
