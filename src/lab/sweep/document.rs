//! The TOML tree of an experiment file: which keys it may hold, their types, and axis values put in
//! their place.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue, ValueDeserializer};

use super::keys::{Key, Keys, Kind, suggest};
use super::raw::{RawAxis, RawExperiment, RawZip};
use crate::keys::ours::has_our_table;
use crate::keys::problem::{ProblemKind, Problems};
use crate::keys::reader::{self, Sections, TableReader};

/// A value of the tree with its place in the file.
pub(super) type Node<'i> = Spanned<DeValue<'i>>;

/// Errors of syntax that are shown one by one. What follows a broken line is often read as broken,
/// too: a large file has thousands.
const MOST_SYNTAX_ERRORS: usize = 10;

/// An experiment file, read and checked for keys and types, its axes still apart.
#[derive(Debug)]
pub(super) struct Document<'i> {
    pub(super) keys: Keys,
    sections: BTreeMap<String, Node<'i>>,
    pub(super) axes: Vec<Spanned<RawAxis>>,
    pub(super) zips: Vec<Spanned<RawZip>>,
    pub(super) excludes: Vec<Exclude>,
}

/// One `[[exclude]]`: its place, and each key with the value or list of values that it must have.
pub(super) type Exclude = (Range<usize>, Vec<(Spanned<String>, Spanned<toml::Value>)>);

impl<'i> Document<'i> {
    /// Reads the text; every unknown key and wrong type becomes a problem. `None` where the text is
    /// not TOML at all.
    pub(super) fn parse(keys: Keys, text: &'i str, problems: &mut Problems) -> Option<Self> {
        let (table, syntax) = DeTable::parse_recoverable(text);
        let is_empty = table.get_ref().is_empty() && syntax.is_empty();
        if !is_empty && !has_our_table(table.get_ref(), &|path| is_key(keys, path)) {
            problems.conceal();
            let first = (syntax.first()).map_or_else(
                || first_of(table.get_ref()),
                |error| error.span().unwrap_or(0..0),
            );
            problems.add(
                ProblemKind::Syntax,
                "",
                first,
                "no experiment is read here: the file has no table of one with a key of it",
                "an experiment is TOML with [experiment], [workload] and others; `bookahead init` prints one",
            );
            return None;
        }
        for error in syntax.iter().take(MOST_SYNTAX_ERRORS) {
            let span = error.span().unwrap_or(0..0);
            problems.add(
                ProblemKind::Syntax,
                "",
                span,
                error.message(),
                "the file must be valid TOML",
            );
        }
        if let Some(next) = syntax.get(MOST_SYNTAX_ERRORS) {
            problems.add(
                ProblemKind::Syntax,
                "",
                next.span().unwrap_or(0..0),
                format!(
                    "{} more errors of syntax from here on",
                    syntax.len() - MOST_SYNTAX_ERRORS
                ),
                "fix the first ones: the others may follow from them",
            );
        }
        if !syntax.is_empty() {
            return None;
        }
        let mut document = Self {
            keys,
            sections: BTreeMap::new(),
            axes: Vec::new(),
            zips: Vec::new(),
            excludes: Vec::new(),
        };
        let mut tables: Vec<_> = table.into_inner().into_iter().collect();
        tables.sort_by_key(|(name, _)| name.span().start);
        for (name, node) in tables {
            let span = name.span();
            match name.get_ref().as_ref() {
                "axis" => document.axes = read_all(node, "axis", problems),
                "zip" => document.zips = read_all(node, "zip", problems),
                "exclude" => document.excludes = read_excludes(node, problems),
                section if keys.tables().contains(&section) => {
                    let node = check_table(keys, section, node, problems);
                    document.sections.insert(section.to_owned(), node);
                }
                unknown => problems.add(
                    ProblemKind::UnknownKey,
                    unknown,
                    span,
                    "there is no such table",
                    suggest(unknown, &keys.tables()),
                ),
            }
        }
        Some(document)
    }

