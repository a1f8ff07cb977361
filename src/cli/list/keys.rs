//! `bookahead list keys [TABLE]`: the keys of experiment files, from their declarations.

use crate::cli::aligned::is_tsv;
use crate::cli::paragraphs::{names, paragraph};
use crate::cli::screen::{LookError, print_rows};
use crate::cli::studies;
use crate::sweep::keys::{self, Key, Keys, Kind, Section};

/// Explains the tables of experiment files, or the keys of one of them.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bookahead list keys                   the tables
  bookahead list keys workload          every key of a table: type, default, what is allowed
  bookahead list keys acceptance.pof_max
  bookahead list keys load              every key with this in its name")]
pub struct KeysArguments {
    /// A table, a key, or a part of a key's name
    #[arg(value_name = "TABLE")]
    pub table: Option<String>,
}

/// The keys of the program under way.
fn known() -> Keys {
    Keys::of(studies())
}

/// Prints them.
///
/// # Errors
///
/// When nothing has such a name, or standard output cannot be written.
pub fn execute(arguments: &KeysArguments) -> Result<(), LookError> {
    let mut text = String::new();
    let Some(wanted) = &arguments.table else {
        let rows: Vec<(String, Vec<String>)> = known().declarations().map(of_section).collect();
        if is_tsv() {
            let rows = rows
                .into_iter()
                .map(|(path, about)| vec![path, about.join(" ")]);
            return Ok(print_rows(["table", "meaning"], rows)?);
        }
        paragraph(
            &mut text,
            "Tables of experiment files; `bookahead list keys TABLE` explains their keys.",
        );
        names(&mut text, &rows);
        let axes = "[[axis]], [[zip]] and [[exclude]] say what is varied: docs/configuration.md. \
                    `bookahead list schema` prints all of this for editors.";
        text.push('\n');
        paragraph(&mut text, axes);
        return Ok(crate::cli::print(&text)?);
    };
    let wanted = wanted.trim_matches(['[', ']']);
    let within = format!("{wanted}.");
    let is_table = known().sections().any(|section| section.path == wanted);
    let is_key = known().find(wanted).is_some();
    let mut values = Vec::new();
    for (study, section) in known().declarations() {
        let is_wanted = |key: &&Key| match (is_table, is_key) {
            (true, _) => key.path.starts_with(&within),
            (_, true) => key.path == wanted,
            _ => key.path.contains(wanted),
        };
        let found: Vec<&Key> = section.keys.iter().filter(is_wanted).collect();
        if found.is_empty() {
            continue;
        }
        for key in &found {
            let default = key.default().map_or(String::new(), |one| one.to_string());
            let (path, about) = (key.path.to_owned(), key.about.to_owned());
            values.push(vec![
                path,
                kind(key).to_owned(),
                default,
                about,
                key.allowed(),
            ]);
        }
        if !text.is_empty() {
            text.push('\n');
        }
        let (path, about) = of_section((study, section));
        paragraph(&mut text, &format!("[{path}]  {}", about.join(" ")));
        let rows: Vec<(String, Vec<String>)> = found.into_iter().map(of_key).collect();
        names(&mut text, &rows);
    }
    if text.is_empty() {
        if let Some(former) = known().former_key(wanted) {
            let now = former.now;
            return Err(LookError::Use(format!(
                "`{wanted}` is `{now}` now: bookahead list keys {now}"
            )));
        }
        let tables: Vec<&str> = known().tables();
        let all: Vec<&str> = known().all().map(|key| key.path).collect();
        let help = match keys::nearest(wanted, &all) {
            Some(name) => format!("did you mean `{name}`?"),
            None => keys::suggest(wanted, &tables),
        };
        return Err(LookError::Use(format!(
            "no table or key has `{wanted}` in its name; {help}"
        )));
    }
    if is_tsv() {
        let titles = ["key", "type", "default", "meaning", "allowed"];
        return Ok(print_rows(titles, values)?);
    }
    Ok(crate::cli::print(&text)?)
}

/// A table with what it is, and whose.
fn of_section((study, section): (Option<&str>, &Section)) -> (String, Vec<String>) {
    let about = match study {
        Some(study) => format!("{} (study {study})", section.about),
        None => section.about.to_owned(),
    };
    (section.path.to_owned(), vec![about])
}

/// What a key's values are.
fn kind(key: &Key) -> &'static str {
    match key.kind {
        Kind::Text if key.names.is_some() => "a name",
        kind => kind.words(),
    }
}

/// A key with its type and default, what it is, and what it may be.
fn of_key(key: &Key) -> (String, Vec<String>) {
    let kind = kind(key);
    let default = match key.default() {
        Some(default) => format!(", default {default}"),
        None => String::new(),
    };
    let mut paragraphs = vec![format!("{kind}{default}"), key.about.to_owned()];
    let allowed = key.allowed();
    if !allowed.is_empty() {
        paragraphs.push(format!("Allowed: {allowed}"));
    }
    if !key.decides.is_empty() {
        paragraphs.push(format!("Decides {} (docs/decisions.md)", key.decides));
    }
    let name = key.path.rsplit('.').next().unwrap_or(key.path);
    (name.to_owned(), paragraphs)
}
