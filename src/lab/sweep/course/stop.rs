//! Replications until intervals are narrow.

use super::{Combination, Decision, Rung, Values, Verdict, mean, next_look, replication_order};
use crate::adaptive::{RepeatedInterval, StopRule};
use crate::sweep::results::SinkError;
use crate::sweep::spec::Sweep;

/// A sweep under `[stop]`.
#[derive(Debug)]
pub struct StopCourse {
    rule: StopRule,
    interval: RepeatedInterval,
    order: Vec<u32>,
    /// The combinations whose intervals are too wide yet, each with what is known of its
    /// quantities.
    open: Vec<(Combination, Vec<Vec<f64>>)>,
    rung: u32,
    done: u32,
}

impl StopCourse {
    pub(super) fn new(sweep: &Sweep, rule: StopRule) -> Self {
        let quantities = rule.quantities.len();
        let order = replication_order(sweep);
        let combinations = Combination::all(sweep, &order).into_iter();
        Self {
            interval: RepeatedInterval::new(
                rule.interval,
                rule.confidence,
                rule.least,
                rule.rung,
                rule.most,
            ),
            order,
            open: combinations
                .map(|combination| (combination, vec![Vec::new(); quantities]))
                .collect(),
            rule,
            rung: 1,
            done: 0,
        }
    }

    /// The replications of the rung under way.
    fn added(&self) -> &[u32] {
        let rule = &self.rule;
        let next = next_look(self.done, rule.least, rule.rung, rule.most);
        &self.order[self.done as usize..next as usize]
    }

    pub(super) fn rung(&self) -> Option<Rung> {
        let added = self.added();
        let points = (self.open.iter()).flat_map(|(combination, _)| combination.points(added));
        let mut points: Vec<usize> = points.collect();
        points.sort_unstable();
        (!points.is_empty()).then_some(Rung {
            number: self.rung,
            points,
            confirms: false,
        })
    }

    pub(super) fn decide(&mut self, values: &Values<'_>) -> Result<Vec<Decision>, SinkError> {
        let added = self.added().to_vec();
        let done = self.done + added.len() as u32;
        let is_last = done >= self.rule.most;
        let mut decisions = Vec::new();
        let mut open = Vec::new();
        for (combination, mut known) in std::mem::take(&mut self.open) {
            let mut looks = Vec::new();
            for (quantity, known) in self.rule.quantities.iter().zip(&mut known) {
                let found = combination.values(quantity, &added, values)?;
                looks.push(found.map(|found| {
                    known.extend(found);
                    self.look(known)
                }));
            }
            let is_undefined = looks.iter().any(Option::is_none);
            let are_narrow = looks
                .iter()
                .flatten()
                .all(|(_, width, wanted)| width <= wanted);
            for (quantity, look) in self.rule.quantities.iter().zip(looks) {
                let verdict = match look {
                    None => Verdict::Undefined,
                    Some((_, width, wanted)) if width <= wanted => Verdict::Narrow,
                    Some(_) if is_last || is_undefined => Verdict::Wide,
                    Some(_) => Verdict::Kept,
                };
                decisions.push(Decision {
                    rung: self.rung,
                    quantity: quantity.clone(),
                    place: combination.place,
                    replications: done,
                    mean: look.map(|(mean, ..)| mean),
                    statistic: look
                        .map(|(_, width, _)| width)
                        .filter(|width| width.is_finite()),
                    bound: look.map(|(.., wanted)| wanted),
                    verdict,
                });
            }
            if !(is_undefined || are_narrow || is_last) {
                open.push((combination, known));
            }
        }
        self.open = open;
        self.done = done;
        self.rung += 1;
        Ok(decisions)
    }

    /// Mean, half of the interval's width, and the width that is wanted.
    fn look(&self, known: &[f64]) -> (f64, f64, f64) {
        let count = known.len() as f64;
        let mean = mean(known);
        let squares = known.iter().map(|value| (value - mean).powi(2));
        let deviation = (squares.sum::<f64>() / (count - 1.0)).sqrt();
        // Replications that do not differ do not say how far another one would be off.
        let width = match deviation > 1e-12 * mean.abs() {
            true => self.interval.half_width(known.len() as u32, deviation),
            false => f64::INFINITY,
        };
        (mean, width, self.rule.narrow.at(mean))
    }
}