    /// Every key that the file sets outside of lists of tables, with its value.
    pub(super) fn given(&self) -> Vec<(String, &Node<'i>)> {
        let mut given = Vec::new();
        let mut open: Vec<(String, &Node<'i>)> = (self.sections.iter())
            .map(|(name, node)| (name.clone(), node))
            .collect();
        while let Some((path, node)) = open.pop() {
            match node.get_ref() {
                DeValue::Table(table) => open.extend(
                    table
                        .iter()
                        .map(|(name, node)| (format!("{path}.{}", name.get_ref()), node)),
                ),
                _ if self.keys.find(&path).is_some() => given.push((path, node)),
                _ => {}
            }
        }
        given.sort_by_key(|(_, node)| node.span().start);
        given
    }

    /// The same file without one of its keys, or with another value for it; without axes.
    pub(super) fn changed(&self, path: &str, value: Option<&Node<'i>>) -> Self {
        let mut sections = self.sections.clone();
        let (name, below) = path.split_once('.').unwrap_or((path, ""));
        let below: Vec<&str> = below.split('.').collect();
        match value {
            Some(value) => {
                let root = sections
                    .entry(name.to_owned())
                    .or_insert_with(|| Spanned::new(0..0, empty_table()));
                put(root, &below, value);
            }
            None => {
                if let Some(root) = sections.get_mut(name) {
                    take(root, &below);
                }
            }
        }
        Self {
            keys: self.keys,
            sections,
            axes: Vec::new(),
            zips: Vec::new(),
            excludes: Vec::new(),
        }
    }

    /// Reads the sections with these values in the place of the ones in the file.
    pub(super) fn read(
        &self,
        values: &[(&str, &Node<'i>)],
        problems: &mut Problems,
    ) -> RawExperiment {
        let mut reading = Reading {
            document: self,
            values,
            problems,
        };
        let experiment = reader::read(&mut reading, "experiment");
        let workload = reader::read(&mut reading, "workload");
        let scheduling = reader::read(&mut reading, "scheduling");
        let mut tables = TableReader::new(&mut reading);
        RawExperiment {
            experiment,
            workload,
            estimates: tables.table("estimates").keys,
            failures: tables.table("failures").keys,
            scheduling,
            acceptance: tables.table("acceptance").keys,
            reliability: tables.table("reliability").keys,
            checkpoint: tables.table("checkpoint").keys,
            penalty: tables.table("penalty").keys,
            reservations: tables.table("reservations"),
            studies: (self.keys.studies().iter())
                .map(|study| study.read(&mut tables))
                .collect(),
        }
    }
}

/// Whether a dotted path is a key of an experiment file, or a table below a table.
fn is_key(keys: Keys, path: &str) -> bool {
    let (table, name) = path.split_once('.').unwrap_or((path, ""));
    match table {
        "axis" => matches!(name, "key" | "values"),
        "zip" => matches!(name, "keys" | "rows"),
        "exclude" => keys.find(name).is_some(),
        _ => keys.find(path).is_some() || keys.children(table).contains(&name),
    }
}

/// Where the first key stands.
fn first_of(table: &DeTable<'_>) -> Range<usize> {
    let places = table.keys().map(Spanned::span);
    places.min_by_key(|place| place.start).unwrap_or(0..0)
}

/// A document with values in the place of the ones in the file.
struct Reading<'a, 'i> {
    document: &'a Document<'i>,
    values: &'a [(&'a str, &'a Node<'i>)],
    problems: &'a mut Problems,
}

impl<'i> Sections<'i> for Reading<'_, 'i> {
    fn section(&self, path: &str) -> Option<Node<'i>> {
        let mut section = self.document.sections.get(path).cloned();
        for (key, value) in self.values {
            let path_of_key: Vec<&str> = key.split('.').collect();
            if path_of_key[0] == path {
                let root = section.get_or_insert_with(|| Spanned::new(0..0, empty_table()));
                put(root, &path_of_key[1..], value);
            }
        }
        section
    }

    fn refuse(&mut self, path: &str, section: &mut Node<'i>, error: &toml::de::Error) -> bool {
        let path = report(self.document.keys, path, section, error, self.problems);
        let below: Vec<&str> = path.split('.').skip(1).collect();
        take(section, &below)
    }
}

/// Removes the value at a path below a table; whether there was one.
fn take(node: &mut Node<'_>, path: &[&str]) -> bool {
    match (node.get_mut(), path) {
        (DeValue::Table(table), [last]) => table.remove(*last).is_some(),
        (DeValue::Table(table), [first, rest @ ..]) => {
            table.get_mut(*first).is_some_and(|child| take(child, rest))
        }
        _ => false,
    }
}

fn empty_table<'i>() -> DeValue<'i> {
    DeValue::Table(DeTable::new())
}

