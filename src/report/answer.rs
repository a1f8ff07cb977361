//! The result in a few sentences: the best strategy and threshold, and how certain that is; for a
//! study, how its first quantity changes.

use super::analysis::{Analysis, Combination};
use super::figure::{Figure, Mark, Marks};
use super::plots::drawn::{Drawn, drawn};
use super::plots::paired::Pairs;
use super::plots::words;
use super::statistics::{Interval, Replicated};
use super::svg::{place_name, short_number};
use super::table::short;
use super::table::{grouped, value_text};
use bookahead_lab::store::RunSummary;

/// A question that a reader has, and what the run says to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) question: String,
    pub(super) answer: String,
}

impl Statement {
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
        let is_earned = |quantity: &Drawn| {
            (analysis.earned_measure()).is_some_and(|measure| measure.name == quantity.key)
        };
        let combinations = if analysis.is_earning() {
            if let Some(earned) = quantities.iter().position(is_earned) {
                quantities.swap(0, earned);
            }
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
        return study(figures, sure);
    }
    let mut quantities = drawn(analysis, &run.configuration_hash).into_iter();
    let earned = match analysis.earned_measure() {
        Some(measure) => quantities.find(|quantity| quantity.key == measure.name),
        None => quantities.next(),
    };
    let Some(earned) = earned else {
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

/// The strategies at their best in each situation, the one with the highest gain first.
fn situations(analysis: &Analysis) -> Vec<Vec<&Combination>> {
    let mut situations: Vec<Vec<&Combination>> = Vec::new();
    let given = analysis.given_axes();
    let places =
        |of: &Combination| -> Vec<_> { given.iter().map(|axis| of.places[*axis]).collect() };
    for combination in analysis.best() {
        match situations
            .last_mut()
            .filter(|known| places(known[0]) == places(combination))
        {
            Some(known) => known.push(combination),
            None => situations.push(vec![combination]),
        }
    }
    for situation in &mut situations {
        situation.sort_by(|one, other| {
            (analysis.mean_earned(other)).total_cmp(&analysis.mean_earned(one))
        });
    }
    situations
}

/// Answers about strategies that earn money.
struct EarningStrategies<'a> {
    analysis: &'a Analysis,
    pairs: &'a Pairs<'a>,
    earned: Drawn,
    /// What the choice of the best is worth.
    optimism: Option<&'a str>,
}

impl<'a> EarningStrategies<'a> {
    fn policy(&self, combination: &'a Combination) -> &'a str {
        self.analysis.policy(combination)
    }

    /// Strategies at their best, the one with the highest gain first.
    fn one(&self, ranked: &[&Combination], sure: String) -> Vec<Statement> {
        let best = ranked[0];
        let Some(gain) = self.analysis.earned(best) else {
            return Vec::new();
        };
        let mut text = format!(
            "{} earns most: {} VC a replication{}.",
            self.policy(best),
            grouped(gain.mean, 0),
            interval(gain.interval)
        );
        if let Some(percent) = best.additional.and_then(|additional| additional.percent) {
            let baseline = self.analysis.studies.baseline(self.policy(best));
            text.push_str(&format!(
                " That is {} % more than {}.",
                grouped(percent, 1),
                baseline.unwrap_or("its baseline")
            ));
        }
        if let Some(next) = ranked.get(1) {
            text.push_str(&self.beside(best, next));
        }
        let mut found = vec![Statement::new("Which strategy?", text)];
        found.extend(self.threshold(best));
        found.push(self.sure(sure));
        found
    }

    /// Whether the second differs significantly from the first.
    fn beside(&self, best: &Combination, next: &Combination) -> String {
        let Some(difference) = self.pairs.difference(&self.earned, best, next) else {
            return String::new();
        };
        let (name, mean) = (self.policy(next), grouped(difference.estimate.mean, 0));
        let within = interval(difference.interval());
        let of_log = match difference.wider() {
            Some(_) => " about the log",
            None => "",
        };
        if difference.is_significant() {
            format!(
                " The next, {name}, earns {mean} VC less{within}{of_log}, paired by replication."
            )
        } else if difference.interval().is_some() {
            format!(
                " It is not told apart from {name} (paired difference {mean} VC{within}{of_log})."
            )
        } else if difference.estimate.count == 1 {
            format!(" The next, {name}, earns {mean} VC less in the one replication that counts.")
        } else {
            format!(" The next, {name}, earns {mean} VC less in each replication.")
        }
    }

    /// At which value of the axes that a provider sets, and which other values do as well.
    fn threshold(&self, best: &Combination) -> Option<Statement> {
        let tuned: Vec<usize> = (self.analysis.tuned_axes().into_iter())
            .filter(|axis| self.analysis.axes[*axis].values.len() > 1)
            .collect();
        let overbooks = self.analysis.studies.overbooks(self.policy(best));
        let [axis] = tuned[..] else {
            return None;
        };
        let key = short(&self.analysis.axes[axis].key);
        let question = format!("Which {key}?");
        if !overbooks {
            return Some(Statement::new(
                question,
                format!(
                    "None: {} does not overbook, and no value of {key} earned more.",
                    self.policy(best)
                ),
            ));
        }
        let value =
            |of: &Combination| (self.analysis.value(of, axis)).map_or_else(String::new, value_text);
        let same = |other: &&Combination| {
            self.policy(other) == self.policy(best)
                && other.places[axis] != best.places[axis]
                && (0..other.places.len())
                    .all(|at| at == axis || other.places[at] == best.places[at])
        };
        let open: Vec<String> = (self.analysis.combinations.iter())
            .filter(same)
            .filter(|other| {
                (self.pairs.difference(&self.earned, best, other))
                    .is_none_or(|difference| !difference.is_significant())
            })
            .map(value)
            .collect();
        let mut text = format!("{} earns most at {}", self.policy(best), value(best));
        let of_log = match self.pairs.are_neighbours() {
            true => ", where it is wider that about the log",
            false => "",
        };
        match open.as_slice() {
            [] => text.push_str(&format!(
                "; every other value earns less, each by its paired 95 % interval{of_log}."
            )),
            open => text.push_str(&format!(
                "; not told apart from it: {} (paired 95 % intervals{of_log}).",
                open.join(", ")
            )),
        }
        let values = &self.analysis.axes[axis].values;
        let is_edge = [values.first(), values.last()].contains(&self.analysis.value(best, axis));
        if is_edge {
            text.push_str(" It is at the end of the range, so the best may lie beyond.");
        }
        Some(Statement::new(question, text))
    }

    /// Which strategy earns most in how many situations, and at which values.
    fn several(&self, situations: &[Vec<&Combination>], sure: String) -> Vec<Statement> {
        let mut wins: Vec<(&str, usize, usize)> = Vec::new();
        let mut at: Vec<u32> = Vec::new();
        let tuned = self.analysis.tuned_axes();
        for ranked in situations {
            let apart = ranked.get(1).is_some_and(|next| {
                (self.pairs.difference(&self.earned, ranked[0], next))
                    .is_some_and(|difference| difference.is_significant())
            });
            let name = self.policy(ranked[0]);
            match wins.iter_mut().find(|(known, ..)| *known == name) {
                Some((_, count, surely)) => {
                    *count += 1;
                    *surely += usize::from(apart);
                }
                None => wins.push((name, 1, usize::from(apart))),
            }
            if self.analysis.studies.overbooks(name) {
                at.extend(tuned.first().and_then(|axis| ranked[0].places[*axis]));
            }
        }
        wins.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
        let each: Vec<String> = (wins.iter())
            .map(|(name, count, surely)| {
                format!(
                    "{name} earns most in {count} of {} situations, told apart from the next in {surely}",
                    situations.len()
                )
            })
            .collect();
        let mut found = vec![Statement::new(
            "Which strategy?",
            format!("{}.", each.join("; ")),
        )];
        if let (Some(axis), Some(least), Some(most)) =
            (tuned.first(), at.iter().min(), at.iter().max())
        {
            let axis = &self.analysis.axes[*axis];
            let value = |place: u32| value_text(&axis.values[place as usize]);
            let text = if least == most {
                format!("{} in every situation.", value(*least))
            } else {
                format!(
                    "From {} to {}, by situation: choose one above the figure.",
                    value(*least),
                    value(*most)
                )
            };
            found.push(Statement::new(format!("Which {}?", short(&axis.key)), text));
        }
        found.push(self.sure(sure));
        found
    }

    fn sure(&self, mut text: String) -> Statement {
        if let Some(optimism) = self.optimism {
            text.push_str(&format!(" {optimism}."));
        }
        Statement::new("How sure?", text)
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

/// How the first quantity of a study changes along its lines.
fn study(figures: &[Figure], sure: String) -> Vec<Statement> {
    let sure = Statement::new("How sure?", sure);
    let Some(figure) = headline(figures) else {
        return vec![sure];
    };
    let mut lines = ends_of_lines(figure);
    let more = lines.len().saturating_sub(MOST_LINES);
    lines.truncate(MOST_LINES);
    if more > 0 {
        lines.push(format!("{more} more in the figure"));
    }
    let situation = match figure.given.as_slice() {
        [] => String::new(),
        given => format!(" ({})", words(given)),
    };
    vec![
        Statement::new(
            format!(
                "{} by {}{situation}",
                figure.y.title,
                short(&figure.x.title)
            ),
            format!("{}.", lines.join("; ")),
        ),
        sure,
    ]
}

/// The figure that the answer of a study is read off.
fn headline(figures: &[Figure]) -> Option<&Figure> {
    let mut figures = figures.iter();
    figures.find(|figure| !ends_of_lines(figure).is_empty())
}

/// The first and the last mark of every line, in words.
fn ends_of_lines(figure: &Figure) -> Vec<String> {
    let at = |mark: &Mark| {
        let interval = if mark.high > mark.low {
            format!(" [{}, {}]", short_number(mark.low), short_number(mark.high))
        } else {
            String::new()
        };
        format!(
            "{}{interval} at {}",
            short_number(mark.mean),
            place_name(&figure.x, mark.x)
        )
    };
    (figure.series.iter())
        .filter_map(|series| {
            let (Marks::Curve(marks) | Marks::Whiskers(marks) | Marks::Bars(marks)) = &series.marks
            else {
                return None;
            };
            let (first, last) = (marks.first()?, marks.last()?);
            let label = if figure.series.len() == 1 {
                String::new()
            } else {
                format!("{}: ", series.label)
            };
            Some(if marks.len() == 1 {
                format!("{label}{}", at(first))
            } else {
                format!("{label}{}, {}", at(first), at(last))
            })
        })
        .collect()
}

/// Lines of a figure that are put into words.
const MOST_LINES: usize = 4;

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
