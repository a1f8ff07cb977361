//! Families of differences that are judged together: the answer's quantity alone, and all others.
//!
//! Each study declares its primary quantity before any run
//! ([`Strategy::primary`](bookahead_lab::study::Strategy)), so reading many other quantities does
//! not weaken its test. The others are corrected for one another by Holm's method. Those that say
//! the same as another (penalties and forfeited fees at a ratio of 1, accepted and rejected jobs)
//! count once.

use super::differences::Difference;
use crate::statistics::holm;

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
    /// The run and the group of points that it is of: only within them one quantity repeats
    /// another.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Pairing;
    use crate::comparison::pairs::Points;
    use crate::comparison::quantities::Quantity;
    use crate::statistics::is_shown;
    use bookahead_lab::store::{METRICS, MeasuredPoint};
    use bookahead_studies::STUDIES;
    use bookahead_testutils::runs::seen;

    /// Replications that have 1 of everything but of these metrics.
    fn run(values: &[(&str, [f64; 4])]) -> Vec<MeasuredPoint> {
        let at = |name: &str| METRICS.iter().position(|metric| metric.name == name);
        let point = |replication: u32| {
            let mut all = vec![Some(1.0); METRICS.len()];
            for (name, values) in values {
                all[at(name).unwrap()] = Some(values[replication as usize]);
            }
            MeasuredPoint {
                measured: Vec::new(),
                strategy: "fcfs".to_owned(),
                place: i64::from(replication),
                original: i64::from(replication),
                identity: replication.to_string(),
                simulation: i64::from(replication),
                axes: Vec::new(),
                replication,
                seen: seen(&format!("jobs {replication}"), "none"),
                spec: "{}".into(),
                values: all,
            }
        };
        (0..4).map(point).collect()
    }

    fn judged(one: &[MeasuredPoint], two: &[MeasuredPoint]) -> Vec<(&'static str, Judgement)> {
        let points = |done| Points {
            done,
            unfinished: &[],
            unknown: 0,
        };
        let pairing = Pairing::new(points(one), points(two), false);
        let group = pairing.whole();
        let all = Quantity::all(STUDIES, std::iter::empty());
        let differences: Vec<Difference<'_>> = (all.iter())
            .map(|quantity| Difference::of(quantity, &group))
            .collect();
        let candidates: Vec<Candidate<'_, '_>> = (all.iter().zip(&differences))
            .map(|(quantity, difference)| Candidate {
                place: (0, 0),
                quantity: quantity.name,
                difference,
            })
            .collect();
        let judged = judge(&candidates, "gain");
        let named = all.iter().zip(judged);
        named
            .filter_map(|(quantity, judgement)| Some((quantity.name, judgement?)))
            .collect()
    }

    fn nothing() -> Vec<MeasuredPoint> {
        let names = [
            "gain",
            "forfeited",
            "penalties",
            "accepted",
            "dropped",
            "started",
        ];
        run(&names.map(|name| (name, [0.0; 4])))
    }

    #[test]
    fn the_primary_quantity_is_judged_by_itself_and_what_repeats_a_test_counts_once() {
        let moved = [1.0, 3.0, 2.0, 4.0];
        let found = judged(
            &nothing(),
            &run(&[
                ("gain", [5.0, 9.0, 1.0, 4.0]),
                // The same three times over, in another unit and with another sign.
                ("forfeited", moved),
                ("penalties", moved.map(|value| 1.5 * value)),
                ("accepted", moved.map(|value| -value / 7.0)),
                ("dropped", [2.0, -1.0, 5.0, 1.0]),
                ("started", [0.0; 4]),
            ]),
        );
        let of = |name: &str| {
            let found = found.iter().find(|(own, _)| *own == name);
            found.map(|(_, judgement)| *judgement)
        };
        // t = 4.75 / (3.304 / 2) = 2.875 with three degrees of freedom: p = 0.0638, by itself.
        let gain = of("gain").unwrap();
        assert_eq!((gain.family, gain.repeats), (Family::Primary, None));
        assert!((gain.adjusted - 0.0638).abs() < 5e-4, "{}", gain.adjusted);
        // t = 2.5 / (1.291 / 2) = 3.873: p = 0.0305, of two distinct ones 0.0609; of four it would
        // be 0.122.
        let forfeited = of("forfeited").unwrap();
        assert_eq!(
            (forfeited.family, forfeited.repeats),
            (Family::Others, None)
        );
        assert!(
            (forfeited.adjusted - 0.0609).abs() < 5e-4,
            "{}",
            forfeited.adjusted
        );
        for name in ["penalties", "accepted"] {
            let own = of(name).unwrap();
            assert_eq!(
                (own.repeats, own.adjusted),
                (Some("forfeited"), forfeited.adjusted)
            );
        }
        assert_eq!(of("started"), None, "equal bit by bit");
        let all: Vec<Option<Judgement>> = found.iter().map(|(_, own)| Some(*own)).collect();
        assert_eq!(distinct(&all, Family::Primary), 1);
        assert_eq!(distinct(&all, Family::Others), 2);
    }

    #[test]
    fn a_p_value_of_exactly_the_level_is_shown() {
        assert!(is_shown(0.05) && !is_shown(0.050_000_1));
    }

    #[test]
    fn every_study_declares_a_primary_quantity_that_is_known_and_stands_in_the_manual() {
        for study in STUDIES.strategies() {
            let known = METRICS.iter().map(|metric| metric.name);
            let known = known.chain(STUDIES.measures().map(|own| own.name));
            let found = known.filter(|name| *name == study.primary).count();
            assert_eq!(found, 1, "{}: {}", study.name, study.primary);
            let page = include_str!("../../../docs/statistics.md");
            assert!(
                page.contains(&format!("| `{}` |", study.primary)),
                "{}",
                study.name
            );
        }
    }
}
