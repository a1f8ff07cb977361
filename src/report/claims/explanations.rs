//! Why claims did not hold, as data beside the claims: `configs/PAPER/explanations.toml`.

use serde::{Deserialize, Serialize};

use super::{Claim, ClaimsError, Comparison, Quantity, Verdict};

/// One explanation and the misses that it is for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explanation {
    /// Its short name, shown beside each claim.
    pub id: String,
    /// Traces that it is for; none for all.
    #[serde(default)]
    pub traces: Vec<String>,
    /// Quantities that it is for; none for all.
    #[serde(default)]
    pub quantities: Vec<Quantity>,
    /// Strategies that it is for; none for all.
    #[serde(default)]
    pub strategies: Vec<String>,
    /// Families of classes that it is for; none for all.
    #[serde(default)]
    pub families: Vec<String>,
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
/// [`ClaimsError::Syntax`] names the file, the line and what is wrong.
pub fn parse_explanations(file: &str, text: &str) -> Result<Vec<Explanation>, ClaimsError> {
    toml::from_str::<File>(text)
        .map(|file| file.explanation)
        .map_err(|source| ClaimsError::Syntax {
            file: file.to_owned(),
            source: Box::new(source),
        })
}

impl Explanation {
    /// Whether it is for a claim.
    #[must_use]
    pub fn fits(&self, claim: &Claim) -> bool {
        let among = |names: &[String], name: Option<&str>| {
            names.is_empty() || name.is_some_and(|name| names.iter().any(|known| known == name))
        };
        among(&self.traces, Some(&claim.trace))
            && (self.quantities.is_empty() || self.quantities.contains(&claim.quantity))
            && among(&self.strategies, claim.strategy.as_deref())
            && among(&self.families, claim.family.as_deref())
    }
}

/// The explanation of a miss: the first that fits. `None` where the claim held or was not tested, or nothing fits.
#[must_use]
pub fn explain<'e>(
    explanations: &'e [Explanation],
    comparison: &Comparison,
) -> Option<&'e Explanation> {
    matches!(comparison.verdict, Verdict::Missed(_))
        .then(|| {
            explanations
                .iter()
                .find(|explanation| explanation.fits(&comparison.claim))
        })
        .flatten()
}
