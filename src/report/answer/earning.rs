//! The answer of a run in which something is earned: who earns most, at which threshold, and where
//! that changes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Statement, interval};
use crate::analysis::{Analysis, Combination};
use crate::plots::drawn::Drawn;
use crate::plots::paired::Pairs;
use crate::table::{grouped, short, value_text};

/// The strategies at their best in each situation, the one with the highest gain first.
pub(super) fn situations(analysis: &Analysis) -> Vec<Vec<&Combination>> {
    let mut situations: Vec<Vec<&Combination>> = Vec::new();
    let given = analysis.given_axes();
    let places =
        |of: &Combination| -> Vec<_> { given.iter().map(|axis| of.places[*axis]).collect() };
    for combination in analysis.best() {
        match situations
            .last_mut()
            .filter(|known| places(known[0]) == places(combination))
        {
            Some(known) => known.push(combination),
            None => situations.push(vec![combination]),
        }
    }
    for situation in &mut situations {
        situation.sort_by(|one, other| {
            (analysis.mean_earned(other)).total_cmp(&analysis.mean_earned(one))
        });
    }
    situations
}

/// Answers about strategies that earn money.
pub(super) struct EarningStrategies<'a> {
    pub(super) analysis: &'a Analysis,
    pub(super) pairs: &'a Pairs<'a>,
    pub(super) earned: Drawn,
    /// What the choice of the best is worth.
    pub(super) optimism: Option<&'a str>,
}

