//! `bookahead explain TERM`: what a word of reports means.

use super::list::keys::{self, KeysArguments};
use super::list::metrics::{self, MetricsArguments};
use super::paragraphs::{names, paragraph};
use super::screen::LookError;
use super::studies;
use crate::sweep::keys::{Keys, nearest};
use bookahead_report::glossary::{TERMS, Term, find};

/// Explains a word of reports, a key of experiment files or a quantity.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bookahead explain                      every word
  bookahead explain battery
  bookahead explain penalty ratio
  bookahead explain acceptance.pof_max
  bookahead explain mean_wait")]
pub struct ExplainArguments {
    /// The word, a key or a quantity; without one, all words
    #[arg(value_name = "TERM")]
    pub term: Vec<String>,
}

/// Prints what it means.
///
/// # Errors
///
/// When nothing is called so, or standard output cannot be written.
pub fn execute(arguments: &ExplainArguments) -> Result<(), LookError> {
    let wanted = arguments.term.join(" ");
    let terms: Vec<&Term> = match wanted.as_str() {
        "" => TERMS.iter().collect(),
        word => find(word).into_iter().collect(),
    };
    if !terms.is_empty() {
        return Ok(super::print(&in_paragraphs(&terms))?);
    }
    let known = Keys::of(studies());
    let quantities: Vec<&str> = metrics::all().iter().map(|(name, ..)| *name).collect();
    if quantities.contains(&wanted.as_str()) {
        return metrics::execute(&MetricsArguments { text: Some(wanted) });
    }
    if known.find(&wanted).is_some() || known.former_key(&wanted).is_some() {
        return keys::execute(&KeysArguments {
            table: Some(wanted),
        });
    }
    let words = TERMS.iter().flat_map(words);
    let keys = known.all().map(|key| key.path);
    let all: Vec<&str> = words.chain(keys).chain(quantities).collect();
    let near = nearest(&wanted, &all).map_or_else(
        || "`bookahead explain` lists the words, `bookahead list keys` the keys".to_owned(),
        |near| format!("did you mean `{near}`?"),
    );
    Err(LookError::Use(format!(
        "no word, key or quantity is called `{wanted}`; {near}"
    )))
}

fn words(term: &'static Term) -> impl Iterator<Item = &'static str> {
    [term.name].into_iter().chain(term.others.iter().copied())
}

fn in_paragraphs(terms: &[&Term]) -> String {
    let rows: Vec<(String, Vec<String>)> = (terms.iter())
        .map(|term| {
            let others = match term.others {
                [] => String::new(),
                others => format!("Also: {}. ", others.join(", ")),
            };
            let more = format!("{others}More: {}.", term.page);
            (term.name.to_owned(), vec![term.meaning.to_owned(), more])
        })
        .collect();
    let mut text = String::new();
    if let [_, _, ..] = terms {
        paragraph(&mut text, "Words of reports:");
    }
    names(&mut text, &rows);
    text
}
