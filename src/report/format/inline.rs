//! Text as parts of a Markdown page. Every text from a store or a file passes through here, and
//! stays text.

use bookahead_core::printable::{one_line, printable};

/// Text within a line, as it stands: no emphasis, code, link, picture, address, HTML or border of a
/// table comes of it.
pub fn text(text: &str) -> String {
    escaped(text, false)
}

/// The text of a link or a picture: as [`text`], and no bracket ends it.
pub fn label(text: &str) -> String {
    escaped(text, true)
}

fn escaped(text: &str, brackets: bool) -> String {
    let clean = one_line(text);
    let mut safe = String::with_capacity(clean.len());
    for (at, letter) in clean.char_indices() {
        let rest = &clean[at + letter.len_utf8()..];
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '[' | ']' if brackets => safe.extend(['\\', letter]),
            letter if acts(letter, &clean[..at], rest) => safe.extend(['\\', letter]),
            letter => safe.push(letter),
        }
    }
    safe
}

/// Whether Markdown would read a character as more than itself.
fn acts(letter: char, before: &str, rest: &str) -> bool {
    let after = rest.chars().next();
    match letter {
        '\\' | '`' | '*' | '~' | '|' | '$' => true,
        // Within a word it is a letter.
        '_' => ![before.chars().next_back(), after]
            .into_iter()
            .all(|beside| beside.is_some_and(char::is_alphanumeric)),
        // The middle of a link or a picture, a definition, or where what stands behind the text may
        // make one.
        ']' => after.is_none_or(|after| matches!(after, '(' | '[' | ':')),
        // Addresses: `http://` and `www.`.
        ':' => rest.starts_with("//"),
        '.' => (before.as_bytes().last_chunk::<3>())
            .is_some_and(|end| end.eq_ignore_ascii_case(b"www")),
        _ => false,
    }
}

/// A sentence with names in it, ours or of a paper's files: as [`text`], but single backticks in
/// pairs make code.
pub fn sentence(sentence: &str) -> String {
    with_code(sentence, text, code)
}

/// A sentence as a cell of a table: no bar ends it.
pub fn cell(sentence: &str) -> String {
    with_code(sentence, text, code_in_cell)
}

/// A sentence whose single backticks in pairs make code; all of it is plain where they are not.
pub fn with_code(
    sentence: &str,
    plain: impl Fn(&str) -> String,
    code: impl Fn(&str) -> String,
) -> String {
    let parts: Vec<&str> = sentence.split('`').collect();
    // An even number of backticks, none beside another.
    let is_paired = parts.len() % 2 == 1;
    let inside = &parts[1..parts.len().max(2) - 1];
    if !is_paired || inside.iter().any(|part| part.trim().is_empty()) {
        return plain(sentence);
    }
    let parts = parts.iter().enumerate();
    parts
        .map(|(at, part)| match at % 2 {
            0 => plain(part),
            _ => code(part),
        })
        .collect()
}

/// Text within an HTML comment, which only a `>` could end.
pub fn comment(text: &str) -> String {
    one_line(text).replace('>', "&gt;")
}

/// Several lines of text in paragraphs, which begin no heading, list, quotation, table or code.
pub(crate) fn paragraphs(words: &str) -> String {
    let clean = printable(words);
    let lines = clean.lines().map(|line| {
        let line = text(line.trim());
        let number = line.chars().take_while(char::is_ascii_digit).count();
        match line[number..].chars().next() {
            Some('#' | '>' | '-' | '+' | '=' | '[') if number == 0 => format!("\\{line}"),
            Some('.' | ')') if number > 0 => {
                let (number, rest) = line.split_at(number);
                format!("{number}\\{rest}")
            }
            _ => line,
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Text as code within a line, but not in a table, where a bar would end its cell: see
/// [`code_in_cell`].
pub fn code(text: &str) -> String {
    let clean = one_line(text);
    // Between more backticks than there are within.
    let fence = "`".repeat(longest_run(&clean) + 1);
    let room = if fence.len() > 1 { " " } else { "" };
    format!("{fence}{room}{clean}{room}{fence}")
}

/// Text as code within a cell of a table.
pub fn code_in_cell(text: &str) -> String {
    code(text).replace('|', r"\|")
}

/// Lines of text as code of a language.
pub(crate) fn block(language: &str, text: &str) -> String {
    let clean = printable(text);
    let fence = "`".repeat((longest_run(&clean) + 1).max(3));
    format!("{fence}{language}\n{}\n{fence}", clean.trim_end())
}

fn longest_run(text: &str) -> usize {
    let others = text.split(|letter| letter != '`');
    others.map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_makes_no_link_picture_code_emphasis_or_html() {
        for (given, safe) in [
            ("[a](https://x)", r"[a\](https\://x)"),
            ("![a][b] [c]: d", r"![a\][b] [c\]: d"),
            ("[1, 2] and [3]", r"[1, 2] and [3\]"),
            (
                "www.x.org <b> & `c` low.",
                r"www\.x.org &lt;b> &amp; \`c\` low.",
            ),
            (
                "*a* __b__ c_d ~e~ f|g $h$ \\",
                r"\*a\* \_\_b\_\_ c_d \~e\~ f\|g \$h\$ \\",
            ),
            ("a\r\nb\u{1b}[0m\u{202e}", "a  b?[0m???"),
        ] {
            assert_eq!(text(given), safe);
        }
        assert_eq!(label("a] [b"), r"a\] \[b");
    }

    #[test]
    fn code_has_more_backticks_around_it_than_within() {
        assert_eq!(code("a|b"), "`a|b`");
        assert_eq!(code("a ``b"), "``` a ``b ```");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(block("toml", "a\n"), "```toml\na\n```");
        assert_eq!(block("", "```\n[x](y)"), "````\n```\n[x](y)\n````");
    }

    #[test]
    fn a_sentence_keeps_its_code_unless_its_backticks_are_not_in_pairs() {
        assert_eq!(sentence("See `a_b*` and *c*."), r"See `a_b*` and \*c\*.");
        assert_eq!(sentence("no code"), "no code");
        assert_eq!(sentence("`a` `[x](y)"), r"\`a\` \`[x\](y)");
        assert_eq!(sentence("``a`` [x](y)"), r"\`\`a\`\` [x\](y)");
    }

    #[test]
    fn nothing_ends_a_cell_or_a_comment() {
        assert_eq!(cell("a|b `c|d` [x](y)"), r"a\|b `c\|d` [x\](y)");
        assert_eq!(comment("a --> <b>\n"), "a --&gt; <b&gt; ");
    }

    #[test]
    fn lines_of_a_paragraph_begin_nothing_else() {
        let given = "# a\n- b\n12. c\n    d\n> e\n[f]: g\n```\n\n2 h\n1) i\n---";
        let safe = "\\# a\n\\- b\n12\\. c\nd\n\\> e\n\\[f\\]: g\n\\`\\`\\`\n\n2 h\n1\\) i\n\\---";
        assert_eq!(paragraphs(given), safe);
    }
}
