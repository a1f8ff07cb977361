//! Findings that are judged again on other inputs: the same statements about runs of another
//! prefix.

use serde::Deserialize;

use super::{Check, Finding, FindingsFile};

/// Every finding of one trace again for another.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Again {
    /// The trace whose findings are repeated. The names of their runs begin with it and a hyphen.
    pub(super) of: String,
    /// The trace that they are repeated for. Its name stands in the place of the other one in names
    /// of runs and in front of ids, as in `drawn/E3-rw1`.
    pub(super) trace: String,
}

/// Adds the repeated findings, and the runs that are made of others, behind those that are there. A
/// finding that is marked `once` is left out.
pub(super) fn repeat(file: &mut FindingsFile, rule: &Again) -> Result<(), String> {
    let prefix = format!("{}-", rule.of);
    let renamed = |run: &str| -> Result<String, String> {
        run.strip_prefix(&prefix)
            .map(|rest| format!("{}-{rest}", rule.trace))
            .ok_or_else(|| format!("the run `{run}` does not begin with `{prefix}`"))
    };
    let mut repeated = Vec::new();
    for finding in &file.findings {
        if finding.trace.as_deref() == Some(&rule.of) && !finding.is_once {
            let mut again = Finding {
                id: format!("{}/{}", rule.trace, finding.id),
                trace: Some(rule.trace.clone()),
                ..finding.clone()
            };
            for run in runs(&mut again.check) {
                *run = renamed(run)?;
            }
            repeated.push(again);
        }
    }
    if repeated.is_empty() {
        return Err(format!("no finding has the trace `{}`", rule.of));
    }
    let known = |id: &str| file.findings.iter().any(|finding| finding.id == id);
    if let Some(twice) = repeated.iter().find(|again| known(&again.id)) {
        return Err(format!("`{}` is there already", twice.id));
    }
    let mut derived = file.derived.clone();
    derived.retain(|derived| derived.of.starts_with(&prefix));
    for derived in &mut derived {
        derived.run = renamed(&derived.run)?;
        derived.of = renamed(&derived.of)?;
    }
    let mut paired = file.paired.clone();
    paired.retain(|paired| paired.of.starts_with(&prefix));
    for paired in &mut paired {
        paired.run = renamed(&paired.run)?;
        paired.of = renamed(&paired.of)?;
    }
    let mut zipped = file.zipped.clone();
    zipped.retain(|zipped| zipped.run.starts_with(&prefix));
    for zipped in &mut zipped {
        zipped.run = renamed(&zipped.run)?;
    }
    file.findings.append(&mut repeated);
    file.derived.append(&mut derived);
    file.paired.append(&mut paired);
    file.zipped.append(&mut zipped);
    Ok(())
}

/// The names of runs in a check.
fn runs(check: &mut Check) -> Vec<&mut String> {
    match check {
        Check::Value(check) => vec![&mut check.run],
        Check::Bound(check) => vec![&mut check.run],
        Check::Trend(check) => vec![&mut check.run],
        Check::Points(check) => vec![&mut check.run],
        Check::Compare(check) => vec![&mut check.left.run, &mut check.right.run],
        Check::Cell(check) => check.runs.iter_mut().collect(),
    }
}
