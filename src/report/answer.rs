//! The result in a few sentences: the best strategy and threshold, and how certain that is; for a
//! study, how its first quantity changes.

mod earning;
mod lines;
mod situation;

pub(super) use self::situation::{SituationAnswer, by_situation};

use self::earning::{EarningStrategies, situations};
use self::lines::{headline, of_figures};
use super::analysis::{Analysis, Combination};
use super::figure::Figure;
use super::plots::drawn::{Drawn, drawn};
use super::plots::paired::Pairs;
use super::statistics::{Interval, Replicated};
use super::table::grouped;
use bookahead_lab::store::RunSummary;

/// A question that a reader has, and what the run says to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) question: String,
    pub(super) answer: String,
}

impl Statement {
    /// The question about replications and intervals.
    pub(super) const SURE: &str = "How sure?";
    /// The end of an answer that only the page can keep.
    pub(super) const ON_PAGE: &str = " Choose one above the figure.";

    fn new(question: impl Into<String>, answer: impl Into<String>) -> Self {
        Self {
            question: question.into(),
            answer: answer.into(),
        }
    }
}

/// The subject of an answer: one quantity in the compared settings. It decides how much the answer
/// can be trusted.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    /// The heading of the quantity.
    pub(super) title: String,
    /// At least one; of strategies that earn money the best come first.
    pub(super) settings: Vec<Setting>,
    /// Of strategies that earn money, of each situation, the best minus the next one, in pairs that
    /// saw the same.
    pub(super) differences: Vec<Setting>,
}

/// A setting of an answer, or two that are compared.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    /// Its strategy or study.
    pub(super) name: String,
    /// What it has of the answer's quantity.
    pub(super) found: Replicated,
}

impl Subject {
    /// Of a run with these figures; `None` where nothing was measured.
    pub(super) fn of(
        analysis: &Analysis,
        pairs: &Pairs<'_>,
        run: &RunSummary,
        figures: &[Figure],
    ) -> Option<Self> {
        let mut quantities = drawn(analysis, &run.configuration_hash);
        let combinations = if analysis.is_earning() {
            let mut best = analysis.best();
            best.sort_by(|one, other| {
                (analysis.mean_earned(other)).total_cmp(&analysis.mean_earned(one))
            });
            best
        } else {
            quantities = pairs.in_order(quantities);
            let is_shown = |quantity: &Drawn| {
                headline(figures).is_some_and(|figure| figure.y.title == quantity.title)
            };
            // Without a figure over an axis it is the first that would be drawn.
            let shown = quantities.iter().position(is_shown).unwrap_or(0);
            quantities.drain(..shown.min(quantities.len()));
            analysis.combinations.iter().collect()
        };
        let quantity = quantities.into_iter().next()?;
        let setting = |combination: &Combination| {
            Some(Setting {
                name: analysis.policy(combination).to_owned(),
                found: pairs.replicated(&quantity, analysis, combination)?,
            })
        };
        let settings: Vec<Setting> = combinations.into_iter().filter_map(setting).collect();
        let difference = |ranked: &Vec<&Combination>| {
            let (best, next) = (ranked.first()?, ranked.get(1)?);
            Some(Setting {
                name: format!("{} − {}", analysis.policy(best), analysis.policy(next)),
                found: pairs.difference(&quantity, best, next)?,
            })
        };
        let situations = match analysis.is_earning() {
            true => situations(analysis),
            false => Vec::new(),
        };
        (!settings.is_empty()).then_some(Self {
            settings,
            differences: situations.iter().filter_map(difference).collect(),
            title: quantity.title,
        })
    }
}

/// The answer of a run with these figures.
pub(super) fn statements(
    analysis: &Analysis,
    pairs: &Pairs<'_>,
    run: &RunSummary,
    figures: &[Figure],
    remark: Option<&str>,
    optimism: Option<&str>,
) -> Vec<Statement> {
    let sure = replications(run, analysis) + remark.unwrap_or_default();
    if !analysis.is_earning() {
        let mut found = of_figures(figures);
        found.push(Statement::new(Statement::SURE, sure));
        return found;
    }
    let Some(earned) = drawn(analysis, &run.configuration_hash).into_iter().next() else {
        return Vec::new();
    };
    let situations = situations(analysis);
    let asked = EarningStrategies {
        analysis,
        pairs,
        earned,
        optimism,
    };
    match situations.as_slice() {
        [] => Vec::new(),
        [only] => asked.one(only, sure),
        several => asked.several(several, sure),
    }
}

fn replications(run: &RunSummary, analysis: &Analysis) -> String {
    let counted = analysis.combinations.iter();
    let counted = counted.filter_map(|combination| Some(combination.estimates[0]?.count));
    match run.replications {
        count if count > 1 && counted.max() == Some(1) && analysis.repetitions > 0 => format!(
            "{count} replications that repeat one another (the same jobs and failures, the same results) are one result: \
             there are no intervals, and another workload may give other numbers."
        ),
        1 => "One replication: there are no intervals, and differences may be chance.".to_owned(),
        count => format!(
            "{count} replications; 95 % intervals of means over them{}.",
            if run.points_done < run.points {
                ", as far as there are results"
            } else {
                ""
            }
        ),
    }
}

/// ` [1,200, 1,400]`, or nothing with a single replication.
fn interval(interval: Option<Interval>) -> String {
    interval.map_or_else(String::new, |interval| {
        format!(
            " [{}, {}]",
            grouped(interval.low, 0),
            grouped(interval.high, 0)
        )
    })
}
