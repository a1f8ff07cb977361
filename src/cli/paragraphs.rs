//! Names with their meanings, wrapped beside them: the output of `strategies`, `keys`, `metrics`
//! and `traces`.

use std::fmt::Write as _;

use super::aligned::screen;

/// Where nobody said how wide the screen is, and at most.
const WIDEST: usize = 100;

/// Names that are longer get a line of their own.
const LONGEST_NAME: usize = 26;

/// Columns for text: those of the screen, at most [`WIDEST`].
pub(super) fn width() -> usize {
    screen().map_or(WIDEST, |screen| screen.clamp(40, WIDEST))
}

/// Adds a paragraph to a text.
pub(super) fn paragraph(text: &mut String, words: &str) {
    for line in textwrap::wrap(words, options(width())) {
        let _ = writeln!(text, "{line}");
    }
}

/// Adds names, each with paragraphs beside it.
pub(super) fn names(text: &mut String, rows: &[(String, Vec<String>)]) {
    let longest = rows.iter().map(|(name, _)| name.chars().count());
    let column = longest
        .filter(|length| *length <= LONGEST_NAME)
        .max()
        .unwrap_or(LONGEST_NAME);
    let indent = " ".repeat(column + 4);
    for (name, paragraphs) in rows {
        let mut first = format!("  {name:column$}  ");
        if name.chars().count() > column {
            let _ = writeln!(text, "  {name}");
            first.clone_from(&indent);
        }
        if paragraphs.is_empty() {
            let _ = writeln!(text, "{}", first.trim_end());
        }
        for (at, words) in paragraphs.iter().enumerate() {
            let options = options(width())
                .initial_indent(if at == 0 { &first } else { &indent })
                .subsequent_indent(&indent);
            for line in textwrap::wrap(words, options) {
                let _ = writeln!(text, "{}", line.trim_end());
            }
        }
    }
}

fn options(width: usize) -> textwrap::Options<'static> {
    textwrap::Options::new(width)
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
}

/// Text for people on a screen of so many columns: lines that are longer go on below, where their
/// second column begins.
pub(super) fn fitted(text: &str, screen: usize) -> String {
    let mut fitted = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches('\n');
        if bare.chars().count() <= screen || bare.starts_with(['{', '[', '"']) {
            fitted.push_str(line);
            continue;
        }
        let lead = bare.chars().take_while(|letter| *letter == ' ').count();
        // `label   words`: the words begin after two spaces or more.
        let column = bare.trim_start().find("  ").map(|gap| {
            let behind = &bare.trim_start()[gap..];
            let gap_end = behind.chars().take_while(|letter| *letter == ' ').count();
            lead + bare.trim_start()[..gap].chars().count() + gap_end
        });
        let indent = column
            .filter(|column| *column <= screen / 2)
            .unwrap_or(lead + 2);
        let begin: String = bare.chars().take(indent).collect();
        let (first, rest) = match column {
            Some(column) if column == indent => (begin, bare.chars().skip(indent).collect()),
            _ => (" ".repeat(lead), bare.trim_start().to_owned()),
        };
        let below = " ".repeat(indent);
        let options = options(screen)
            .initial_indent(&first)
            .subsequent_indent(&below);
        for piece in textwrap::wrap(&rest, options) {
            fitted.push_str(&piece);
            fitted.push('\n');
        }
        if !line.ends_with('\n') {
            fitted.pop();
        }
    }
    fitted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_go_on_below_their_second_column() {
        let text =
            "run   3\naxes  one, two, three and four of them\nno columns but so many words\n";
        assert_eq!(
            fitted(text, 22),
            "run   3\naxes  one, two, three\n      and four of them\nno columns but so many\n  words\n"
        );
        assert_eq!(fitted(text, 80), text);
    }

    #[test]
    fn words_stand_beside_their_name_and_long_names_above_theirs() {
        let mut text = String::new();
        let long = "a-name-that-is-longer-than-the-column".to_owned();
        let words = vec!["word ".repeat(30).trim().to_owned()];
        names(
            &mut text,
            &[("one".to_owned(), words.clone()), (long.clone(), words)],
        );
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("  one  word"), "{text}");
        assert!(lines[1].starts_with("       word"), "{text}");
        assert!(lines.contains(&format!("  {long}").as_str()), "{text}");
        assert!(lines.iter().all(|line| line.len() <= WIDEST), "{text}");
    }
}
