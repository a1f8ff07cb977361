//! Checks of single values of a file of findings.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::findings::Fixed;
use bookahead_lab::sweep::AxisValue;
use bookahead_report::AxisFilter;

pub(super) fn nothing_published(numbers: &[(&str, Option<f64>)]) -> Result<(), String> {
    match numbers.iter().find(|(_, number)| number.is_some()) {
        Some((name, _)) => Err(format!(
            "is `held_out`, so leave out `{name}`: nothing published stands here"
        )),
        None => Ok(()),
    }
}

pub(in crate::findings) fn finite(name: &str, number: f64) -> Result<f64, String> {
    if number.is_finite() {
        Ok(number)
    } else {
        Err(format!("`{name}` must be a finite number"))
    }
}

pub(in crate::findings) fn not_negative(name: &str, number: f64) -> Result<f64, String> {
    // Infinite or negative widths would make every finding hold, or none.
    if number.is_finite() && number >= 0.0 {
        Ok(number)
    } else {
        Err(format!("`{name}` must be a finite number, 0 or more"))
    }
}

pub(super) fn share(exceptions: f64) -> Result<f64, String> {
    if (0.0..1.0).contains(&exceptions) {
        Ok(exceptions)
    } else {
        Err("`exceptions` is a share of the cells, 0 to below 1".to_owned())
    }
}

/// For `#[serde(deserialize_with)]`: a value for each axis.
pub(in crate::findings) fn fixed<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Fixed, D::Error> {
    let table = toml::Table::deserialize(deserializer)?;
    let one = |(key, value): (String, &toml::Value)| {
        let value = axis_value("at", &key, value)?;
        Ok((key, value))
    };
    let found: Result<Fixed, String> = flat(&table).into_iter().map(one).collect();
    found.map_err(D::Error::custom)
}

/// For `#[serde(deserialize_with)]`: the values of each axis that are looked at, or one of them.
pub(in crate::findings) fn filter<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<AxisFilter, D::Error> {
    let table = toml::Table::deserialize(deserializer)?;
    let one = |(key, value): (String, &toml::Value)| {
        let values = match value {
            toml::Value::Array(values) => values.as_slice(),
            value => std::slice::from_ref(value),
        };
        if values.is_empty() {
            return Err(format!("`where` has no value for `{key}`"));
        }
        let values = values.iter().map(|value| axis_value("where", &key, value));
        let values = values.collect::<Result<_, _>>()?;
        Ok((key, values))
    };
    let found: Result<AxisFilter, String> = flat(&table).into_iter().map(one).collect();
    found.map_err(D::Error::custom)
}

/// The leaves of a table by dotted key: `{ a.b = 1 }` and `{ "a.b" = 1 }` say the same.
fn flat(table: &toml::Table) -> Vec<(String, &toml::Value)> {
    let mut leaves = Vec::new();
    for (key, value) in table {
        match value {
            toml::Value::Table(inner) => leaves.extend(
                flat(inner)
                    .into_iter()
                    .map(|(below, value)| (format!("{key}.{below}"), value)),
            ),
            value => leaves.push((key.clone(), value)),
        }
    }
    leaves
}

fn axis_value(name: &str, key: &str, value: &toml::Value) -> Result<AxisValue, String> {
    match value {
        toml::Value::Integer(value) => Ok(AxisValue::Integer(*value)),
        toml::Value::Float(value) if value.is_finite() => Ok(AxisValue::Real(*value)),
        toml::Value::String(value) => Ok(AxisValue::Text(value.clone())),
        toml::Value::Boolean(value) => Ok(AxisValue::Flag(*value)),
        _ => Err(format!(
            "`{name}`: a value of `{key}` is a finite number, a name or a switch"
        )),
    }
}
