//! Which settings two runs do not have in common.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::store::MeasuredPoint;

/// The keys of two configuration texts that do not have the same value, each as `key: one → other`.
pub(super) fn of_texts(first: &str, second: &str) -> Vec<String> {
    if first == second {
        return Vec::new();
    }
    let flat = |text: &str| -> Option<BTreeMap<String, String>> {
        let document: Value = toml::from_str(text).ok()?;
        let mut flat = BTreeMap::new();
        flatten(&document, String::new(), &mut flat);
        Some(flat)
    };
    match flat(first).zip(flat(second)) {
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

/// The same for what the engine made of the configurations, at the points of each pair: here a trace with another content
/// shows, and a default that changed.
pub(super) fn of_specs(pairs: &[(MeasuredPoint, MeasuredPoint)]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for (one, two) in pairs {
        if one.spec == two.spec || !seen.insert((one.simulation, two.simulation)) {
            continue;
        }
        let flat = |spec: &str| {
            let mut flat = BTreeMap::new();
            if let Ok(document) = serde_json::from_str::<Value>(spec) {
                flatten(&document, String::new(), &mut flat);
            }
            flat
        };
        for change in changes(&flat(&one.spec), &flat(&two.spec)) {
            *found.entry(change).or_default() += 1;
        }
    }
    found
        .into_iter()
        .map(|(change, count)| format!("{change} ({count} simulations)"))
        .collect()
}

fn changes(first: &BTreeMap<String, String>, second: &BTreeMap<String, String>) -> Vec<String> {
    let keys: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
    let nothing = "not given".to_owned();
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

/// Dotted keys with their values; a table with a `key` in a list (an axis) is known by that key and not by its place.
fn flatten(value: &Value, path: String, flat: &mut BTreeMap<String, String>) {
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
}
