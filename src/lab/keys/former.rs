//! Keys that have another name now: one concept has one key in every study.
//!
//! They are declared beside the keys of the table in which they stood
//! ([`section!`](crate::section)). [`Keys::former`](crate::sweep::keys::Keys::former) has all of
//! them, for whoever meets one: checks of experiment files, their rewriting
//! ([`rewritten`](crate::sweep::rewritten)), and readers of stores, whose runs have axes by the
//! name of their day.

/// A key that another one took the place of, with the same meaning and the same values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormerKey {
    /// The dotted path that it had.
    pub was: &'static str,
    /// The dotted path that is written now.
    pub now: &'static str,
}

impl FormerKey {
    /// What is wrong with it, for a file that has it.
    pub const MESSAGE: &'static str = "this key has another name now";

    /// What to write instead.
    #[must_use]
    pub fn help(self) -> String {
        let now = self.now;
        match now.rsplit_once('.') {
            Some((table, name)) => format!(
                "write `{name} = …` below [{table}], or `{now}` on an axis; `bookahead check FILE --fix` rewrites the file"
            ),
            None => format!("write `{now}`; `bookahead check FILE --fix` rewrites the file"),
        }
    }
}
