//! What a bibliography needs to know of a paper.

use serde::Deserialize;

/// A paper as a bibliography lists it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Citation {
    /// What it is.
    pub kind: PublicationKind,
    /// Its authors in order, given names or initials first.
    pub authors: Vec<String>,
    /// Its title alone.
    pub title: String,
    /// The conference, journal, university or institution.
    pub venue: String,
    /// When it appeared.
    pub year: u16,
}

/// What a paper is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PublicationKind {
    /// In the proceedings of a conference.
    Conference,
    /// In a journal.
    Journal,
    /// A technical report.
    Report,
    /// A doctoral thesis.
    Dissertation,
    /// A thesis for another degree.
    Thesis,
}

impl PublicationKind {
    /// The kind of its entry in BibTeX, and the field that has the venue.
    #[must_use]
    pub fn bibtex(self) -> (&'static str, &'static str) {
        match self {
            Self::Conference => ("inproceedings", "booktitle"),
            Self::Journal => ("article", "journal"),
            Self::Report => ("techreport", "institution"),
            Self::Dissertation => ("phdthesis", "school"),
            Self::Thesis => ("mastersthesis", "school"),
        }
    }
}
