//! Settings as canonical text: what identities and keys of caches are made of.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

/// JSON with sorted keys and no white space: equal values give equal texts.
///
/// # Errors
///
/// When a value has no JSON form (never for the settings of this crate).
pub fn canonical_json<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    let mut text = String::new();
    write_sorted(&serde_json::to_value(value)?, &mut text);
    Ok(text)
}

/// Writes a value as JSON with sorted keys and no white space.
pub fn write_sorted(value: &Value, into: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| key.as_str());
            into.push('{');
            for (position, (key, child)) in entries.into_iter().enumerate() {
                if position > 0 {
                    into.push(',');
                }
                into.push_str(&Value::from(key.as_str()).to_string());
                into.push(':');
                write_sorted(child, into);
            }
            into.push('}');
        }
        Value::Array(items) => {
            into.push('[');
            for (position, child) in items.iter().enumerate() {
                if position > 0 {
                    into.push(',');
                }
                write_sorted(child, into);
            }
            into.push(']');
        }
        leaf => {
            let _ = write!(into, "{leaf}");
        }
    }
}

/// The canonical JSON of settings, as a key.
pub fn canonical_text<T: Serialize>(settings: &T) -> String {
    canonical_json(settings).unwrap_or_default()
}
