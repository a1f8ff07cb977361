//! From what the file says to settings: defaults filled in, ranges and names checked,
//! contradictions found.
//!
//! One function a section, in one file a section. Each returns `None` after it has said what is
//! wrong.

mod early_ends;
mod estimates;
mod failures;
mod policy;
mod reservations;
mod rule;
mod tightness;
mod workload;

use std::collections::BTreeSet;
use std::ops::Range;

use toml::Spanned;

pub use self::failures::LANL_FILE;
pub(super) use self::rule::rule;
pub(crate) use self::{
    estimates::estimates, failures::failures, policy::policy, reservations::reservations,
    workload::workload,
};
use super::raw::{Given, RawHeader};
use super::simulations::Simulations;
use crate::keys::field::{Field, Number};
use crate::keys::problem::{ProblemKind, Problems};
use crate::study::{AnyStudy, Studies};

/// Characters of an experiment's name at most: files are called after it, with something added, and
/// may have 255.
const LONGEST_NAME: usize = 100;

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
    let replications = raw.replications().or_default(problems);
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
    let fits = text.len() <= LONGEST_NAME
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "-_.@".contains(letter));
    if !fits {
        raw.name()
            .refuse("this name cannot be a folder's", problems);
        return None;
    }
    Some(Header {
        name: text.clone(),
        description: raw
            .description
            .as_ref()
            .map(|text| text.get_ref().clone())
            .unwrap_or_default(),
        seed: raw.seed().or_default(problems)?,
        replications: replications?,
    })
}

/// Refuses a primary quantity that studies of this sweep do not measure. Whoever earns something is
/// compared by that.
pub(crate) fn primary(
    raw: Option<&Spanned<RawHeader>>,
    studies: Studies,
    simulations: &Simulations,
    problems: &mut Problems,
) {
    let Some(raw) = raw else { return };
    let field = raw.get_ref().primary();
    let Some(name) = field.given.as_ref().map(|name| name.get_ref().as_str()) else {
        return;
    };
    let strategies: BTreeSet<&str> = (simulations.kinds().iter())
        .map(|spec| spec.scheduling.strategy.as_str())
        .collect();
    for strategy in strategies {
        let study = studies.of_strategy(strategy);
        let earns_nothing = study
            .and_then(AnyStudy::strategy)
            .is_some_and(|known| known.earned.is_none());
        let Some(study) = study.filter(|_| earns_nothing) else {
            problems.add(
                ProblemKind::Conflict,
                field.key.path,
                field.place(),
                format!("`{strategy}` is compared by what is earned with it"),
                "leave it out",
            );
            return;
        };
        let measures: Vec<&str> = study.measures().iter().map(|it| it.name).collect();
        if !measures.contains(&name) {
            problems.add(
                ProblemKind::UnknownName,
                field.key.path,
                field.place(),
                format!("`{strategy}` does not measure `{name}`"),
                crate::keys::suggest(name, &measures),
            );
            return;
        }
    }
}

/// A list that ascends from above 0.
pub(super) fn ascending<N: Number>(
    field: Field<'_, Given<Vec<N>>>,
    problems: &mut Problems,
) -> Option<Vec<N>> {
    let values = field.or_default();
    let rising = values.is_sorted_by(|one, next| one.real() < next.real());
    if !rising || values.first().is_none_or(|first| first.real() < 1.0) {
        let message = "this list is empty or does not ascend from above 0";
        field.refuse(message, problems);
        return None;
    }
    Some(values)
}

pub(super) fn first_span<T>(given: &[&Given<T>], otherwise: &Range<usize>) -> Range<usize> {
    given
        .iter()
        .find_map(|value| value.as_ref().map(Spanned::span))
        .unwrap_or_else(|| otherwise.clone())
}
