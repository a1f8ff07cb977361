//! Which files may be shown when they are wrong.
//!
//! A file can be named by somebody else: a link in a shared folder, a name in an experiment. What
//! it holds may be for its owner alone, so an error shows lines, keys and values only of a file
//! that is recognised as one of ours: TOML with a table of ours that has one of its keys. Of any
//! other file an error says the place alone.

use toml::de::{DeTable, DeValue};

/// Whether TOML has a table of ours with one of its keys, however wrong the rest is. `is_key` knows
/// the keys by their dotted paths.
#[must_use]
pub fn is_ours(text: &str, is_key: impl Fn(&str) -> bool) -> bool {
    let (root, _) = DeTable::parse_recoverable(text);
    has_our_table(root.get_ref(), &is_key)
}

/// The same of TOML that was read.
pub fn has_our_table(root: &DeTable<'_>, is_key: &impl Fn(&str) -> bool) -> bool {
    root.iter().any(|(name, node)| {
        let is_of_ours = |table: &DeTable<'_>| {
            (table.keys()).any(|key| is_key(&format!("{}.{}", name.get_ref(), key.get_ref())))
        };
        match node.get_ref() {
            DeValue::Table(table) => is_of_ours(table),
            DeValue::Array(list) => list.iter().any(|element| match element.get_ref() {
                DeValue::Table(table) => is_of_ours(table),
                _ => false,
            }),
            _ => false,
        }
    })
}

/// What is said of TOML that cannot be read: the error with its lines where the file [`is_ours`],
/// else the line's number and `expected`, which says what the file should be.
#[must_use]
pub fn told(
    error: &toml::de::Error,
    text: &str,
    expected: &str,
    is_key: impl Fn(&str) -> bool,
) -> String {
    if is_ours(text, is_key) {
        return error.to_string();
    }
    let place = error.span().unwrap_or(0..0);
    let before = text.get(..place.start).unwrap_or(text);
    let line = 1 + before.matches('\n').count();
    format!("line {line} cannot be read: {expected}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(path: &str) -> bool {
        matches!(path, "fields.submit" | "class.nodes")
    }

    #[test]
    fn a_file_is_ours_by_a_table_with_one_of_its_keys() {
        for text in [
            "[fields]\nsubmit = 1",
            "wrong = \n[fields]\nsubmit = 1",
            "[[class]]\nname = 1\n[[class]]\nnodes = 3",
        ] {
            assert!(is_ours(text, known), "{text}");
        }
        for text in [
            "",
            "root:$6$secret:19000::",
            "fields = 1",
            "[fields]\ntoken = \"secret\"",
            "[registry]\nsubmit = \"secret\"",
            "class = [\"nodes\"]",
        ] {
            assert!(!is_ours(text, known), "{text}");
        }
    }

    #[test]
    fn an_error_in_a_file_that_is_not_ours_shows_nothing_of_it() {
        let secret = "a = 1\ntoken = hunter2";
        let error = toml::from_str::<toml::Table>(secret).unwrap_err();
        let told = told(&error, secret, "this must be a mapping", known);
        assert_eq!(told, "line 2 cannot be read: this must be a mapping");
    }
}
