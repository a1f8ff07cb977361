//! Comments and pages for people wrap at a hundred columns, so that they are read beside other
//! things.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::pages::project;

const COLUMNS: usize = 100;

/// Folders that hold no text of ours: build results, stores, pages that the program writes.
const PASSED_OVER: [&str; 5] = [".git", "target", "data", "reports", "goldens"];

fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let (path, name) = (entry.path(), entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            if !PASSED_OVER.iter().any(|passed| name == *passed) {
                files(&path, extension, found);
            }
        } else if path.extension().is_some_and(|known| known == extension) {
            found.push(path);
        }
    }
}

/// Whether a line is too long although it could be broken: at a space outside of code, behind its
/// first word.
fn is_too_long(line: &str) -> bool {
    if line.chars().count() <= COLUMNS {
        return false;
    }
    let text = line.trim_start_matches([' ', '/', '!', '*', '-']);
    let indent = line.chars().count() - text.chars().count();
    let mut in_code = false;
    let mut breaks = text.chars().enumerate().filter(|(_, letter)| {
        in_code ^= *letter == '`';
        *letter == ' ' && !in_code
    });
    breaks.any(|(column, _)| indent + column <= COLUMNS)
}

/// Whether a line may be long: a row of a table, a heading, the target of a link, a piece of HTML.
fn is_whole(text: &str) -> bool {
    let target = text.starts_with('[') && text.contains("]: ");
    target || text.starts_with(['|', '#', '<'])
}

/// The lines of prose in a page, or in a comment of one kind, that are too long.
fn too_long<'t>(lines: impl Iterator<Item = (usize, &'t str, &'t str)>) -> Vec<usize> {
    let mut in_block = false;
    let mut found = Vec::new();
    for (number, line, text) in lines {
        if text.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block
            && !text.starts_with("    ")
            && !is_whole(text.trim_start())
            && is_too_long(line)
        {
            found.push(number);
        }
    }
    found
}

fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines())
}

fn assert_none(kind: &str, extension: &str, find: impl Fn(&str) -> Vec<usize>) {
    let mut paths = Vec::new();
    files(project(), extension, &mut paths);
    assert!(paths.len() > 20, "{} {kind}", paths.len());
    let long: Vec<String> = paths
        .iter()
        .flat_map(|path| {
            let text = fs::read_to_string(path).expect("text");
            let lines = find(&text).into_iter();
            let lines = lines.map(|line| format!("{}:{line}", path.display()));
            lines.collect::<Vec<_>>()
        })
        .collect();
    assert!(
        long.is_empty(),
        "{} lines of {kind} are longer than {COLUMNS} columns:\n{}",
        long.len(),
        long.join("\n")
    );
}

#[test]
fn pages_for_people_wrap_at_a_hundred_columns() {
    assert_none("pages", "md", |text| {
        too_long(numbered(text).map(|(number, line)| (number, line, line)))
    });
}

#[test]
fn comments_wrap_at_a_hundred_columns() {
    assert_none("comments", "rs", |text| {
        let comments = numbered(text).filter_map(|(number, line)| {
            let comment = line.trim_start().strip_prefix("//")?;
            let comment = comment.strip_prefix(['/', '!']).unwrap_or(comment);
            Some((number, line, comment.strip_prefix(' ').unwrap_or(comment)))
        });
        too_long(comments)
    });
}

#[test]
fn a_line_is_too_long_only_where_it_can_be_broken() {
    let words = "word ".repeat(21);
    assert!(is_too_long(&words) && is_too_long(&format!("    /// {words}")));
    assert!(!is_too_long(words.trim_end_matches("word ")));
    assert!(!is_too_long(&format!("//! <{}>", "x".repeat(120))));
    assert!(!is_too_long(&format!("`{words}`")));
    let one = |text: &str| too_long(numbered(text).map(|(number, line)| (number, line, line)));
    let page =
        format!("{words}\n```\n{words}\n```\n| {words} |\n# {words}\n    {words}\n{words}\n");
    assert_eq!(one(&page), [1, 8]);
}
