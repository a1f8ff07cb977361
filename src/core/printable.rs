//! Text from files that are not ours, made fit for terminals and pages; numbers for people.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory as _};

/// Whether a character does something else than to show a letter: it moves a terminal's cursor or
/// changes its title, turns the direction of reading, makes a page invalid, or is not seen at all.
/// These are Unicode's category *Other* (control, format, private use, unassigned), separators of
/// lines and paragraphs, and letters without a shape. Line ends and tabs are not harmful; a
/// carriage return is.
///
/// ```
/// use bookahead_core::printable::is_harmful;
/// assert!(is_harmful('\u{1b}') && is_harmful('\r') && is_harmful('\u{202e}') && is_harmful('\u{200b}'));
/// assert!(!is_harmful('\n') && !is_harmful('ä') && !is_harmful('世'));
/// ```
#[must_use]
pub fn is_harmful(letter: char) -> bool {
    if letter.is_ascii() {
        return letter.is_ascii_control() && !matches!(letter, '\n' | '\t');
    }
    match letter.general_category() {
        GeneralCategory::LineSeparator | GeneralCategory::ParagraphSeparator => true,
        _ if letter.general_category_group() == GeneralCategoryGroup::Other => true,
        // The grapheme joiner, fillers, inherent vowels, and selectors that can carry hidden bytes.
        _ => matches!(letter,
            '\u{34f}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{3164}' | '\u{ffa0}' | '\u{e0100}'..='\u{e01ef}'),
    }
}

/// The text without [harmful](is_harmful) characters: each becomes question marks of the same
/// length in bytes, so that places in the text stay where they are. The carriage return of a line
/// end of Windows becomes a space.
///
/// ```
/// assert_eq!(bookahead_core::printable::printable("a\u{1b}[31m b\r\n"), "a?[31m b \n");
/// ```
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\r' if letters.peek() == Some(&'\n') => clean.push(' '),
            letter if is_harmful(letter) => {
                clean.extend(std::iter::repeat_n('?', letter.len_utf8()))
            }
            letter => clean.push(letter),
        }
    }
    Cow::Owned(clean)
}

/// The same on one line: for names and values within a sentence, which must not begin a line of
/// their own.
///
/// ```
/// assert_eq!(bookahead_core::printable::one_line("a\nerror: b\tc"), "a error: b c");
/// ```
#[must_use]
pub fn one_line(text: &str) -> Cow<'_, str> {
    let clean = printable(text);
    match clean.contains(['\n', '\t']) {
        true => Cow::Owned(clean.replace(['\n', '\t'], " ")),
        false => clean,
    }
}

/// JSON whose strings write [harmful](is_harmful) characters as `\u` escapes: the same values for a
/// program, nothing that acts on a terminal. `json` is JSON without carriage returns between its
/// values.
///
/// ```
/// assert_eq!(bookahead_core::printable::json("[\"a\u{202e}b\"]".to_owned()), r#"["a\u202eb"]"#);
/// ```
#[must_use]
pub fn json(json: String) -> String {
    if !json.contains(is_harmful) {
        return json;
    }
    let mut escaped = String::with_capacity(json.len());
    for letter in json.chars() {
        if is_harmful(letter) {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(letter);
        }
    }
    escaped
}

/// Rounded, with commas between thousands.
#[must_use]
pub fn grouped(value: f64, decimals: usize) -> String {
    let rounded = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = rounded.split_once('.').unwrap_or((&rounded, ""));
    let mut text = String::new();
    // No minus before a number that rounds to nothing.
    if value < 0.0
        && rounded
            .bytes()
            .any(|digit| digit.is_ascii_digit() && digit != b'0')
    {
        text.push('-');
    }
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if !fraction.is_empty() {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmful_characters_become_question_marks_of_the_same_length() {
        let text = "\u{1b}]0;title\u{7} \u{9b}2J\tä\n\r\u{7f}\u{202e}x\r\n";
        let clean = printable(text);
        assert_eq!(clean, "?]0;title? ??2J\tä\n?????x \n");
        assert_eq!(clean.len(), text.len());
        assert!(matches!(printable("plain ä\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn whatever_turns_the_direction_or_is_not_seen_is_harmful() {
        let turning = ('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}');
        let marks = [
            '\u{200e}', '\u{200f}', '\u{61c}', '\u{2028}', '\u{2029}', '\u{85}',
        ];
        let unseen = [
            '\u{200b}',
            '\u{200d}',
            '\u{2060}',
            '\u{feff}',
            '\u{ad}',
            '\u{3164}',
            '\u{e0041}',
        ];
        let others = ['\u{e000}', '\u{ffff}', '\u{10ffff}', '\u{378}'];
        for letter in turning.chain(marks).chain(unseen).chain(others) {
            assert!(is_harmful(letter), "{letter:?}");
        }
        for letter in "aä世ไทยעברית عربي ❤\u{fe0f}…─│×→±≤🦀".chars()
        {
            assert!(!is_harmful(letter), "{letter:?}");
        }
    }

    #[test]
    fn json_keeps_its_values_with_escapes() {
        let value = serde_json::json!({"a\u{9b}": "\u{1b}\u{202e}\u{e0041}\r\n", "b": ["ä"]});
        let text = json(serde_json::to_string_pretty(&value).unwrap());
        assert!(!text.contains(is_harmful), "{text}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).unwrap(),
            value
        );
    }

    #[test]
    fn numbers_are_rounded_and_have_commas_between_thousands() {
        assert_eq!(grouped(28_279.6, 0), "28,280");
        assert_eq!(grouped(-1_234_567.25, 1), "-1,234,567.2");
        assert_eq!(grouped(999.0, 2), "999.00");
        assert_eq!(grouped(-0.04, 1), "0.0");
    }
}
