//! A result in the form for programs.

use serde::Serialize;

use super::ScoreCard;
use crate::findings::tables::{CellCheck, Expected, Found, Ground, Quantity};
use crate::findings::{Check, Explanation, FindingResult, Judged, Provenance, Tolerance};

/// One result as programs read it (`reproduce --json`).
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Record<'a> {
    /// Of a table.
    Cell(Box<CellRecord<'a>>),
    /// Of curves.
    Curve(Box<CurveRecord<'a>>),
}

/// A result of curves.
#[derive(Clone, Debug, Serialize)]
pub struct CurveRecord<'a> {
    id: &'a str,
    trace: Option<&'a str>,
    section: &'a str,
    statement: &'a str,
    provenance: Provenance,
    unit: Option<&'a str>,
    held_out: bool,
    check: &'a Check,
    /// What must hold, in words.
    expected: String,
    measured: &'a str,
    /// `None` where it was not tested.
    held: Option<bool>,
    verdict: &'static str,
    detail: Option<&'a str>,
    cells: usize,
    failed_cells: usize,
    missing_cells: usize,
    worst: Option<&'a Judged>,
    each: &'a [Judged],
    note: Option<&'a str>,
    /// Why it was missed, where it was.
    explanation: Option<String>,
}

/// A result of a table.
#[derive(Clone, Debug, Serialize)]
pub struct CellRecord<'a> {
    id: &'a str,
    trace: Option<&'a str>,
    /// The reading of the paper that was run, where it has several.
    reading: Option<&'a str>,
    table: Option<&'a str>,
    section: &'a str,
    experiment: &'a str,
    family: Option<&'a str>,
    strategy: Option<&'a str>,
    quantity: Quantity,
    at: Option<f64>,
    provenance: Provenance,
    published: &'a Expected,
    printed: Option<f64>,
    resolves: Option<&'a str>,
    measured: Option<MeasuredValue<'a>>,
    interval: Option<[f64; 2]>,
    batteries: Option<u64>,
    difference_percent: Option<f64>,
    tolerance: ToleranceRecord,
    /// `None` where it could not be compared.
    held: Option<bool>,
    verdict: &'static str,
    detail: Option<&'a str>,
    /// As `held`, by the second judgement.
    held_over_alignments: Option<bool>,
    /// The second judgement, where the finding has one of its own.
    over_alignments: Option<SecondRecord<'a>>,
    note: Option<&'a str>,
    statement: &'a str,
    /// Why it was missed, where it was.
    explanation: Option<&'a str>,
}

/// A second judgement.
#[derive(Clone, Debug, Serialize)]
struct SecondRecord<'a> {
    verdict: &'static str,
    detail: Option<&'a str>,
    /// What it rests on.
    ground: Option<&'a Ground>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum MeasuredValue<'a> {
    Number(f64),
    Order(&'a [String]),
}

#[derive(Clone, Debug, Serialize)]
struct ToleranceRecord {
    kind: &'static str,
    width: f64,
}

impl<'a> Record<'a> {
    pub(super) fn new(card: &'a ScoreCard, result: &'a FindingResult) -> Self {
        match &result.finding.check {
            Check::Cell(check) => Self::Cell(Box::new(cell(card, result, check))),
            _ => Self::Curve(Box::new(curve(card, result))),
        }
    }
}

fn curve<'a>(card: &'a ScoreCard, result: &'a FindingResult) -> CurveRecord<'a> {
    let finding = &result.finding;
    let (held, verdict, detail) = result.verdict.record();
    CurveRecord {
        id: &finding.id,
        trace: finding.trace.as_deref().or(Some(&card.trace)),
        section: &finding.section,
        statement: &finding.statement,
        provenance: finding.provenance,
        unit: finding.unit.as_deref(),
        held_out: finding.held_out,
        check: &finding.check,
        expected: finding.expected(),
        measured: &result.measured,
        held,
        verdict,
        detail,
        cells: result.cells,
        failed_cells: result.failed_cells,
        missing_cells: result.missing_cells,
        worst: result.worst.as_ref(),
        each: &result.judged,
        note: finding.note.as_deref(),
        explanation: card.why(result).map(Explanation::line),
    }
}

fn cell<'a>(
    card: &'a ScoreCard,
    result: &'a FindingResult,
    check: &'a CellCheck,
) -> CellRecord<'a> {
    let finding = &result.finding;
    let (held, verdict, detail) = result.verdict.record();
    let over_alignments = result.second.as_ref().map(|second| {
        let (_, verdict, detail) = second.verdict.record();
        SecondRecord {
            verdict,
            detail,
            ground: second.ground.as_ref(),
        }
    });
    let (measured, interval, batteries) = match &result.found {
        Some(Found::Value {
            value,
            interval,
            batteries,
        }) => (
            Some(MeasuredValue::Number(*value)),
            *interval,
            Some(*batteries),
        ),
        Some(Found::Order(names)) => (Some(MeasuredValue::Order(names)), None, None),
        None => (None, None, None),
    };
    let (kind, width) = match check.tolerance {
        Tolerance::Relative(share) => ("relative", share),
        Tolerance::Absolute(width) => ("absolute", width),
        Tolerance::Range { rounding, .. } => ("range", rounding),
    };
    CellRecord {
        id: &finding.id,
        trace: finding.trace.as_deref(),
        reading: card.reading.as_ref().map(|reading| reading.name.as_str()),
        table: check.table.as_deref(),
        section: &finding.section,
        experiment: &check.experiment,
        family: check.family.as_deref(),
        strategy: check.strategy.as_deref(),
        quantity: check.quantity,
        at: check.at,
        provenance: finding.provenance,
        published: &check.expected,
        printed: check.printed,
        resolves: check.resolves.as_deref(),
        measured,
        interval,
        batteries,
        difference_percent: result.difference_percent(),
        tolerance: ToleranceRecord { kind, width },
        held,
        verdict,
        detail,
        held_over_alignments: result.second_verdict().record().0,
        over_alignments,
        note: finding.note.as_deref(),
        statement: &finding.statement,
        explanation: card.why(result).map(|found| found.text.trim()),
    }
}
