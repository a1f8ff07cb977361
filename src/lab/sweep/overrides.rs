//! Values set in the text of an experiment file: a variant of it that is again an experiment file,
//! comments and order kept.
//!
//! The text is changed and not the parsed tree, because a run keeps its configuration as text: what
//! the store has can be read, hashed and run again. Whether a value is possible is decided where
//! every experiment is checked ([`super::Experiment::parse`]); here a key must only exist and be
//! one that the file can hold.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{Keys, Kind, suggest};

/// Why a value cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverrideError {
    /// The experiment file is no TOML.
    #[error("the experiment file is not valid TOML: {0}")]
    Syntax(String),
    /// No key of an experiment file has this name.
    #[error("`{key}`: there is no such key ({help})")]
    UnknownKey {
        /// The dotted key.
        key: String,
        /// The nearest names.
        help: String,
    },
    /// A value of another type than the key's.
    #[error("`{key}`: this must be {wanted} ({allowed})")]
    WrongType {
        /// The dotted key.
        key: String,
        /// The type in words.
        wanted: &'static str,
        /// What is allowed.
        allowed: String,
    },
    /// The file varies this key, so a value would never be read.
    #[error(
        "`{key}`: the experiment has an axis on this key, so one value for all points cannot be set"
    )]
    Axis {
        /// The dotted key.
        key: String,
    },
    /// One of a list of tables: a key does not say which.
    #[error(
        "`{key}`: this stands in a list of tables, and a key does not say which of them it means"
    )]
    List {
        /// The dotted key.
        key: String,
    },
}

/// The text of an experiment file with these values in the place of its own, or added to it, in
/// order.
///
/// # Errors
///
/// When the text is no TOML, a key does not exist, stands in a list of tables or on an axis, or a
/// value has the wrong type.
pub fn with_values<'v>(
    keys: Keys,
    text: &str,
    values: impl IntoIterator<Item = (&'v str, &'v toml::Value)>,
) -> Result<String, OverrideError> {
    let mut text = text.to_owned();
    for (key, value) in values {
        check(keys, &text, key, value)?;
        text = put(&text, key, value)?;
    }
    Ok(text)
}

fn check(keys: Keys, text: &str, path: &str, value: &toml::Value) -> Result<(), OverrideError> {
    let key = path.to_owned();
    if let Some(former) = keys.former_key(path) {
        let help = format!("it is `{}` now", former.now);
        return Err(OverrideError::UnknownKey { key, help });
    }
    let Some(known) = keys.find(path) else {
        let section = path.split('.').next().unwrap_or_default();
        let siblings: Vec<&str> = keys
            .all()
            .map(|known| known.path)
            .filter(|known| known.split('.').next() == Some(section))
            .collect();
        let help = if siblings.is_empty() {
            suggest(section, &keys.tables())
        } else {
            suggest(path, &siblings)
        };
        return Err(OverrideError::UnknownKey { key, help });
    };
    if keys.list_around(path).is_some() {
        return Err(OverrideError::List { key });
    }
    let fits = matches!(
        (known.kind, value),
        (Kind::Integer | Kind::Real, toml::Value::Integer(_))
            | (Kind::Real, toml::Value::Float(_))
            | (Kind::Text, toml::Value::String(_))
            | (Kind::Flag, toml::Value::Boolean(_))
            | (Kind::List, toml::Value::Array(_))
    );
    if !fits {
        return Err(OverrideError::WrongType {
            key,
            wanted: known.kind.words(),
            allowed: known.allowed(),
        });
    }
    if varied(text)?.iter().any(|varied| varied == path) {
        return Err(OverrideError::Axis { key });
    }
    Ok(())
}

fn syntax(error: &toml::de::Error) -> OverrideError {
    OverrideError::Syntax(error.message().to_owned())
}

/// The keys on axes, alone or together.
fn varied(text: &str) -> Result<Vec<String>, OverrideError> {
    let table: toml::Table = toml::from_str(text).map_err(|error| syntax(&error))?;
    let tables = |name: &str| {
        table
            .get(name)
            .and_then(toml::Value::as_array)
            .cloned()
            .unwrap_or_default()
    };
    let mut found = Vec::new();
    for axis in tables("axis") {
        found.extend(axis.get("key").cloned());
    }
    for zip in tables("zip") {
        let keys = zip.get("keys").and_then(toml::Value::as_array).cloned();
        found.extend(keys.unwrap_or_default());
    }
    Ok(found
        .into_iter()
        .filter_map(|key| key.as_str().map(str::to_owned))
        .collect())
}

fn put(text: &str, path: &str, value: &toml::Value) -> Result<String, OverrideError> {
    let root = DeTable::parse(text).map_err(|error| syntax(&error))?;
    let parts: Vec<&str> = path.split('.').collect();
    let mut table = root.get_ref();
    // Name and value of the deepest table on the way that the file has.
    let mut deepest: Option<(Range<usize>, Range<usize>)> = None;
    let mut depth = 0;
    for (index, part) in parts.iter().enumerate() {
        let Some((name, child)) = table
            .iter()
            .find(|(name, _)| name.get_ref().as_ref() == *part)
        else {
            break;
        };
        match child.get_ref() {
            DeValue::Table(below) if index + 1 < parts.len() => {
                deepest = Some((name.span(), child.span()));
                table = below;
                depth = index + 1;
            }
            _ => return Ok(replaced(text, child, &value.to_string())),
        }
    }
    let rest = parts[depth..].join(".");
    let into = deepest.and_then(|(name, own)| added(text, &name, &own, (path, &rest), value));
    Ok(into.unwrap_or_else(|| {
        // A table that is not there, or only as the parent of another one: it may follow anywhere.
        let (section, key) = parts.split_at(depth.max(1));
        let gap = if text.ends_with('\n') { "" } else { "\n" };
        let (section, key) = (section.join("."), key.join("."));
        format!("{text}{gap}\n[{section}]\n{key} = {value}\n")
    }))
}