/// Puts a value at a path below a table, making tables on the way.
fn put<'i>(node: &mut Node<'i>, path: &[&str], value: &Node<'i>) {
    let Some((first, rest)) = path.split_first() else {
        *node = value.clone();
        return;
    };
    if !matches!(node.get_ref(), DeValue::Table(_)) {
        *node.get_mut() = empty_table();
    }
    if let DeValue::Table(table) = node.get_mut() {
        let key = Spanned::new(value.span(), Cow::Owned((*first).to_owned()));
        let child = table
            .entry(key)
            .or_insert_with(|| Spanned::new(value.span(), empty_table()));
        put(child, rest, value);
    }
}

/// Turns what serde found wrong into a problem with its key and what is allowed there; returns the
/// key.
fn report(
    keys: Keys,
    section: &str,
    root: &Node<'_>,
    error: &toml::de::Error,
    problems: &mut Problems,
) -> String {
    let span = error.span().unwrap_or_else(|| root.span());
    let path = path_of(section, root, &span).unwrap_or_else(|| section.to_owned());
    let message = error.message().trim().replace('\n', " ");
    let kind = if message.starts_with("unknown variant") {
        ProblemKind::UnknownName
    } else if message.starts_with("invalid value") {
        ProblemKind::OutOfRange
    } else {
        ProblemKind::WrongType
    };
    let help = keys
        .find(&path)
        .map_or_else(|| "see the table of keys".to_owned(), Key::allowed);
    let message = match (kind, message.split('`').nth(1)) {
        (ProblemKind::UnknownName, Some(name)) => format!("`{name}` is not known here"),
        (ProblemKind::OutOfRange, Some(value)) => format!("{value} is out of range"),
        _ => message,
    };
    problems.add(kind, &path, span, message, format!("allowed: {help}"));
    path
}

/// The dotted path of the deepest value that covers a place.
fn path_of(path: &str, node: &Node<'_>, span: &Range<usize>) -> Option<String> {
    if let DeValue::Table(table) = node.get_ref() {
        let below = table
            .iter()
            .find_map(|(key, child)| path_of(&format!("{path}.{}", key.get_ref()), child, span));
        if below.is_some() {
            return below;
        }
    }
    let own = node.span();
    (own.start <= span.start && span.end <= own.end).then(|| path.to_owned())
}

/// Checks keys and types of a table against the list of keys and leaves out what is wrong, so that
/// each error is told once.
fn check_table<'i>(keys: Keys, path: &str, node: Node<'i>, problems: &mut Problems) -> Node<'i> {
    let span = node.span();
    if keys.is_list(path) {
        return check_tables(keys, path, node, problems);
    }
    let DeValue::Table(table) = node.into_inner() else {
        let help = format!("write [{path}] and its keys below it");
        problems.add(
            ProblemKind::WrongType,
            path,
            span.clone(),
            "this must be a table",
            help,
        );
        return Spanned::new(span, empty_table());
    };
    Spanned::new(span, check_keys(keys, path, table, problems))
}

/// Checks each of a list of tables.
fn check_tables<'i>(keys: Keys, path: &str, node: Node<'i>, problems: &mut Problems) -> Node<'i> {
    let span = node.span();
    let DeValue::Array(array) = node.into_inner() else {
        problems.add(
            ProblemKind::WrongType,
            path,
            span.clone(),
            "this must be a list of tables",
            format!("write [[{path}]] with two brackets"),
        );
        return Spanned::new(span, DeValue::Array(DeArray::new()));
    };
    let mut kept = DeArray::new();
    for element in array {
        let span = element.span();
        if let DeValue::Table(table) = element.into_inner() {
            kept.push(Spanned::new(span, check_keys(keys, path, table, problems)));
        } else {
            problems.add(
                ProblemKind::WrongType,
                path,
                span,
                "this must be a table",
                format!("write [[{path}]] and its keys below it"),
            );
        }
    }
    Spanned::new(span, DeValue::Array(kept))
}

fn check_keys<'i>(
    keys: Keys,
    path: &str,
    table: DeTable<'i>,
    problems: &mut Problems,
) -> DeValue<'i> {
    let allowed = keys.children(path);
    let mut kept = DeTable::new();
    for (name, child) in table {
        let child_path = format!("{path}.{}", name.get_ref());
        if let Some(key) = keys.find(&child_path) {
            if check_kind(key, &child, problems) {
                kept.insert(name, child);
            }
        } else if allowed.contains(&name.get_ref().as_ref()) {
            let child = check_table(keys, &child_path, child, problems);
            kept.insert(name, child);
        } else {
            let help = suggest(name.get_ref(), &allowed);
            problems.add(
                ProblemKind::UnknownKey,
                &child_path,
                name.span(),
                "there is no such key",
                help,
            );
        }
    }
    DeValue::Table(kept)
}

