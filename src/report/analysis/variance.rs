//! Which axis matters: the shares of the variance of a quantity that single axes and pairs of axes
//! explain, where every combination of their values has the same replications.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::frames::{Groups, PolarsResult, both};

/// Smaller shares are rounding errors of sums, which depend on the processor.
const LEAST_SHARE: f64 = 1e-12;
/// Squares below this, relative to those of the values themselves, are rounding errors of values
/// that do not vary.
const LEAST_SQUARES: f64 = 1e-24;

/// A part of the variance. Axes are named by their place in the [`Design`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// What an axis explains alone.
    Axis(usize),
    /// What two axes explain together beyond what each explains alone.
    Pair(usize, usize),
    /// What three or more axes explain together beyond that; there is none with two axes.
    Higher,
    /// The remainder within combinations: how differently replications react to the same settings.
    Noise,
}

/// What a quantity's variance is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Variance {
    /// Every term with its share; all of them add up to 1.
    Shares(Vec<(Term, f64)>),
    /// The quantity is the same at all settings.
    Constant,
    /// The values are not balanced, so that shares would depend on what is missing.
    Unbalanced(Imbalance),
}

/// Why shares are not defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Imbalance {
    /// Combinations of axis values have no value.
    Combinations {
        /// How many have one.
        found: usize,
        /// How many there are.
        every: usize,
    },
    /// Combinations lack replications that others have.
    Replications {
        /// How many lack some.
        fewer: usize,
        /// How many combinations there are.
        every: usize,
    },
    /// A combination has several values in one replication, because something differs that is on
    /// none of the axes.
    Several,
}

impl fmt::Display for Imbalance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Combinations { found, every } => write!(
                formatter,
                "only {found} of {every} combinations of axis values have a value"
            ),
            Self::Replications { fewer, every } => write!(
                formatter,
                "{fewer} of {every} combinations of axis values lack replications that others have"
            ),
            Self::Several => formatter.write_str(
                "combinations of axis values have several values in one replication: something differs that is on no axis",
            ),
        }
    }
}

/// Where each value stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Design {
    /// Of each axis, how many values it has, and the place of each point among them; `None` for a
    /// point without a value there.
    pub axes: Vec<(u32, Vec<Option<u32>>)>,
    /// The replication of each point.
    pub replications: Vec<u32>,
}

/// The values that count, in codes from 0.
struct Balanced {
    values: Vec<f64>,
    blocks: Vec<u32>,
    axes: Vec<(u32, Vec<u32>)>,
    cells: Vec<u32>,
}

impl Design {
    /// The shares of the variance of these values, one a point: analysis of variance on all
    /// combinations of axis values, with replications as blocks. The mean of each replication is
    /// removed first: how much harder its jobs and failures are for all settings is no matter of
    /// the axes.
    ///
    /// # Errors
    ///
    /// When Polars refuses, which for these columns it does not.
    pub fn variance(&self, values: &[Option<f64>]) -> PolarsResult<Variance> {
        match self.balanced(values) {
            Ok(balanced) => balanced.variance(),
            Err(imbalance) => Ok(Variance::Unbalanced(imbalance)),
        }
    }

    fn balanced(&self, values: &[Option<f64>]) -> Result<Balanced, Imbalance> {
        let every = self.axes.iter().map(|(count, _)| *count as usize).product();
        let mut balanced = Balanced {
            values: Vec::new(),
            blocks: Vec::new(),
            axes: (self.axes.iter())
                .map(|(count, _)| (*count, Vec::new()))
                .collect(),
            cells: Vec::new(),
        };
        let mut replications: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for (point, value) in values.iter().enumerate() {
            let places: Option<Vec<u32>> =
                self.axes.iter().map(|(_, places)| places[point]).collect();
            let (Some(value), Some(places)) = (value, places) else {
                continue;
            };
            let mut cell = 0;
            for ((count, codes), place) in balanced.axes.iter_mut().zip(places) {
                cell = cell * *count + place;
                codes.push(place);
            }
            if !(replications.entry(cell).or_default()).insert(self.replications[point]) {
                return Err(Imbalance::Several);
            }
            balanced.cells.push(cell);
            balanced.blocks.push(self.replications[point]);
            balanced.values.push(*value);
        }
        let found = replications.len();
        if found < every {
            return Err(Imbalance::Combinations { found, every });
        }
        let all: BTreeSet<u32> = replications.values().flatten().copied().collect();
        let fewer = replications.values().filter(|own| **own != all).count();
        if fewer > 0 {
            return Err(Imbalance::Replications { fewer, every });
        }
        Ok(balanced)
    }
}

