//! How tables are written: what `--wide` and `--tsv` ask for, and tab-separated values.

use std::fmt;
use std::sync::OnceLock;

use clap::ArgMatches;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::screen;

/// What the command line asked for; set once.
static ASKED: OnceLock<Asked> = OnceLock::new();

/// What the command line can ask of tables.
#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    wide: bool,
    tsv: bool,
}

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Form {
    /// Aligned columns on a screen of so many.
    Screen(usize),
    /// Aligned columns, as wide as they are: in a pipe, in a file, or with `--wide`.
    Whole,
    /// Tab-separated values: a header, then a line for each row.
    Tsv,
}

/// Keeps what `--wide` and `--tsv` say.
pub(in crate::cli) fn ask(wide: bool, tsv: bool) {
    let _ = ASKED.set(Asked { wide, tsv });
}

fn asked() -> Asked {
    ASKED.get().copied().unwrap_or_default()
}

/// Whether tables are tab-separated values. Standard output then holds nothing else: sentences go
/// to standard error.
pub(in crate::cli) fn is_tsv() -> bool {
    asked().tsv
}

/// Whether tables may be wider than the screen.
pub(in crate::cli) fn is_wide() -> bool {
    asked().wide
}

/// How tables are written to standard output.
pub(in crate::cli) fn form() -> Form {
    match (asked(), screen()) {
        (Asked { tsv: true, .. }, _) => Form::Tsv,
        (Asked { wide: true, .. }, _) | (_, None) => Form::Whole,
        (_, Some(columns)) => Form::Screen(columns),
    }
}

/// Commands that print tables, or records that can be a table.
const WITH_TABLES: [&str; 7] = [
    "compare",
    "list",
    "reproduce",
    "runs",
    "show",
    "simulate",
    "sql",
];

/// What these commands can be asked for that is no table: a subcommand, or an option.
const NO_TABLES: [(&str, &str); 11] = [
    ("list", "schema"),
    ("reproduce", "list"),
    ("reproduce", "from_cards"),
    ("runs", "archive"),
    ("runs", "compact"),
    ("runs", "delete"),
    ("runs", "note"),
    ("runs", "tag"),
    ("runs", "watch"),
    ("show", "configuration"),
    ("sql", "tables"),
];

/// Why these arguments cannot be answered with tab-separated values; `None` where they can, or
/// where none are asked for.
pub(in crate::cli) fn refused(matches: &ArgMatches) -> Option<String> {
    if !is_set(matches, "tsv") {
        return None;
    }
    let (command, mut inner) = matches.subcommand()?;
    let known = WITH_TABLES.join(", ");
    if !WITH_TABLES.contains(&command) {
        return Some(format!(
            "`bookahead {command}` prints no table: --tsv is for {known}"
        ));
    }
    let of_command = NO_TABLES.iter().filter(|(of, _)| *of == command);
    for (_, what) in of_command {
        let is_subcommand = inner.subcommand_name() == Some(what);
        if is_subcommand {
            return Some(format!(
                "`bookahead {command} {what}` prints no table: leave --tsv out"
            ));
        }
        if is_set(inner, what) {
            let option = what.replace('_', "-");
            return Some(format!("--{option} prints no table: leave --tsv out"));
        }
    }
    while let Some((_, deeper)) = inner.subcommand() {
        inner = deeper;
    }
    is_set(inner, "json")
        .then(|| "--tsv and --json are two forms of the same: leave one out".to_owned())
}

fn is_set(matches: &ArgMatches, name: &str) -> bool {
    matches.try_get_one::<bool>(name).ok().flatten() == Some(&true)
}

/// A line of tab-separated values. In a cell `\t`, `\n`, `\r` and `\\` stand for a tab, a line
/// feed, a carriage return and a backslash.
pub(in crate::cli) fn tsv_line<T: AsRef<str>>(cells: impl IntoIterator<Item = T>) -> String {
    let mut line = String::new();
    for (at, cell) in cells.into_iter().enumerate() {
        if at > 0 {
            line.push('\t');
        }
        for letter in cell.as_ref().chars() {
            match letter {
                '\t' => line.push_str("\\t"),
                '\n' => line.push_str("\\n"),
                '\r' => line.push_str("\\r"),
                '\\' => line.push_str("\\\\"),
                other => line.push(other),
            }
        }
    }
    line.push('\n');
    line
}

