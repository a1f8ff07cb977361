//! Comparing numbers of tables with measured values: the maxima, surpluses, best settings and
//! orders that papers print.

mod quantity;

use std::collections::BTreeMap;
use std::fmt;

use super::measured::{Estimate, Metric, Query, Samples};
use super::second::{self, Alignment};
use super::{CellCheck, Expected, Layout, Quantity};
use crate::findings::verdict::{self, Verdict, compact};
use crate::findings::{Finding, FindingResult, MeasuredCurves};
use bookahead_lab::study::Studies;

/// A measured number or order.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// A number.
    Value {
        /// In the unit of the quantity.
        value: f64,
        /// The 95 % interval, where the quantity has one.
        interval: Option<[f64; 2]>,
        /// Batteries behind it.
        batteries: u64,
    },
    /// Names, from the highest gain down.
    Order(Vec<String>),
}

/// Why there is no measured value.
pub(super) enum Missing {
    /// Points are missing, or the quantity is undefined there: nothing can be said.
    NotTested(String),
    /// Everything was measured and what the finding describes did not happen.
    Never(String),
}

impl Missing {
    fn why(self) -> String {
        match self {
            Self::NotTested(why) | Self::Never(why) => why,
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value { value, .. } => formatter.write_str(&compact(*value)),
            Self::Order(names) => formatter.write_str(&names.join(" > ")),
        }
    }
}

pub(super) type Outcome = Result<Found, Missing>;

/// The cells of every trace that findings ask for, each read once.
pub(in crate::findings) struct Tables<'f> {
    layout: &'f Layout,
    curves: &'f dyn MeasuredCurves,
    traces: BTreeMap<String, TraceCells>,
}

/// The cells of one trace, and those with the clock moved, where there are such.
type TraceCells = (Samples, Option<Vec<Alignment>>);

impl<'f> Tables<'f> {
    pub(in crate::findings) fn new(layout: &'f Layout, curves: &'f dyn MeasuredCurves) -> Self {
        Self {
            layout,
            curves,
            traces: BTreeMap::new(),
        }
    }

    /// Compares a finding with what was measured, by its tolerance and, where it is judged again, a
    /// second time.
    pub(in crate::findings) fn judge(
        &mut self,
        finding: &Finding,
        check: &CellCheck,
    ) -> FindingResult {
        let trace = finding.trace.clone().unwrap_or_default();
        let (layout, curves) = (self.layout, self.curves);
        let (cells, alignments) = self.traces.entry(trace).or_insert_with_key(|trace| {
            (
                Samples::read(layout, curves, trace),
                Alignment::read(layout, curves, trace),
            )
        });
        judge(layout, finding, check, cells, alignments.as_deref())
    }
}

/// The result of a finding, from the cells of its trace.
pub(super) fn judge(
    layout: &Layout,
    finding: &Finding,
    check: &CellCheck,
    cells: &Samples,
    alignments: Option<&[Alignment]>,
) -> FindingResult {
    let reader = Reader { layout, cells };
    let (found, verdict) = match reader.find(check) {
        Ok(found) => {
            let verdict = verdict::judge(&check.expected, check.tolerance, &found);
            (Some(found), verdict)
        }
        Err(Missing::Never(how)) => (None, Verdict::Missed(how)),
        Err(Missing::NotTested(why)) => (None, Verdict::NotTested(why)),
    };
    let mut result = FindingResult {
        measured: found
            .as_ref()
            .map_or_else(|| "–".to_owned(), Found::to_string),
        ..FindingResult::of(finding, verdict)
    };
    result.second = second::judge(&reader, check, &result.verdict, alignments);
    result.found = found;
    result
}

#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) layout: &'a Layout,
    pub(super) cells: &'a Samples,
}

/// The subject of a finding with its family and strategy resolved.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) experiment: &'a str,
    pub(super) family: &'a str,
    pub(super) strategy: &'a str,
}

impl<'a> Subject<'a> {
    fn with(self, strategy: &'a str) -> Self {
        Self { strategy, ..self }
    }

    fn query(self, at: f64, metric: Metric) -> Query<'a> {
        Query {
            experiment: self.experiment,
            family: self.family,
            strategy: self.strategy,
            at,
            metric,
        }
    }

    pub(super) fn baseline(self, studies: Studies) -> Result<Self, Missing> {
        let name = studies.baseline(self.strategy).ok_or_else(|| {
            Missing::NotTested(format!("{} has no baseline strategy", self.strategy))
        })?;
        Ok(self.with(name))
    }
}

