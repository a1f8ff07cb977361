//! The answer of a run in each of its situations, for a page whose reader chooses one.

use super::Statement;
use super::earning::{EarningStrategies, situations};
use super::lines::{of_figure, shown_first};
use crate::analysis::Analysis;
use crate::figure::Figure;
use crate::plots::drawn::drawn;
use crate::plots::given;
use crate::plots::paired::Pairs;
use bookahead_lab::store::RunSummary;

/// A page with more situations has the answer over all of them alone.
const MOST_SITUATIONS: usize = 200;

/// What came out in one situation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SituationAnswer {
    /// The values of the axes that describe it, `(key, value)`.
    pub(crate) given: Vec<(String, String)>,
    /// Without the number of replications, which is that of the run.
    pub(crate) statements: Vec<Statement>,
}

/// The answers of a run with these figures; none where it has one situation, or too many.
pub(crate) fn by_situation(
    analysis: &Analysis,
    pairs: &Pairs<'_>,
    run: &RunSummary,
    figures: &[Figure],
) -> Vec<SituationAnswer> {
    let answers = if analysis.is_earning() {
        of_earnings(analysis, pairs, run)
    } else {
        of_figures(figures)
    };
    match answers.len() {
        2..=MOST_SITUATIONS => answers,
        _ => Vec::new(),
    }
}

fn of_earnings(analysis: &Analysis, pairs: &Pairs<'_>, run: &RunSummary) -> Vec<SituationAnswer> {
    let Some(earned) = drawn(analysis, &run.configuration_hash).into_iter().next() else {
        return Vec::new();
    };
    let asked = EarningStrategies {
        analysis,
        pairs,
        earned,
        optimism: None,
    };
    let axes = analysis.given_axes();
    let situations = situations(analysis).into_iter();
    situations
        .map(|ranked| {
            let places: Vec<Option<u32>> = axes.iter().map(|at| ranked[0].places[*at]).collect();
            let mut statements = asked.one(&ranked, String::new());
            statements.retain(|statement| statement.question != Statement::SURE);
            SituationAnswer {
                given: given(analysis, &axes, &places),
                statements,
            }
        })
        .filter(|answer| !answer.statements.is_empty())
        .collect()
}

/// Of the figures that show what the answer is read off, in each situation.
fn of_figures(figures: &[Figure]) -> Vec<SituationAnswer> {
    let shown = shown_first(figures).into_iter();
    shown
        .map(|figure| SituationAnswer {
            given: figure.given.clone(),
            statements: vec![of_figure(figure)],
        })
        .collect()
}
