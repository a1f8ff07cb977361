//! What the operators of a machine could do, by what the sections of the page found.

use super::Section;

/// Recommendations on a page.
pub(super) const MOST: usize = 3;

/// Something that the operators of a machine could do, and what it would change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recommendation {
    /// What to do, in the imperative.
    pub what: String,
    /// What it changes, how much, and how sure that is.
    pub effect: String,
    /// Where it is set in Slurm, or that it cannot be.
    pub how: String,
    /// The section of the page that it follows from.
    pub section: &'static str,
}

impl Recommendation {
    /// As one paragraph.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{} {} {}", self.what, self.effect, self.how)
    }
}

/// Said where nothing is recommended.
pub(super) const NONE: &str = "Nothing is recommended: no change that was simulated makes a significant difference for the better.";

/// Recommendations as numbered paragraphs; without any, that there are none.
#[must_use]
pub fn in_words(recommendations: &[Recommendation]) -> Vec<String> {
    if recommendations.is_empty() {
        return vec![NONE.to_owned()];
    }
    let numbered = (1..).zip(recommendations);
    numbered
        .map(|(number, one)| format!("{number}. {}", one.text()))
        .collect()
}

/// The first recommendations of the sections, in their order.
pub(super) fn of(sections: &[Section<'_>]) -> Vec<Recommendation> {
    let found = sections
        .iter()
        .flat_map(|section| section.recommendations.clone());
    found.take(MOST).collect()
}
