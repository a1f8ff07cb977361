//! Judges findings: the cells of each one, their values, and the verdict.

mod survey;

use std::collections::BTreeMap;

use serde::Serialize;

pub(super) use self::survey::Survey;
use super::curves::{CurveCell, Field, MeasuredCurves};
use super::derived::WithDerived;
use super::quantity::WithQuantities;
use super::tables::{CellCheck, Expected, Found, Second, Tables};
use super::words::{Place, number};
use super::zipped::WithZipped;
use super::{
    BoundCheck, Check, Finding, FindingsFile, PublishedValue, Scatter, Tolerance, ValueCheck,
    Verdict,
};
use bookahead_lab::sweep::Axis;
use bookahead_report::AxisFilter;

/// A finding beside what was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct FindingResult {
    /// The finding.
    pub finding: Finding,
    /// Whether it held. A miss says where and by how much, worst first.
    pub verdict: Verdict,
    /// What was measured, in one line; `–` where nothing could be.
    pub measured: String,
    /// Cells that were measured: of a trend the curves, of a comparison the pairs.
    pub cells: usize,
    /// Those at which the check fails.
    pub failed_cells: usize,
    /// Those that the finding is about and that have no value.
    pub missing_cells: usize,
    /// The cell that fails by most, or that holds most narrowly; `None` where nothing was judged.
    pub worst: Option<Judged>,
    /// Every measured cell, in the order of the axes.
    pub judged: Vec<Judged>,
    /// What was measured of a table's cell, where it could be.
    pub found: Option<Found>,
    /// The second verdict, where the finding has one of its own (see [`tables`](super::tables)).
    pub second: Option<Second>,
    /// Published and measured points, where the finding is about many.
    pub scatter: Option<Scatter>,
}

impl FindingResult {
    /// A finding for which nothing was measured, and why.
    #[must_use]
    pub fn not_tested(finding: &Finding, why: String) -> Self {
        Self::of(finding, Verdict::NotTested(why))
    }

    /// A verdict without numbers.
    pub(super) fn of(finding: &Finding, verdict: Verdict) -> Self {
        Self {
            finding: finding.clone(),
            verdict,
            measured: "–".to_owned(),
            cells: 0,
            failed_cells: 0,
            missing_cells: 0,
            worst: None,
            judged: Vec::new(),
            found: None,
            second: None,
            scatter: None,
        }
    }

    /// The verdict of the second judgement: its own where there is one, else the first.
    #[must_use]
    pub fn second_verdict(&self) -> &Verdict {
        match &self.second {
            Some(second) => &second.verdict,
            None => &self.verdict,
        }
    }

    /// What the finding says of a table's cell, where it is about one.
    #[must_use]
    pub fn cell(&self) -> Option<&CellCheck> {
        match &self.finding.check {
            Check::Cell(check) => Some(check),
            _ => None,
        }
    }

    /// (measured − published) ÷ |published| of a table's cell in percent; `None` for orders and
    /// where nothing can be divided.
    #[must_use]
    pub fn difference_percent(&self) -> Option<f64> {
        match (&self.cell()?.expected, &self.found) {
            (Expected::Value(expected), Some(Found::Value { value, .. })) if *expected != 0.0 => {
                Some((value - expected) / expected.abs() * 100.0)
            }
            _ => None,
        }
    }
}

/// One cell, curve or pair of a check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// Where, on the axes that leave a choice.
    pub at: Place,
    /// The judged number: a mean, the last minus the first value of a curve, a difference or a
    /// ratio.
    pub value: f64,
    /// Half of its 95 % interval, where it has one.
    pub half_width: Option<f64>,
    /// Replications behind it; of a comparison those that both sides have, 0 where they could not
    /// be paired.
    pub replications: u32,
    /// How far it lies on the right side, in the unit of the number: negative where it fails, NaN
    /// where there is no number.
    pub margin: f64,
    /// Whether the check holds here. Without meaning where the finding is held out.
    pub held: bool,
    /// The numbers behind it, and by how much it fails.
    pub detail: String,
}

