//! The value of the best of several settings on batteries that did not choose it, compared with its
//! value on those that did.

use std::collections::{BTreeMap, HashMap};

use super::analysis::{Analysis, Combination};
use super::plots::drawn::{Drawn, drawn};
use super::plots::paired::Pairs;
use super::sql;
use super::statistics::{Choice, distinct};
use super::summary_tables::axis_column;
use super::table::{Cell, Column, Table, grouped};

/// More optimism than this, in percent, is worth a warning: neighbouring settings are this close to
/// each other.
const SMALL_PERCENT: f64 = 1.0;

/// The value of choosing the setting with the highest mean gain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ChoiceValue {
    /// Each battery was left out once.
    Known(Choice),
    /// There are fewer than three batteries.
    FewBatteries { settings: usize },
    /// The settings have not all the same batteries.
    Unpaired { settings: usize },
}

impl ChoiceValue {
    /// Of the settings of a situation; `None` where there is only one.
    fn of(gain: &Drawn, pairs: &Pairs<'_>, settings: &[&Combination]) -> Option<Self> {
        let Some(values) = pairs.together(gain, settings) else {
            let settings = settings.len();
            return (settings > 1).then_some(Self::Unpaired { settings });
        };
        let settings = distinct(&values).len();
        match Choice::of(&values) {
            _ if settings < 2 => None,
            Some(choice) => Some(Self::Known(choice)),
            None => Some(Self::FewBatteries { settings }),
        }
    }

    /// How many settings there are to choose from.
    fn settings(&self) -> usize {
        match self {
            Self::Known(choice) => choice.settings,
            Self::FewBatteries { settings } | Self::Unpaired { settings } => *settings,
        }
    }

    fn choice(&self) -> Option<&Choice> {
        match self {
            Self::Known(choice) => Some(choice),
            _ => None,
        }
    }

    /// What a choice is worth, in the same words wherever it stands; `units` are what a setting was
    /// run on.
    fn in_words(&self, units: &str) -> String {
        let settings = self.settings();
        match self {
            Self::Known(choice) => {
                format!("Best of {settings} settings, {}", in_words(choice, units))
            }
            Self::FewBatteries { .. } => format!(
                "Best of {settings} settings, chosen and judged on the same {units}, so its gain is too high; \
                 fewer than {} {units} do not say by how much",
                Choice::FEWEST_BATTERIES
            ),
            Self::Unpaired { .. } => format!(
                "Best of {settings} settings, chosen and judged on the same {units}, so its gain is too high; \
                 by how much is not known, because the settings do not all have the same {units}"
            ),
        }
    }
}

/// What a choice is worth: `chosen and judged on the same batteries: 31,200 VC; chosen on the
/// others: 30,900 VC (optimism 1.0 %)`.
pub fn in_words(choice: &Choice, units: &str) -> String {
    let optimism = match choice.percent() {
        Some(percent) => format!("{} %", grouped(percent, 1)),
        None => format!("{} VC", grouped(choice.optimism(), 0)),
    };
    format!(
        "chosen and judged on the same {units}: {} VC; chosen on the others: {} VC (optimism {optimism})",
        grouped(choice.same, 0),
        grouped(choice.others, 0)
    )
}

/// The combinations of each policy, in the order of the policies.
fn by_policy<'a>(
    analysis: &'a Analysis,
    group: &[&'a Combination],
) -> Vec<(&'a str, Vec<&'a Combination>)> {
    let mut found: BTreeMap<(usize, &str), Vec<&Combination>> = BTreeMap::new();
    for combination in group {
        let name = analysis.policy(combination);
        let own = (found.entry((analysis.studies.rank(name), name))).or_default();
        own.push(combination);
    }
    found
        .into_iter()
        .map(|((_, name), own)| (name, own))
        .collect()
}

/// The mean over choices.
fn mean(choices: &[&Choice]) -> Option<Choice> {
    let count = choices.len() as f64;
    let mean =
        |part: fn(&Choice) -> f64| choices.iter().map(|choice| part(choice)).sum::<f64>() / count;
    choices.first().map(|first| Choice {
        same: mean(|choice| choice.same),
        others: mean(|choice| choice.others),
        ..**first
    })
}

/// The choices of one situation.
struct Situation<'a> {
    /// One of its combinations, for the values of the given axes.
    any: &'a Combination,
    /// Among all strategies and settings; `None` where there is only one.
    whole: Option<ChoiceValue>,
    /// Of each strategy with several settings.
    strategies: Vec<(&'a str, ChoiceValue)>,
}

/// All choices that a run makes.
pub struct Optimism<'a> {
    analysis: &'a Analysis,
    situations: Vec<Situation<'a>>,
}

