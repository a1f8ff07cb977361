//! Comparing numbers of tables with measured values: the maxima, surpluses, best settings and
//! orders that papers print.

use std::collections::BTreeMap;
use std::fmt;

use super::measured::{Estimate, Metric, Query, Samples};
use super::second::{self, Alignment};
use super::{CellCheck, Expected, Layout, Quantity};
use crate::report::findings::verdict::{self, Verdict, compact};
use crate::report::findings::{Finding, FindingResult, MeasuredCurves};
use crate::scheduling::registry;

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
pub(in crate::report::findings) struct Tables<'f> {
    layout: &'f Layout,
    curves: &'f dyn MeasuredCurves,
    traces: BTreeMap<String, TraceCells>,
}

/// The cells of one trace, and those with the clock moved, where there are such.
type TraceCells = (Samples, Option<Vec<Alignment>>);

impl<'f> Tables<'f> {
    pub(in crate::report::findings) fn new(
        layout: &'f Layout,
        curves: &'f dyn MeasuredCurves,
    ) -> Self {
        Self {
            layout,
            curves,
            traces: BTreeMap::new(),
        }
    }

    /// Compares a finding with what was measured, by its tolerance and, where it is judged again, a
    /// second time.
    pub(in crate::report::findings) fn judge(
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

    pub(super) fn baseline(self) -> Result<Self, Missing> {
        let baseline = registry::strategy(self.strategy).and_then(|strategy| strategy.baseline);
        let name = baseline.ok_or_else(|| {
            Missing::NotTested(format!("{} has no baseline strategy", self.strategy))
        })?;
        Ok(self.with(name))
    }
}

const COMPREHENSIVE: &str = "comprehensive-overbooking";
const BACKFILLING: &str = "conservative-backfilling";
/// How far a gain may move from its first value and still count as flat.
const FLAT: f64 = 0.05;

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

    /// Measures a quantity: at the setting `at`, or over all settings.
    pub(super) fn quantity(
        &self,
        quantity: Quantity,
        subject: Subject<'_>,
        at: Option<f64>,
    ) -> Outcome {
        match at {
            Some(at) => self.at_setting(quantity, subject, at),
            None => self.over_settings(quantity, subject),
        }
    }

    fn at_setting(&self, quantity: Quantity, subject: Subject<'_>, at: f64) -> Outcome {
        let gain = subject.query(at, Metric::Gain);
        let metric = |metric| self.mean(&subject.query(at, metric)).map(with_interval);
        match quantity {
            Quantity::Gain => metric(Metric::Gain),
            Quantity::Fees => metric(Metric::Fees),
            Quantity::Penalties => metric(Metric::Penalties),
            Quantity::Booked => metric(Metric::Booked),
            Quantity::Successful => metric(Metric::Successful),
            Quantity::Failed => metric(Metric::Failed),
            Quantity::NetJobs => metric(Metric::NetJobs),
            Quantity::LostShare => {
                let lost = subject.query(at, Metric::Penalties);
                let all = subject.query(at, Metric::Booked);
                let (penalties, booked) = (self.mean(&lost)?, self.mean(&all)?);
                let share = percent_of(penalties.mean, booked.mean, "nothing was booked")?;
                Ok(match self.cells.quotient(&lost, &all) {
                    Some(estimate) => Found::Value {
                        value: share,
                        interval: finite(estimate.low * 100.0, estimate.high * 100.0),
                        batteries: estimate.n,
                    },
                    None => plain(share, booked.n),
                })
            }
            Quantity::Surplus => {
                let baseline = subject.baseline()?.query(at, Metric::Gain);
                self.percent_over(&gain, &baseline)
            }
            Quantity::WorstSurplusUpTo => {
                let mut worst: Option<(f64, Found)> = None;
                for (threshold, _) in self.series(subject, Metric::Gain)? {
                    if threshold > at + 1e-9 {
                        break;
                    }
                    let baseline = subject.baseline()?.query(threshold, Metric::Gain);
                    let found =
                        self.percent_over(&subject.query(threshold, Metric::Gain), &baseline)?;
                    if let Found::Value { value, .. } = found
                        && worst.as_ref().is_none_or(|(lowest, _)| value < *lowest)
                    {
                        worst = Some((value, found));
                    }
                }
                worst
                    .map(|(_, found)| found)
                    .ok_or_else(|| Missing::NotTested(format!("no threshold lies below {at}")))
            }
            Quantity::ExtraGain => {
                let baseline = subject.baseline()?.query(at, Metric::Gain);
                self.difference(&gain, &baseline)
            }
            Quantity::Lead => {
                self.difference(&gain, &subject.with(COMPREHENSIVE).query(at, Metric::Gain))
            }
            Quantity::LeadPercent => {
                self.percent_over(&gain, &subject.with(COMPREHENSIVE).query(at, Metric::Gain))
            }
            Quantity::GainRatio => {
                let above = self.mean(&gain)?;
                let below = self.mean(&subject.with(BACKFILLING).query(at, Metric::Gain))?;
                let ratio =
                    percent_of(above.mean, below.mean, "backfilling earns nothing")? / 100.0;
                Ok(plain(ratio, above.n))
            }
            _ => Err(Missing::NotTested(format!(
                "{} has no setting",
                quantity.name()
            ))),
        }
    }

