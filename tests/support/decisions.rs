//! The ids of decisions (A-35, AMB-4, Q12) and their links in pages for people.

use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The page that has a row for each decision.
pub const PAGE: &str = include_str!("../../docs/decisions.md");

/// Algorithms of co-reservation have the same names: such a mention is a link where its page says
/// so.
const ALSO_ALGORITHMS: [&str; 5] = ["A1", "A2", "A3", "A4", "A5"];

/// The ids whose rows have an anchor.
static IDS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let rows = PAGE.split("| <a id=\"").skip(1);
    rows.filter_map(|row| Some(row.split_once("</a>")?.1.split_once(" | ")?.0))
        .collect()
});

/// Whether a decision is called so.
pub fn is_decision(name: &str) -> bool {
    IDS.contains(name)
}

/// Whether a line is the target of such a link.
fn is_target(line: &str) -> bool {
    let target = line.split_once("]: ").map(|(_, target)| target);
    line.starts_with('[')
        && target.is_some_and(|target| {
            target
                .trim_start_matches("../")
                .starts_with("decisions.md#")
        })
}

/// A piece of prose with each id in brackets; adds those in brackets to `found`.
fn prose(text: &str, found: &mut BTreeSet<String>) -> String {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let mut linked = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let in_brackets = linked.ends_with('[') && after.starts_with(']');
        if is_decision(word) && (in_brackets || !ALSO_ALGORITHMS.contains(&word)) {
            found.insert(word.to_owned());
            match in_brackets {
                true => linked.push_str(word),
                false => linked.push_str(&format!("[{word}]")),
            }
        } else {
            linked.push_str(word);
        }
        let next = after.find(is_part).unwrap_or(after.len());
        linked.push_str(&after[..next]);
        rest = &after[next..];
    }
    linked
}

/// A page in which every mention of a decision outside of code and headings is a link, with the
/// targets at its end; `up` leads from its folder to that of the page of decisions.
pub fn linked(page: &str, up: &str) -> String {
    let mut found = BTreeSet::new();
    let mut in_block = false;
    let mut text = String::new();
    for line in page.lines().filter(|line| !is_target(line)) {
        let is_fence = line.trim_start().starts_with("```");
        in_block ^= is_fence;
        if in_block || is_fence || line.starts_with('#') {
            text.push_str(line);
        } else {
            // What stands between the first and the second backtick is code, and so on.
            let pieces: Vec<String> = (line.split('`').enumerate())
                .map(|(number, piece)| match number % 2 {
                    0 => prose(piece, &mut found),
                    _ => piece.to_owned(),
                })
                .collect();
            text.push_str(&pieces.join("`"));
        }
        text.push('\n');
    }
    let text = text.trim_end();
    let targets: String = found
        .iter()
        .map(|name| format!("[{name}]: {up}decisions.md#{}\n", name.to_lowercase()))
        .collect();
    match targets.is_empty() {
        true => format!("{text}\n"),
        false => format!("{text}\n\n{targets}"),
    }
}