fn replaced(text: &str, old: &Spanned<DeValue<'_>>, new: &str) -> String {
    let span = old.span();
    format!("{}{new}{}", &text[..span.start], &text[span.end..])
}

/// Adds a key to a table that the file has: below its header, inside its braces, or beside a dotted
/// key of it. `None` where the table has no header of its own.
fn added(
    text: &str,
    name: &Range<usize>,
    own: &Range<usize>,
    (path, rest): (&str, &str),
    value: &toml::Value,
) -> Option<String> {
    let line = text[..name.start].rfind('\n').map_or(0, |end| end + 1);
    if text[line..].trim_start().starts_with('[') {
        if !text[name.end..].trim_start().starts_with(']') {
            return None;
        }
        return Some(match text[name.end..].find('\n') {
            Some(end) => {
                let at = name.end + end + 1;
                format!("{}{rest} = {value}\n{}", &text[..at], &text[at..])
            }
            None => format!("{text}\n{rest} = {value}\n"),
        });
    }
    if text[own.start..].starts_with('{') {
        let at = own.start + 1;
        let comma = if text[at..].trim_start().starts_with('}') {
            ""
        } else {
            ","
        };
        let (before, after) = text.split_at(at);
        return Some(format!("{before} {rest} = {value}{comma}{after}"));
    }
    let (before, after) = text.split_at(line);
    Some(format!("{before}{path} = {value}\n{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::testing::STUDIES;
    use crate::sweep::Experiment;

    const TEXT: &str = r#"# What it varies.
[experiment]
name = "small"

[workload] # a model
model = "lublin-feitelson"
jobs = 2000
nodes = 64
load.value = 1.0

[scheduling]
down_horizon = "mttr" # A-30

[acceptance]

[[axis]]
key = "acceptance.pof_max"
values = [0.1, 0.2]
"#;

    fn set(text: &str, key: &str, value: impl Into<toml::Value>) -> Result<String, OverrideError> {
        with_values(Keys::of(STUDIES), text, [(key, &value.into())])
    }

    #[test]
    fn a_value_takes_the_place_of_the_files_own_and_everything_else_stays() {
        let changed = set(TEXT, "scheduling.down_horizon", "none").unwrap();
        assert_eq!(changed, TEXT.replace("\"mttr\" # A-30", "\"none\" # A-30"));
    }

    #[test]
    fn a_key_that_the_file_does_not_have_is_added_to_its_section() {
        let text = set(TEXT, "workload.laxity", 3.0).unwrap();
        assert!(
            text.contains("[workload] # a model\nlaxity = 3.0\nmodel"),
            "{text}"
        );
        let text = set(&text, "acceptance.test", "pof").unwrap();
        assert!(text.contains("[acceptance]\ntest = \"pof\"\n"), "{text}");
        let text = set(&text, "estimates.classes", "user").unwrap();
        assert!(
            text.ends_with("\n[estimates]\nclasses = \"user\"\n"),
            "{text}"
        );
        let strategy = set(&text, "scheduling.strategy", "heuristic-overbooking").unwrap();
        let experiment = Experiment::parse(STUDIES, "small.toml", &strategy, None).unwrap();
        assert_eq!(experiment.sweep.points.len(), 2);
    }

    #[test]
    fn inline_tables_and_dotted_keys_hold_a_new_key_as_well() {
        for text in [
            "scheduling = {}\n",
            "scheduling = { replan = \"once\" }\n",
            "scheduling.replan = \"once\"\n",
        ] {
            let changed = set(text, "scheduling.down_horizon", "none").unwrap();
            let table: toml::Table = toml::from_str(&changed).unwrap();
            assert_eq!(
                table["scheduling"]["down_horizon"].as_str(),
                Some("none"),
                "{changed}"
            );
        }
        let nested = "[workload.cleaning]\ndrop_overruns = true\n";
        let changed = set(nested, "workload.cleaning.drop_cancelled", true).unwrap();
        assert_eq!(
            changed,
            "[workload.cleaning]\ndrop_cancelled = true\ndrop_overruns = true\n"
        );
        let changed = set(nested, "workload.laxity", 2).unwrap();
        let table: toml::Table = toml::from_str(&changed).unwrap();
        assert_eq!(
            table["workload"]["laxity"].as_integer(),
            Some(2),
            "{changed}"
        );
    }

    #[test]
    fn a_key_that_does_not_exist_a_wrong_type_and_a_key_on_an_axis_are_refused() {
        let error = set(TEXT, "scheduling.down_horizont", "none").unwrap_err();
        assert!(
            error
                .to_string()
                .contains("did you mean `scheduling.down_horizon`"),
            "{error}"
        );
        let error = set(TEXT, "schedule.down_horizon", "none").unwrap_err();
        assert!(
            error.to_string().contains("did you mean `scheduling`"),
            "{error}"
        );
        let error = set(TEXT, "scheduling.down_horizon", 1).unwrap_err();
        assert!(error.to_string().contains("a text in quotes"), "{error}");
        let error = set(TEXT, "acceptance.pof_max", 0.3).unwrap_err();
        assert!(error.to_string().contains("axis"), "{error}");
        let error = set("a = [", "scheduling.down_horizon", "none").unwrap_err();
        assert!(matches!(error, OverrideError::Syntax(_)), "{error}");
    }
}
