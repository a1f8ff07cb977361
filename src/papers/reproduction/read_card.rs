//! Reads results back from a score card's JSON. A paper is reproduced trace by trace, by several
//! commands, and the page of the paper uses the results of earlier ones without measuring again.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::FindingResult;
use crate::findings::tables::{Found, Ground, Second};
use crate::findings::{Finding, Verdict};

/// Of a record (see [`Record`](super::Record)) what was measured and how it was judged. What is
/// claimed stands in the findings.
#[derive(Deserialize)]
struct Recorded {
    id: String,
    verdict: String,
    detail: Option<String>,
    measured: Option<Measured>,
    interval: Option<[f64; 2]>,
    batteries: Option<u64>,
    over_alignments: Option<RecordedSecond>,
}

#[derive(Deserialize)]
struct RecordedSecond {
    verdict: String,
    detail: Option<String>,
    ground: Option<Ground>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Measured {
    Number(f64),
    Order(Vec<String>),
    Line(String),
}

/// The results of these findings, in their order, from the text of `score-card.json`. A finding
/// that the card does not know is not tested.
///
/// # Errors
///
/// When the text is no card.
pub fn recorded(text: &str, findings: &[Finding]) -> Result<Vec<FindingResult>, serde_json::Error> {
    let records: Vec<Recorded> = serde_json::from_str(text)?;
    let mut records: BTreeMap<String, Recorded> = records
        .into_iter()
        .map(|record| (record.id.clone(), record))
        .collect();
    let results = findings
        .iter()
        .map(|finding| match records.remove(&finding.id) {
            Some(record) => result(finding, record),
            None => {
                let why = "the score card is older than this finding";
                FindingResult::not_tested(finding, why.to_owned())
            }
        });
    Ok(results.collect())
}

fn result(finding: &Finding, record: Recorded) -> FindingResult {
    let second = record.over_alignments.map(|second| Second {
        verdict: verdict(&second.verdict, second.detail),
        ground: second.ground,
    });
    let nothing = FindingResult::not_tested(finding, String::new());
    let found = match (&record.measured, record.batteries) {
        (Some(Measured::Number(value)), Some(batteries)) => Some(Found::Value {
            value: *value,
            interval: record.interval,
            batteries,
        }),
        (Some(Measured::Order(names)), _) => Some(Found::Order(names.clone())),
        _ => None,
    };
    let measured = match (record.measured, &found) {
        (Some(Measured::Line(line)), _) => line,
        (_, Some(found)) => found.to_string(),
        (_, None) => nothing.measured.clone(),
    };
    FindingResult {
        verdict: verdict(&record.verdict, record.detail),
        measured,
        found,
        second,
        ..nothing
    }
}

/// The reverse of [`Verdict::record`].
fn verdict(word: &str, detail: Option<String>) -> Verdict {
    let detail = detail.unwrap_or_default();
    match word {
        "held" => Verdict::Held,
        "missed" => Verdict::Missed(detail),
        _ => Verdict::NotTested(detail),
    }
}
