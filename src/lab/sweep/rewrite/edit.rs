//! Keys renamed and moved in the text of a file.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::places::{Found, Place};
use crate::sweep::keys::FormerKey;

/// The text with one key by its present name. `stays` says whether the table around it is kept
/// without any key. `None` where the key is written in a way that is not known here.
pub(super) fn renamed(
    text: &str,
    root: &DeTable<'_>,
    found: &Found,
    key: FormerKey,
    stays: bool,
) -> Option<String> {
    match &found.place {
        Place::Varied(place) => Some(replaced(text, place, &quoted(key.now))),
        Place::Excluded(name) => {
            let whole = Written::of(text, name);
            let is_whole = whole.parts == path_length(key.was)
                || text[name.clone()].trim_matches(['"', '\'']) == key.was;
            is_whole.then(|| replaced(text, &whole.path, &quoted(key.now)))
        }
        Place::Given { name, value } => {
            let written = Written::of(text, name);
            let (table, last) = key.now.rsplit_once('.')?;
            let former_table = key.was.rsplit_once('.')?.0;
            let below = key.now.strip_prefix(former_table);
            if let Some(below) = below.and_then(|below| below.strip_prefix('.')) {
                return Some(replaced(text, name, below));
            }
            match written.begin {
                Begin::Line if written.parts == 1 => moved(text, name, value, key, stays),
                Begin::Line if written.parts == path_length(key.was) => {
                    match Home::of(text, root, table) {
                        Home::Nowhere | Home::Dotted(_) => {
                            Some(replaced(text, &written.path, key.now))
                        }
                        Home::Header(_) | Home::Braces(_) => {
                            let statement = Statement::cut(text, name, value, last);
                            put(&statement.rest, table, &statement)
                        }
                    }
                }
                Begin::Inside if written.parts == 1 => out_of_braces(text, name, value, key),
                _ => None,
            }
        }
    }
}

/// The text with these tables, empty, in front of what is varied.
pub(super) fn with_switches(text: &str, tables: &[&str]) -> String {
    let mut text = text.to_owned();
    for table in tables {
        let varied = ["\n[[axis]]", "\n[[zip]]"];
        let first = varied.iter().filter_map(|header| text.find(header)).min();
        let at = first.map_or(text.len(), |end| above(&text, end + 1));
        let gap = if text[..at].is_empty() || text[..at].ends_with('\n') {
            ""
        } else {
            "\n"
        };
        text.insert_str(at, &format!("{gap}[{table}]\n\n"));
    }
    text
}

fn quoted(path: &str) -> String {
    format!("\"{path}\"")
}

fn path_length(path: &str) -> usize {
    path.split('.').count()
}

fn replaced(text: &str, place: &Range<usize>, by: &str) -> String {
    format!("{}{by}{}", &text[..place.start], &text[place.end..])
}

/// What stands in front of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begin {
    /// The beginning of its line.
    Line,
    /// An open brace, or a comma.
    Inside,
}

/// How a key is written: alone, or behind the names of the tables around it.
struct Written {
    begin: Begin,
    /// Names with dots between them.
    parts: usize,
    /// From the first of them to the last.
    path: Range<usize>,
}

impl Written {
    fn of(text: &str, name: &Range<usize>) -> Self {
        let mut start = name.start;
        let mut parts = 1;
        loop {
            let before = text[..start].trim_end_matches([' ', '\t']);
            let Some(before) = before.strip_suffix('.') else {
                break;
            };
            let before = before.trim_end_matches([' ', '\t']);
            let open = before
                .chars()
                .next_back()
                .filter(|last| "\"'".contains(*last));
            start = match open {
                Some(quote) => before[..before.len() - 1].rfind(quote).unwrap_or(0),
                None => before
                    .trim_end_matches(|letter: char| {
                        letter.is_ascii_alphanumeric() || "-_".contains(letter)
                    })
                    .len(),
            };
            parts += 1;
        }
        let before = text[..start].trim_end_matches([' ', '\t']);
        let begin = match before.chars().next_back() {
            None | Some('\n') => Begin::Line,
            Some(_) => Begin::Inside,
        };
        Self {
            begin,
            parts,
            path: start..name.end,
        }
    }
}

