//! What a rule decided: which values were selected, what they are worth on replications that no
//! decision read, and whether intervals are narrow enough.

mod confirming;
mod tables;

use std::collections::{BTreeMap, BTreeSet};

use self::confirming::Confirming;
use super::analysis::Analysis;
use super::answer::Statement;
use super::dependence::Dependence;
use super::plots::drawn::Drawn;
use super::plots::words;
use super::section::ReportError;
use super::statistics::Estimate;
use super::svg::short_number;
use super::table::{estimate_text, grouped, short, value_text};
use bookahead_lab::store::{PointColumns, RunSummary, Store, StoredDecision, StoredRule};
use bookahead_lab::sweep::{AxisValue, Verdict, round12};

/// Situations that are put into words.
const MOST_LINES: usize = 4;

/// The rule of a run, and what was decided by it.
pub struct RuleAnswer<'p> {
    rule: StoredRule,
    decisions: Vec<StoredDecision>,
    points: &'p PointColumns,
    analysis: Analysis,
    confirming: Confirming,
    hash: String,
    is_over: bool,
}

/// A situation of a selection.
struct Situation<'a> {
    /// The values of the axes that nothing is selected from.
    given: Vec<(String, AxisValue)>,
    /// The last decision of each value, in the order of the axes.
    last: Vec<&'a StoredDecision>,
    /// Where a refined optimum lies.
    optimum: Option<&'a StoredDecision>,
}

impl<'p> RuleAnswer<'p> {
    /// The rule of a run, if it has one; `points` are the run's.
    ///
    /// # Errors
    ///
    /// When the store cannot be read, or Polars refuses.
    pub fn read(
        store: &Store,
        run: &RunSummary,
        points: &'p PointColumns,
    ) -> Result<Option<Self>, ReportError> {
        let Some(rule) = store.rule(run.id)? else {
            return Ok(None);
        };
        let analysis = Analysis::new(points)?;
        let dependence = Dependence::of(run, &analysis, points);
        Ok(Some(Self {
            decisions: store.decisions(run.id)?,
            confirming: Confirming::new(points, &rule, dependence.is_of_neighbours)?,
            rule,
            points,
            analysis,
            hash: run.configuration_hash.clone(),
            is_over: run.state == "done",
        }))
    }

    /// Whether values are selected.
    pub(super) fn selects(&self) -> bool {
        self.rule.selects
    }

    /// Whether a selection is estimated by replications that did not take part in it.
    pub(super) fn is_confirmed(&self) -> bool {
        self.rule.selects && !self.rule.confirming.is_empty()
    }

    fn drawn(&self, name: &str) -> Option<Drawn> {
        Drawn::named(&self.analysis, name, &self.hash)
    }

    fn title(&self, name: &str) -> String {
        let drawn = self.drawn(name);
        drawn.map_or_else(|| name.to_owned(), |drawn| drawn.title)
    }

    fn decimals(&self, name: &str) -> usize {
        let drawn = self.drawn(name);
        drawn.map_or(3, |drawn| drawn.decimals(&self.analysis))
    }

    fn quantity(&self) -> &str {
        self.rule.quantities.first().map_or("", String::as_str)
    }

    /// A value's estimate over the replications that no decision read.
    fn confirmed(&self, axes: &[(String, AxisValue)]) -> Option<Estimate> {
        self.confirming
            .estimate(self.quantity(), axes, None, &self.hash)
    }

    /// One value minus another one over the replications that no decision read, in pairs that saw
    /// the same.
    fn surplus(
        &self,
        axes: &[(String, AxisValue)],
        baseline: &[(String, AxisValue)],
    ) -> Option<Estimate> {
        let (name, hash) = (self.quantity(), &self.hash);
        self.confirming.estimate(name, axes, Some(baseline), hash)
    }

    fn is_selected_from(&self, key: &str) -> bool {
        self.rule.axes.iter().any(|axis| axis == key)
    }