/// Whether a value has the type that its key wants; says so where it has not.
pub(super) fn check_kind(key: &Key, node: &Node<'_>, problems: &mut Problems) -> bool {
    let kind = key.kind;
    let fits = matches!(
        (kind, node.get_ref()),
        (Kind::Integer | Kind::Real, DeValue::Integer(_))
            | (Kind::Real, DeValue::Float(_))
            | (Kind::Text, DeValue::String(_))
            | (Kind::Flag, DeValue::Boolean(_))
            | (Kind::List, DeValue::Array(_))
    );
    if !fits {
        let allowed = key.allowed();
        problems.add(
            ProblemKind::WrongType,
            key.path,
            node.span(),
            format!(
                "this must be {}, not {}",
                kind.words(),
                found(node.get_ref())
            ),
            format!("allowed: {allowed}"),
        );
    }
    fits
}

fn found(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// Reads an array of tables; a wrong element becomes a problem.
fn read_all<T: DeserializeOwned>(
    node: Node<'_>,
    name: &str,
    problems: &mut Problems,
) -> Vec<Spanned<T>> {
    let span = node.span();
    let DeValue::Array(array) = node.into_inner() else {
        let help = format!("write [[{name}]] with two brackets");
        problems.add(
            ProblemKind::WrongType,
            name,
            span,
            "this must be a list of tables",
            help,
        );
        return Vec::new();
    };
    let mut read = Vec::new();
    for element in array {
        match Spanned::<T>::deserialize(ValueDeserializer::from(element.clone())) {
            Ok(value) => read.push(value),
            Err(error) => {
                let span = error.span().unwrap_or_else(|| element.span());
                let message = error.message().trim().replace('\n', " ");
                let kind = if message.starts_with("unknown field") {
                    ProblemKind::UnknownKey
                } else if message.starts_with("missing field") {
                    ProblemKind::Missing
                } else {
                    ProblemKind::WrongType
                };
                problems.add(kind, name, span, message, axis_help(name));
            }
        }
    }
    read
}

fn axis_help(name: &str) -> &'static str {
    match name {
        "axis" => {
            "an axis has a `key` and either `values = […]` or `range = { from = …, to = …, step = … }`"
        }
        _ => "a zip has `keys = […]` and `values = [[…], …]`, one value a key in each row",
    }
}

fn read_excludes(node: Node<'_>, problems: &mut Problems) -> Vec<Exclude> {
    let span = node.span();
    let DeValue::Array(array) = node.into_inner() else {
        let help = "write [[exclude]] with two brackets";
        problems.add(
            ProblemKind::WrongType,
            "exclude",
            span,
            "this must be a list of tables",
            help,
        );
        return Vec::new();
    };
    let mut excludes = Vec::new();
    for element in array {
        let span = element.span();
        let mut conditions = Vec::new();
        flatten("", element, &mut conditions);
        conditions.sort_by_key(|(key, _)| key.span().start);
        excludes.push((span, conditions));
    }
    excludes
}

/// Quoted dotted keys and nested tables mean the same in an exclusion.
fn flatten(prefix: &str, node: Node<'_>, into: &mut Vec<(Spanned<String>, Spanned<toml::Value>)>) {
    if let DeValue::Table(table) = node.into_inner() {
        for (key, child) in table {
            let path = if prefix.is_empty() {
                key.get_ref().to_string()
            } else {
                format!("{prefix}.{}", key.get_ref())
            };
            if matches!(child.get_ref(), DeValue::Table(_)) {
                flatten(&path, child, into);
            } else if let Ok(value) =
                Spanned::<toml::Value>::deserialize(ValueDeserializer::from(child))
            {
                into.push((Spanned::new(key.span(), path), value));
            }
        }
    }
}

/// The tree of a value's TOML text, at this place of the file.
pub(super) fn node_of(text: &str, span: Range<usize>) -> Option<Node<'_>> {
    let mut node = Spanned::new(span.clone(), DeValue::parse(text).ok()?.into_inner());
    respan(&mut node, &span);
    Some(node)
}

fn respan(node: &mut Node<'_>, span: &Range<usize>) {
    if let DeValue::Array(array) = node.get_mut() {
        for element in array.iter_mut() {
            *element = Spanned::new(span.clone(), element.get_ref().clone());
            respan(element, span);
        }
    }
}
