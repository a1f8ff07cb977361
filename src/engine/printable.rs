//! Text from files that are not ours, made fit for terminals and pages.

use std::borrow::Cow;

/// The text without control characters, which could move a terminal's cursor, change its title or make a page invalid: each becomes
/// question marks of the same length in bytes, so that places in the text stay where they are. Line ends and tabs stay.
///
/// ```
/// assert_eq!(bookahead_engine::printable::printable("a\u{1b}[31m b\n"), "a?[31m b\n");
/// ```
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_harmful = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t' | '\r');
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let letters = text.chars().map(|letter| match is_harmful(letter) {
        true => "?".repeat(letter.len_utf8()),
        false => letter.to_string(),
    });
    Cow::Owned(letters.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_question_marks_of_the_same_length() {
        let text = "\u{1b}]0;title\u{7} \u{9b}2J\tä\n\r\u{7f}";
        let clean = printable(text);
        assert_eq!(clean, "?]0;title? ??2J\tä\n\r?");
        assert_eq!(clean.len(), text.len());
        assert!(matches!(printable("plain ä\n"), Cow::Borrowed(_)));
    }
}