    /// The values of an alternative on the axes that are selected from.
    fn value_of(&self, axes: &[(String, AxisValue)]) -> String {
        let own = axes.iter().filter(|(key, _)| self.is_selected_from(key));
        let values: Vec<String> = own.map(|(_, value)| value_text(value)).collect();
        values.join(", ")
    }

    fn situations(&self) -> Vec<Situation<'_>> {
        let mut found: Vec<Situation<'_>> = Vec::new();
        for stored in &self.decisions {
            let others = stored.axes.iter();
            let given: Vec<(String, AxisValue)> = others
                .filter(|(key, _)| !self.is_selected_from(key))
                .cloned()
                .collect();
            let at = found.iter().position(|situation| situation.given == given);
            let at = at.unwrap_or_else(|| {
                found.push(Situation {
                    given,
                    last: Vec::new(),
                    optimum: None,
                });
                found.len() - 1
            });
            if stored.decision.verdict == Verdict::Optimum {
                found[at].optimum = Some(stored);
            }
            if is_of_selection(stored.decision.verdict) {
                let last = &mut found[at].last;
                last.retain(|known| known.decision.place != stored.decision.place);
                last.push(stored);
                last.sort_by_key(|known| known.decision.place);
            }
        }
        found
    }

    /// What the rule is, in a sentence.
    fn in_words(&self) -> String {
        let rule = &self.rule;
        let percent = |share: f64| format!("{} %", round12(100.0 * share));
        let width = match rule.is_relative {
            true => percent(rule.width),
            false => round12(rule.width).to_string(),
        };
        let probability = percent(rule.probability);
        match (rule.selects, rule.is_relative) {
            (true, _) => {
                let over = rule.population.map_or_else(String::new, |all| {
                    format!(" over the {all} replications that there are")
                });
                format!("with probability {probability} within {width} of the best{over}")
            }
            (false, true) => {
                format!(
                    "± {width} of the mean at {probability} confidence, whenever it is looked at"
                )
            }
            (false, false) => {
                format!("± {width} at {probability} confidence, whenever it is looked at")
            }
        }
    }

    /// What was decided, as a question and its answer.
    #[must_use]
    pub fn in_sentences(&self) -> (String, String) {
        let Statement { question, answer } = self.statement();
        (question, answer)
    }

    /// What was decided, in a few words.
    pub(super) fn statement(&self) -> Statement {
        match self.rule.selects {
            true => self.selected(),
            false => self.narrow(),
        }
    }

    fn selected(&self) -> Statement {
        let axes: Vec<&str> = self.rule.axes.iter().map(|key| short(key)).collect();
        let goal = if self.rule.smallest {
            "smallest"
        } else {
            "largest"
        };
        let quantity = self.quantity();
        let question = format!(
            "Which {} for the {goal} \"{}\"?",
            axes.join(" and "),
            self.title(quantity)
        );
        let decimals = self.decimals(quantity);
        let situations = self.situations();
        let several = situations.len() > 1;
        let mut lines: Vec<String> = situations
            .iter()
            .take(MOST_LINES)
            .map(|situation| {
                let given = match several {
                    true => format!("{}: ", words(&texts(&situation.given))),
                    false => String::new(),
                };
                format!("{given}{}", self.selected_in(situation, decimals))
            })
            .collect();
        let more = situations.len().saturating_sub(MOST_LINES);
        if more > 0 {
            lines.push(format!("{more} more situations in the table"));
        }
        Statement {
            question,
            answer: format!("{}. Each is {}.", lines.join("; "), self.in_words()),
        }
    }

    fn selected_in(&self, situation: &Situation<'_>, decimals: usize) -> String {
        let Some(chosen) = situation.chosen() else {
            return situation.open_in_words();
        };
        let decision = &chosen.decision;
        let value = self.value_of(&chosen.axes);
        let selecting = format!(
            "{} over the {} replications that selected it",
            grouped(decision.mean.unwrap_or(f64::NAN), decimals),
            decision.replications
        );
        let worth = match self.confirmed(&chosen.axes) {
            Some(estimate) => format!(
                "{} over {} replications that did not select it ({selecting})",
                estimate_text(&estimate, decimals),
                estimate.count
            ),
            None => selecting,
        };
        let surplus = (self.baseline_axes(&chosen.axes))
            .filter(|baseline| *baseline != chosen.axes)
            .and_then(|baseline| {
                let surplus = self.surplus(&chosen.axes, &baseline)?;
                let more = estimate_text(&surplus, decimals);
                Some(format!(", {more} more than {}", self.value_of(&baseline)))
            });
        let verdict = match decision.verdict {
            Verdict::Selected => "is selected".to_owned(),
            _ => format!(
                "has the best mean, which does not decide after {} replications ({} values survive)",
                decision.replications,
                situation.survivors()
            ),
        };
        let place = situation.optimum.and_then(|stored| {
            let (place, half) = (stored.decision.statistic?, stored.decision.bound?);
            Some(format!(
                "; by a parabola through the values around it the optimum lies at {} ± {}",
                short_number(place),
                short_number(half)
            ))
        });
        let (surplus, place) = (surplus.unwrap_or_default(), place.unwrap_or_default());
        format!("{value} {verdict}: {worth}{surplus}{place}")
    }

    /// The axis values of what a value is compared with.
    fn baseline_axes(&self, axes: &[(String, AxisValue)]) -> Option<Vec<(String, AxisValue)>> {
        let values = self.rule.baseline.as_ref()?;
        let mut found = axes.to_vec();
        for (key, wanted) in self.rule.axes.iter().zip(values) {
            let columns = self.points.axes.iter();
            let axis = columns
                .map(|column| &column.axis)
                .find(|axis| axis.key == *key)?;
            let value = axis
                .values
                .iter()
                .find(|value| value_text(value) == *wanted)?;
            for (own, known) in &mut found {
                if own == key {
                    *known = value.clone();
                }
            }
        }
        Some(found)
    }

    fn narrow(&self) -> Statement {
        let titles = self.rule.quantities.iter().map(|name| self.title(name));
        let titles: Vec<String> = titles.collect();
        let last = self.last_looks();
        let settings: BTreeSet<u32> = last.iter().map(|look| look.decision.place).collect();
        let wide: BTreeSet<u32> = (last.iter())
            .filter(|look| look.decision.verdict != Verdict::Narrow)
            .map(|look| look.decision.place)
            .collect();
        let counts: Vec<u32> = last.iter().map(|look| look.decision.replications).collect();
        let (least, most) = (
            counts.iter().min().copied().unwrap_or(0),
            counts.iter().max().copied().unwrap_or(0),
        );
        let outcome = match wide.len() {
            0 => format!(
                "all {} settings after {least} to {most} replications",
                settings.len()
            ),
            wide => format!(
                "{} of {} settings, from {least} replications on; {wide} are not after {most}",
                settings.len() - wide,
                settings.len()
            ),
        };
        Statement {
            question: format!(
                "Are the intervals of \"{}\" narrow enough?",
                titles.join("\", \"")
            ),
            answer: format!("Wanted {}: {outcome}.", self.in_words()),
        }
    }

    /// Puts what was decided in front of what a run without a rule would say, and says how many
    /// replications there are. What would be said of the best by means over different numbers of
    /// replications is left out.
    pub(super) fn amend(&self, said: &mut Vec<Statement>) {
        if self.rule.selects {
            said.retain(|statement| statement.question == Statement::SURE);
        }
        for statement in said.iter_mut() {
            if statement.question == Statement::SURE {
                statement.answer = self.replications();
            }
        }
        said.insert(0, self.statement());
    }

    fn replications(&self) -> String {
        let decisions = self.decisions.iter().map(|stored| &stored.decision);
        let ended = decisions.filter(|decision| is_of_selection(decision.verdict));
        let mut last: BTreeMap<u32, u32> = BTreeMap::new();
        for decision in ended {
            last.insert(decision.place, decision.replications);
        }
        let (least, most) = (last.values().min(), last.values().max());
        let mut verdicts = self.decisions.iter().map(|stored| stored.decision.verdict);
        let confirming = match verdicts.any(|verdict| verdict == Verdict::Confirmed) {
            false => String::new(),
            true => format!(
                ", and {} more of what was selected",
                self.rule.confirming.len()
            ),
        };
        let (least, most) = (least.copied().unwrap_or(0), most.copied().unwrap_or(0));
        let counts = match least == most {
            true => most.to_string(),
            false => format!("{least} to {most}"),
        };
        format!(
            "{counts} replications of a setting, as the rule asked for{confirming}; 95 % intervals of means over them."
        )
    }

    /// The last look at each quantity of each setting.
    fn last_looks(&self) -> Vec<&StoredDecision> {
        let mut last: BTreeMap<(u32, &str), &StoredDecision> = BTreeMap::new();
        for stored in &self.decisions {
            last.insert((stored.decision.place, &stored.decision.quantity), stored);
        }
        last.into_values().collect()
    }

    /// What a reader must know of the other tables and of the rule's assumptions.
    pub(super) fn cautions(&self) -> Vec<String> {
        let mut found = vec![match self.rule.selects {
            true => "values were eliminated by a rule: n differs from value to value, and means of the other tables include \
                     the replications that decided. The guarantee holds for independent replications with normally \
                     distributed differences"
                .to_owned()
                + match self.rule.population {
                    None => "",
                    Some(_) => ", drawn from those that there are: it is about the best over these, not about others",
                },
            false => "replications ended by a rule: the intervals of the other tables do not allow for its looks, those of \
                      \"Where the rule ended for each setting\" do"
                .to_owned(),
        }];
        if !self.is_over {
            found.push("the rule is not at its end: what it says may change".to_owned());
        }
        if self.confirming.are_neighbours() {
            found.push(
                "the rule drew batteries of one log: its probability is about drawing batteries of this log, not about other \
                 years, and neighbouring batteries are not independent"
                    .to_owned(),
            );
        }
        found
    }
}

