//! Do the promised probabilities of failure come true?
//!
//! Answered for each strategy by itself, and for each situation and threshold of a sweep: strategies err in opposite
//! directions, and pooled they look better than any of them is. `docs/calibration.md` explains every figure.

mod counts;
mod figures;
mod groups;
mod sql;
mod tables;

use super::analysis::Analysis;
use super::figure::Figure;
use super::table::Table;
use crate::store::{CalibrationRow, PofKind, PointColumns};
use counts::Scores;
use groups::{Group, Groups};

/// What a report says about the probabilities of failure that were promised.
pub(super) struct Calibration {
    pub(super) figures: Vec<Figure>,
    /// Scores by strategy and situation, by threshold, and every bin.
    pub(super) tables: Vec<Table>,
    /// One sentence a strategy for the first screen, and whether it is good news.
    pub(super) verdicts: Vec<(bool, String)>,
}

/// From the counts of a run; `None` where no job was overbooked with a probability.
pub(super) fn calibration(
    rows: &[CalibrationRow],
    points: &PointColumns,
    analysis: &Analysis,
    configuration_hash: &str,
) -> Option<Calibration> {
    let groups = Groups::new(rows, points)?;
    Some(Calibration {
        figures: figures::figures(&groups, analysis, configuration_hash),
        tables: tables::tables(&groups, analysis, configuration_hash),
        verdicts: verdicts(&groups, analysis),
    })
}

/// A strategy is good news when it is fine as a whole and in every situation that has enough jobs to tell.
fn verdicts(groups: &Groups, analysis: &Analysis) -> Vec<(bool, String)> {
    let promised = |group: &&Group| group.kind == PofKind::Promised;
    groups
        .whole
        .iter()
        .filter(promised)
        .filter_map(|group| {
            let scores = group.counts.scores()?;
            let strategy = &group.strategy;
            let faults: Vec<String> = groups
                .situations
                .iter()
                .filter(promised)
                .filter(|situation| situation.strategy == *strategy)
                .filter_map(|situation| {
                    let scores = situation.counts.scores()?;
                    (scores.jobs >= counts::FEWEST_JOBS && !scores.is_fine()).then(|| {
                        let values = super::figures::given(analysis, &groups.axes, &situation.places);
                        format!("{} ({})", super::figures::words(&values), in_words(&scores))
                    })
                })
                .collect();
            let jobs = super::table::grouped(scores.jobs as f64, 0);
            let whole = in_words(&scores);
            Some(if !scores.is_fine() {
                (
                    false,
                    format!(
                        "{strategy}: promised risks do not come true: {whole}; promised on average {:.2}, failed {:.2} of {jobs} jobs",
                        scores.predicted, scores.failed.mean
                    ),
                )
            } else if let Some((first, others)) = faults.split_first() {
                let more = match others.len() {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                (
                    false,
                    format!(
                        "{strategy}: promised risks come true as a whole ({whole}), but not with {first}{more}"
                    ),
                )
            } else {
                (
                    true,
                    format!("{strategy}: promised risks come true: {whole}, {jobs} jobs"),
                )
            })
        })
        .collect()
}

/// `skill 0.12, calibration error 0.021`.
fn in_words(scores: &Scores) -> String {
    match scores.skill {
        Some(skill) => format!("skill {skill:.2}, calibration error {:.3}", scores.error),
        None => format!(
            "skill undefined (all jobs ended alike), calibration error {:.3}",
            scores.error
        ),
    }
}
