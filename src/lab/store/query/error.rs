//! Why a question has no answer, and what a question may take.

use crate::store::StoreError;

/// What SQLite may take of the memory for a question; what does not fit is sorted on the disk.
pub(super) const MOST_MEMORY_BYTES: u64 = 1 << 30;

/// The longest text and the longest blob that a question may make.
pub(super) const LONGEST_VALUE_BYTES: i32 = 64 << 20;

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The text is not SQL, or names something that is not there.
    #[error("{message}{}", shown(.sql, *.offset, .near))]
    Wrong {
        /// What SQLite said.
        message: String,
        /// The question.
        sql: String,
        /// Byte where the trouble begins, where known.
        offset: Option<usize>,
        /// Names that are like the unknown one, most alike first.
        near: Vec<String>,
    },
    /// It would write, or reach for another file.
    #[error(
        "`{word}` is refused: `bookahead sql` only reads, so that no question can change a store; \
         begin with SELECT, WITH, VALUES or EXPLAIN (or PRAGMA table_info(TABLE)); to change a copy use the program sqlite3"
    )]
    Refused {
        /// The word or statement that is refused.
        word: String,
    },
    /// More than one statement, or none.
    #[error("{0}: give one statement; several questions are several calls")]
    NotOne(&'static str),
    /// Ended by what [`Store::stop_when`](crate::store::Store::stop_when) was given.
    #[error("interrupted")]
    Interrupted,
    /// It asks for more than a question may take.
    #[error(
        "the question asks for more memory than it may take ({} MB, {} MB for one value): ask for fewer rows or columns at once",
        MOST_MEMORY_BYTES >> 20, LONGEST_VALUE_BYTES >> 20
    )]
    TooMuch,
    /// The store itself.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Whoever takes the rows failed.
    #[error("{0}")]
    Output(#[from] std::io::Error),
}

/// The question with a mark below the place, and the near names.
fn shown(sql: &str, offset: Option<usize>, near: &[String]) -> String {
    let mut text = String::new();
    if let Some(offset) = offset.filter(|offset| sql.is_char_boundary(*offset)) {
        let begin = sql[..offset].rfind('\n').map_or(0, |at| at + 1);
        let end = sql[offset..].find('\n').map_or(sql.len(), |at| offset + at);
        // Long lines are cut around the mark, so that it stays below its place on any screen.
        let before: Vec<char> = sql[begin..offset].chars().collect();
        let skipped = before.len().saturating_sub(50);
        let head: String = before[skipped..].iter().collect();
        let tail: String = sql[offset..end].chars().take(60).collect();
        let lead = if skipped > 0 { "…" } else { "" };
        let line = sql[..offset].matches('\n').count() + 1;
        let gap = " ".repeat(lead.chars().count() + head.chars().count());
        text.push_str(&format!("\n  line {line}: {lead}{head}{tail}\n"));
        text.push_str(&format!(
            "  {}{gap}^",
            " ".repeat(format!("line {line}: ").len())
        ));
    } else if !sql.is_empty() {
        text.push_str(&format!("\n  in: {sql}"));
    }
    if !near.is_empty() {
        text.push_str(&format!("\nnear names: {}", near.join(", ")));
    }
    text
}