/// Whether a verdict is one about selecting, and not about what was selected.
fn is_of_selection(verdict: Verdict) -> bool {
    !matches!(
        verdict,
        Verdict::Confirmed | Verdict::Baseline | Verdict::Optimum
    )
}

fn texts(axes: &[(String, AxisValue)]) -> Vec<(String, String)> {
    let axes = axes.iter();
    axes.map(|(key, value)| (key.clone(), value_text(value)))
        .collect()
}

impl Situation<'_> {
    /// Whether a replication without a value ended it.
    fn is_undefined(&self) -> bool {
        let mut last = self.last.iter();
        last.any(|stored| stored.decision.verdict == Verdict::Undefined)
    }

    /// What became of it, in a word or three.
    fn verdict(&self) -> &'static str {
        match self.chosen() {
            Some(chosen) => chosen.decision.verdict.name(),
            None if self.is_undefined() => Verdict::Undefined.name(),
            None => "not decided yet",
        }
    }

    /// Where nothing is selected: why.
    fn open_in_words(&self) -> String {
        if self.is_undefined() {
            return "nothing is selected, because a replication has no value".to_owned();
        }
        let counts = self.last.iter().map(|stored| stored.decision.replications);
        format!(
            "not decided yet: {} values are in after {} replications",
            self.survivors(),
            counts.max().unwrap_or(0)
        )
    }

    /// The value that was selected, or leads.
    fn chosen(&self) -> Option<&StoredDecision> {
        let mut last = self.last.iter().copied();
        last.rfind(|stored| {
            matches!(
                stored.decision.verdict,
                Verdict::Selected | Verdict::Leading
            )
        })
    }

    fn survivors(&self) -> usize {
        let last = self.last.iter();
        last.filter(|stored| stored.decision.verdict != Verdict::Eliminated)
            .count()
    }

    /// The share of replications that eliminated values did not need.
    fn spared_percent(&self) -> f64 {
        let counts = || self.last.iter().map(|stored| stored.decision.replications);
        let all = f64::from(counts().max().unwrap_or(0)) * self.last.len() as f64;
        100.0 * (1.0 - f64::from(counts().sum::<u32>()) / all)
    }
}