impl Balanced {
    /// Effects are orthogonal where all combinations have the same replications, so the squares of
    /// the terms add up to those of the values.
    fn variance(&self) -> PolarsResult<Variance> {
        let count = self.values.len();
        let blocks = Effect::of(&self.values, &self.blocks)?;
        let centred: Vec<f64> = (0..count)
            .map(|at| self.values[at] - blocks.at(at))
            .collect();
        let total = squares(centred.iter().copied());
        if total <= LEAST_SQUARES * squares(self.values.iter().copied()) {
            return Ok(Variance::Constant);
        }
        let cells = Effect::of(&centred, &self.cells)?;
        let mut higher: Vec<f64> = (0..count).map(|at| cells.at(at)).collect();
        let mut terms = Vec::new();
        let mut alone = Vec::new();
        for (axis, (_, codes)) in self.axes.iter().enumerate() {
            let effect = Effect::of(&centred, codes)?;
            terms.push((
                Term::Axis(axis),
                squares((0..count).map(|at| effect.at(at))),
            ));
            (higher.iter_mut().enumerate()).for_each(|(at, left)| *left -= effect.at(at));
            alone.push(effect);
        }
        for (one, (_, ones)) in self.axes.iter().enumerate() {
            for (other, (places, others)) in self.axes.iter().enumerate().skip(one + 1) {
                let both: Vec<u32> = (ones.iter().zip(others))
                    .map(|(one, other)| one * places + other)
                    .collect();
                let together = Effect::of(&centred, &both)?;
                let effect = |at| together.at(at) - alone[one].at(at) - alone[other].at(at);
                (higher.iter_mut().enumerate()).for_each(|(at, left)| *left -= effect(at));
                terms.push((Term::Pair(one, other), squares((0..count).map(effect))));
            }
        }
        if self.axes.len() > 2 {
            terms.push((Term::Higher, squares(higher.iter().copied())));
        }
        let noise = (0..count).map(|at| centred[at] - cells.at(at));
        terms.push((Term::Noise, squares(noise)));
        let share = |(term, squares): (Term, f64)| {
            let share = squares / total;
            (term, if share < LEAST_SHARE { 0.0 } else { share })
        };
        Ok(Variance::Shares(terms.into_iter().map(share).collect()))
    }
}

/// The mean of all values with the same code.
struct Effect {
    /// Of each value the index of its mean.
    of: Vec<u32>,
    means: Vec<f64>,
}

impl Effect {
    fn of(values: &[f64], codes: &[u32]) -> PolarsResult<Self> {
        let of = both(&vec![0; codes.len()], codes);
        let means = Groups::new(of.iter().copied().zip(0..)).means(values)?;
        Ok(Self { of, means })
    }

    /// The mean for this value.
    fn at(&self, value: usize) -> f64 {
        self.means[self.of[value] as usize]
    }
}

