//! Why findings did not hold, as data beside them: `configs/PAPER/explanations.toml`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{FindingResult, FindingsError, FindingsFile, Verdict};

/// One explanation and the findings whose misses it is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explanation {
    /// The ids of the findings.
    pub findings: Vec<String>,
    /// What we know, and whether the cause is open.
    pub text: String,
    /// Configurations that showed it.
    #[serde(default)]
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
/// [`FindingsError::Syntax`] names the file, the line and what is wrong; [`FindingsError::Explanation`] refuses one without text
/// or findings, and a finding that is explained twice.
pub fn parse_explanations(file: &str, text: &str) -> Result<Vec<Explanation>, FindingsError> {
    let parsed: File = toml::from_str(text).map_err(|source| FindingsError::Syntax {
        file: file.to_owned(),
        source: Box::new(source),
    })?;
    let mut seen = BTreeSet::new();
    for explanation in &parsed.explanation {
        let refuse = |problem: String| FindingsError::Explanation {
            file: file.to_owned(),
            findings: explanation.findings.join(", "),
            problem,
        };
        if explanation.findings.is_empty() {
            return Err(refuse("`findings` names none".to_owned()));
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
    /// Its text in one line, with what was looked at.
    #[must_use]
    pub fn line(&self) -> String {
        let text = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        if self.evidence.is_empty() {
            text
        } else {
            format!("{text} Looked at: {}.", self.evidence.join(", "))
        }
    }
}

/// The explanation of a miss. `None` where the finding held or was not tested, or none names it.
#[must_use]
pub fn explain<'e>(
    explanations: &'e [Explanation],
    result: &FindingResult,
) -> Option<&'e Explanation> {
    matches!(result.verdict, Verdict::Missed(_))
        .then(|| {
            explanations
                .iter()
                .find(|known| known.findings.contains(&result.finding.id))
        })
        .flatten()
}

/// Misses and explanations that do not belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Audit {
    /// Findings that were missed and that no explanation names.
    pub unexplained: Vec<String>,
    /// Findings that an explanation names although they held, or although there is no such finding. One that was not tested is
    /// not here: its explanation may be right.
    pub explained_for_nothing: Vec<String>,
}

impl Audit {
    /// Whether every miss is explained, and nothing else is.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.unexplained.is_empty() && self.explained_for_nothing.is_empty()
    }
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