/// Where the line with this place begins.
fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// Where the line behind the one with this place begins.
fn next_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

/// Where the lines of comments begin that stand directly above a line; what is said to editors
/// (`#:schema`) is none.
fn above(text: &str, line: usize) -> usize {
    let mut first = line;
    while first > 0 {
        let before = line_start(text, first - 1);
        let line = text[before..first].trim_start();
        if !line.starts_with('#') || line.starts_with("#:") {
            break;
        }
        first = before;
    }
    first
}

/// A key with its value and what is said of it, taken out of a text.
struct Statement {
    /// The text without it.
    rest: String,
    /// The lines of comments on it.
    comments: String,
    /// The key by its new name with its value, and what follows in the line.
    line: String,
    /// Whether a comment follows.
    has_remark: bool,
}

impl Statement {
    fn cut(text: &str, name: &Range<usize>, value: &Range<usize>, new: &str) -> Self {
        let start = line_start(text, name.start);
        let end = next_line(text, value.end);
        let first = above(text, start);
        // Where it stood alone between empty lines, one of them goes as well.
        let rest = match text[..first].ends_with("\n\n") {
            true => text[end..].strip_prefix('\n').unwrap_or(&text[end..]),
            false => &text[end..],
        };
        let mut line = format!("{new}{}", &text[name.end..end]);
        if !line.ends_with('\n') {
            line.push('\n');
        }
        Self {
            rest: format!("{}{rest}", &text[..first]),
            comments: text[first..start].to_owned(),
            has_remark: text[value.end..end].contains('#'),
            line,
        }
    }

    fn text(&self) -> String {
        format!("{}{}", self.comments, self.line)
    }
}

/// Where a table takes one more key.
enum Home {
    /// The file does not have it, or only tables in it.
    Nowhere,
    /// In front of this line, below its header.
    Header(usize),
    /// Behind its open brace.
    Braces(usize),
    /// It has no header: in front of this line, which gives one of its keys.
    Dotted(usize),
}

impl Home {
    fn of(text: &str, root: &DeTable<'_>, table: &str) -> Self {
        let Some((name, node)) = root.get_key_value(table) else {
            return Self::Nowhere;
        };
        let DeValue::Table(keys) = node.get_ref() else {
            return Self::Nowhere;
        };
        if let Some(header) = header(text, &name.span()) {
            if !header.is_whole {
                return Self::Nowhere;
            }
            let own = keys.iter().filter(|(name, child)| {
                !matches!(child.get_ref(), DeValue::Table(_))
                    && Written::of(text, &name.span()).parts == 1
            });
            let last = own.map(|(_, child)| child.span().end).max();
            return Self::Header(next_line(text, last.unwrap_or(name.span().end)));
        }
        match text[node.span().start..].starts_with('{') {
            true => Self::Braces(node.span().start + 1),
            false => Self::Dotted(line_start(text, name.span().start)),
        }
    }
}

/// The header of a table.
struct Header {
    /// Where its line begins.
    line: usize,
    /// Whether it names the table itself, and not only one in it.
    is_whole: bool,
}

/// The header that a table's name stands in; `None` where it stands in none.
fn header(text: &str, name: &Range<usize>) -> Option<Header> {
    let line = line_start(text, name.start);
    let is_header = text[line..].trim_start().starts_with('[');
    is_header.then(|| Header {
        line,
        is_whole: text[name.end..].trim_start().starts_with(']'),
    })
}