    fn over_settings(&self, quantity: Quantity, subject: Subject<'_>) -> Outcome {
        let metric = match quantity {
            Quantity::MaxSuccessful | Quantity::MaxSuccessfulThreshold => Metric::Successful,
            Quantity::MaxNetJobs | Quantity::MaxNetJobsThreshold => Metric::NetJobs,
            _ => Metric::Gain,
        };
        match quantity {
            Quantity::MaxGain | Quantity::MaxSuccessful | Quantity::MaxNetJobs => self
                .best(subject, metric)
                .map(|(_, best)| with_interval(best)),
            Quantity::BestThreshold
            | Quantity::MaxSuccessfulThreshold
            | Quantity::MaxNetJobsThreshold => self
                .best(subject, metric)
                .map(|(at, best)| plain(at, best.n)),
            Quantity::Surplus => {
                let (at, _) = self.best(subject, Metric::Gain)?;
                let baseline = subject.baseline()?.query(at, Metric::Gain);
                self.percent_over(&subject.query(at, Metric::Gain), &baseline)
            }
            Quantity::BestSurplus => self.best_surplus(subject).map(|(_, surplus)| surplus),
            Quantity::BestSurplusThreshold | Quantity::BestSurplusRatio => {
                let (at, surplus) = self.best_surplus(subject)?;
                let batteries = match surplus {
                    Found::Value { batteries, .. } => batteries,
                    Found::Order(_) => 0,
                };
                Ok(plain(at, batteries))
            }
            Quantity::LeadPercent => {
                let (_, ours) = self.best(subject, Metric::Gain)?;
                let (_, theirs) = self.best(subject.with(COMPREHENSIVE), Metric::Gain)?;
                let lead = percent_of(
                    ours.mean - theirs.mean,
                    theirs.mean,
                    "no gain to compare to",
                )?;
                Ok(plain(lead, ours.n))
            }
            Quantity::Crossing => self.crossing(subject),
            Quantity::FlatUntil => {
                let gains = self.series(subject, Metric::Gain)?;
                let (mut until, first) = gains[0];
                for (at, gain) in &gains {
                    if (gain.mean - first.mean).abs() > FLAT * first.mean.abs() {
                        break;
                    }
                    until = *at;
                }
                Ok(plain(until, first.n))
            }
            Quantity::ShareAboveComprehensive => {
                let ours = self.series(subject, Metric::Gain)?;
                let theirs = self.series(subject.with(COMPREHENSIVE), Metric::Gain)?;
                let above = ours
                    .iter()
                    .zip(&theirs)
                    .filter(|((_, a), (_, b))| a.mean > b.mean)
                    .count();
                Ok(plain(above as f64 / ours.len() as f64, ours[0].1.n))
            }
            _ => Err(Missing::NotTested(format!(
                "{} needs a setting",
                quantity.name()
            ))),
        }
    }

    fn crossing(&self, subject: Subject<'_>) -> Outcome {
        let (best, _) = self.best(subject, Metric::Gain)?;
        let baseline = self.series(subject.baseline()?, Metric::Gain)?;
        let gains = self.series(subject, Metric::Gain)?;
        gains
            .iter()
            .zip(&baseline)
            .find(|((at, gain), (_, base))| *at > best && gain.mean < base.mean)
            .map(|((at, gain), _)| plain(*at, gain.n))
            .ok_or_else(|| Missing::Never("never falls below its baseline".to_owned()))
    }

    /// The setting with the highest surplus. Settings at which the baseline earns nothing have none
    ///
    fn best_surplus(&self, subject: Subject<'_>) -> Result<(f64, Found), Missing> {
        let baseline = subject.baseline()?;
        let mut best: Option<(f64, f64, Found)> = None;
        for (at, gain) in self.series(subject, Metric::Gain)? {
            let base = self.mean(&baseline.query(at, Metric::Gain))?;
            if base.mean <= 0.0 {
                continue;
            }
            let surplus = (gain.mean - base.mean) / base.mean;
            if best
                .as_ref()
                .is_none_or(|(_, highest, _)| surplus > *highest)
            {
                let found = self.percent_over(
                    &subject.query(at, Metric::Gain),
                    &baseline.query(at, Metric::Gain),
                )?;
                best = Some((at, surplus, found));
            }
        }
        best.map(|(at, _, found)| (at, found)).ok_or_else(|| {
            Missing::NotTested(
                "undefined: the baseline earns nothing at any setting (A-42)".to_owned(),
            )
        })
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
