//! A comparison as programs read it.

use serde::Serialize;

use crate::report::claims::{
    Comparison, Expected, Experiment, Found, Ground, Provenance, Quantity, Tolerance, Verdict,
};

/// One comparison as programs read it (`reproduce --json`).
#[derive(Clone, Debug, Serialize)]
pub struct Record<'a> {
    id: &'a str,
    trace: &'a str,
    /// The reading of the paper that was run, where it has several.
    pub(super) reading: Option<&'a str>,
    table: Option<&'a str>,
    section: &'a str,
    experiment: Experiment,
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
    tolerance: Tolerance,
    /// `None` where it could not be compared.
    held: Option<bool>,
    verdict: &'static str,
    detail: Option<&'a str>,
    /// As `held`, by the second judgement.
    held_over_alignments: Option<bool>,
    /// The second judgement, where the claim has one of its own.
    over_alignments: Option<SecondRecord<'a>>,
    note: Option<&'a str>,
    statement: String,
    /// Why it was missed, where it was.
    pub(super) explanation: Option<&'a str>,
}

/// A second judgement.
#[derive(Clone, Debug, Serialize)]
struct SecondRecord<'a> {
    verdict: &'static str,
    detail: Option<&'a str>,
    /// What it rests on.
    ground: Option<&'a Ground>,
}

/// Whether a claim held, the verdict's name, and what else it says.
fn verdict_of(verdict: &Verdict) -> (Option<bool>, &'static str, Option<&str>) {
    match verdict {
        Verdict::Held => (Some(true), "held", None),
        Verdict::Missed(how) => (Some(false), "missed", Some(how.as_str())),
        Verdict::NotTested(why) => (None, "not-tested", Some(why.as_str())),
    }
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum MeasuredValue<'a> {
    Number(f64),
    Order(&'a [String]),
}

impl<'a> From<&'a Comparison> for Record<'a> {
    fn from(comparison: &'a Comparison) -> Self {
        let claim = &comparison.claim;
        let (held, verdict, detail) = verdict_of(&comparison.verdict);
        let over_alignments = comparison.second.as_ref().map(|second| {
            let (_, verdict, detail) = verdict_of(&second.verdict);
            SecondRecord {
                verdict,
                detail,
                ground: second.ground.as_ref(),
            }
        });
        let (measured, interval, batteries) = match &comparison.found {
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
        Self {
            id: &claim.id,
            trace: &claim.trace,
            reading: None,
            table: claim.table.as_deref(),
            section: &claim.section,
            experiment: claim.experiment,
            family: claim.family.as_deref(),
            strategy: claim.strategy.as_deref(),
            quantity: claim.quantity,
            at: claim.at,
            provenance: claim.provenance,
            published: &claim.expected,
            printed: claim.printed,
            resolves: claim.resolves.as_deref(),
            measured,
            interval,
            batteries,
            difference_percent: comparison.difference_percent,
            tolerance: claim.tolerance,
            held,
            verdict,
            detail,
            held_over_alignments: verdict_of(comparison.second_verdict()).0,
            over_alignments,
            note: claim.note.as_deref(),
            statement: claim.statement(),
            explanation: None,
        }
    }
}
