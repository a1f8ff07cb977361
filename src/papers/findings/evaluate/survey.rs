//! The values that a check finds in its cells, and the verdict on them.

use super::{FindingResult, Judged, ROUNDING};
use crate::findings::curves::{CurveCell, Field, combinations};
use crate::findings::words::{Place, counted, quantity, share};
use crate::findings::{Check, Finding, Verdict};

/// The values that a check found, before the verdict.
pub(in crate::findings) struct Survey {
    pub(in crate::findings) judged: Vec<Judged>,
    pub(in crate::findings) missing: Vec<Place>,
    /// The word for what is counted: cell or curve.
    pub(in crate::findings) noun: &'static str,
    /// The rest of the line about what was measured.
    pub(in crate::findings) line: String,
}

impl Survey {
    pub(in crate::findings) fn new(noun: &'static str) -> Self {
        Self {
            judged: Vec::new(),
            missing: Vec::new(),
            noun,
            line: String::new(),
        }
    }

    /// Judges each cell of a field alone: margin, whether it holds, and what is wrong where it does
    /// not.
    pub(super) fn judge_cells(
        &mut self,
        field: &Field<'_>,
        finding: &Finding,
        judge: impl Fn(&CurveCell) -> (f64, bool, String),
    ) {
        for index in combinations(&field.sizes()) {
            let at = field.place(&index);
            let Some(cell) = field.cell(&index) else {
                self.missing.push(at);
                continue;
            };
            let estimate = cell.estimate;
            let (margin, held, problem) = judge(cell);
            let held = held && !estimate.mean.is_nan();
            let mut detail = quantity(
                estimate.mean,
                estimate.half_width(),
                finding.unit.as_deref(),
            );
            if !held && !estimate.mean.is_nan() {
                detail.push_str(&format!(", {problem}"));
            }
            self.judged.push(Judged {
                at,
                value: estimate.mean,
                half_width: estimate.half_width(),
                replications: estimate.count,
                margin,
                held,
                detail,
            });
        }
    }

    /// The only value, or the lowest and the highest.
    pub(super) fn range(&self, finding: &Finding) -> String {
        let unit = finding.unit.as_deref();
        let shown = |judged: &Judged| quantity(judged.value, judged.half_width, unit);
        let [only] = self.judged.as_slice() else {
            let end = |word: &str, order: fn(&Judged, &Judged) -> std::cmp::Ordering| {
                self.numbers()
                    .min_by(|left, right| order(left, right))
                    .map(|judged| format!("{word} {}{}", shown(judged), judged.at.at()))
            };
            let ends: Vec<String> = [
                end("lowest", |left, right| left.value.total_cmp(&right.value)),
                end("highest", |left, right| right.value.total_cmp(&left.value)),
            ]
            .into_iter()
            .flatten()
            .collect();
            return ends.join(", ");
        };
        format!(
            "{} ({})",
            shown(only),
            counted(only.replications as usize, "replication")
        )
    }

    /// What was judged and is a number.
    pub(in crate::findings) fn numbers(&self) -> impl Iterator<Item = &Judged> {
        self.judged.iter().filter(|judged| !judged.value.is_nan())
    }

    pub(super) fn result(self, finding: &Finding) -> FindingResult {
        let failed = self.judged.iter().filter(|judged| !judged.held).count();
        let total = self.judged.len() + self.missing.len();
        let exceptions = match &finding.check {
            Check::Value(_) | Check::Cell(_) | Check::Points(_) => 0.0,
            Check::Bound(check) => check.exceptions,
            Check::Trend(check) => check.exceptions,
            Check::Compare(check) => check.exceptions,
        };
        let allowed = (exceptions * total as f64 + ROUNDING).floor() as usize;
        let mut by_margin: Vec<&Judged> = self.judged.iter().collect();
        by_margin.sort_by(|left, right| rank(left).total_cmp(&rank(right)));
        let verdict = if self.judged.is_empty() {
            Verdict::NotTested("none of its cells has a value".to_owned())
        } else if finding.held_out {
            Verdict::NotTested("the published value is held out".to_owned())
        } else if failed > allowed {
            Verdict::Missed(missed(&by_margin, (failed, total, allowed), self.noun))
        } else if failed + self.missing.len() > allowed {
            Verdict::NotTested(format!(
                "{} without a value, the first{}",
                share(self.missing.len(), total, self.noun),
                self.missing.first().map_or_else(String::new, Place::at)
            ))
        } else {
            Verdict::Held
        };
        let worst = by_margin
            .first()
            .filter(|_| !finding.held_out)
            .map(|judged| (*judged).clone());
        FindingResult {
            measured: self.measured(finding, failed),
            cells: self.judged.len(),
            failed_cells: if finding.held_out { 0 } else { failed },
            missing_cells: self.missing.len(),
            worst,
            judged: self.judged,
            ..FindingResult::of(finding, verdict)
        }
    }

    /// One line: in how many cells it holds, what stands out, and how many have no value.
    fn measured(&self, finding: &Finding, failed: usize) -> String {
        /// Up to this many values are all shown where nothing is judged.
        const FEW: usize = 6;
        let mut parts = Vec::new();
        let count = self.judged.len();
        if finding.held_out && (2..=FEW).contains(&count) {
            parts.extend(
                self.judged
                    .iter()
                    .map(|judged| format!("{}{}", judged.detail, judged.at.at())),
            );
        } else {
            if finding.held_out && count > 1 {
                parts.push(counted(count, self.noun));
            } else if count > 1 {
                parts.push(share(count - failed, count, self.noun));
            }
            parts.extend((!self.line.is_empty()).then(|| self.line.clone()));
        }
        if !self.missing.is_empty() {
            parts.push(format!("{} without a value", self.missing.len()));
        }
        parts.join("; ")
    }
}

/// What fails comes first, and of that what is no number, then what fails by most.
fn rank(judged: &Judged) -> f64 {
    match (judged.held, judged.margin.is_nan()) {
        (false, true) => f64::NEG_INFINITY,
        // A strict relation fails at a margin of nothing.
        (false, false) => judged.margin.min(0.0) - f64::MIN_POSITIVE,
        (true, _) => judged.margin.max(0.0),
    }
}

fn missed(
    by_margin: &[&Judged],
    (failed, total, allowed): (usize, usize, usize),
    noun: &str,
) -> String {
    /// At most this many places are named.
    const NAMED: usize = 3;
    let places: Vec<String> = by_margin
        .iter()
        .filter(|judged| !judged.held)
        .take(NAMED)
        .map(|judged| {
            if judged.at.0.is_empty() {
                judged.detail.clone()
            } else {
                format!("at {}: {}", judged.at, judged.detail)
            }
        })
        .collect();
    let mut text = places.join("; ");
    if total > 1 {
        let permitted = if allowed > 0 {
            format!(" ({allowed} allowed)")
        } else {
            String::new()
        };
        text = format!(
            "fails in {}{permitted}, worst first: {text}",
            share(failed, total, noun)
        );
    }
    if failed > NAMED {
        text.push_str(&format!("; and {} more", failed - NAMED));
    }
    text
}