/// Keys that say what a line is about: their columns come first.
const LEADING: [&str; 9] = [
    "run", "first", "second", "group", "measure", "name", "file", "id", "trace",
];

/// Objects of JSON as tab-separated values: one object or a list of them, a column for each key,
/// first those that say what a line is about, then the others in the order in which they come.
/// What is null is empty, lists and objects stay JSON.
///
/// # Errors
///
/// When the text is no such JSON.
pub(in crate::cli) fn tsv_of_json(json: &str) -> Result<String, serde_json::Error> {
    let records: Vec<Record> = match json.trim_start().starts_with('[') {
        true => serde_json::from_str(json)?,
        false => vec![serde_json::from_str(json)?],
    };
    let mut keys: Vec<&str> = Vec::new();
    for (key, _) in records.iter().flat_map(|record| &record.0) {
        if !keys.contains(&key.as_str()) {
            keys.push(key);
        }
    }
    if keys.is_empty() {
        return Ok(String::new());
    }
    keys.sort_by_key(|key| {
        let leading = LEADING.iter().position(|leading| leading == key);
        leading.unwrap_or(LEADING.len())
    });
    let mut text = tsv_line(&keys);
    for record in &records {
        let value = |key: &&str| record.0.iter().find(|(own, _)| own == key);
        let cells = keys.iter().map(|key| match value(key) {
            None | Some((_, Value::Null)) => String::new(),
            Some((_, Value::String(text))) => text.clone(),
            Some((_, other)) => other.to_string(),
        });
        text.push_str(&tsv_line(cells));
    }
    Ok(text)
}

/// An object of JSON, its keys in their order.
struct Record(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Record;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Record, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Record(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;

    #[test]
    fn what_would_tear_a_line_is_escaped() {
        let cells = ["a\tb", "c\nd\r", "e\\n", ""];
        assert_eq!(tsv_line(cells), "a\\tb\tc\\nd\\r\te\\\\n\t\n");
    }

    #[test]
    fn objects_are_lines_below_their_keys_and_what_they_are_about_comes_first() {
        let json =
            r#"[{"run": 2, "name": "a\tb"}, {"run": 1, "of": {"x": [1, null]}, "name": null}]"#;
        assert_eq!(
            tsv_of_json(json).unwrap(),
            "run\tname\tof\n2\ta\\tb\t\n1\t\t{\"x\":[1,null]}\n"
        );
        assert_eq!(
            tsv_of_json("{\"b\": 1.5, \"a\": true, \"trace\": \"x\"}").unwrap(),
            "trace\tb\ta\nx\t1.5\ttrue\n"
        );
        assert_eq!(tsv_of_json("[]").unwrap(), "");
    }

    fn said(line: &str) -> Option<String> {
        let words = std::iter::once("bookahead").chain(line.split(' '));
        refused(&cli::command().try_get_matches_from(words).unwrap())
    }

    #[test]
    fn tables_can_be_had_as_values_and_what_is_no_table_is_refused() {
        for line in [
            "runs --tsv",
            "--tsv runs",
            "runs --wide",
            "list metrics --tsv",
            "show 1 --points --tsv",
            "init replanning",
        ] {
            assert_eq!(said(line), None, "{line}");
        }
        for (line, words) in [
            ("init replanning --tsv", "`bookahead init` prints no table"),
            ("--tsv init replanning", "`bookahead init` prints no table"),
            ("list schema --tsv", "`bookahead list schema` prints no"),
            ("show 1 --configuration --tsv", "--configuration prints no"),
            ("reproduce x --from-cards --tsv", "--from-cards prints no"),
            ("runs --json --tsv", "--tsv and --json"),
            ("list traces --json --tsv", "--tsv and --json"),
        ] {
            let found = said(line).unwrap_or_default();
            assert!(found.contains(words), "{line}: {found}");
        }
    }

    #[test]
    fn every_command_that_is_named_is_there() {
        let command = cli::command();
        for name in WITH_TABLES {
            assert!(command.find_subcommand(name).is_some(), "{name}");
        }
        for (name, what) in NO_TABLES {
            let own = command.find_subcommand(name).unwrap();
            let is_option = own
                .get_arguments()
                .any(|argument| argument.get_id() == what);
            assert!(is_option || own.find_subcommand(what).is_some(), "{what}");
        }
    }
}