impl<'a> EarningStrategies<'a> {
    fn policy(&self, combination: &'a Combination) -> &'a str {
        self.analysis.policy(combination)
    }

    /// Strategies at their best, the one with the highest gain first.
    pub(super) fn one(&self, ranked: &[&Combination], sure: String) -> Vec<Statement> {
        let best = ranked[0];
        let Some(gain) = self.analysis.earned(best) else {
            return Vec::new();
        };
        let mut text = format!(
            "{} earns most: {} VC a replication{}.",
            self.policy(best),
            grouped(gain.mean, 0),
            interval(gain.interval)
        );
        if let Some(percent) = best.additional.and_then(|additional| additional.percent) {
            let baseline = self.analysis.studies.baseline(self.policy(best));
            text.push_str(&format!(
                " That is {} % more than {}.",
                grouped(percent, 1),
                baseline.unwrap_or("its baseline")
            ));
        }
        if let Some(next) = ranked.get(1) {
            text.push_str(&self.beside(best, next));
        }
        let mut found = vec![Statement::new("Which strategy?", text)];
        found.extend(self.threshold(best));
        found.push(self.sure(sure));
        found
    }

    /// Whether the second differs significantly from the first.
    fn beside(&self, best: &Combination, next: &Combination) -> String {
        let Some(difference) = self.pairs.difference(&self.earned, best, next) else {
            return String::new();
        };
        let (name, mean) = (self.policy(next), grouped(difference.estimate.mean, 0));
        let within = interval(difference.interval());
        let of_log = match difference.wider() {
            Some(_) => " about the log",
            None => "",
        };
        if difference.is_significant() {
            format!(
                " The next, {name}, earns {mean} VC less{within}{of_log}, paired by replication."
            )
        } else if difference.interval().is_some() {
            format!(
                " The difference from the next, {name}, is not significant (paired: {mean} VC{within}{of_log})."
            )
        } else if difference.estimate.count == 1 {
            format!(" The next, {name}, earns {mean} VC less in the one replication that counts.")
        } else {
            format!(" The next, {name}, earns {mean} VC less in each replication.")
        }
    }

    /// At which value of the axes that a provider sets, and which other values do as well.
    fn threshold(&self, best: &Combination) -> Option<Statement> {
        let tuned: Vec<usize> = (self.analysis.tuned_axes().into_iter())
            .filter(|axis| self.analysis.axes[*axis].values.len() > 1)
            .collect();
        let overbooks = self.analysis.studies.overbooks(self.policy(best));
        let [axis] = tuned[..] else {
            return None;
        };
        let key = short(&self.analysis.axes[axis].key);
        let question = format!("Which {key}?");
        if !overbooks {
            return Some(Statement::new(
                question,
                format!(
                    "None: {} does not overbook, and no value of {key} earned more.",
                    self.policy(best)
                ),
            ));
        }
        let value =
            |of: &Combination| (self.analysis.value(of, axis)).map_or_else(String::new, value_text);
        let same = |other: &&Combination| {
            self.policy(other) == self.policy(best)
                && other.places[axis] != best.places[axis]
                && (0..other.places.len())
                    .all(|at| at == axis || other.places[at] == best.places[at])
        };
        let open: Vec<String> = (self.analysis.combinations.iter())
            .filter(same)
            .filter(|other| {
                (self.pairs.difference(&self.earned, best, other))
                    .is_none_or(|difference| !difference.is_significant())
            })
            .map(value)
            .collect();
        let mut text = format!("{} earns most at {}", self.policy(best), value(best));
        let of_log = match self.pairs.are_neighbours() {
            true => ", where it is wider that about the log",
            false => "",
        };
        match open.as_slice() {
            [] => text.push_str(&format!(
                "; every other value earns significantly less (paired 95 % intervals{of_log})."
            )),
            open => text.push_str(&format!(
                "; the difference from {} is not significant (paired 95 % intervals{of_log}).",
                open.join(", ")
            )),
        }
        let values = &self.analysis.axes[axis].values;
        let is_edge = [values.first(), values.last()].contains(&self.analysis.value(best, axis));
        if is_edge {
            text.push_str(" It is at the end of the range, so the best may lie beyond.");
        }
        Some(Statement::new(question, text))
    }

    /// Which strategy earns most in how many situations, and at which values.
    pub(super) fn several(&self, situations: &[Vec<&Combination>], sure: String) -> Vec<Statement> {
        let mut wins: Vec<(&str, usize, usize)> = Vec::new();
        let mut at: Vec<u32> = Vec::new();
        let tuned = self.analysis.tuned_axes();
        // Who is alone in a situation competes with nobody there.
        let mut competing: Vec<_> = situations.iter().filter(|it| it.len() > 1).collect();
        if competing.is_empty() {
            competing = situations.iter().collect();
        }
        for ranked in &competing {
            let apart = ranked.get(1).is_some_and(|next| {
                (self.pairs.difference(&self.earned, ranked[0], next))
                    .is_some_and(|difference| difference.is_significant())
            });
            let name = self.policy(ranked[0]);
            match wins.iter_mut().find(|(known, ..)| *known == name) {
                Some((_, count, surely)) => {
                    *count += 1;
                    *surely += usize::from(apart);
                }
                None => wins.push((name, 1, usize::from(apart))),
            }
            if self.analysis.studies.overbooks(name) {
                at.extend(tuned.first().and_then(|axis| ranked[0].places[*axis]));
            }
        }
        wins.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
        let each: Vec<String> = (wins.iter())
            .map(|(name, count, surely)| {
                format!(
                    "{name} earns most in {count} of {} situations, significantly more than the next in {surely}",
                    competing.len()
                )
            })
            .collect();
        let mut text = format!("{}.", each.join("; "));
        match situations.len() - competing.len() {
            0 => {}
            1 => text.push_str(" In one more there is one strategy only."),
            alone => {
                let _ = write!(text, " In {alone} more there is one strategy only.");
            }
        }
        let mut found = vec![Statement::new("Which strategy?", text)];
        if let (Some(axis), Some(least), Some(most)) =
            (tuned.first(), at.iter().min(), at.iter().max())
        {
            let axis = &self.analysis.axes[*axis];
            let value = |place: u32| value_text(&axis.values[place as usize]);
            let text = if least == most {
                format!("{} in every situation.", value(*least))
            } else {
                format!(
                    "From {} to {}, by situation{}.{}",
                    value(*least),
                    value(*most),
                    self.decided_by(situations, &value),
                    Statement::ON_PAGE
                )
            };
            found.push(Statement::new(format!("Which {}?", short(&axis.key)), text));
        }
        found.push(self.sure(sure));
        found
    }

    /// The given axis whose values tell best which value of the first tuned axis earns most, with
    /// the ranges; nothing where none tells anything.
    fn decided_by(&self, situations: &[Vec<&Combination>], name: &dyn Fn(u32) -> String) -> String {
        let Some(&tuned) = self.analysis.tuned_axes().first() else {
            return String::new();
        };
        let best = situations.iter().map(|ranked| ranked[0]);
        let overbooking = best.filter(|best| self.analysis.studies.overbooks(self.policy(best)));
        let places: Vec<(&Combination, u32)> = overbooking
            .filter_map(|best| Some((best, best.places[tuned]?)))
            .collect();
        // Of each value of an axis the lowest and the highest of the best.
        let ranges = |axis: usize| {
            let mut ranges: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
            for (best, place) in &places {
                if let Some(value) = best.places[axis] {
                    let range = ranges.entry(value).or_insert((*place, *place));
                    *range = (range.0.min(*place), range.1.max(*place));
                }
            }
            ranges
        };
        let width = |ranges: &BTreeMap<u32, (u32, u32)>| -> f64 {
            let widths = ranges.values().map(|(low, high)| f64::from(high - low));
            widths.sum::<f64>() / ranges.len() as f64
        };
        let (lowest, highest) = (
            places.iter().map(|(_, place)| *place).min(),
            places.iter().map(|(_, place)| *place).max(),
        );
        let (Some(lowest), Some(highest)) = (lowest, highest) else {
            return String::new();
        };
        let given = self.analysis.given_axes().into_iter();
        let told = given
            .map(|axis| (axis, ranges(axis)))
            .filter(|(_, ranges)| ranges.len() > 1 && width(ranges) < f64::from(highest - lowest))
            .min_by(|(_, one), (_, other)| width(one).total_cmp(&width(other)));
        let Some((axis, ranges)) = told else {
            return String::new();
        };
        let axis = &self.analysis.axes[axis];
        let each = ranges.iter().map(|(at, (low, high))| {
            let at = value_text(&axis.values[*at as usize]);
            match low == high {
                true => format!("{} at {} {at}", name(*low), short(&axis.key)),
                false => format!(
                    "{} to {} at {} {at}",
                    name(*low),
                    name(*high),
                    short(&axis.key)
                ),
            }
        });
        format!(": {}", each.collect::<Vec<_>>().join("; "))
    }

    fn sure(&self, mut text: String) -> Statement {
        if let Some(optimism) = self.optimism {
            text.push_str(&format!(" {optimism}."));
        }
        Statement::new(Statement::SURE, text)
    }
}
