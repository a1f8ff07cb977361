//! How specifications are written: one flat table, whatever the study. Identities are hashed from
//! it, so its fields never change.
//!
//! A study says itself how its settings are named there. Those of its machine stand in a table
//! `study` that begins with the study's name.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::Strategy;

/// Writes the settings of a study's machine with the study's name in front.
///
/// # Errors
///
/// Those of the serializer.
pub fn named<T: Serialize, S: Serializer>(
    strategy: Option<Strategy>,
    settings: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Named<'a, T> {
        machine: Option<&'static str>,
        #[serde(flatten)]
        settings: &'a T,
    }
    let machine = strategy.map(|strategy| strategy.name);
    Named { machine, settings }.serialize(serializer)
}

/// The name of a stored study, `None` for the one without a machine of its own, and its settings
/// without the name.
pub(super) fn stored(mut table: Map<String, Value>) -> (Option<String>, Value) {
    let machine = table.get_mut("study").and_then(Value::as_object_mut);
    let name = machine.and_then(|machine| machine.remove("machine"));
    let name = name.and_then(|name| name.as_str().map(str::to_owned));
    (name, table.into())
}
