//! The TOML tree of an experiment file: which keys it may hold, their types, and axis values put in
//! their place.

mod check;
mod lists;
mod tree;

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{Key, Keys, suggest};
use super::raw::{RawAxis, RawExperiment, RawZip};
use crate::keys::ours::has_our_table;
use crate::keys::problem::{ProblemKind, Problems};
pub(super) use crate::keys::reader::Node;
use crate::keys::reader::{self, Sections, TableReader};
use crate::study::inputs::LogSizes;
use check::check_table;
use lists::{Exclude, read_all, read_excludes};
use tree::{empty_table, path_of, put, take};

pub(super) use check::check_kind;
pub(super) use tree::node_of;

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
    /// How large the machines of its logs were.
    pub(super) log_sizes: Rc<LogSizes>,
}

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
            log_sizes: Rc::default(),
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
            log_sizes: Rc::clone(&self.log_sizes),
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
        let stop = reader::read(&mut reading, "stop");
        let select = reader::read(&mut reading, "select");
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
            requests: tables.table("requests").keys,
            stop,
            select,
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
        _ => {
            let is_known = keys.find(path).is_some() || keys.former_key(path).is_some();
            is_known || keys.children(table).contains(&name)
        }
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

    fn refuse(&mut self, path: &str, section: &Node<'i>, error: &toml::de::Error) {
        report(self.document.keys, path, section, error, self.problems);
    }
}

/// Turns what serde found wrong into a problem with its key and what is allowed there.
fn report(
    keys: Keys,
    section: &str,
    root: &Node<'_>,
    error: &toml::de::Error,
    problems: &mut Problems,
) {
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
}