fn squares(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// All combinations of so many values on each axis, in each of so many replications: the
    /// replication varies slowest, the last axis fastest.
    fn full(counts: &[u32], replications: u32) -> Design {
        let cells: u32 = counts.iter().product();
        let points = || (0..replications).flat_map(|_| 0..cells);
        let axis = |at: usize| {
            let below: u32 = counts[at + 1..].iter().product();
            let places = points().map(|cell| Some(cell / below % counts[at]));
            (counts[at], places.collect())
        };
        Design {
            axes: (0..counts.len()).map(axis).collect(),
            replications: (0..replications)
                .flat_map(|replication| (0..cells).map(move |_| replication))
                .collect(),
        }
    }

    fn shares(design: &Design, values: &[f64]) -> Vec<(Term, f64)> {
        let values: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
        match design.variance(&values).unwrap() {
            Variance::Shares(shares) => shares,
            other => panic!("{other:?}"),
        }
    }

    fn assert_close(shares: &[(Term, f64)], expected: &[(Term, f64)]) {
        assert_eq!(shares.len(), expected.len(), "{shares:?}");
        for ((term, share), (known, value)) in shares.iter().zip(expected) {
            assert_eq!(term, known);
            assert!((share - value).abs() < 1e-12, "{term:?}: {share}");
        }
    }

    #[test]
    fn shares_of_two_axes_are_those_worked_out_by_hand() {
        // Replication 0: 0 2 / 4 10; replication 1 the same, 100 higher, but the last is 114.
        let values = [0.0, 2.0, 4.0, 10.0, 100.0, 102.0, 104.0, 114.0];
        // Without the means 4 and 105: −4 −2 0 6 and −5 −3 −1 9. Squares: 56 + 116 = 172.
        // First axis: means (−4−2−5−3)/4 = −3.5 and 3.5: 8 · 12.25 = 98.
        // Second: means (−4+0−5−1)/4 = −2.5 and 2.5: 8 · 6.25 = 50.
        // Cells −4.5 −2.5 −0.5 7.5; without both axes 1.5 −1.5 −1.5 1.5: 8 · 2.25 = 18.
        // Within cells ±0.5 three times and ±1.5: 6 · 0.25 + 2 · 2.25 = 6.
        assert_close(
            &shares(&full(&[2, 2], 2), &values),
            &[
                (Term::Axis(0), 98.0 / 172.0),
                (Term::Axis(1), 50.0 / 172.0),
                (Term::Pair(0, 1), 18.0 / 172.0),
                (Term::Noise, 6.0 / 172.0),
            ],
        );
    }

    #[test]
    fn what_three_axes_do_together_is_a_share_of_its_own() {
        // The product of three signs: no axis and no pair tells anything.
        let values = [-1.0, 1.0, 1.0, -1.0, 1.0, -1.0, -1.0, 1.0];
        let found = shares(&full(&[2, 2, 2], 1), &values);
        let of = |term: Term| found.iter().find(|(known, _)| *known == term).unwrap().1;
        assert!((of(Term::Higher) - 1.0).abs() < 1e-12);
        for term in [
            Term::Axis(0),
            Term::Pair(0, 2),
            Term::Pair(1, 2),
            Term::Noise,
        ] {
            assert_eq!(of(term), 0.0, "{term:?}");
        }
    }

    #[test]
    fn shares_are_not_made_up_where_values_are_missing() {
        let design = full(&[2, 3], 2);
        let mut values = vec![Some(1.0); 12];
        assert_eq!(design.variance(&values).unwrap(), Variance::Constant);
        values[0] = None;
        let fewer = Imbalance::Replications { fewer: 1, every: 6 };
        let found = design.variance(&values).unwrap();
        assert_eq!(found, Variance::Unbalanced(fewer));
        values[6] = None;
        let missing = Imbalance::Combinations { found: 5, every: 6 };
        let found = design.variance(&values).unwrap();
        assert_eq!(found, Variance::Unbalanced(missing));
        let twice = Design {
            axes: vec![(1, vec![Some(0); 2])],
            replications: vec![7, 7],
        };
        let found = twice.variance(&[Some(1.0), Some(2.0)]).unwrap();
        assert_eq!(found, Variance::Unbalanced(Imbalance::Several));
    }

    proptest! {
        #[test]
        fn shares_add_up_to_one_and_an_axis_that_changes_nothing_has_none(
            counts in vec(1..4_u32, 2..4),
            idle in 1..4_u32,
            replications in 1..4_u32,
            noise in vec(-1e3..1e3, 81),
            level in prop_oneof![Just(0.0), Just(1e6)],
        ) {
            // A further axis, the last, at whose values everything repeats.
            let active: u32 = counts.iter().product();
            let design = full(&[&counts[..], &[idle]].concat(), replications);
            let values: Vec<f64> = (0..replications * active)
                .flat_map(|at| (0..idle).map(move |_| at))
                .map(|at| level + noise[at as usize])
                .collect();
            let given: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
            match design.variance(&given).unwrap() {
                // One combination of the axes that do something.
                Variance::Constant => prop_assert_eq!(active, 1),
                Variance::Shares(shares) => {
                    let sum: f64 = shares.iter().map(|(_, share)| share).sum();
                    prop_assert!((sum - 1.0).abs() < 1e-9, "{}", sum);
                    for (term, share) in shares {
                        let is_idle = match term {
                            Term::Axis(axis) | Term::Pair(_, axis) => axis == counts.len(),
                            Term::Higher | Term::Noise => false,
                        };
                        prop_assert!((0.0..=1.0 + 1e-9).contains(&share));
                        prop_assert!(!is_idle || share == 0.0, "{:?}: {}", term, share);
                    }
                }
                Variance::Unbalanced(imbalance) => prop_assert!(false, "{}", imbalance),
            }
        }
    }
}
