//! Which differences are judged together: the answer's quantity by itself, all others as one family.
//!
//! Each study declares its primary quantity before anything is run
//! ([`Strategy::primary`](crate::studies::Strategy)), so that reading many others takes nothing
//! from its test. The others are corrected for one another by Holm's method, and those that say
//! the same as another (penalties and forfeited fees at a ratio of 1, accepted and rejected jobs)
//! count once.

use super::differences::Difference;
use crate::report::statistics::holm;

/// With which others a difference is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The primary quantity of the study, in all runs or groups that are compared.
    Primary,
    /// Everything else.
    Others,
}

impl Family {
    /// Its name in tables and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Others => "others",
        }
    }
}

/// What the p-value of a difference is worth beside the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// With which others it was judged.
    pub family: Family,
    /// Its p-value after Holm's correction in its family.
    pub adjusted: f64,
    /// The quantity before it whose test it repeats; `None` where it counts for itself.
    pub repeats: Option<&'static str>,
}

/// A difference that is to be judged.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'d, 'p> {
    /// The run and the group of points that it is of: only within them one quantity repeats another.
    pub place: (usize, usize),
    /// The name of its quantity.
    pub quantity: &'static str,
    /// The difference.
    pub difference: &'d Difference<'p>,
}

/// Judges differences that are read together; `None` for those without a p-value.
#[must_use]
pub fn judge(candidates: &[Candidate<'_, '_>], primary: &str) -> Vec<Option<Judgement>> {
    // The primary quantity is looked at first, so that others repeat it and never it them.
    let mut order: Vec<usize> = (0..candidates.len())
        .filter(|at| candidates[*at].difference.p_value().is_some())
        .collect();
    order.sort_by_key(|at| candidates[*at].quantity != primary);
    let mut judged: Vec<Option<Judgement>> = vec![None; candidates.len()];
    let mut distinct: Vec<usize> = Vec::new();
    let mut repeating: Vec<(usize, usize)> = Vec::new();
    for at in order {
        let own = &candidates[at];
        let original = distinct.iter().copied().find(|earlier| {
            let other = &candidates[*earlier];
            other.place == own.place && own.difference.repeats(other.difference)
        });
        match original {
            Some(original) => repeating.push((at, original)),
            None => distinct.push(at),
        }
    }
    for family in [Family::Primary, Family::Others] {
        let is_primary = family == Family::Primary;
        let members: Vec<usize> = (distinct.iter().copied())
            .filter(|at| (candidates[*at].quantity == primary) == is_primary)
            .collect();
        let p_values: Vec<f64> = (members.iter())
            .filter_map(|at| candidates[*at].difference.p_value())
            .collect();
        for (at, adjusted) in members.into_iter().zip(holm(&p_values)) {
            judged[at] = Some(Judgement {
                family,
                adjusted,
                repeats: None,
            });
        }
    }
    for (at, original) in repeating {
        judged[at] = judged[original].map(|judgement| Judgement {
            repeats: Some(candidates[original].quantity),
            ..judgement
        });
    }
    judged
}

/// How many distinct differences a family has.
#[must_use]
pub fn distinct(judged: &[Option<Judgement>], family: Family) -> usize {
    let mut members = 0;
    for judgement in judged.iter().flatten() {
        members += usize::from(judgement.family == family && judgement.repeats.is_none());
    }
    members
}