impl<'a> Optimism<'a> {
    /// Of policies that compete, by what they earn; `None` where none do, and where no situation
    /// has several settings.
    pub fn new(
        analysis: &'a Analysis,
        pairs: &Pairs<'_>,
        configuration_hash: &str,
    ) -> Option<Self> {
        if !analysis.is_earning() {
            return None;
        }
        let gain = drawn(analysis, configuration_hash).into_iter().next()?;
        let given = analysis.given_axes();
        let mut groups: Vec<Vec<&Combination>> = Vec::new();
        let mut index = HashMap::new();
        for combination in &analysis.combinations {
            let places: Vec<Option<u32>> =
                given.iter().map(|axis| combination.places[*axis]).collect();
            let place = *index.entry(places).or_insert(groups.len());
            if place == groups.len() {
                groups.push(Vec::new());
            }
            groups[place].push(combination);
        }
        let situations: Vec<Situation<'_>> = (groups.iter())
            .map(|group| Situation {
                any: group[0],
                whole: ChoiceValue::of(&gain, pairs, group),
                strategies: by_policy(analysis, group)
                    .into_iter()
                    .filter_map(|(name, own)| Some((name, ChoiceValue::of(&gain, pairs, &own)?)))
                    .collect(),
            })
            .collect();
        let chooses = situations.iter().any(|situation| situation.whole.is_some());
        chooses.then_some(Self {
            analysis,
            situations,
        })
    }

    /// What the answer is worth, which names a strategy and its setting in each situation; and
    /// whether it is known and hardly less than what is shown.
    pub(super) fn sentence(&self) -> (bool, String) {
        let units = self.units();
        let values: Vec<&ChoiceValue> = (self.situations.iter())
            .filter_map(|situation| situation.whole.as_ref())
            .collect();
        let known: Vec<&Choice> = values.iter().filter_map(|value| value.choice()).collect();
        let Some(mean) = mean(&known) else {
            let first = values.first();
            let said = first.map(|value| value.in_words(units));
            return (false, said.unwrap_or_default());
        };
        let is_small = (mean.percent()).is_some_and(|percent| percent <= SMALL_PERCENT);
        let sentence = match values.as_slice() {
            [only] => only.in_words(units),
            several => format!(
                "Best settings, in the mean over {} of {} situations {}",
                known.len(),
                several.len(),
                in_words(&mean, units)
            ),
        };
        (is_small, sentence)
    }

    /// What a setting is run on: batteries under a policy, whole workloads in a study.
    fn units(&self) -> &'static str {
        match self.analysis.earned_measure() {
            None => "batteries",
            Some(_) => "replications",
        }
    }

    /// Every choice, by situation and strategy.
    pub fn table(&self, configuration_hash: &str) -> Table {
        let units = self.units();
        let given = self.analysis.given_axes();
        let mut columns: Vec<Column> = (given.iter())
            .map(|axis| axis_column(self.analysis, *axis))
            .collect();
        columns.extend([
            Column::plain("strategy", "Strategy"),
            Column::plain("settings", "Settings"),
            Column::plain("batteries", "n"),
            Column::number("same", "Chosen and judged on the same (VC)", 0),
            Column::number("others", "Chosen on the others (VC)", 0),
            Column::number("optimism", "Optimism (VC)", 0),
            Column::number("optimism_percent", "Optimism (%)", 2),
        ]);
        let row = |situation: &Situation<'_>, strategy: &str, value: &ChoiceValue| {
            let values = given.iter();
            let mut row: Vec<Cell> = values
                .map(|axis| self.analysis.value(situation.any, *axis).into())
                .collect();
            row.push(Cell::Text(strategy.to_owned()));
            row.push(Cell::Integer(value.settings() as i64));
            row.extend(match value.choice() {
                Some(choice) => [
                    Cell::Integer(choice.batteries as i64),
                    Cell::Number(choice.same),
                    Cell::Number(choice.others),
                    Cell::Number(choice.optimism()),
                    choice.percent().map_or(Cell::Undefined, Cell::Number),
                ],
                None => [const { Cell::Missing }; 5],
            });
            row
        };
        let rows = self.situations.iter().flat_map(|situation| {
            let whole = situation.whole.iter().map(|value| ("any", value));
            let strategies = situation.strategies.iter();
            let strategies = strategies.map(|(strategy, value)| (*strategy, value));
            whole
                .chain(strategies)
                .map(|(strategy, value)| row(situation, strategy, value))
        });
        Table {
            name: "optimism".to_owned(),
            title: "What the choice of the best setting is worth".to_owned(),
            columns,
            rows: rows.collect(),
            note: format!(
                "The setting with the highest mean gain is partly the luckiest, so on the {units} \
                 that chose it its gain is too high. Here each of them is left out once: the setting \
                 is chosen on the others and judged on it, and the mean of these gains is what the \
                 choice is worth. Optimism: by how much the gain on the same {units} is higher, \
                 also in percent of that on the others. \"any\" is the choice among all strategies \
                 and settings. Settings count once where all of their gains are equal. No numbers \
                 where not all settings have the same {units}, or fewer than {}.",
                Choice::FEWEST_BATTERIES
            ),
            sql: sql::optimism(configuration_hash, self.analysis),
        }
    }
}
