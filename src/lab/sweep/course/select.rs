//! Selection of the best values, and the replications that confirm it.

use std::collections::BTreeMap;

use super::{Combination, Decision, Rung, Values, Verdict, mean, next_look, replication_order};
use crate::adaptive::{Refinement, Screened, SelectRule, Selection, Vertex};
use crate::sweep::progress::shown;
use crate::sweep::results::SinkError;
use crate::sweep::spec::{AxisValue, Sweep};

/// Values around the optimum that say where it lies.
const NEAR: usize = 5;

/// A sweep under `[select]`.
#[derive(Debug)]
pub struct SelectCourse {
    rule: SelectRule,
    order: Vec<u32>,
    situations: Vec<Situation>,
    rung: u32,
    is_confirmed: bool,
}

/// The values to select from where the other axes have theirs.
#[derive(Debug)]
struct Situation {
    /// In the order of the axes' values.
    alternatives: Vec<Alternative>,
    /// The one that the selected one is compared with.
    baseline: Option<usize>,
    state: State,
}

#[derive(Debug)]
struct Alternative {
    combination: Combination,
    /// Its place on a refined axis.
    abscissa: f64,
    /// The values of its replications, in their order; smaller is worse.
    known: Vec<f64>,
}

#[derive(Debug)]
enum State {
    Open(Level),
    /// The alternative that was selected, or leads.
    Decided(usize),
    /// Nothing can be decided.
    Undefined,
}

/// A selection under way: of all alternatives, or of those that a level of a refinement tries.
#[derive(Debug)]
struct Level {
    /// The indices of the alternatives that are selected from.
    tried: Vec<usize>,
    refinement: Option<Refinement>,
    /// `None` before the first replications are complete.
    selection: Option<Selection>,
    /// Replications that those that are still in have.
    done: u32,
    /// Whether an earlier level ended at the most replications without a decision.
    is_open_before: bool,
}

impl Level {
    fn whole(alternatives: usize) -> Self {
        Self {
            tried: (0..alternatives).collect(),
            refinement: None,
            selection: None,
            done: 0,
            is_open_before: false,
        }
    }

    fn refined(refinement: Refinement, is_open_before: bool) -> Self {
        Self {
            tried: refinement.tried(),
            refinement: Some(refinement),
            selection: None,
            done: 0,
            is_open_before,
        }
    }

    /// The alternatives that are still in.
    fn remaining(&self) -> Vec<usize> {
        match &self.selection {
            None => self.tried.clone(),
            Some(selection) => {
                let remaining = selection.remaining().iter();
                remaining.map(|number| self.tried[*number]).collect()
            }
        }
    }
}

impl SelectCourse {
    pub(super) fn new(sweep: &Sweep, rule: SelectRule) -> Self {
        let order = replication_order(sweep);
        Self {
            situations: situations(sweep, &rule, &order),
            order,
            rule,
            rung: 1,
            is_confirmed: false,
        }
    }

    /// Replications that an open level has after its next rung.
    fn next(&self, level: &Level) -> u32 {
        next_look(level.done, self.rule.least, self.rule.rung, self.rule.most)
    }

    pub(super) fn rung(&self) -> Option<Rung> {
        let mut points = Vec::new();
        for situation in &self.situations {
            let State::Open(level) = &situation.state else {
                continue;
            };
            let next = self.next(level) as usize;
            for number in level.remaining() {
                let alternative = &situation.alternatives[number];
                let from = alternative.known.len().min(next);
                points.extend(alternative.combination.points(&self.order[from..next]));
            }
        }
        let confirms = self.is_selected();
        if confirms && !self.is_confirmed {
            for situation in &self.situations {
                for (number, _) in situation.confirmed() {
                    let combination = situation.alternatives[number].combination;
                    points.extend(combination.points(self.confirming()));
                }
            }
        }
        points.sort_unstable();
        points.dedup();
        // A level whose values have all their replications from an earlier one is decided without
        // a point to run.
        (!points.is_empty() || !confirms).then_some(Rung {
            number: self.rung,
            points,
            confirms,
        })
    }

    fn is_selected(&self) -> bool {
        let mut situations = self.situations.iter();
        !situations.any(|situation| matches!(situation.state, State::Open(_)))
    }

    /// The replications that no selection reads.
    fn confirming(&self) -> &[u32] {
        &self.order[self.rule.most as usize..]
    }

    pub(super) fn decide(&mut self, values: &Values<'_>) -> Result<Vec<Decision>, SinkError> {
        let mut decisions = Vec::new();
        if self.is_selected() {
            self.confirm(values, &mut decisions)?;
            self.is_confirmed = true;
        } else {
            let mut situations = std::mem::take(&mut self.situations);
            for situation in &mut situations {
                self.decide_situation(situation, values, &mut decisions)?;
            }
            self.situations = situations;
        }
        self.rung += 1;
        Ok(decisions)
    }

