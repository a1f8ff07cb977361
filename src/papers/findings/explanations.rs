//! Explanations of findings that did not hold, as data beside them:
//! `configs/PAPER/explanations.toml`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::file::from_toml;
use super::tables::Quantity;
use super::{Check, Finding, FindingResult, FindingsError, FindingsFile, Verdict};

/// One explanation and the misses that it is for: those of the findings that it names, and of
/// tables those that fit all of its lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Explanation {
    /// Its short name, shown beside each finding of a table; empty where it names its findings.
    pub id: String,
    /// The ids of the findings; none for all that fit.
    pub findings: Vec<String>,
    /// Traces that it is for; none for all.
    pub traces: Vec<String>,
    /// Quantities that it is for; none for all.
    pub quantities: Vec<Quantity>,
    /// Strategies that it is for; none for all.
    pub strategies: Vec<String>,
    /// Families of classes that it is for; none for all.
    pub families: Vec<String>,
    /// What we know, and whether the cause is open.
    pub text: String,
    /// Configurations that showed it.
    pub evidence: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    explanation: Vec<Explanation>,
}

/// Reads a file of explanations.
///
/// # Errors
///
/// [`FindingsError::Syntax`] names the file, the line and what is wrong; [`FindingsError::Entry`]
/// refuses one without text, one that says nothing of which misses it is for, and a finding that is
/// explained twice.
pub fn parse_explanations(file: &str, text: &str) -> Result<Vec<Explanation>, FindingsError> {
    let parsed: File = from_toml(file, text)?;
    let mut seen = BTreeSet::new();
    for explanation in &parsed.explanation {
        let refuse = |problem: String| {
            let entry = match (explanation.id.as_str(), explanation.findings.join(", ")) {
                ("", findings) => format!("explanation of {findings}"),
                (id, _) => format!("explanation `{id}`"),
            };
            FindingsError::Entry {
                file: file.to_owned(),
                entry,
                problem,
            }
        };
        if explanation.findings.is_empty() {
            if !explanation.selects() {
                return Err(refuse(
                    "`findings` names none, and no `traces`, `quantities`, `strategies` or `families` say which it is for".to_owned(),
                ));
            }
            if explanation.id.is_empty() {
                return Err(refuse("`id` is missing".to_owned()));
            }
        }
        if explanation.text.trim().is_empty() {
            return Err(refuse("`text` is empty".to_owned()));
        }
        for id in &explanation.findings {
            if !seen.insert(id) {
                return Err(refuse(format!("`{id}` is explained twice")));
            }
        }
    }
    Ok(parsed.explanation)
}

impl Explanation {
    fn selects(&self) -> bool {
        let names = [&self.traces, &self.strategies, &self.families];
        !self.quantities.is_empty() || names.iter().any(|names| !names.is_empty())
    }

    /// Whether it is for a finding.
    #[must_use]
    pub fn fits(&self, finding: &Finding) -> bool {
        let among = |names: &[String], name: Option<&String>| {
            names.is_empty() || name.is_some_and(|name| names.contains(name))
        };
        let selected = match &finding.check {
            Check::Cell(check) => {
                (self.quantities.is_empty() || self.quantities.contains(&check.quantity))
                    && among(&self.strategies, check.strategy.as_ref())
                    && among(&self.families, check.family.as_ref())
            }
            _ => !self.findings.is_empty(),
        };
        selected
            && among(&self.findings, Some(&finding.id))
            && among(&self.traces, finding.trace.as_ref())
    }

    /// What it is called: its id, else the first finding that it names.
    #[must_use]
    pub fn name(&self) -> &str {
        match self.findings.first() {
            Some(finding) if self.id.is_empty() => finding,
            _ => &self.id,
        }
    }

    /// Its text in one line, with what was looked at.
    #[must_use]
    pub fn line(&self) -> String {
        let text = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("{text}{}", self.looked_at())
    }

    /// What was looked at, behind a text.
    #[must_use]
    pub fn looked_at(&self) -> String {
        if self.evidence.is_empty() {
            return String::new();
        }
        format!(" Looked at: {}.", self.evidence.join(", "))
    }
}

/// The explanation of a miss: the first that fits. `None` where the finding held or was not tested,
/// or nothing fits.
#[must_use]
pub fn explain<'e>(
    explanations: &'e [Explanation],
    result: &FindingResult,
) -> Option<&'e Explanation> {
    matches!(result.verdict, Verdict::Missed(_))
        .then(|| {
            explanations
                .iter()
                .find(|known| known.fits(&result.finding))
        })
        .flatten()
}

/// Misses and explanations that do not belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Audit {
    /// Findings that were missed and that no explanation names.
    pub unexplained: Vec<String>,
    /// Findings that an explanation names although they held, or although there is no such finding.
    /// One that was not tested is not here: its explanation may be right.
    pub explained_for_nothing: Vec<String>,
}

/// Compares explanations with the misses of `results`, which may be of one trace only.
#[must_use]
pub fn audit(
    file: &FindingsFile,
    results: &[FindingResult],
    explanations: &[Explanation],
) -> Audit {
    let verdict = |id: &str| {
        results
            .iter()
            .find(|result| result.finding.id == id)
            .map(|result| &result.verdict)
    };
    let is_known = |id: &str| file.findings.iter().any(|finding| finding.id == id);
    Audit {
        unexplained: results
            .iter()
            .filter(|result| {
                matches!(result.verdict, Verdict::Missed(_))
                    && explain(explanations, result).is_none()
            })
            .map(|result| result.finding.id.clone())
            .collect(),
        explained_for_nothing: explanations
            .iter()
            .flat_map(|explanation| &explanation.findings)
            .filter(|id| !is_known(id) || matches!(verdict(id), Some(Verdict::Held)))
            .cloned()
            .collect(),
    }
}
