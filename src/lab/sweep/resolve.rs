//! From what the file says to settings: defaults filled in, ranges and names checked, contradictions found.
//!
//! One function a section, in one file a section. Each returns `None` after it has said what is wrong.

mod estimates;
mod failures;
mod policy;
mod workload;

use std::ops::{Range, RangeInclusive};

use toml::Spanned;

pub use self::failures::LANL_FILE;
pub(crate) use self::{
    estimates::estimates, failures::failures, policy::policy, workload::workload,
};
use super::keys;
use super::problem::{ProblemKind, Problems};
use super::raw::{Given, RawHeader};

/// `[experiment]`, resolved.
pub(crate) struct Header {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) seed: u64,
    pub(crate) replications: u32,
}

pub(crate) fn header(raw: Option<&Spanned<RawHeader>>, problems: &mut Problems) -> Option<Header> {
    let Some(raw) = raw else {
        let help = "every experiment begins with [experiment] and its name";
        problems.add(
            ProblemKind::Missing,
            "experiment.name",
            0..0,
            "the experiment has no name",
            help,
        );
        return None;
    };
    let place = raw.span();
    let raw = raw.get_ref();
    let replications = at_least("experiment.replications", &raw.replications, 1, 1, problems);
    let Some(name) = &raw.name else {
        let help = "add `name = \"…\"`";
        problems.add(
            ProblemKind::Missing,
            "experiment.name",
            place,
            "the experiment has no name",
            help,
        );
        return None;
    };
    let text = name.get_ref();
    let fits = text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "-_.@".contains(letter));
    if !fits {
        out_of_range(
            "experiment.name",
            name.span(),
            "this name cannot be a folder's",
            problems,
        );
        return None;
    }
    Some(Header {
        name: text.clone(),
        description: raw
            .description
            .as_ref()
            .map(|text| text.get_ref().clone())
            .unwrap_or_default(),
        seed: raw.seed.as_ref().map_or(1, |seed| *seed.get_ref()),
        replications: replications?,
    })
}

pub(super) fn allowed(key: &str) -> String {
    keys::find(key).map_or_else(|| "see the table of keys".to_owned(), keys::Key::allowed)
}

pub(crate) fn out_of_range(key: &str, span: Range<usize>, message: &str, problems: &mut Problems) {
    problems.add(
        ProblemKind::OutOfRange,
        key,
        span,
        message,
        format!("allowed: {}", allowed(key)),
    );
}

pub(crate) fn unknown_name(
    key: &str,
    name: &Spanned<String>,
    known: &[&str],
    problems: &mut Problems,
) {
    let message = format!("`{}` is not known here", name.get_ref());
    let help = keys::suggest(name.get_ref(), known);
    problems.add(ProblemKind::UnknownName, key, name.span(), message, help);
}

pub(crate) fn at_least(
    key: &str,
    given: &Given<u32>,
    default: u32,
    least: u32,
    problems: &mut Problems,
) -> Option<u32> {
    match given {
        Some(value) if *value.get_ref() < least => {
            let message = format!("{} is too small", value.get_ref());
            out_of_range(key, value.span(), &message, problems);
            None
        }
        Some(value) => Some(*value.get_ref()),
        None => Some(default),
    }
}

pub(crate) fn real(
    key: &str,
    given: &Given<f64>,
    default: f64,
    fits: impl Fn(f64) -> bool,
    problems: &mut Problems,
) -> Option<f64> {
    match given {
        Some(value) if !value.get_ref().is_finite() || !fits(*value.get_ref()) => {
            let message = format!("{} is impossible", value.get_ref());
            out_of_range(key, value.span(), &message, problems);
            None
        }
        Some(value) => Some(*value.get_ref()),
        None => Some(default),
    }
}

pub(super) fn ascending<T: Copy + PartialOrd + From<u8>>(
    key: &str,
    given: &Given<Vec<T>>,
    default: &[T],
    problems: &mut Problems,
) -> Option<Vec<T>> {
    match given {
        None => Some(default.to_vec()),
        Some(list) => {
            let values = list.get_ref();
            let rising = values.windows(2).all(|pair| pair[0] < pair[1]);
            if values.is_empty() || !rising || values[0] < T::from(1) {
                out_of_range(
                    key,
                    list.span(),
                    "this list is empty or does not ascend from above 0",
                    problems,
                );
                return None;
            }
            Some(values.clone())
        }
    }
}

pub(super) fn first_span<T>(given: &[&Given<T>], otherwise: &Range<usize>) -> Range<usize> {
    given
        .iter()
        .find_map(|value| value.as_ref().map(Spanned::span))
        .unwrap_or_else(|| otherwise.clone())
}

pub(crate) fn whole(
    key: &str,
    given: &Given<u32>,
    default: u32,
    range: RangeInclusive<u32>,
    problems: &mut Problems,
) -> Option<u32> {
    match given {
        None => Some(default),
        Some(value) if range.contains(value.get_ref()) => Some(*value.get_ref()),
        Some(value) => {
            let message = format!("{} is impossible", value.get_ref());
            out_of_range(key, value.span(), &message, problems);
            None
        }
    }
}
