//! The example questions of `docs/schema.md`, for the SQL box: that page is their only source.

use std::sync::LazyLock;

const DOCUMENT: &str = include_str!("../../../docs/schema.md");

/// A question with its answer in SQL.
#[derive(Debug)]
pub(super) struct ExampleQuestion {
    /// What it asks, in words.
    pub(super) title: &'static str,
    /// The same in SQL.
    pub(super) sql: &'static str,
}

/// All of them, in the order of the page.
pub(super) static EXAMPLE_QUESTIONS: LazyLock<Vec<ExampleQuestion>> = LazyLock::new(|| {
    DOCUMENT
        .split("\n```sql\n")
        .collect::<Vec<_>>()
        .windows(2)
        .filter_map(|pair| {
            // `**7. Which jobs …?** (More words.)` stands above its query.
            let title = pair[0].rsplit("\n**").next()?;
            let (number, title) = title.split_once("**")?.0.split_once(". ")?;
            number.parse::<u32>().ok()?;
            let (sql, _) = pair[1].split_once("```")?;
            Some(ExampleQuestion {
                title,
                sql: sql.trim_end(),
            })
        })
        .collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_of_the_page_is_offered_with_its_question() {
        assert_eq!(
            EXAMPLE_QUESTIONS.len(),
            DOCUMENT.matches("\n```sql\n").count()
        );
        assert!(EXAMPLE_QUESTIONS.len() > 30);
        for example in EXAMPLE_QUESTIONS.iter() {
            assert!(example.title.ends_with('?'), "{example:?}");
            let first = example.sql.split_whitespace().next();
            assert!(matches!(first, Some("SELECT" | "WITH")), "{example:?}");
        }
    }
}