impl Reader<'_> {
    /// Measures what a finding is about.
    fn find(&self, check: &CellCheck) -> Outcome {
        match &check.expected {
            Expected::Order(names) => return self.order(check, names),
            Expected::HeldOut(among) if !among.is_empty() => return self.order(check, among),
            _ => {}
        }
        let subject = Subject {
            experiment: &check.experiment,
            family: named(check.family.as_deref(), "family")?,
            strategy: named(check.strategy.as_deref(), "strategy")?,
        };
        self.quantity(check.quantity, subject, check.at)
    }

    /// [`Self::find`] in the cells of another alignment.
    ///
    /// # Errors
    ///
    /// A sentence that says what was not measured, is not defined or did not happen.
    pub(super) fn find_in(&self, cells: &Samples, check: &CellCheck) -> Result<Found, String> {
        Reader { cells, ..*self }.find(check).map_err(Missing::why)
    }

    /// Another quantity of what a finding is about: at the setting `at`, or over all settings;
    /// `None` where there is none.
    pub(super) fn beside(
        &self,
        check: &CellCheck,
        quantity: Quantity,
        at: Option<f64>,
    ) -> Option<Found> {
        let subject = Subject {
            experiment: &check.experiment,
            family: check.family.as_deref()?,
            strategy: check.strategy.as_deref()?,
        };
        self.quantity(quantity, subject, at).ok()
    }

    /// The 95 % interval of the gain at the best setting minus that at another one, battery by
    /// battery; `None` where there is none.
    pub(super) fn best_above(&self, check: &CellCheck, at: f64) -> Option<[f64; 2]> {
        let subject = Subject {
            experiment: &check.experiment,
            family: check.family.as_deref()?,
            strategy: check.strategy.as_deref()?,
        };
        let (best, _) = self.best(subject, Metric::Gain).ok()?;
        let gain = |at| subject.query(at, Metric::Gain);
        match self.difference(&gain(best), &gain(at)).ok()? {
            Found::Value { interval, .. } => interval,
            Found::Order(_) => None,
        }
    }

    fn order(&self, check: &CellCheck, names: &[String]) -> Outcome {
        let mut gains = Vec::with_capacity(names.len());
        for name in names {
            let (family, strategy) = if check.quantity == Quantity::OrderOfFamilies {
                (name.as_str(), named(check.strategy.as_deref(), "strategy")?)
            } else {
                (named(check.family.as_deref(), "family")?, name.as_str())
            };
            let subject = Subject {
                experiment: &check.experiment,
                family,
                strategy,
            };
            let gain = match check.at {
                Some(at) => self.mean(&subject.query(at, Metric::Gain))?,
                None => self.best(subject, Metric::Gain)?.1,
            };
            gains.push((gain.mean, name));
        }
        // Stable: what earns exactly the same keeps the published order.
        gains.sort_by(|left, right| right.0.total_cmp(&left.0));
        Ok(Found::Order(
            gains.into_iter().map(|(_, name)| name.clone()).collect(),
        ))
    }

    fn mean(&self, query: &Query<'_>) -> Result<Estimate, Missing> {
        self.cells.mean(query).ok_or_else(|| {
            if let Some(problem) = &self.cells.problem {
                return Missing::NotTested(problem.clone());
            }
            Missing::NotTested(format!(
                "not measured completely: {} with {} classes at {}",
                query.strategy, query.family, query.at
            ))
        })
    }

    /// All settings of the experiment's grid: a maximum over fewer would be another number.
    fn series(
        &self,
        subject: Subject<'_>,
        metric: Metric,
    ) -> Result<Vec<(f64, Estimate)>, Missing> {
        let experiment = self.layout.experiment(subject.experiment);
        let grid = experiment.map_or(&[][..], |experiment| &experiment.values);
        if grid.is_empty() {
            return Err(Missing::NotTested("the paper names no settings".to_owned()));
        }
        grid.iter()
            .map(|at| Ok((*at, self.mean(&subject.query(*at, metric))?)))
            .collect()
    }

    /// The setting with the highest mean; of equal ones the lowest.
    fn best(&self, subject: Subject<'_>, metric: Metric) -> Result<(f64, Estimate), Missing> {
        let mut series = self.series(subject, metric)?.into_iter();
        let first = series
            .next()
            .ok_or_else(|| Missing::NotTested("the paper names no settings".to_owned()))?;
        Ok(series.fold(first, |best, next| {
            if next.1.mean > best.1.mean {
                next
            } else {
                best
            }
        }))
    }

    fn difference(&self, a: &Query<'_>, b: &Query<'_>) -> Outcome {
        let (ours, theirs) = (self.mean(a)?, self.mean(b)?);
        Ok(match self.cells.paired(a, b) {
            Some(paired) => with_interval(paired),
            None => plain(ours.mean - theirs.mean, ours.n),
        })
    }

    /// `(a − b) / b` in percent, with the interval of a quotient of two means.
    fn percent_over(&self, a: &Query<'_>, b: &Query<'_>) -> Outcome {
        let base = self.mean(b)?;
        if base.mean <= 0.0 {
            return Err(Missing::NotTested(format!(
                "undefined: {} earns {:.0} coins there (A-42)",
                b.strategy, base.mean
            )));
        }
        let in_percent = |coins: f64| coins / base.mean * 100.0;
        let ours = self.mean(a)?;
        Ok(match self.cells.surplus(a, b) {
            Some(share) => Found::Value {
                value: share.mean * 100.0,
                interval: finite(share.low * 100.0, share.high * 100.0),
                batteries: share.n,
            },
            None => plain(in_percent(ours.mean - base.mean), ours.n),
        })
    }
}

fn named<'a>(name: Option<&'a str>, what: &str) -> Result<&'a str, Missing> {
    name.ok_or_else(|| Missing::NotTested(format!("the finding names no {what}")))
}

fn plain(value: f64, batteries: u64) -> Found {
    Found::Value {
        value,
        interval: None,
        batteries,
    }
}

fn with_interval(estimate: Estimate) -> Found {
    Found::Value {
        value: estimate.mean,
        interval: finite(estimate.low, estimate.high),
        batteries: estimate.n,
    }
}

fn finite(low: f64, high: f64) -> Option<[f64; 2]> {
    (low.is_finite() && high.is_finite()).then_some([low, high])
}

fn percent_of(part: f64, whole: f64, otherwise: &str) -> Result<f64, Missing> {
    if whole > 0.0 {
        Ok(part / whole * 100.0)
    } else {
        Err(Missing::NotTested(format!("undefined: {otherwise}")))
    }
}