    fn confirm(&self, values: &Values<'_>, decisions: &mut Vec<Decision>) -> Result<(), SinkError> {
        for situation in &self.situations {
            for (number, verdict) in situation.confirmed() {
                let combination = situation.alternatives[number].combination;
                let confirming = self.confirming();
                let found = combination.values(&self.rule.quantity, confirming, values)?;
                decisions.push(Decision {
                    rung: self.rung,
                    quantity: self.rule.quantity.clone(),
                    place: combination.place,
                    replications: confirming.len() as u32,
                    mean: found.as_deref().map(mean),
                    statistic: None,
                    bound: None,
                    verdict,
                });
            }
        }
        Ok(())
    }

    fn decide_situation(
        &self,
        situation: &mut Situation,
        values: &Values<'_>,
        decisions: &mut Vec<Decision>,
    ) -> Result<(), SinkError> {
        let State::Open(mut level) = std::mem::replace(&mut situation.state, State::Undefined)
        else {
            return Ok(());
        };
        let next = self.next(&level);
        let mut undefined = Vec::new();
        for number in level.remaining() {
            let alternative = &mut situation.alternatives[number];
            let from = alternative.known.len().min(next as usize);
            let added = &self.order[from..next as usize];
            let found = alternative
                .combination
                .values(&self.rule.quantity, added, values)?;
            match found {
                Some(found) => {
                    let sign = self.sign();
                    alternative
                        .known
                        .extend(found.iter().map(|value| sign * value));
                }
                None => undefined.push(number),
            }
        }
        level.done = next;
        for number in &undefined {
            decisions.push(Decision {
                mean: None,
                statistic: None,
                bound: None,
                verdict: Verdict::Undefined,
                ..self.decision(situation, *number, next, 0.0)
            });
        }
        if !undefined.is_empty() {
            return Ok(());
        }
        situation.state = self.screened(situation, level, decisions);
        Ok(())
    }

    /// What follows where all values are known.
    fn screened(
        &self,
        situation: &Situation,
        mut level: Level,
        decisions: &mut Vec<Decision>,
    ) -> State {
        let done = level.done as usize;
        let first = self.rule.least.min(self.rule.most) as usize;
        let samples = |count: usize| -> Vec<Vec<f64>> {
            let tried = level.tried.iter();
            tried
                .map(|number| {
                    let known = &situation.alternatives[*number].known;
                    known[..count.min(known.len())].to_vec()
                })
                .collect()
        };
        let mut selection = level.selection.take().unwrap_or_else(|| {
            let samples = samples(first);
            let best = samples
                .iter()
                .map(|row| mean(row))
                .fold(f64::NEG_INFINITY, f64::max);
            Selection::new(
                &samples,
                self.rule.zone.at(best),
                self.error(situation, &level),
                self.rule.population(),
            )
        });
        let means: Vec<f64> = samples(done).iter().map(|row| mean(row)).collect();
        let screened = selection.screen(&means, level.done);
        let is_last = level.done >= self.rule.most;
        let is_decided = selection.remaining().len() <= 1 || level.done > selection.decided_after();
        let best = (selection.remaining().iter().copied()).reduce(|best, other| {
            if means[other] > means[best] {
                other
            } else {
                best
            }
        });
        let is_ended = is_decided || is_last;
        let further = (level.refinement.as_ref())
            .zip(best.filter(|_| is_ended))
            .and_then(|(search, best)| search.around(level.tried[best]));
        let is_sure = is_decided && !level.is_open_before;
        for entry in &screened {
            let is_best = Some(entry.alternative) == best;
            let verdict = match (entry.is_kept, is_best) {
                (false, _) => Verdict::Eliminated,
                (true, _) if !is_ended => Verdict::Kept,
                (true, true) if further.is_some() => Verdict::Kept,
                (true, true) if is_sure => Verdict::Selected,
                (true, true) => Verdict::Leading,
                // A tie, of which the first value is taken.
                (true, false) if is_decided => Verdict::Eliminated,
                (true, false) => Verdict::Survived,
            };
            let number = level.tried[entry.alternative];
            decisions.push(self.screening(situation, number, level.done, entry, verdict));
        }
        let Some(best) = best.map(|best| level.tried[best]) else {
            return State::Undefined;
        };
        if !is_ended {
            level.selection = Some(selection);
            return State::Open(level);
        }
        if let Some(search) = further {
            let is_open = level.is_open_before || !is_decided;
            return State::Open(Level::refined(search, is_open));
        }
        if level.refinement.is_some() {
            decisions.extend(self.optimum(situation, best));
        }
        State::Decided(best)
    }

