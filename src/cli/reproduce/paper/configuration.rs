//! One experiment file of a paper.

use std::path::PathBuf;

/// One experiment file, as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// The stem of its file name, such as `ctc-pof`.
    pub name: String,
    /// Where it was read; `None` for the copy in the program.
    pub path: Option<PathBuf>,
    /// Its text.
    pub text: String,
    /// The reading of the paper that it follows, where that is not the default.
    pub reading: Option<String>,
}

impl Configuration {
    /// How errors and listings call it.
    #[must_use]
    pub fn origin(&self) -> String {
        let file = match &self.path {
            Some(path) => path.display().to_string(),
            None => {
                let stem = self.name.split('@').next().unwrap_or(&self.name);
                format!("{stem}.toml (built in)")
            }
        };
        match &self.reading {
            Some(reading) => format!("{file}, reading {reading}"),
            None => file,
        }
    }

    /// The first paragraph of its opening comment: what it varies and what to look at. A line for
    /// editors (`#:schema`) is none of it.
    #[must_use]
    pub fn summary(&self) -> String {
        let words: Vec<&str> = self
            .text
            .lines()
            .filter(|line| !line.starts_with("#:"))
            .map_while(|line| line.strip_prefix('#'))
            .map(str::trim)
            .take_while(|line| !line.is_empty())
            .collect();
        words.join(" ")
    }
}