/// The text with a statement more in a table that it has.
fn put(text: &str, table: &str, statement: &Statement) -> Option<String> {
    let root = DeTable::parse(text).ok()?;
    let mut changed = text.to_owned();
    match Home::of(text, root.get_ref(), table) {
        Home::Nowhere => return None,
        Home::Header(at) => {
            let gap = if text[..at].ends_with('\n') { "" } else { "\n" };
            changed.insert_str(at, &format!("{gap}{}", statement.text()));
        }
        Home::Braces(at) => {
            if statement.has_remark {
                return None;
            }
            let comma = if text[at..].trim_start().starts_with('}') {
                " "
            } else {
                ","
            };
            changed.insert_str(at, &format!(" {}{comma}", statement.line.trim_end()));
            changed.insert_str(line_start(text, at), &statement.comments);
        }
        Home::Dotted(at) => {
            let comments = &statement.comments;
            changed.insert_str(at, &format!("{comments}{table}.{}", statement.line));
        }
    }
    Some(changed)
}

/// A statement below the header of its former table, moved into the present one. Where that is not
/// there, it is made in front of the former one, or of that, when nothing else is left in it.
fn moved(
    text: &str,
    name: &Range<usize>,
    value: &Range<usize>,
    key: FormerKey,
    stays: bool,
) -> Option<String> {
    let (table, last) = key.now.rsplit_once('.')?;
    let (former, _) = key.was.rsplit_once('.')?;
    let statement = Statement::cut(text, name, value, last);
    let rest = &statement.rest;
    let root = DeTable::parse(rest).ok()?;
    let (own, node) = root.get_ref().get_key_value(former)?;
    let own = own.span();
    let header = header(rest, &own).filter(|header| header.is_whole)?;
    let is_empty = match node.get_ref() {
        DeValue::Table(keys) => keys.is_empty(),
        _ => false,
    };
    let commented = above(rest, header.line) < header.line;
    match Home::of(rest, root.get_ref(), table) {
        Home::Nowhere if is_empty && !stays => {
            let mut changed = replaced(rest, &own, table);
            let below = next_line(&changed, own.start);
            let gap = if changed[..below].ends_with('\n') {
                ""
            } else {
                "\n"
            };
            changed.insert_str(below, &format!("{gap}{}", statement.text()));
            Some(changed)
        }
        Home::Nowhere => {
            let mut changed = rest.clone();
            let block = format!("[{table}]\n{}\n", statement.text());
            changed.insert_str(above(rest, header.line), &block);
            Some(changed)
        }
        _ if is_empty && !stays && !commented => {
            let mut end = next_line(rest, own.end);
            if rest[end..].starts_with('\n') {
                end += 1;
            }
            let without = format!("{}{}", &rest[..header.line], &rest[end..]);
            put(&without, table, &statement)
        }
        _ => put(rest, table, &statement),
    }
}

/// A key between the braces of its former table, moved into the present one.
fn out_of_braces(
    text: &str,
    name: &Range<usize>,
    value: &Range<usize>,
    key: FormerKey,
) -> Option<String> {
    let (table, last) = key.now.rsplit_once('.')?;
    let (former, _) = key.was.rsplit_once('.')?;
    let after = text[value.end..].trim_start();
    let (start, end) = match after.strip_prefix(',') {
        Some(after) => (name.start, text.len() - after.trim_start().len()),
        None => {
            let before = text[..name.start].trim_end();
            let before = before.strip_suffix(',').unwrap_or(before);
            (before.len(), value.end)
        }
    };
    let line = line_start(text, name.start);
    if !text[line..].trim_start().starts_with(former) {
        return None;
    }
    let mut statement = Statement {
        rest: format!("{}{}", &text[..start], &text[end..]),
        comments: String::new(),
        has_remark: false,
        line: format!("{last} = {}\n", &text[value.clone()]),
    };
    let root = DeTable::parse(&statement.rest).ok()?;
    match Home::of(&statement.rest, root.get_ref(), table) {
        Home::Nowhere => {
            let line_of_its_own = format!("{table}.{}", statement.line);
            drop(root);
            statement.rest.insert_str(line, &line_of_its_own);
            Some(statement.rest)
        }
        _ => put(&statement.rest, table, &statement),
    }
}