    /// Where the optimum of a refined axis lies: by the values next to the selected one that have
    /// at least the first replications, on the replications that all of them have.
    fn optimum(&self, situation: &Situation, best: usize) -> Option<Decision> {
        let mut near: Vec<(usize, &Alternative)> =
            situation.alternatives.iter().enumerate().collect();
        near.retain(|(_, alternative)| alternative.known.len() >= self.rule.least as usize);
        near.sort_by_key(|(number, _)| (number.abs_diff(best), *number));
        near.truncate(NEAR);
        let (abscissas, samples): (Vec<f64>, Vec<Vec<f64>>) = near
            .into_iter()
            .map(|(_, alternative)| (alternative.abscissa, alternative.known.clone()))
            .unzip();
        let vertex = Vertex::fit(&abscissas, &samples, 0.95)?;
        let count = samples.iter().map(Vec::len).min().unwrap_or(0) as u32;
        let mean = mean(&situation.alternatives[best].known);
        Some(Decision {
            statistic: Some(vertex.place),
            bound: Some(vertex.half_width),
            verdict: Verdict::Optimum,
            ..self.decision(situation, best, count, mean)
        })
    }

    /// One less the wanted probability, shared out over the levels that a refinement may have.
    fn error(&self, situation: &Situation, level: &Level) -> f64 {
        let error = 1.0 - self.rule.probability;
        match level.refinement {
            None => error,
            Some(_) => error / f64::from(Refinement::levels(situation.alternatives.len())),
        }
    }

    fn sign(&self) -> f64 {
        if self.rule.smallest { -1.0 } else { 1.0 }
    }

    fn screening(
        &self,
        situation: &Situation,
        number: usize,
        replications: u32,
        entry: &Screened,
        verdict: Verdict,
    ) -> Decision {
        Decision {
            statistic: Some(entry.behind),
            bound: Some(entry.allowed),
            verdict,
            ..self.decision(situation, number, replications, entry.mean)
        }
    }

    fn decision(
        &self,
        situation: &Situation,
        number: usize,
        replications: u32,
        mean: f64,
    ) -> Decision {
        Decision {
            rung: self.rung,
            quantity: self.rule.quantity.clone(),
            place: situation.alternatives[number].combination.place,
            replications,
            mean: Some(self.sign() * mean),
            statistic: None,
            bound: None,
            verdict: Verdict::Kept,
        }
    }
}

impl Situation {
    /// What is run again to confirm the selection.
    fn confirmed(&self) -> impl Iterator<Item = (usize, Verdict)> + '_ {
        let selected = match self.state {
            State::Decided(number) => Some(number),
            State::Open(_) | State::Undefined => None,
        };
        let baseline = self.baseline.filter(|baseline| Some(*baseline) != selected);
        let pair = selected.map(|selected| {
            [
                Some((selected, Verdict::Confirmed)),
                baseline.map(|baseline| (baseline, Verdict::Baseline)),
            ]
        });
        pair.into_iter().flatten().flatten()
    }
}

/// The combinations of a sweep by the values of the axes that nothing is selected from.
fn situations(sweep: &Sweep, rule: &SelectRule, order: &[u32]) -> Vec<Situation> {
    let is_selected = |key: &str| rule.axes.iter().any(|axis| axis == key);
    let mut groups: BTreeMap<Vec<usize>, Vec<Combination>> = BTreeMap::new();
    let mut keys = Vec::new();
    for combination in Combination::all(sweep, order) {
        let axes = &sweep.points[combination.first].axes;
        let others = sweep.axes.iter().filter(|axis| !is_selected(&axis.key));
        let key: Vec<usize> = others
            .map(|axis| {
                let value = axes.get(&axis.key);
                let place = axis.values.iter().position(|known| Some(known) == value);
                place.unwrap_or(usize::MAX)
            })
            .collect();
        let group = groups.entry(key.clone()).or_default();
        if group.is_empty() {
            keys.push(key);
        }
        group.push(combination);
    }
    let value = |combination: &Combination, key: &str| -> Option<AxisValue> {
        sweep.points[combination.first].axes.get(key).cloned()
    };
    let mut situations = Vec::new();
    for key in keys {
        let combinations = groups.remove(&key).unwrap_or_default();
        let is_baseline = |combination: &Combination, wanted: &[String]| {
            rule.axes.iter().zip(wanted).all(|(key, wanted)| {
                value(combination, key).is_some_and(|value| shown(&value) == *wanted)
            })
        };
        let baseline = rule.baseline.as_ref().and_then(|wanted| {
            (combinations.iter()).position(|combination| is_baseline(combination, wanted))
        });
        let alternatives: Vec<Alternative> = (combinations.into_iter())
            .map(|combination| Alternative {
                abscissa: match value(&combination, &rule.axes[0]) {
                    Some(AxisValue::Real(number)) => number,
                    Some(AxisValue::Integer(number)) => number as f64,
                    _ => 0.0,
                },
                combination,
                known: Vec::new(),
            })
            .collect();
        let level = if rule.refined {
            Level::refined(Refinement::new(alternatives.len()), false)
        } else {
            Level::whole(alternatives.len())
        };
        situations.push(Situation {
            alternatives,
            baseline,
            state: State::Open(level),
        });
    }
    situations
}