/// Equality up to rounding, as a share of the numbers involved.
pub(super) const ROUNDING: f64 = 1e-9;

/// Judges the findings of a trace, or all where none is chosen, in the order of the file. A finding
/// that names no trace belongs to every choice.
///
/// A finding holds when no more of its cells fail than it allows. It is missed when more fail, even
/// if others have no value yet; where cells without a value could decide it either way, or a run,
/// axis or measure is missing, it is not tested.
#[must_use]
pub fn evaluate(
    file: &FindingsFile,
    curves: &dyn MeasuredCurves,
    trace: Option<&str>,
) -> Vec<FindingResult> {
    let findings: Vec<&Finding> = file
        .findings
        .iter()
        .filter(|finding| finding.concerns(trace))
        .collect();
    let mut tables = file
        .cells
        .as_ref()
        .map(|layout| Tables::new(layout, curves));
    let curves = WithQuantities(curves);
    let curves = WithZipped::new(&curves, &file.zipped);
    let curves = WithDerived::new(&curves, &file.derived);
    let sources = Sources::new(&curves, &findings);
    findings
        .into_iter()
        .map(|finding| {
            let survey = match &finding.check {
                Check::Value(check) => value(&sources, finding, check),
                Check::Bound(check) => bound(&sources, finding, check),
                Check::Trend(check) => super::trend::trend(&sources, finding, check),
                Check::Compare(check) => super::compare::compare(&sources, finding, check),
                Check::Points(check) => {
                    let published = file.published.get(&check.points);
                    match super::points::points(&sources, check, published) {
                        Ok((survey, scatter)) => {
                            return FindingResult {
                                scatter: Some(scatter),
                                ..survey.result(finding)
                            };
                        }
                        Err(why) => Err(why),
                    }
                }
                Check::Cell(check) => match &mut tables {
                    Some(tables) => return tables.judge(finding, check),
                    None => Err("the file has no `[cells]`".to_owned()),
                },
            };
            match survey {
                Ok(survey) => survey.result(finding),
                Err(why) => FindingResult::not_tested(finding, why),
            }
        })
        .collect()
}

/// Every curve that the findings ask for, read once.
pub(super) struct Sources<'m> {
    curves: &'m dyn MeasuredCurves,
    cells: BTreeMap<(String, String), Vec<CurveCell>>,
}

impl<'m> Sources<'m> {
    fn new(curves: &'m dyn MeasuredCurves, findings: &[&Finding]) -> Self {
        let mut cells = BTreeMap::new();
        for (run, measure) in findings.iter().flat_map(|finding| finding.check.sources()) {
            if curves.axes(run).is_some() {
                cells
                    .entry((run.to_owned(), measure.to_owned()))
                    .or_insert_with(|| curves.cells(run, measure));
            }
        }
        Self { curves, cells }
    }

    pub(super) fn field(
        &self,
        run: &str,
        measure: &str,
        at: &super::Fixed,
        filter: &AxisFilter,
    ) -> Result<Field<'_>, String> {
        let cells = self
            .cells
            .get(&(run.to_owned(), measure.to_owned()))
            .map_or(&[][..], Vec::as_slice);
        Field::new(self.curves, (run, measure), cells, at, filter)
    }

    /// The axes of a run, and its cells of a measure.
    pub(super) fn cells(
        &self,
        run: &str,
        measure: &str,
    ) -> Result<(&[Axis], &[CurveCell]), String> {
        let axes = self.curves.axes(run);
        let axes = axes.ok_or_else(|| format!("run `{run}` was not made"))?;
        let cells = self.cells.get(&(run.to_owned(), measure.to_owned()));
        Ok((axes, cells.map_or(&[][..], Vec::as_slice)))
    }

    pub(super) fn has_axis(&self, run: &str, key: &str) -> bool {
        self.curves
            .axes(run)
            .is_some_and(|axes| axes.iter().any(|axis| axis.key == key))
    }
}

