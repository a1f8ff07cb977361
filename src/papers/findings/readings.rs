//! Named readings of a paper, as data beside its findings: `configs/PAPER/readings.toml`.
//!
//! A paper's text can often be understood in more than one way. A reading is one of them: a name, a
//! reason, and the keys in which it differs from the paper's configurations, which follow the first
//! reading, the default.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::FindingsError;
use super::file::from_toml;

/// The stem of the file.
pub const READINGS: &str = "readings";

/// The name that stands for every reading on the command line.
pub const ALL_READINGS: &str = "all";

/// One reading of a paper.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reading {
    /// Its name on the command line, in experiments' names and in folders: small letters, digits
    /// and `-`.
    pub name: String,
    /// What it takes the paper to say, in a sentence.
    pub summary: String,
    /// The reason for reading the paper in this way.
    pub reason: String,
    /// The keys that differ from the paper's configurations, with their values.
    pub set: Vec<(String, toml::Value)>,
    /// Whether it is the first one, which the configurations themselves follow.
    pub is_default: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    reading: Vec<RawReading>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawReading {
    name: String,
    summary: String,
    reason: String,
    #[serde(default)]
    set: toml::Table,
}

/// Reads a file of readings.
///
/// # Errors
///
/// [`FindingsError::Syntax`] where it is not of the documented form, [`FindingsError::Entry`] where
/// a name is impossible or appears twice, the first reading sets a key, or another one sets none.
pub fn parse_readings(file: &str, text: &str) -> Result<Vec<Reading>, FindingsError> {
    let raw: File = from_toml(file, text)?;
    let mut seen = BTreeSet::new();
    raw.reading
        .into_iter()
        .enumerate()
        .map(|(place, reading)| {
            let refuse = |problem: &str| FindingsError::Entry {
                file: file.to_owned(),
                entry: format!("reading `{}`", reading.name),
                problem: problem.to_owned(),
            };
            let letter = |letter: char| {
                letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-'
            };
            if reading.name.is_empty()
                || !reading.name.chars().all(letter)
                || reading.name.starts_with('-')
            {
                return Err(refuse(
                    "a name has small letters, digits and `-`, and begins with a letter or digit",
                ));
            }
            if reading.name == ALL_READINGS {
                return Err(refuse("this name stands for every reading"));
            }
            if !seen.insert(reading.name.clone()) {
                return Err(refuse("appears twice; names must be unique"));
            }
            let mut set = Vec::new();
            flatten("", &reading.set, &mut set);
            let is_default = place == 0;
            if is_default && !set.is_empty() {
                return Err(refuse(
                    "the first reading is the default, which the configurations themselves follow: its `set` must be empty",
                ));
            }
            if !is_default && set.is_empty() {
                return Err(refuse(
                    "sets no key, so it is the default under another name: say in `set` what differs",
                ));
            }
            Ok(Reading {
                name: reading.name,
                summary: reading.summary,
                reason: reading.reason,
                set,
                is_default,
            })
        })
        .collect()
}

/// Quoted dotted keys and nested tables mean the same.
fn flatten(prefix: &str, table: &toml::Table, into: &mut Vec<(String, toml::Value)>) {
    for (key, value) in table {
        let path = if prefix.is_empty() {
            key.clone()
        } else {
            format!("{prefix}.{key}")
        };
        match value {
            toml::Value::Table(below) => flatten(&path, below, into),
            value => into.push((path, value.clone())),
        }
    }
}

impl Reading {
    /// A name under this reading: `ctc-pof` as it is for the default, `ctc-pof@blind` for the
    /// reading `blind`.
    #[must_use]
    pub fn of(&self, name: &str) -> String {
        if self.is_default {
            name.to_owned()
        } else {
            format!("{name}@{}", self.name)
        }
    }

    /// What it sets, for people; `None` for the default.
    #[must_use]
    pub fn settings(&self) -> Option<String> {
        let keys: Vec<String> = self
            .set
            .iter()
            .map(|(key, value)| format!("{key} = {value}"))
            .collect();
        (!keys.is_empty()).then(|| keys.join(", "))
    }

    /// One paragraph that says what it is.
    #[must_use]
    pub fn sentence(&self) -> String {
        let summary = self.summary.trim();
        match self.settings() {
            None => format!("Reading `{}` (the default): {summary}", self.name),
            Some(settings) => {
                format!("Reading `{}`: {summary} It sets {settings}.", self.name)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
[[reading]]
name = "text"
summary = "As it is written."
reason = "It says so."

[[reading]]
name = "blind"
summary = "The planner does not know of outages."
reason = "LANL."
set = { "scheduling.down_horizon" = "none", reliability.form = "literal", "workload.laxity" = 3.0 }
"#;

    #[test]
    fn the_first_reading_is_the_default_and_the_others_say_what_they_set() {
        let readings = parse_readings("readings.toml", TEXT).unwrap();
        let [text, blind] = readings.as_slice() else {
            panic!("there are two");
        };
        assert!(text.is_default && !blind.is_default);
        assert_eq!(text.of("ctc-pof"), "ctc-pof");
        assert_eq!(blind.of("ctc-pof"), "ctc-pof@blind");
        assert_eq!(
            text.sentence(),
            "Reading `text` (the default): As it is written."
        );
        for text in [
            "scheduling.down_horizon = \"none\"",
            "reliability.form = \"literal\"",
            "workload.laxity = 3.0",
        ] {
            assert!(blind.sentence().contains(text), "{}", blind.sentence());
        }
    }

    #[test]
    fn readings_that_mean_nothing_are_refused() {
        for (from, to, problem) in [
            ("\"blind\"", "\"text\"", "appears twice"),
            ("\"blind\"", "\"all\"", "every reading"),
            ("\"blind\"", "\"../blind\"", "small letters"),
            (
                "reason = \"It says so.\"",
                "reason = \"\"\nset = { \"workload.laxity\" = 3.0 }",
                "must be empty",
            ),
            ("set = {", "sets = {", "unknown field"),
        ] {
            let error = parse_readings("readings.toml", &TEXT.replacen(from, to, 1)).unwrap_err();
            assert!(error.to_string().contains(problem), "{error}");
        }
        let empty = TEXT.split("set = {").next().unwrap_or_default();
        let error = parse_readings("readings.toml", empty).unwrap_err();
        assert!(
            error.to_string().contains("`blind`: sets no key"),
            "{error}"
        );
    }
}
