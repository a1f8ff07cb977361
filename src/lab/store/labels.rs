//! What people say of runs: tags, by which runs are found, and a note. No result depends on either.

use std::fmt;
use std::str::FromStr;

use rusqlite::{Connection, Row, params};

use super::runs::immediate;
use super::{RunId, Store, StoreError};

/// Characters of a tag at most.
const LONGEST_TAG: usize = 40;

/// A word by which runs are found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tag(String);

/// Why a text is no tag.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a tag is a word of 1 to {LONGEST_TAG} characters without spaces and commas that does not begin with `-`"
)]
pub struct TagError;

impl FromStr for Tag {
    type Err = TagError;

    fn from_str(text: &str) -> Result<Self, TagError> {
        let is_refused =
            |letter: char| letter.is_whitespace() || letter.is_control() || letter == ',';
        let is_tag = (1..=LONGEST_TAG).contains(&text.chars().count())
            && !text.starts_with('-')
            && !text.contains(is_refused);
        if is_tag {
            Ok(Self(text.to_owned()))
        } else {
            Err(TagError)
        }
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Tag {
    /// The word.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What people say of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunLabels {
    /// Its tags, in the order of the alphabet.
    pub tags: Vec<String>,
    /// Its note.
    pub note: Option<String>,
}

impl RunLabels {
    /// The columns of a question about the run `r` that [`RunLabels::read`] wants.
    pub(super) const COLUMNS: &'static str = "(SELECT group_concat(x.tag, ',') FROM \
        (SELECT t.tag FROM run_tag t WHERE t.run = r.id ORDER BY t.tag) x), \
        (SELECT n.note FROM run_note n WHERE n.run = r.id)";

    pub(super) fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        let tags: Option<String> = row.get(first)?;
        Ok(Self {
            tags: tags
                .iter()
                .flat_map(|tags| tags.split(','))
                .map(str::to_owned)
                .collect(),
            note: row.get(first + 1)?,
        })
    }
}

impl Store {
    /// Gives a run these tags beside those that it has.
    ///
    /// # Errors
    ///
    /// When the store cannot be written, or has no such run any more.
    pub fn tag(&self, run: RunId, tags: &[Tag]) -> Result<RunLabels, StoreError> {
        self.label(run, |connection| {
            let mut insert = connection
                .prepare("INSERT INTO run_tag (run, tag) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?;
            for tag in tags {
                insert.execute(params![run.0, tag.as_str()])?;
            }
            Ok(())
        })
    }

    /// Takes these tags from a run, where it has them.
    ///
    /// # Errors
    ///
    /// When the store cannot be written, or has no such run any more.
    pub fn untag(&self, run: RunId, tags: &[Tag]) -> Result<RunLabels, StoreError> {
        self.label(run, |connection| {
            let mut delete =
                connection.prepare("DELETE FROM run_tag WHERE run = ?1 AND tag = ?2")?;
            for tag in tags {
                delete.execute(params![run.0, tag.as_str()])?;
            }
            Ok(())
        })
    }

    /// Puts a note to a run in the place of the one that it had; an empty one takes it away.
    ///
    /// # Errors
    ///
    /// When the store cannot be written, or has no such run any more.
    pub fn set_note(&self, run: RunId, note: &str) -> Result<RunLabels, StoreError> {
        self.label(run, |connection| {
            connection.execute("DELETE FROM run_note WHERE run = ?1", [run.0])?;
            if !note.is_empty() {
                connection.execute(
                    "INSERT INTO run_note (run, note) VALUES (?1, ?2)",
                    params![run.0, note],
                )?;
            }
            Ok(())
        })
    }

    /// Changes the labels of a run in one transaction; returns what they are then.
    fn label(
        &self,
        run: RunId,
        change: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    ) -> Result<RunLabels, StoreError> {
        let sql = |error| self.error("changing tags and notes", error);
        let transaction = immediate(&self.connection).map_err(sql)?;
        // Another program may have taken the run away since somebody looked.
        self.require_run(run)?;
        change(&transaction).map_err(sql)?;
        let columns = RunLabels::COLUMNS;
        let labels = transaction
            .query_row(
                &format!("SELECT {columns} FROM run r WHERE r.id = ?1"),
                [run.0],
                |row| RunLabels::read(row, 0),
            )
            .map_err(sql)?;
        transaction.commit().map_err(sql)?;
        Ok(labels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_a_word() {
        for word in ["paper", "night-12", "ρ=1", &"x".repeat(LONGEST_TAG)] {
            assert_eq!(
                word.parse::<Tag>().map(|tag| tag.to_string()),
                Ok(word.to_owned())
            );
        }
        for text in [
            "",
            "two words",
            "a,b",
            "-x",
            "line\nend",
            &"x".repeat(LONGEST_TAG + 1),
        ] {
            assert_eq!(text.parse::<Tag>(), Err(TagError), "{text:?}");
        }
    }
}