fn value(sources: &Sources<'_>, finding: &Finding, check: &ValueCheck) -> Result<Survey, String> {
    let field = sources.field(&check.run, &check.measure, &check.at, &AxisFilter::new())?;
    if let Some(open) = field.axes.iter().find(|part| part.values.len() > 1) {
        return Err(format!(
            "`at` leaves `{}` open, which has {} values",
            open.key,
            open.values.len()
        ));
    }
    let mut survey = Survey::new("cell");
    survey.judge_cells(&field, finding, |cell| {
        let mean = cell.estimate.mean;
        let Some(expected) = check.expected else {
            return (f64::NAN, true, String::new());
        };
        let published = expected.value;
        if let Tolerance::Range { rounding, widened } = expected.tolerance {
            return among(cell, published, (rounding, widened));
        }
        let width = expected.tolerance.width(published);
        let away = (mean - published).abs();
        let rounding = ROUNDING * mean.abs().max(published.abs());
        (
            width - away,
            away <= width + rounding,
            format!(
                "{} away from {}, {} allowed",
                number(away),
                number(published),
                number(width)
            ),
        )
    });
    survey.line = survey.range(finding);
    if let Some(PublishedValue {
        value: published,
        tolerance: Tolerance::Range { widened, .. },
    }) = check.expected
        && let Some(cell) = field.cell(&vec![0; field.axes.len()])
        && let Some((low, high)) = extremes(cell)
    {
        let range = format!(", from {} to {}", number(low), number(high));
        survey.line.push_str(&range);
        if widened > 0.0 {
            let below = cell.samples.iter().filter(|(_, value)| *value < published);
            let share = below.count() as f64 / cell.samples.len() as f64;
            let share = number((share * 100.0).round());
            survey
                .line
                .push_str(&format!("; {share} % of them below the published number"));
        }
    }
    Ok(survey)
}

/// Judges whether a published number lies among the replications of a cell, up to its printed
/// digits and the share by which their range is widened.
fn among(cell: &CurveCell, published: f64, (printed, widened): (f64, f64)) -> (f64, bool, String) {
    let Some((low, high)) = extremes(cell) else {
        return (f64::NAN, false, "its replications are not known".to_owned());
    };
    let (low, high) = (low - widened * low.abs(), high + widened * high.abs());
    let margin = (published - low).min(high - published) + printed;
    let rounding = ROUNDING * low.abs().max(high.abs()).max(published.abs());
    (
        margin,
        margin >= -rounding,
        format!(
            "{} is outside {} to {}",
            number(published),
            number(low),
            number(high)
        ),
    )
}

/// The least and the greatest replication.
fn extremes(cell: &CurveCell) -> Option<(f64, f64)> {
    let values = || cell.samples.iter().map(|(_, value)| *value);
    Some((
        values().min_by(f64::total_cmp)?,
        values().max_by(f64::total_cmp)?,
    ))
}

fn bound(sources: &Sources<'_>, finding: &Finding, check: &BoundCheck) -> Result<Survey, String> {
    let field = sources.field(
        &check.run,
        &check.measure,
        &super::Fixed::new(),
        &check.filter,
    )?;
    let mut survey = Survey::new("cell");
    survey.judge_cells(&field, finding, |cell| {
        let mean = cell.estimate.mean;
        // How far inside each bound, and what is wrong where it is outside.
        let inside = [
            check.at_least.map(|low| (mean - low, "below", low)),
            check.at_most.map(|high| (high - mean, "above", high)),
            check
                .equals
                .map(|only| (-(mean - only).abs(), "away from", only)),
        ];
        inside
            .into_iter()
            .flatten()
            .map(|(margin, side, bound)| {
                let rounding = ROUNDING * mean.abs().max(bound.abs());
                (
                    margin,
                    margin >= -rounding,
                    format!("{} {side} {}", number(-margin), number(bound)),
                )
            })
            .min_by(|left, right| left.0.total_cmp(&right.0))
            .unwrap_or((f64::NAN, true, String::new()))
    });
    survey.line = survey.range(finding);
    Ok(survey)
}
